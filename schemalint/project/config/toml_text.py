"""Read TOML, and find the line of a setting, of which tomllib keeps no position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from schemalint.base import limits
from schemalint.base.document.mistakes import CONFLICT, conflict
from schemalint.base.errors import ConfigError, Location
from schemalint.base.values import frozen
from schemalint.model.contract import table_key

_AT: Final = r" \(at line (\d+), column (\d+)\)$|\s*\(at end of document\)$"
_BARE_VALUE: Final = r"([\w.\"'-]+)\s*=\s*\[?\s*([A-Za-z_][\w./:-]*)"
_COLON: Final = r"([\w.\"'-]+)\s*:\s*(\S.*)"

_WORDS: Final = (
    ("Cannot overwrite a value", "the key is set twice", "remove one of the two lines"),
    ("Cannot declare", "the table is declared twice", "write its keys below one heading"),
    ("Cannot mutate immutable namespace", "the table is declared twice", "write its keys below one heading"),
    ("Illegal character '\\n'", "a quote is not closed in this line", "close it"),
    ("Unclosed array", "the list is not closed, or a comma is missing", "add ], or the comma"),
    ("Expected ']'", "the heading is not closed", "write it as [targets.prod]"),
    ("Expected newline", "something follows the value", "write one setting in each line"),
    ("Invalid statement", "the line is no setting", 'write it as key = "value"'),
)
"""A part of tomllib's message, and that part in the words of the configuration, with help."""
_HEADING: Final = r"\s*\[\[?([^\[\]]+)\]"
_SETTING: Final = r"\s*((?:[\w.-]|\"[^\"]*\"|'[^']*')+)\s*="
_PART: Final = r"\"[^\"]*\"|'[^']*'|[^.\s]+"
_PYPROJECT: Final = ("tool", "schemalint")


def read_toml(file: str, data: bytes) -> Mapping[str, Any]:
    """Return the content of a TOML file.

    Raises:
        ConfigError: The file is not valid TOML, or beyond the limits of what is read.
    """
    import tomllib  # noqa: PLC0415 (3 ms of a check without settings)

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "not valid TOML: the file is not UTF-8", help="save it as UTF-8", location=Location(file, line)
        ) from error
    try:
        _require_short_keys(text)
        content: Mapping[str, Any] = tomllib.loads(text)
        _require_small_values(content)
    except RecursionError:
        raise ConfigError("not valid TOML: it is nested too deeply", location=Location(file)) from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(file, text, str(error)) from error
    except ValueError as error:  # an integer with too many digits, a limit
        raise ConfigError(f"not valid TOML: {error}", location=Location(file)) from error
    return content


def _syntax_error(file: str, text: str, message: str) -> ConfigError:
    lines = text.split("\n")
    if (start := conflict(text)) is not None:
        message, help_text = CONFLICT
        return ConfigError(
            message, help=help_text, location=_line(file, lines, text.count("\n", 0, start) + 1)
        )
    place = re.search(_AT, message)
    what = message[: place.start()] if place else message
    number = int(place[1]) if place and place[1] else _last_setting(lines)
    where = _line(file, lines, number)
    words, help_text = _explained(what, lines[number - 1].strip() if number <= len(lines) else "")
    if words == what and place and place[2]:
        column = int(place[2])
        where = Location(file, number, column, number, column + 1)
    return ConfigError(f"not valid TOML: {words}", help=help_text, location=where)


def _explained(what: str, line: str) -> tuple[str, str]:
    """Return the words for a message of tomllib about a line, and help."""
    if "Expected '='" in what and (colon := re.match(_COLON, line)):
        return "a colon instead of an equals sign", f"write {colon[1]} = {colon[2]}"
    if "Invalid value" in what and (bare := re.match(_BARE_VALUE, line)):
        return f"the value {bare[2]} is not quoted", f'write "{bare[2]}"'
    return next(((words, help_text) for part, words, help_text in _WORDS if part in what), (what, ""))


def _last_setting(lines: list[str]) -> int:
    """Return the last line that sets a key: it is what the end of the file cuts short."""
    return max((number for number, line in enumerate(lines, 1) if "=" in line), default=1)


def _line(file: str, lines: list[str], number: int) -> Location:
    line = lines[number - 1] if number <= len(lines) else ""
    start = len(line) - len(line.lstrip()) + 1
    return Location(file, number, start, number, max(len(line.rstrip()) + 1, start))


def _require_short_keys(text: str) -> None:
    """Refuse dotted keys with many parts: tomllib takes time in proportion to the square of their number."""
    if match := re.search(_LONG_KEY, text):
        line = text.count("\n", 0, match.start()) + 1
        raise ValueError(f"line {line}: a key has more than {limits.MAX_KEY_PARTS} parts")


_KEY_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = rf"(?<![\w-]){_KEY_PART}(?:\.[ \t]*{_KEY_PART}){{{limits.MAX_KEY_PARTS}}}"


def _require_small_values(content: object) -> None:
    """Refuse deep nesting, and integers that TOML does not have: printing a large one is an error."""
    level: list[object] = [content]
    for _ in range(limits.MAX_CONFIG_DEPTH):
        if any(isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 for value in level):
            raise ValueError("an integer has more than 64 bits")
        tables = (value.values() for value in level if isinstance(value, dict))
        arrays = (value for value in level if isinstance(value, list))
        level = [value for values in (*tables, *arrays) for value in values]
        if not level:
            return
    raise ValueError(f"more than {limits.MAX_CONFIG_DEPTH} levels of nesting")


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


def find_option(
    sources: Sequence[tuple[str, str]], path: Sequence[str], value: str, match: str | None
) -> Location | None:
    """Return the line of an option in the last of some files that has it.

    Args:
        sources: The names and texts of the files.
        path: The keys that lead to it.
        value: A text in its value that tells which line it is; empty for the key's.
        match: The glob of the entry of ``[[tables]]`` that has it; None if none has.
    """
    for file, text in reversed(sources):
        positions: Positions | None = Positions(file, text)
        if positions is not None and match is not None:
            positions = positions.within("tables", "match", match)
        if positions is not None and positions.has(path[:1]):
            is_key = bool(value) and positions.has((*path, value))
            if is_key:
                return positions.locate((*path, value))
            return positions.locate(path, value)
    return None


class Positions:
    """The lines of all settings of a file."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._settings: dict[tuple[str, ...], list[_Setting]] = {}
        for setting in _settings(text):
            self._settings.setdefault(setting.path, []).append(setting)

    def within(self, array: str, key: str, value: str) -> Positions | None:
        """Return the settings of the last entry of an array of tables that says ``key = "value"``."""
        starts = [setting.line for setting in self._settings.get((array,), ())]
        with_value = [
            setting.line
            for setting in self._settings.get((array, key), ())
            if any(table_key(value) in table_key(line) for line in setting.lines)
        ]
        if not starts or not with_value:
            return None
        first = max((start for start in starts if start <= with_value[-1]), default=starts[0])
        end = min((start for start in starts if start > first), default=None)
        entry = Positions(self._file, "")
        for path, settings in self._settings.items():
            own = [each for each in settings if each.line >= first and (end is None or each.line < end)]
            if own:
                entry._settings[path] = own
        return entry

    def has(self, path: Sequence[str]) -> bool:
        """Whether a line sets the key, or one below it."""
        return any(known[: len(path)] == tuple(path) for known in self._settings)

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
