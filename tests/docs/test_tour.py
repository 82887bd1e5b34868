"""The commands of ``docs/tour.md`` print what it shows.

Commands that need tables are compared with the output of the demo (`make tour`); the tests run all others.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.repo import Repo

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
NEEDS_TABLES = re.compile(r"schemalint (plan|apply)\b|--live\b")
# These differ on every run: a commit's id, a plan's hash.
VARIES = (
    (re.compile(r"\bbase [0-9a-f]{7}\b"), "base 0000000"),
    (re.compile(r"\b2:[0-9a-f]{64}\b"), "2:0"),
)


@dataclass(frozen=True)
class ShellCommand:
    """A command and its output."""

    command: str
    output: str


def commands_in(text: str) -> Iterator[ShellCommand]:
    """Return the commands of a console text, without the demo's own remarks."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield ShellCommand(command, re.split(r"^(?:# |Done: )", output, flags=re.MULTILINE)[0].strip())


def page_commands() -> list[ShellCommand]:
    """Return the commands of the page."""
    return [command for block in BLOCKS for command in commands_in(block)]


def normalized(text: str, home: Path | None = None) -> str:
    """Replace everything that differs on every run."""
    if home is not None:
        text = text.replace(str(home), "/home/ada")
    for pattern, replacement in VARIES:
        text = pattern.sub(replacement, text)
    return text


def outputs_match(expected: str, actual: str) -> bool:
    """Return whether a command printed the page's output; a line of three dots matches any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n"
        for line in normalized(expected).splitlines()
    )
    return re.fullmatch(pattern, f"{actual}\n" if actual else "") is not None


def test_the_page_has_both_kinds_of_commands() -> None:
    commands = page_commands()
    assert any(NEEDS_TABLES.search(shell.command) for shell in commands)
    assert any("schemalint check" in shell.command and "error[" in shell.output for shell in commands)


def test_commands_without_tables_print_the_output_shown(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "lakehouse")
    shutil.copytree(ROOT / "examples/lakehouse", repo.path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples/changes", tmp_path / "changes")
    repo.commit()
    for shell in page_commands():
        if NEEDS_TABLES.search(shell.command):
            continue
        process = subprocess.run(
            shlex.split(shell.command),
            cwd=repo.path,
            env={**repo.env, "PATH": _path(), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output = normalized(process.stdout.strip(), tmp_path)
        assert outputs_match(shell.output, output), f"$ {shell.command}\n{output}"


@pytest.mark.demo
def test_the_demo_succeeds_and_prints_the_output_shown(tmp_path: Path) -> None:
    process = subprocess.run(
        ["make", "--no-print-directory", "demo"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.splitlines()[-1].startswith("Done: ")
    stopped, skipped = re.findall(r"^stream to_\w+, .*:\n((?:  .*\n)+)", process.stdout, re.MULTILINE)[-2:]
    assert stopped.splitlines()[-1] == "  stops: DELTA_SOURCE_TABLE_IGNORE_CHANGES"
    assert skipped.splitlines()[-1] == "  reads (4, '7.25', Decimal('7.25'))"
    home = re.search(rf"{re.escape(str(tmp_path))}/schemalint-demo-\w+", process.stdout)
    assert home is not None
    demo_outputs = [
        (shell.command, normalized(shell.output, Path(home[0]))) for shell in commands_in(process.stdout)
    ]
    for shell in page_commands():
        if NEEDS_TABLES.search(shell.command):
            outputs = [output for command, output in demo_outputs if command == shell.command]
            assert any(outputs_match(shell.output, output) for output in outputs), (
                f"$ {shell.command}\n{outputs}"
            )


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
