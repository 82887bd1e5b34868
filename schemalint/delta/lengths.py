"""The risks of ``char(n)`` and ``varchar(n)`` inside columns.

Delta stores char and varchar as strings. The lengths inside a column are in one text per top-level column
(``__CHAR_VARCHAR_TYPE_STRING``), which contains the whole type of the column. ALTER COLUMN on the column
rebuilds the type from this text, although the text can be outdated. All facts here are measured on Delta
4.4.0.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable

from schemalint.delta.change import FieldAdded
from schemalint.delta.datatype import (
    Char,
    DataType,
    Field,
    Struct,
    Varchar,
    items_of,
    type_at,
    walk,
    walk_fields,
)
from schemalint.delta.path import Path, PathIndex, lowercased
from schemalint.delta.sql_text import name_error
from schemalint.delta.type_json import RAW_TYPE, read_raw_type
from schemalint.delta.widening import is_container


def has_length(type_: DataType) -> bool:
    """Whether a type is char or varchar, or contains one at any depth."""
    return any(isinstance(inner, Char | Varchar) for _path, inner in walk(type_))


def columns_with_lengths(columns: Struct, removed: Iterable[Path]) -> frozenset[str]:
    """Return the names, in lower case, of the columns that have a length at any depth after the drops."""
    dropped = PathIndex((lowercased(path), None) for path in removed)
    return frozenset(
        str(path[0]).lower()
        for path, inner in walk(columns)
        if isinstance(inner, Char | Varchar) and not dropped.around(lowercased(path))
    )


def loses_lengths(added: FieldAdded, columns: Container[str]) -> bool:
    """Whether a new field with a length inside a column makes Delta lose the lengths that the column has.

    Delta rebuilds the stored text from fields that have lost their lengths. A field without a length does not
    change the text.
    """
    is_inside = len(added.path) > 1 and str(added.path[0]).lower() in columns
    return is_inside and has_length(added.field.type)


def shifted_structs(before: Struct, after: Struct, added: Iterable[FieldAdded]) -> frozenset[Path]:
    """Return the structs, in lower case, in which a field with a length gets a place that had another type.

    A field gets one if another field is added or dropped before it, or if fields are moved. The statement
    leaves the stored text as it is, and Spark finds the lengths in it by position: afterwards writes check
    another field, or fail because there is none. A new field with a length makes Delta write the whole text
    of its column anew.
    """
    rewritten = {str(change.path[0]).lower() for change in added if has_length(change.field.type)}
    return frozenset(
        lowercased(path)
        for path, old in walk(before)
        if isinstance(old, Struct) and path and str(path[0]).lower() not in rewritten
        if isinstance(new := type_at(after, path), Struct) and _moves_lengths(old, new)
    )


def _moves_lengths(old: Struct, new: Struct) -> bool:
    places = {field.name.lower(): index for index, field in enumerate(new.fields)}
    return any(
        has_length(field.type)
        and places.get(field.name.lower()) != index
        and [other.type for other in new.fields[index : index + 1]] != [field.type]
        for index, field in enumerate(old.fields)
    )


def unreadable_names(column: Field) -> tuple[str, ...]:
    """Return the names inside a top-level column for which Spark cannot read the stored text of its types.

    The text of a live column is in its `extra` metadata if it differs from the type, as after a rename.
    """
    text = json.loads(dict(column.extra).get(RAW_TYPE, "null"))
    is_read = read_raw_type(text) is not None if isinstance(text, str) else not has_length(column.type)
    fields = () if is_read else walk_fields(Struct((column,)))
    return tuple(field.name for path, field in fields if len(path) > 1 and name_error(field.name))


def is_lost_if_altered(column: Field) -> bool:
    """Whether ALTER COLUMN on this top-level column damages the table.

    Delta rebuilds the column's type from the stored text. The fields inside then get new column mapping ids,
    so their values read as NULL; widened types revert, so files become unreadable; comments, defaults, NOT
    NULL and recorded type changes inside the column are lost.
    """
    if not (is_container(column.type) and has_length(column.type)):
        return False
    has_fields = any(isinstance(inner, Struct) for _path, inner in walk(column.type))
    return has_fields or bool(items_of(column.type_changes))
