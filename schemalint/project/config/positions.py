"""The line of a setting in a configuration file, of which tomllib keeps no positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from schemalint.base.errors import Location
from schemalint.base.values import frozen
from schemalint.model.contract import table_key

_HEADING: Final = r"\s*\[\[?([^\[\]]+)\]"
_SETTING: Final = r"\s*((?:[\w.-]|\"[^\"]*\"|'[^']*')+)\s*="
_PART: Final = r"\"[^\"]*\"|'[^']*'|[^.\s]+"
_PYPROJECT: Final = ("tool", "schemalint")


@frozen
class _Setting:
    """A key or a heading, with the lines up to the next one."""

    path: tuple[str, ...]
    line: int
    column: int
    lines: tuple[str, ...]


def locate(file: str, text: str, path: Sequence[str]) -> Location:
    """Return the line that sets a key, or the line of the nearest table around it."""
    return Positions(file, text).locate(path)


def find_word(sources: Sequence[tuple[str, str]], word: str) -> Location | None:
    """Return where the last of some files names a word, as a key or in quotes; None if none does.

    Only errors ask: a file can name so many words that their lines take long to find.
    """
    pattern = re.compile(rf"^[^#\n]*?(?<![\w-])({re.escape(word)})(?![\w-])", re.MULTILINE)
    for file, text in reversed(sources):
        if word and (match := pattern.search(text)):
            line, start = text.count("\n", 0, match.start(1)) + 1, match.start(1)
            column = start - (text.rfind("\n", 0, start) + 1) + 1
            return Location(file, line, column, line, column + len(word))
    return None


class Positions:
    """The lines of all settings of a file.

    Args:
        file: The file's name in the locations.
        text: The file's text.
    """

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._settings: dict[tuple[str, ...], list[_Setting]] = {}
        for setting in _settings(text):
            self._settings.setdefault(setting.path, []).append(setting)

    def locate(self, path: Sequence[str], value: str = "") -> Location:
        """Return the line that sets a key, or the line of the nearest table around it.

        Args:
            path: The key, as in ``("targets", "prod", "root")``.
            value: A text in the key's value, compared as table names are: then the line that has it.
        """
        prefixes = (tuple(path[:length]) for length in range(len(path), 0, -1))
        nearest = next((self._settings[prefix] for prefix in prefixes if prefix in self._settings), None)
        if nearest is None:
            return Location(self._file)
        for setting in nearest if value else ():
            for number, line in enumerate(setting.lines, setting.line):
                if table_key(value) in table_key(line):
                    column = max(line.find(value), 0) + 1
                    return Location(self._file, number, column, number, column + len(value))
        first = nearest[0]
        end = first.column + len(first.path[-1])
        return Location(self._file, first.line, first.column, first.line, end)


def _settings(text: str) -> Iterator[_Setting]:
    """Yield the keys and headings with their paths from the top of the settings."""
    lines = text.splitlines()
    starts: list[tuple[int, int, tuple[str, ...]]] = []
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines):
        if heading := re.match(_HEADING, line):
            table = _parts(heading[1])
            starts.append((number, heading.start(1), table))
        elif setting := re.match(_SETTING, line):
            starts.append((number, setting.start(1), (*table, *_parts(setting[1]))))
    for (number, column, path), (end, *_) in pairwise([*starts, (len(lines), 0, ())]):
        own = path[len(_PYPROJECT) :] if path[: len(_PYPROJECT)] == _PYPROJECT else path
        if own:
            yield _Setting(own, number + 1, column + 1, tuple(lines[number:end]))


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))
