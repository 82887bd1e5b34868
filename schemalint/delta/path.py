"""Where in a table's schema something is: a column, a nested field, or a part of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import TypeAlias


class Part(Enum):
    """The parts of a collection that have a type of their own.

    The words are those of ``fieldPath`` in ``delta.typeChanges`` (Delta PROTOCOL.md, "Type Change
    Metadata") and of Spark's ``ALTER COLUMN a.element TYPE …``.
    """

    ELEMENT = "element"
    KEY = "key"
    VALUE = "value"


Step: TypeAlias = str | Part
"""A field's name, or a part of a collection: a field that is named "element" is not Part.ELEMENT."""

Path: TypeAlias = tuple[Step, ...]

_PLAIN = re.compile(r"[^\s.`]+")


def format_path(path: Path) -> str:
    """Text for people, e.g. ``lines.element.qty``; names with dots, blanks or back-quotes are back-quoted."""
    return ".".join(step.value if isinstance(step, Part) else _quoted(step) for step in path)


def path_to_json(path: Path) -> list[str | dict[str, str]]:
    """The unambiguous form, e.g. ``["lines", {"in": "element"}, "qty"]``."""
    return [{"in": step.value} if isinstance(step, Part) else step for step in path]


def path_from_json(steps: Iterable[object]) -> Path:
    """The inverse of `path_to_json`.

    Raises:
        ValueError: A step is neither a name nor a part of a collection.
    """
    return tuple(map(_step, steps))


def _step(found: object) -> Step:
    match found:
        case str():
            return found
        case {"in": str(word)}:
            return Part(word)
        case _:
            raise ValueError(f"{found!r} is no step of a path")


def lowercased(path: Path) -> Path:
    """The path to compare by: Delta's names of columns are unique in lower case.

    That is less than Unicode's case folding: ``straße`` and ``strasse`` are two columns
    (``SchemaMergingUtils.checkColumnNameDuplication``; measured on Delta 4.4.0).
    """
    return tuple(step if isinstance(step, Part) else step.lower() for step in path)


def path_key(path: Path) -> tuple[str, ...]:
    """The path as folded words, for what is written without a schema at hand: ``lines.element.qty``."""
    return tuple((step.value if isinstance(step, Part) else step).lower() for step in path)


def split_path(text: str) -> tuple[str, ...]:
    """The inverse of `format_path`, as names only: the schema tells which are parts of collections.

    Raises:
        ValueError: A back-quote is not closed, or a name is empty.
    """
    names: list[str] = []
    position = 0
    while True:
        name, position = _name(text, position)
        names.append(name)
        if position == len(text):
            return tuple(names)
        if text[position] != ".":
            raise ValueError(f"a dot was expected at character {position + 1}")
        position += 1


def _name(text: str, start: int) -> tuple[str, int]:
    if not text.startswith("`", start):
        end = text.find(".", start)
        end = len(text) if end < 0 else end
        if start == end or "`" in text[start:end]:
            raise ValueError(f"a name was expected at character {start + 1}")
        return text[start:end], end
    end = start + 1
    while (end := text.find("`", end)) >= 0:
        if not text.startswith("``", end):
            return text[start + 1 : end].replace("``", "`"), end + 1
        end += 2
    raise ValueError(f"the back-quote at character {start + 1} is not closed")


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"
