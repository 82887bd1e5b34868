"""The history of a column's type: written on any level, kept on the nearest field of a struct.

That is where Delta keeps it (PROTOCOL.md, "Type Change Metadata"): ``fieldPath`` never passes a field.
"""

from __future__ import annotations

from typing import TypeAlias

from schemalint.delta.datatype import Array, DataType, Field, Map, RecordedChange, Struct, parts, with_parts
from schemalint.delta.path import Part, Path
from schemalint.values import frozen, replace


@frozen
class Entry:
    """An entry of ``type_changes``, with the path from the level that it is read on."""

    at: Path
    from_type: DataType
    to_type: DataType


History: TypeAlias = tuple[Entry, ...] | None
"""Oldest first; None where no level has the key."""


def below(part: Part, history: History) -> History:
    """The history of a part, as its collection sees it."""
    if history is None:
        return None
    return tuple(replace(entry, at=(part, *entry.at)) for entry in history)


def joined(first: History, second: History) -> History:
    """Both one after the other."""
    return (first or ()) + (second or ()) if (first, second) != (None, None) else None


def distributed(type_: DataType, entries: tuple[Entry, ...]) -> tuple[DataType, tuple[RecordedChange, ...]]:
    """The type with what belongs to fields inside it, and what belongs to the field that has the type."""
    own: list[RecordedChange] = []
    for entry in entries:
        field, at = split_at_field(entry.at)
        change = RecordedChange(entry.from_type, entry.to_type, at)
        if field:
            type_ = _recorded(type_, field, change)
        else:
            own.append(change)
    return type_, tuple(own)


def split_at_field(path: Path) -> tuple[Path, tuple[Part, ...]]:
    """The path of the field that a path ends in, and the way from there through parts of collections."""
    inside: list[Part] = []
    for step in reversed(path):
        if not isinstance(step, Part):
            break
        inside.insert(0, step)
    return path[: len(path) - len(inside)], tuple(inside)


def _recorded(type_: DataType, field: Path, change: RecordedChange) -> DataType:
    step, rest = field[0], field[1:]
    match type_, step:
        case Struct(fields=fields), str():
            wanted = type_.get(step)
            return Struct(
                tuple(_recorded_on(inner, rest, change) if inner is wanted else inner for inner in fields)
            )
        case Array() | Map(), Part():
            return with_parts(type_, {step: _recorded(dict(parts(type_))[step], rest, change)})
        case _:
            raise AssertionError(f"{step} leads nowhere")  # a path is checked when it is read


def _recorded_on(field: Field, rest: Path, change: RecordedChange) -> Field:
    if rest:
        return replace(field, type=_recorded(field.type, rest, change))
    known = field.type_changes if isinstance(field.type_changes, tuple) else ()
    return replace(field, type_changes=(*known, change))
