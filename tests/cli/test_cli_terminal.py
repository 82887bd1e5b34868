"""What a terminal shows: colors, progress and questions, in a real pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.project import Project

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminal")

COLOR = "\x1b["
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM")


def in_terminal(project: Project, *arguments: str, **variables: str) -> str:
    """Return what a command writes to a terminal, on standard output and standard error."""
    outside, inside = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    process = subprocess.Popen(
        [sys.executable, "-m", "schemalint", *arguments],
        cwd=project.repo.path,
        env={**env, "TERM": "xterm-256color", **variables},
        stdin=inside,
        stdout=inside,
        stderr=inside,
    )
    os.close(inside)
    written = b""
    while True:
        try:
            piece = os.read(outside, 65_536)
        except OSError:  # Linux: the other side is closed
            break
        if not piece:
            break
        written += piece
    os.close(outside)
    process.wait()
    return written.decode()


@pytest.mark.parametrize(
    ("arguments", "variables", "is_colored"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"NO_COLOR": ""}, True),
        ((), {"TERM": "dumb"}, False),
        ((), {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (("--color", "never"), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_a_terminal_gets_colors_unless_somebody_says_otherwise(
    committed: Project, arguments: tuple[str, ...], variables: dict[str, str], *, is_colored: bool
) -> None:
    written = in_terminal(committed, "check", *arguments, **variables)
    assert "no table was compared" in written
    assert (COLOR in written) == is_colored


@pytest.mark.parametrize(
    ("arguments", "variables", "is_colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {}, True),
    ],
)
def test_a_pipe_gets_no_colors_unless_somebody_asks(
    committed: Project,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    variables: dict[str, str],
    *,
    is_colored: bool,
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (COLOR in committed.run("check", *arguments).out) == is_colored


def test_a_terminal_is_told_what_explains_the_worst_finding(committed: Project) -> None:
    file = committed.repo.path / "contracts/orders.yml"
    committed.declare(file.read_text("utf-8").replace("bigint", "int"))
    assert "schemalint explain TW001 says why" in in_terminal(committed, "check")
    assert "schemalint explain" not in in_terminal(committed, "check", "--output-format", "concise")
    run = committed.run("check")
    assert "schemalint explain" not in run.out + run.err


def test_quiet_prints_nothing_for_a_clean_run(committed: Project) -> None:
    committed.declare((committed.repo.path / "contracts/orders.yml").read_text("utf-8") + "# x\n")
    assert committed.run("check").out.startswith("no findings in 1 table")
    quiet = committed.run("check", "-q")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    assert committed.run("check", "-q", "--output-format", "json").out.startswith("{")


def test_quiet_prints_findings_failures_and_what_was_not_compared(committed: Project) -> None:
    nothing = committed.run("check", "--quiet")
    assert "no table was compared" in nothing.out
    file = committed.repo.path / "contracts/orders.yml"
    committed.declare(file.read_text("utf-8").replace("bigint", "int"))
    found = committed.run("check", "--quiet")
    assert found.status == 1
    assert "TW001" in found.out
    committed.declare("schemalint: 1\n")
    broken = committed.run("check", "--quiet")
    assert broken.status == 2
    assert "is missing" in broken.out


def test_verbose_says_what_is_read(committed: Project) -> None:
    committed.repo.write("schemalint.toml", "root = false\n")
    committed.declare("schemalint: 1\ntable: a.b\ncolumns: []\n", "contracts/new.yml")
    err = committed.run("check", "--verbose").err
    assert "contract files: 2, 1 changed or new\n" in err
    assert "configuration: schemalint.toml\n" in err
    assert "head: worktree, the working tree\n" in err
    assert committed.run("check").err == ""
