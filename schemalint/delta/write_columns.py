"""Columns of a table and of the data that is written into it: found, compared, and refused by Delta."""

from __future__ import annotations

from collections.abc import Iterable

from schemalint.base.values import replace
from schemalint.delta.column_names import invalid_characters
from schemalint.delta.datatype import VOID, DataType, Field, Struct, stored, type_at, walk, walk_fields
from schemalint.delta.path import Path
from schemalint.delta.table import TableState
from schemalint.delta.write_errors import DUPLICATE_IN_DATA, NO_DATA_COLUMN, NO_PARTITION
from schemalint.delta.write_types import RefusedWrite, nullable
from schemalint.delta.writes import Write


def is_computed(column: Field) -> bool:
    """Whether a column that the data lacks has a value: of a default, an expression or a counter."""
    return bool(column.default or column.generated or column.identity)


def has_void(columns: Struct) -> bool:
    """Whether a type of the columns is void, at any depth."""
    return any(type_ == VOID for _, type_ in walk(columns))


def require_unique(data: Struct, error: str = DUPLICATE_IN_DATA) -> None:
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


def require_partitions(data: Struct, table: TableState) -> None:
    """Require the partition columns of a table, and one column more, in data that nothing is added to.

    Raises:
        RefusedWrite: The data lacks them.
    """
    for name in table.partition_columns:
        column = table.columns.get(name)
        if data.get(name) is None and column is not None and not is_computed(column):
            raise RefusedWrite(NO_PARTITION, (name,))
    if are_all(data, table.partition_columns):
        raise RefusedWrite(NO_DATA_COLUMN)


def with_static_partitions(data: Struct, table: TableState, write: Write) -> Struct:
    """Return the data of an INSERT with the partition columns whose values it names, cast to their types.

    Raises:
        RefusedWrite: One of them is no partition column, or the query has it too.
    """
    static = {name.lower() for name in write.static}
    if not static:
        return data
    if isinstance(table.partitioned_by, tuple) and not static <= table.partition_keys:
        raise RefusedWrite("NON_PARTITION_COLUMN")
    columns = table.columns.fields
    if not write.method.is_by_position:
        if any(data.get(name) is not None for name in static):
            raise RefusedWrite("STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST")
        named = (Field(old.name, old.type) for old in columns if old.name.lower() in static)
        return Struct((*data.fields, *named))
    given = iter(data.fields)
    by_position = [
        Field(old.name, old.type) if old.name.lower() in static else next(given, None) for old in columns
    ]
    return Struct((*(new for new in by_position if new is not None), *given))


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


def is_new(path: Path, columns: Struct) -> bool:
    """Whether the columns have no type at a path."""
    return bool(path) and type_at(columns, path) is None


def like_before(new: Field, table: Struct) -> Field:
    """Return a column of the overwritten table: what the data does not say of it, as its comment, is gone."""
    old = table.get(new.name)
    if old is None:
        return new
    return replace(new, column_id=old.column_id, physical_name=old.physical_name)


def are_all(columns: Struct, partitions: Iterable[str]) -> bool:
    """Whether no column is beside those that partition the table."""
    return {field.name.lower() for field in columns.fields} <= {name.lower() for name in partitions}
