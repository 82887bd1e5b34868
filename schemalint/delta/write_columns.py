"""Columns of a table and of the data that is written into it: found, compared, and refused by Delta."""

from __future__ import annotations

from schemalint.delta.column_names import invalid_characters
from schemalint.delta.datatype import VOID, DataType, Field, Struct, type_at, walk, walk_fields
from schemalint.delta.path import Path
from schemalint.delta.write_types import RefusedWrite, nullable, stored


def is_computed(column: Field) -> bool:
    """Whether a column that the data lacks has a value: of a default, an expression or a counter."""
    return bool(column.default or column.generated or column.identity)


def has_void(columns: Struct) -> bool:
    """Whether a type of the columns is void, at any depth."""
    return any(type_ == VOID for _, type_ in walk(columns))


def require_unique(data: Struct, error: str = "DELTA_DUPLICATE_COLUMNS_FOUND") -> None:
    """Refuse two names that differ in case alone.

    Raises:
        RefusedWrite: There are two.
    """
    for path, type_ in walk(data):
        if isinstance(type_, Struct) and not type_.has_unique_names:
            raise RefusedWrite(error, path)


def require_names(columns: Struct, mapping: str) -> None:
    """Refuse names that need column mapping.

    Raises:
        RefusedWrite: The table has none.
    """
    if mapping != "none":
        return
    for path, column in walk_fields(columns):
        if invalid_characters(column.name):
            raise RefusedWrite("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", path)


def is_same(old: DataType, new: DataType) -> bool:
    """Whether two types are the same, whatever is nullable."""
    return nullable(stored(old)) == nullable(stored(new))


def first_difference(before: Struct, after: Struct) -> Path:
    """Return the path of the first field that is new or has another type; empty if there is none."""
    known = {path: field.type for path, field in walk_fields(before)}
    for path, column in walk_fields(after):
        if path not in known or (not isinstance(column.type, Struct) and known[path] != column.type):
            return path
    return ()


def struct_at(columns: Struct, path: Path) -> Struct | None:
    """Return the struct at a path; None if there is none."""
    type_ = type_at(columns, path)
    return type_ if isinstance(type_, Struct) else None
