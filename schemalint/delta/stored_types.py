"""Compare the types in Parquet footers with the declared columns.

Sources: PROTOCOL.md, "Column Mapping" and "Reader Requirements for Type Widening".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.datatype import (
    BINARY,
    BYTE,
    INTEGER,
    SHORT,
    STRING,
    VARIANT,
    VOID,
    DataType,
    Field,
    Struct,
    Unknown,
    field_at,
    parts,
    type_at,
    walk,
    walk_fields,
)
from schemalint.delta.footer_summary import (
    Files,
    FooterSummary,
    PhysicalTypes,
    Standing,
    StoredLeaf,
    StoredType,
    add_files,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import carrier_of, is_unrecorded_widening, record_of, same_stored
from schemalint.delta.widening import TypeStep, is_container, step

GROUP: Final = Unknown("a group of columns")
"""The stored type if a file has nested columns and the table declares a leaf."""

# Parquet stores all three as INT32; only an annotation has the number of bits in use.
_INT32: Final = frozenset({BYTE, SHORT, INTEGER})
# Some writers omit the annotation that bytes are text.
_BYTES: Final = frozenset({STRING, BINARY})
# The columns inside a variant are not part of the schema, and void has no column in a file.
_OPAQUE: Final = frozenset({VARIANT, VOID})


def physical_types(table: LiveTable, summary: FooterSummary) -> PhysicalTypes:
    """Compare the footers of a table's data files with its declared columns.

    Ignores partition columns and columns of the files that the table no longer has.
    """
    state = table.state
    by_id = state.column_mapping == "id"
    # Delta 4.4.0 writes partition values into the files too, but reads them from the log.
    partitions = state.partitioned_by if isinstance(state.partitioned_by, tuple) else ()
    files_of: dict[tuple[Path, DataType], Files] = {}
    for leaf, files in summary.leaves.items():
        column = _declared_column(state.columns, leaf, by_id=by_id)
        if column is not None and column[0][0] not in partitions:
            add_files(files_of, {column: files})
    stored = (_stored_type(state.columns, path, type_, files) for (path, type_), files in files_of.items())
    order = {path: index for index, (path, _type) in enumerate(walk(state.columns))}
    return PhysicalTypes(
        summary.count,
        tuple(sorted(stored, key=lambda type_: (order[type_.path], type_.standing.name, str(type_.stored)))),
        summary.damaged,
        tuple(path for path in _widened(state.columns) if path[0] not in partitions),
    )


def _declared_column(columns: Struct, leaf: StoredLeaf, *, by_id: bool) -> tuple[Path, DataType] | None:
    """Return the logical path of a leaf with its stored type: `GROUP` if the table declares no fields there.

    None if the table does not have the column, or its content has no declared type.
    """
    declared: DataType = columns
    path: Path = ()
    for name, field_id in zip(leaf.path, leaf.ids, strict=True):
        if declared in _OPAQUE or isinstance(declared, Unknown):
            return None
        if not is_container(declared):
            return path, GROUP
        if isinstance(name, Part):
            inner = dict(parts(declared)).get(name)
            if inner is None:
                return path, GROUP
            path, declared = (*path, name), inner
            continue
        if not isinstance(declared, Struct):
            return path, GROUP
        field = _field(declared, name, field_id if by_id else None)
        if field is None:
            return None
        path, declared = (*path, field.name), field.type
    return None if declared in _OPAQUE or isinstance(declared, Unknown) else (path, leaf.type)


def _field(struct: Struct, name: str, field_id: int | None) -> Field | None:
    """Return the field that readers match with a file column; Spark ignores case without column mapping."""
    if field_id is not None:
        return next((field for field in struct.fields if field.column_id == field_id), None)
    for field in struct.fields:
        if (field.physical_name or field.name.lower()) == (name if field.physical_name else name.lower()):
            return field
    return None


def _stored_type(columns: Struct, path: Path, stored: DataType, files: Files) -> StoredType:
    declared = type_at(columns, path)
    carrier, at = carrier_of(path)
    field = field_at(columns, carrier)
    record = record_of(field, at) if field else ()
    if declared is None:
        raise ValueError(f"{path} is not a path of the table")
    standing = _standing(stored, declared, [entry.from_type for entry in record])
    return StoredType(path, declared, stored, standing, files)


def _standing(stored: DataType, declared: DataType, recorded: list[DataType]) -> Standing:
    if same_stored(stored, declared) or {stored, declared} <= _BYTES:
        return Standing.CURRENT
    if any(stored == old or is_unrecorded_widening(stored, old) for old in (*recorded, declared)):
        return Standing.RECORDED
    if {stored, declared} <= _INT32:
        return Standing.CURRENT
    if step(stored, declared) == TypeStep.WIDENING:
        return Standing.UNRECORDED
    return Standing.UNREADABLE


def _widened(columns: Struct) -> Iterator[Path]:
    for path, field in walk_fields(columns):
        for at in dict.fromkeys(entry.at for entry in record_of(field)):
            if type_at(field.type, at) is not None:
                yield (*path, *at)
