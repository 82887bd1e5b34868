"""Limits on what commands read: each ends with status 2 and says which limit, in little time and memory."""

from __future__ import annotations

import errno
import io
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from schemalint.base import limits
from schemalint.base.errors import ConfigError
from schemalint.cli import main
from schemalint.delta.datatype import LONG, Field
from schemalint.project.config.repository_config import config_at
from schemalint.project.git import Revision, open_repository
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.project import Project

CONFIGURATIONS = {
    "large": (f"# {'x' * limits.MAX_CONFIG}\n", "more than 1 MiB"),
    "deep array": (f"ignore = {'[' * 100_000}", "nested too deeply"),
    "deep key": (f"options{'.a' * 30} = 1\n", "more than 16 levels of nesting"),
    "long key": (f"a{'.a' * 400_000} = 1\n", "line 1: a key has more than 100 parts"),
    "long quoted key": ("x = 1\n[a" + ' . "b" ' * 50_000 + "]\n", "line 2: a key has more than 100 parts"),
    "decimal digits": (f"root = {'9' * 5_000}\n", "Exceeds the limit"),
    "hexadecimal digits": (f"root = 0x{'f' * 5_000}\n", "more than 64 bits"),
    "not UTF-8": (b"\xff", "not valid TOML"),
    "globs": ("contracts = [" + '"a",' * 1_001 + "]\n", "contracts has more than 1,000 entries"),
    "tables": ('[[tables]]\nmatch = "a"\n' * 1_001, "tables has more than 1,000 entries"),
    "NUL in a glob": ('contracts = ["a\\u0000b"]\n', "has a NUL character"),
    "glob out": ('contracts = ["../**"]\n', "leads out of the repository"),
    "NUL": ('contracts = "a\0"', "not valid TOML"),
}


@pytest.mark.parametrize(("content", "message"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_configuration_beyond_a_limit(committed: Project, content: str | bytes, message: str) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    (committed.repo.path / "schemalint.toml").write_bytes(data)
    for arguments in ((), ("--config", "schemalint.toml")):
        run = committed.check(*arguments)
        assert run.status == 2, run.out
        assert message in run.out, run.out


def _link(target: str) -> Callable[[Path], None]:
    return lambda file: file.symlink_to(target)


PLACES = {
    "device": (_link("/dev/zero"), "symbolic link"),
    "link out": (_link("/etc/passwd"), "symbolic link"),
    "loop": (_link("schemalint.toml"), "symbolic link"),
    "pipe": (os.mkfifo, "not a regular file"),
    "folder": (Path.mkdir, "not a regular file"),
}


@pytest.mark.parametrize(("make", "message"), PLACES.values(), ids=PLACES)
def test_configuration_that_is_no_plain_file(
    committed: Project, make: Callable[[Path], None], message: str
) -> None:
    make(committed.repo.path / "schemalint.toml")
    run = committed.check()
    assert run.status == 2, run.out
    assert message in run.out, run.out


def test_configuration_of_a_commit_that_is_no_plain_file_never_counts_as_missing(committed: Project) -> None:
    file = committed.repo.path / "schemalint.toml"
    repository = open_repository(committed.repo.path, committed.repo.env)
    committed.repo.write("real.toml", 'contracts = ["contracts/*"]\n')
    file.symlink_to("real.toml")
    for reason in ("it is no regular file", "it has more than 1 MiB"):
        commit = committed.repo.commit()
        with pytest.raises(ConfigError, match=f"schemalint.toml in the base cannot be read: {reason}"):
            config_at(repository, Revision("HEAD", commit, "the base"))
        file.unlink()
        file.write_text(f"# {'x' * limits.MAX_CONFIG}\n")


def test_pattern_of_a_tag_has_few_wildcards(committed: Project) -> None:
    run = committed.check("--against", "tag:**/**/v*")
    assert run.status == 2
    assert "** once at most" in run.out


def test_closed_standard_output_is_an_error(committed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(committed.repo.path)
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", None)  # as Python sets it after `>&-`
        assert main(["check"]) == 2


def test_closed_standard_input_is_nothing_to_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["explain"]) == 2


def test_trace_beyond_the_limit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(limits, "MAX_TRACE", 1 << 20)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * ((1 << 20) + 1))))
    assert main(["explain"]) == 2
    assert "more than 1 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["rules"], ["--help"], ["check"], ["show", "x"]])
