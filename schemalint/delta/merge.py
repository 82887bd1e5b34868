"""Merge the columns of two states of a table: a declaration and a live state, or two revisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Protocol, TypeAlias

from schemalint.delta.datatype import Array, DataType, Field, Managed, Map, Struct, with_inserted
from schemalint.delta.path import Part, Path

Pairing: TypeAlias = Callable[[Struct, Struct, Path], Iterable[tuple[Field, Field | None]]]
"""Returns the left fields that stay, in the order of the result, each with its right field, if any.

It takes the left struct, the right one, and their path.
"""


class Pick(Protocol):
    """Picks what the result has of both sides; paths are those of the result."""

    def both(self, left: Field, right: Field, path: Path, /) -> Field:
        """Return the field for a pair in the struct at a path; `merge` merges its types."""

    def right_alone(self, right: Field, names: Collection[str], path: Path, /) -> Field | None:
        """Return the field for one that only the right side has, if any.

        Args:
            right: The field.
            names: The names of the other fields of the result, in lower case.
            path: The path of the struct.
        """

    def nulls(self, left: Managed[bool], right: Managed[bool], /) -> Managed[bool]:
        """Return the nullability of the elements of an array, or of the values of a map."""

    def leaf(self, left: DataType, right: DataType, path: Path, /) -> DataType:
        """Return the type for two that have no parts in common."""


def merge(left: DataType, right: DataType, pairing: Pairing, pick: Pick, path: Path = ()) -> DataType:
    """Merge two types, and all fields and parts inside them."""

    def part(inner: Part, left: DataType, right: DataType) -> DataType:
        return merge(left, right, pairing, pick, (*path, inner))

    match left, right:
        case Struct(), Struct():
            return merge_columns(left, right, pairing, pick, path)
        case Array(), Array():
            element = part(Part.ELEMENT, left.element, right.element)
            return Array(element, pick.nulls(left.contains_null, right.contains_null))
        case Map(), Map():
            nulls = pick.nulls(left.value_contains_null, right.value_contains_null)
            key, value = part(Part.KEY, left.key, right.key), part(Part.VALUE, left.value, right.value)
            return Map(key, value, nulls)
        case _:
            return pick.leaf(left, right, path)


def merge_columns(left: Struct, right: Struct, pairing: Pairing, pick: Pick, path: Path = ()) -> Struct:
    """Merge two structs: what only the right one has directly follows its predecessor there."""
    fields: list[Field] = []
    names: dict[str, str] = {}
    for field, partner in pairing(left, right, path):
        fields.append(field if partner is None else pick.both(field, partner, path))
        if partner is not None:
            names[partner.name] = fields[-1].name
    taken = {field.name.lower() for field in fields}
    additions: list[tuple[Field, str | None]] = []
    previous: str | None = None
    for field in right.fields:
        if field.name in names:
            previous = names[field.name]
        elif (new := pick.right_alone(field, taken, path)) is not None:
            additions.append((new, previous))
            taken.add(new.name.lower())
            previous = new.name
    return Struct(with_inserted(fields, additions))
