"""Take entries of ``[[removed]]`` out of the text of a configuration; the rest of it stays as it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from itertools import accumulate, pairwise
from typing import Any, Final

from schemalint.model.contract import table_key

_HEADING: Final = r"[ \t]*\["
_COMMENT: Final = r"[ \t]*#"
_REMOVED: Final = r"[ \t]*\[\[[ \t]*(?:tool[ \t]*\.[ \t]*schemalint[ \t]*\.[ \t]*)?removed[ \t]*\]\]"


def removed_spans(text: str, tables: Collection[str]) -> tuple[tuple[int, int], ...]:
    """Return the offsets of the lines to cut, so that the entries of some tables are gone.

    The comments right above an entry belong to it. The cut is proven: the settings without these lines are
    those of before without the entries. Nothing is cut from a layout in which they are not, such as
    ``removed = [{…}]``.

    Args:
        text: The text of a ``schemalint.toml`` or ``pyproject.toml``.
        tables: The keys of the tables.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    offsets = [*accumulate(map(len, lines), initial=0)]
    spans = tuple((offsets[first], offsets[end]) for first, end in _entries(lines, tables))
    kept = "".join(text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *spans, (len(text), 0)]))
    return spans if _is_proven(text, kept, tables) else ()


def _entries(lines: list[str], tables: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each entry and the one after its last, with the blank lines on one side."""
    headings = [number for number, line in enumerate(lines) if re.match(_HEADING, line)]
    last = 0
    for heading, following in pairwise([*headings, len(lines)]):
        start, end = heading, following
        while end < len(lines) and re.match(_COMMENT, lines[end - 1]):
            end -= 1  # the comments of the next heading
        if not re.match(_REMOVED, lines[heading]) or not _is_of("".join(lines[heading:end]), tables):
            continue
        while start > last and re.match(_COMMENT, lines[start - 1]):
            start -= 1
        while end == len(lines) and start > last and not lines[start - 1].strip():
            start -= 1
        yield start, end
        last = end


def _is_of(block: str, tables: Collection[str]) -> bool:
    try:
        entries = _list(tomllib.loads(block))
    except tomllib.TOMLDecodeError:
        return False
    return any(_table(entry) in tables for entry in entries)


def _is_proven(before: str, after: str, tables: Collection[str]) -> bool:
    try:
        expected, found = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    entries = _list(expected)
    entries[:] = [entry for entry in entries if _table(entry) not in tables]
    return _without_empty(expected) == _without_empty(found)


def _settings(content: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a ``pyproject.toml``; other files have nothing else."""
    settings = content.get("tool", {}).get("schemalint", content)
    return settings if isinstance(settings, dict) else {}


def _list(content: dict[str, Any]) -> list[Any]:
    found = _settings(content).get("removed")
    return found if isinstance(found, list) else []


def _table(entry: object) -> str | None:
    table = entry.get("table") if isinstance(entry, dict) else None
    return table_key(table) if isinstance(table, str) else None


def _without_empty(content: dict[str, Any]) -> dict[str, Any]:
    """Leave an empty list out; without its last entry the section of a ``pyproject.toml`` can be gone too."""
    if not _list(content):
        _settings(content).pop("removed", None)
    if content.get("tool", {}).get("schemalint") == {}:
        del content["tool"]["schemalint"]
    if content.get("tool") == {}:
        del content["tool"]
    return content