def test_reader_that_closes_the_pipe_ends_the_command_like_sigpipe(
    committed: Project, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    committed.repo.write("contracts/orders.yml", "schemalint: 1\n")
    reader, writer = os.pipe()
    os.close(reader)
    with suppress(BrokenPipeError), os.fdopen(writer, "w") as closed, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", closed)
        patched.setattr("sys.stderr", closed)
        assert main(command) == 141


def test_connection_that_the_other_side_closes_is_no_closed_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def write(_text: object) -> None:
        sender, receiver = socket.socketpair()
        receiver.close()
        with sender:
            sender.sendall(b"x")

    with monkeypatch.context() as patched:
        patched.setattr("schemalint.cli.rules.show", write)
        assert main(["rules"]) == 2
    assert capfd.readouterr().err == "error: a connection was closed by the other side\n"


def test_a_process_of_a_session_that_has_ended_is_no_fault_of_the_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def ask(_text: object) -> None:
        with socket.socket() as ended:
            ended.bind(("127.0.0.1", 0))
            address = ended.getsockname()
        socket.create_connection(address)

    with monkeypatch.context() as patched:
        patched.setattr("schemalint.cli.rules.show", ask)
        assert main(["rules"]) == 2
    error = "error: a connection was refused: the process at its other side, such as Spark, has ended\n"
    assert capfd.readouterr().err == error


def test_full_disk_and_unknown_failures_of_the_system_are_no_bugs(
    committed: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(OSError), Path("/dev/full").open("w") as full, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", full)
        assert committed.run("rules").status == 2

    def fails(*_arguments: object, **_options: object) -> NoReturn:
        raise OSError(errno.EIO, os.strerror(errno.EIO), "contracts/orders.yml")

    monkeypatch.setattr("schemalint.cli.rules.load_rules", fails)
    assert main(["rules"]) == 2
    assert "error: contracts/orders.yml: Input/output error" in capsys.readouterr().err


def test_deleted_working_directory_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for command in (["check"], ["show", "x"], ["audit", "x"], ["plan"]):
        assert main(command) == 2
        assert "working directory does not exist" in capsys.readouterr().err


def test_output_is_utf_8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr("sys.stdout", stream)
    assert main(["explain", "TW001"]) == 0
    assert "·" in stream.buffer.getvalue().decode()


def test_git_is_asked_for_any_text_whatever_the_locale(committed: Project) -> None:
    """Names of changed tables are searched in unchanged files, with the letters that count as equal."""
    committed.repo.write("contracts/customers.yml", ORDERS.replace("orders", "customers"))
    committed.repo.commit()
    committed.declare(ORDERS.replace("bigint", "date"))
    env = {**committed.repo.env, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run = subprocess.run(
        [sys.executable, "-m", "schemalint", "check", "--output-format=concise"],
        capture_output=True, text=True, check=False, env=env, cwd=committed.repo.path,
    )  # fmt: skip
    assert run.returncode == 1, run.stdout
    assert "failure" not in run.stdout


NUL_OPTIONS = [
    ["check", "a\0b"], ["check", "--against", "a\0b"], ["check", "--head", "a\0b"],
    ["check", "--live-from", "a\0b"], ["check", "--config", "a\0b"],
    ["check", "--output-format", "full:a\0b"],
    ["show", "a\0b"], ["show", "a\0b@v1"], ["audit", "a\0b"], ["audit", "--root", "a\0b"],
    ["explain", "a\0b"],
    ["pull", "a\0b"], ["pull", "/x", "--output", "a\0b.yml"], ["plan", "a\0b"], ["plan", "--out", "a\0b"],
    ["revert", "a\0b"], ["revert", "sales.orders", "--to", "a\0b"], ["-C", "a\0b", "rules"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", NUL_OPTIONS, ids=repr)
@pytest.mark.parametrize("character", [chr(0), chr(0xDCFF), chr(0xD800), chr(10)], ids=ascii)
def test_strange_character_in_an_argument_is_no_bug(
    committed: Project, arguments: list[str], character: str
) -> None:
    (committed.repo.path / "lake").mkdir()
    committed.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    run = committed.run(*(argument.replace("\0", character) for argument in arguments))
    assert run.status in {0, 1, 2}, run.err


LARGE_FILES = [
    ("MAX_TABLES_FILE", ["check", "--live-from", "large"]),
    ("MAX_PLAN_FILE", ["apply", "--plan", "large"]),
    ("MAX_DEPLOY_LOG", ["plan", "--after", "large"]),
]


@pytest.mark.parametrize(("limit", "arguments"), LARGE_FILES, ids=["tables", "plan", "log"])
def test_file_beyond_a_limit(
    committed: Project, monkeypatch: pytest.MonkeyPatch, limit: str, arguments: list[str]
) -> None:
    (committed.repo.path / "lake").mkdir()
    committed.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    monkeypatch.setattr(limits, limit, 1 << 20)
    for file, message in (
        ("large", "more than 1 MiB"), ("/dev/zero", "more than 1 MiB"), (".", "Is a directory"),
    ):  # fmt: skip
        (committed.repo.path / "large").write_bytes(b"x" * ((1 << 20) + 1))
        run = committed.run(*(file if argument == "large" else argument for argument in arguments))
        assert run.status == 2, run.out + run.err
        assert message in run.out + run.err, run.out + run.err


def test_file_of_tables_with_too_many_values(committed: Project) -> None:
    committed.repo.write("tables.json", "[" + "[]," * 1_000_001 + "[]]\n")
    assert "more than 1000000 values" in committed.check("--live-from", "tables.json").out
    committed.repo.write("tables.json", f'{{"format": {"9" * 5_000}}}\n')
    assert "this is not JSON" in committed.check("--live-from", "tables.json").out


def test_pull_into_a_device_ends(committed: Project) -> None:
    table = committed.repo.path / "lake/t"
    write_log(table, [[commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG))]])
    (committed.repo.path / "t.yml").symlink_to("/dev/zero")
    run = committed.run("pull", str(table), "--table", "s.t", "--output", "t.yml")
    assert run.status == 2, run.err
    assert "more than 1 MiB" in run.err, run.err


def test_property_of_thousands_of_digits_is_a_finding(committed: Project) -> None:
    digits = "9" * 6_000
    mapping = {"delta.columnMapping.mode": "id", "delta.columnMapping.maxColumnId": digits}
    table = committed.repo.path / "lake/t"
    write_log(
        table, [[commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG), properties=mapping)]]
    )
    assert committed.run("show", str(table)).status == 0
    run = committed.run("audit", str(table))
    assert run.status == 1, run.err
    assert "999, which is not a number" in run.out.replace("'", ""), run.err
    committed.declare(
        "schemalint: 1\ntable: s.t\nclustered_by: [id]\n"
        f'properties: {{delta.dataSkippingNumIndexedCols: "-{digits}"}}\n'
        "columns:\n  - {name: id, type: bigint}\n"
    )
    run = committed.check("--all")
    assert run.status == 1, run.err
    assert "TP002" in run.out, run.err
