"""Pages that are guides: their files are written, their commands run, and their output is compared.

A block with ``title="FILE"`` is a file, and a ``diff`` with one edits it. A block ``console`` holds commands
after ``$``, and what they print; a line of three dots stands for any lines. Commands of schemalint run in
this process, all others in bash.
"""

from __future__ import annotations

import datetime as dt
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from schemalint.cli import main
from schemalint.review import exceptions
from support.repo import isolated_env

if TYPE_CHECKING:
    import pytest

_BLOCK: Final = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_PLAIN: Final = re.compile(r"schemalint [^|<>&$;]*")
_HOME: Final = "/home/ada"
# These differ on every run: commits, hashes of plans, times.
_VARIES: Final = (
    (re.compile(r"\bbase [0-9a-f]{7}\b"), "base 0000000"),
    (re.compile(r"(?<=RESTORE until )\d{4}-\d{2}-\d{2}"), "2026-12-03"),
    (re.compile(r"\b2:[0-9a-f]{64}\b"), f"2:{'0' * 64}"),
    (re.compile(r"(?<=\[main )(\(root-commit\) )?[0-9a-f]{7}\b"), r"\g<1>0000000"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "2026-01-05 09:00:00"),
    (re.compile(r"\bckpt_-?\d+"), "ckpt_1234567890"),
    (re.compile(r"^applying: .*\n", re.MULTILINE), ""),  # only after some seconds
    (re.compile(r"^note: this schemalint was installed from a folder .*\n", re.MULTILINE), ""),
)


class _Clock(dt.datetime):
    """The day on which the reader reads: approvals on the pages end at some day after it."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
        return dt.datetime(2026, 6, 15, 9, tzinfo=tz)


class Guide:
    """A reader, who has a home with nothing in it and follows pages from top to end."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.folder = home
        self._chdir = monkeypatch.chdir
        monkeypatch.setattr(exceptions, "dt", SimpleNamespace(datetime=_Clock, UTC=dt.UTC))
        environment = {
            **isolated_env(home),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            # commits of the same content have the same id
            **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-05T09:00:00Z"),
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

    def play(self, text: str) -> str:
        """Follow a text; return it with what its commands print now."""
        return _BLOCK.sub(self._play_block, text)

    def run(self, command: str) -> str:
        """Run a command as the reader types it; return what it prints."""
        if command.startswith("cd "):
            self.folder = self.folder / command.removeprefix("cd ")
            return ""
        self._chdir(self.folder)
        text = _in_this_process(command) if _PLAIN.fullmatch(command) else _in_bash(command)
        text = re.sub(r" +$", "", text.replace(str(self.home), _HOME), flags=re.MULTILINE)
        for pattern, replacement in _VARIES:
            text = pattern.sub(replacement, text)
        return text

    def _play_block(self, match: re.Match[str]) -> str:
        language, title, text = match.groups()
        if language == "console":
            commands = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
            return f"```console\n{''.join(map(self._play_command, commands))}```"
        if title:
            file = self.folder / title
            file.parent.mkdir(parents=True, exist_ok=True)
            edited = _edited(file.read_text("utf-8"), text) if language == "diff" else text
            file.write_text(edited, "utf-8")
        return match[0]

    def _play_command(self, shown: str) -> str:
        lines = shown.splitlines(keepends=True)
        last = next(number for number, line in enumerate(lines) if not line.endswith("\\\n"))
        command, expected = "".join(lines[: last + 1]), "".join(lines[last + 1 :])
        return f"$ {command}{as_shown(expected, self.run(command.strip()))}"


def as_shown(shown: str, printed: str) -> str:
    """Return the text of a page if it shows what a command printed, or else what was printed."""
    lines = shown.splitlines(keepends=True)
    pattern = "".join(r"(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in lines)
    return shown if re.fullmatch(pattern, printed) else printed


def _edited(text: str, diff: str) -> str:
    """Return a text with the lines of a diff replaced."""
    lines = [(line[:1], line[1:] + "\n") for line in diff.splitlines()]
    old, new = ("".join(text for sign, text in lines if sign in (" ", kept)) for kept in "-+")
    assert text.count(old) == 1, f"{old}\nis not once in\n{text}"
    return text.replace(old, new)


def _in_this_process(command: str) -> str:
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        main(shlex.split(command)[1:])
    return printed.getvalue().decode()


def _in_bash(command: str) -> str:
    process = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return process.stdout
