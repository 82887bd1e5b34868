"""The recorded type changes of a column: written on any level, stored on the nearest enclosing field.

Delta stores them there too (PROTOCOL.md, "Type Change Metadata"): ``fieldPath`` has only the steps
element, key and value.
"""

from __future__ import annotations

from typing import TypeAlias

from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import Array, DataType, Field, Map, RecordedChange, Struct, parts, with_parts
from schemalint.delta.path import Part, Path


@frozen
class Entry:
    """An entry of ``type_changes``; ``at`` is the path relative to the current level."""

    at: Path
    from_type: DataType
    to_type: DataType


History: TypeAlias = tuple[Entry, ...] | None
"""Oldest first; None if no level has ``type_changes``."""


def below(part: Part, history: History) -> History:
    """Return the history of a part with paths relative to its array or map."""
    if history is None:
        return None
    return tuple(replace(entry, at=(part, *entry.at)) for entry in history)


def joined(first: History, second: History) -> History:
    """Concatenate two histories; None if both are None."""
    return (first or ()) + (second or ()) if (first, second) != (None, None) else None


def distributed(type_: DataType, entries: tuple[Entry, ...]) -> tuple[DataType, tuple[RecordedChange, ...]]:
    """Move the entries of nested fields into the type; return it and the entries of the field itself."""
    own_changes: list[RecordedChange] = []
    for entry in entries:
        field, at = split_at_field(entry.at)
        change = RecordedChange(entry.from_type, entry.to_type, at)
        if field:
            type_ = _recorded(type_, field, change)
        else:
            own_changes.append(change)
    return type_, tuple(own_changes)


def split_at_field(path: Path) -> tuple[Path, tuple[Part, ...]]:
    """Split a path into the path of its innermost field and the parts of arrays and maps below that field."""
    parts_below: list[Part] = []
    for step in reversed(path):
        if not isinstance(step, Part):
            break
        parts_below.insert(0, step)
    return path[: len(path) - len(parts_below)], tuple(parts_below)


def _recorded(type_: DataType, field: Path, change: RecordedChange) -> DataType:
    step, rest = field[0], field[1:]
    match type_, step:
        case Struct(fields=fields), str():
            target = type_.get(step)
            return Struct(
                tuple(_recorded_on(inner, rest, change) if inner is target else inner for inner in fields)
            )
        case Array() | Map(), Part():
            return with_parts(type_, {step: _recorded(dict(parts(type_))[step], rest, change)})
        case _:
            raise AssertionError(f"{type_} has no {step}")  # paths are checked when they are read


def _recorded_on(field: Field, rest: Path, change: RecordedChange) -> Field:
    if rest:
        return replace(field, type=_recorded(field.type, rest, change))
    earlier = field.type_changes if isinstance(field.type_changes, tuple) else ()
    return replace(field, type_changes=(*earlier, change))
