"""What commands write: whole files or none, with the line ends of the working tree, after any signal."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from schemalint.delta.datatype import LONG, Field
from schemalint.model.finding import CheckResult
from schemalint.review.check_input import CheckInput
from schemalint.review.run_check import check
from support.logs import metadata, protocol, write_log
from support.project import ORDERS, Project

CONTRACT = "contracts/orders.yml"
PATIENCE = 120  # seconds, for a command on a busy machine
WIDENED = ORDERS.replace("decimal(10,2)", "decimal(12,2)") + "description: new\n"


@pytest.fixture
def widened(committed: Project) -> Project:
    """A project with a change that `--fix` completes, and a live table."""
    write_log(committed.repo.path / "lake/sales/orders", [[protocol(), metadata(Field("id", LONG))]])
    committed.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    committed.declare(WIDENED)
    committed.repo.write("report", "old")
    return committed


COMMANDS = {
    "fix": ("check", "--fix", "--unsafe-fixes"),
    "check": ("check", "--output-format", "full:report"),
    "audit": ("audit", "--all", "--output-format", "full:report"),
    "plan": ("plan", "--out", "report"),
    "revert": ("revert", "sales.orders"),
    "pull": ("pull", "sales.orders"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_leaves_the_files_as_they_are(
    widened: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name != "fix":
        widened.repo.commit()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = _content(widened)
    monkeypatch.setattr(os, "fsync", full)
    run = widened.run(*COMMANDS[name])
    assert run.status == 2
    assert "cannot be written: No space left on device" in run.out + run.err
    assert _content(widened) == before


def test_a_bug_is_told_when_its_report_cannot_be_written(
    committed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_request: object) -> object:
        raise RuntimeError

    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("schemalint.review.check_session.check", broken)
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    run = committed.check()
    assert run.status == 3
    assert "(RuntimeError); its report cannot be written: No space" in run.err


def _content(project: Project) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in project.repo.path.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


@pytest.mark.parametrize("autocrlf", ["true", "false"])
def test_fix_keeps_the_line_ends_of_the_working_tree(committed: Project, autocrlf: str) -> None:
    committed.declare(WIDENED)
    committed.repo.commit()
    committed.repo.git("config", "core.autocrlf", autocrlf)
    file = committed.repo.path / CONTRACT
    file.unlink()
    committed.repo.git("checkout", "--quiet", "--", CONTRACT)
    assert (b"\r\n" in file.read_bytes()) == (autocrlf == "true")
    assert committed.check("--against", "HEAD~1", "--fix", "--ignore", "PF004").status == 0
    fixed = file.read_bytes()
    assert b"delta.enableTypeWidening" in fixed
    assert fixed.count(b"\r\n") == (fixed.count(b"\n") if autocrlf == "true" else 0)
    assert (b"\r\n" in fixed) == (autocrlf == "true")
    assert committed.repo.git("diff", "--stat").startswith("contracts/orders.yml | 4 ++++")


def test_fix_leaves_a_file_that_changed_meanwhile(widened: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def edit_meanwhile(request: CheckInput) -> CheckResult:
        widened.declare(f"{WIDENED}# edited\n")
        return check(request)

    monkeypatch.setattr("schemalint.review.run_check.check", edit_meanwhile)
    run = widened.check("--fix")
    assert run.status == 2
    assert "no longer has the text that was read" in run.out
    assert (widened.repo.path / CONTRACT).read_text() == f"{WIDENED}# edited\n"


# Runs a command in which the first fsync, so the middle of a write, takes longer than the test.
SLOW_DISK = """\
import os, sys, time
os.fsync = lambda descriptor: (print("writing", flush=True), time.sleep(600))
from schemalint.__main__ import run
run()
"""
SIGNALS = pytest.mark.parametrize(
    ("number", "status", "told"),
    [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "terminated\n")],
)


@SIGNALS
def test_a_signal_in_the_middle_of_a_write_leaves_the_old_file(
    widened: Project, number: signal.Signals, status: int, told: str
) -> None:
    before = _content(widened)
    with _process(widened, sys.executable, "-c", SLOW_DISK, *COMMANDS["fix"]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        assert len(_content(widened)) == len(before) + 1, "the new text is in a file of its own"
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (status, told)
    assert _content(widened) == before


@SIGNALS
def test_a_signal_ends_the_processes_that_a_command_started(
    widened: Project, tmp_path: Path, number: signal.Signals, status: int, told: str
) -> None:
    """Git here is a script that waits for a program of its own, as `git fetch` does."""
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nsleep 600 &\necho $$ $! >"{tmp_path}/started"\nwait\n')
    git.chmod(0o755)
    environment = {**widened.repo.env, "PATH": f"{git.parent}:{os.environ['PATH']}"}
    with _process(widened, sys.executable, "-m", "schemalint", "check", env=environment) as process:
        started = [int(word) for word in _waited_for(tmp_path / "started").split()]
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (status, told)
    assert [child for child in started if _is_running(child)] == []


def test_a_process_that_ignores_ctrl_c_still_does(widened: Project) -> None:
    code = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{SLOW_DISK}".replace("60", "0.1")
    with _process(widened, sys.executable, "-c", code, *COMMANDS["fix"]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "fixed contracts/orders.yml" in err


def _process(project: Project, *command: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=project.repo.path,
        env=env or project.repo.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_restore_ctrl_c,  # noqa: PLW1509 (no threads here)
    )


def _restore_ctrl_c() -> None:
    """Handle SIGINT again: background processes of a shell ignore it, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _waited_for(file: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return file.read_text()


def _is_running(process: int) -> bool:
    try:
        return b") Z" not in Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
