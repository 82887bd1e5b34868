"""Field paths: the position of a column, a nested field or a collection part in a table's schema.

A field path is a tuple of steps. The field ``qty`` of the structs in the array ``lines`` has the path
``("lines", Part.ELEMENT, "qty")``, printed as ``lines.element.qty``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from enum import Enum
from typing import Generic, TypeAlias, TypeVar


class Part(Enum):
    """A part of an array or a map that has its own type.

    The values are the words in ``fieldPath`` of ``delta.typeChanges`` (Delta PROTOCOL.md, "Type Change
    Metadata") and in Spark's ``ALTER COLUMN a.element TYPE …``.
    """

    ELEMENT = "element"
    KEY = "key"
    VALUE = "value"


Step: TypeAlias = str | Part
"""A field name or a collection part. A field named "element" is the string, not ``Part.ELEMENT``."""

Path: TypeAlias = tuple[Step, ...]
"""The steps from the table to a field or a collection part; the empty path is the table itself."""

T = TypeVar("T")

_PLAIN = re.compile(r"[^\s.`]+")


def format_path(path: Path) -> str:
    """Format a path for messages: ``lines.element.qty``.

    A name is back-quoted if it contains a dot, whitespace or a back-quote. The text is ambiguous: a field
    named ``element`` and ``Part.ELEMENT`` look alike.
    """
    return ".".join(step.value if isinstance(step, Part) else _quoted(step) for step in path)


def path_to_json(path: Path) -> list[str | dict[str, str]]:
    """Convert a path to its unambiguous JSON form: ``["lines", {"in": "element"}, "qty"]``."""
    return [{"in": step.value} if isinstance(step, Part) else step for step in path]


def path_from_json(steps: Iterable[object]) -> Path:
    """Convert the JSON form of `path_to_json` back to a path.

    Raises:
        ValueError: A step is neither a name nor a collection part.
    """
    return tuple(map(_step, steps))


def _step(step: object) -> Step:
    match step:
        case str():
            return step
        case {"in": str(word)}:
            return Part(word)
        case _:
            raise ValueError(f"{step!r} is not a step of a path")


def lowercased(path: Path) -> Path:
    """Return the path with names in lower case, for comparison: Delta ignores the case of column names.

    Lower case differs from Unicode case folding: Delta accepts ``straße`` and ``strasse`` as two columns
    (``SchemaMergingUtils.checkColumnNameDuplication``; measured on Delta 4.4.0).
    """
    return tuple(step if isinstance(step, Part) else step.lower() for step in path)


def path_key(path: Path) -> tuple[str, ...]:
    """Return the steps as lower-case words, for comparison with paths that are written without a schema.

    A text such as ``lines.element.qty`` does not say whether ``element`` is a field or a collection part; in
    the key both are the word ``element``.
    """
    return tuple((step.value if isinstance(step, Part) else step).lower() for step in path)


def is_within(path: Path, ancestor: Path) -> bool:
    """Whether a path equals ``ancestor`` or leads into it. Case matters: compare `lowercased` paths."""
    return path[: len(ancestor)] == ancestor


def field_names(path: Path) -> tuple[str, ...]:
    """Return the names of the fields on a path in lower case, as an expression uses them: without parts."""
    return tuple(step.lower() for step in path if not isinstance(step, Part))


def prefixes(path: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Yield the paths around a path, the outermost first, and the path itself."""
    return (path[:length] for length in range(len(path) + 1))


class PathIndex(Generic[T]):
    """Values by path, which finds those at, in and around a path without comparing it with each.

    Case matters: compare `lowercased` paths, or keys (`path_key`).
    """

    def __init__(self, items: Iterable[tuple[tuple[Hashable, ...], T]] = ()) -> None:
        """Add the values, each with its path."""
        self._size = 0
        self._at: dict[tuple[Hashable, ...], dict[int, T]] = {}
        self._within: dict[tuple[Hashable, ...], dict[int, T]] = {}
        for path, value in items:
            self.add(path, value)

    def add(self, path: tuple[Hashable, ...], value: T) -> None:
        """Add one value."""
        self._at.setdefault(path, {})[self._size] = value
        for prefix in prefixes(path):
            self._within.setdefault(prefix, {})[self._size] = value
        self._size += 1

    def within(self, path: tuple[Hashable, ...]) -> tuple[T, ...]:
        """Return the values at the path or inside it, in the order in which they were added."""
        return tuple(self._within.get(path, {}).values())

    def around(self, path: tuple[Hashable, ...]) -> tuple[T, ...]:
        """Return the values at the path or around it, the outermost first."""
        return tuple(value for prefix in prefixes(path) for value in self._at.get(prefix, {}).values())

    def overlapping(self, path: tuple[Hashable, ...]) -> tuple[T, ...]:
        """Return the values at, in and around the path, in the order in which they were added."""
        by_number = dict(self._within.get(path, {}))
        for prefix in prefixes(path):
            by_number |= self._at.get(prefix, {})
        return tuple(by_number[number] for number in sorted(by_number))


def split_path(text: str) -> tuple[str, ...]:
    """Split the text of `format_path` into names; only a schema shows which names are collection parts.

    Raises:
        ValueError: A back-quote is not closed, a name is empty, or text follows a closing back-quote.
    """
    names: list[str] = []
    position = 0
    while True:
        name, position = _name(text, position)
        names.append(name)
        if position == len(text):
            return tuple(names)
        if text[position] != ".":
            raise ValueError(f"expected a dot at character {position + 1}")
        position += 1


def _name(text: str, start: int) -> tuple[str, int]:
    if not text.startswith("`", start):
        end = text.find(".", start)
        end = len(text) if end < 0 else end
        if start == end or "`" in text[start:end]:
            raise ValueError(f"expected a name at character {start + 1}")
        return text[start:end], end
    end = start + 1
    while (end := text.find("`", end)) >= 0:
        if not text.startswith("``", end):
            return text[start + 1 : end].replace("``", "`"), end + 1
        end += 2
    raise ValueError(f"the back-quote at character {start + 1} is not closed")


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    return "`" + name.replace("`", "``") + "`"
