"""Footers beside the declared columns: which file type stands for which column, and whether it may.

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
"""What a file holds where a column of one type is declared."""

# All three are INT32 in a file, which says only by an annotation how many of its bits are used.
_INT32: Final = frozenset({BYTE, SHORT, INTEGER})
# Some writers leave out that bytes are text.
_BYTES: Final = frozenset({STRING, BINARY})
# A variant's columns are its own business, and void has none.
_OPAQUE: Final = frozenset({VARIANT, VOID})


def physical_types(table: LiveTable, tally: FooterSummary) -> PhysicalTypes:
    """What a tally says about a table; columns that the table does not have any more are left out."""
    state = table.state
    by_id = (state.properties.get("delta.columnMapping.mode") or "").lower() == "id"
    # Their values stand in the log; Delta 4.4.0 writes them into the files too, and reads them from the log.
    partitions = state.partitioned_by if isinstance(state.partitioned_by, tuple) else ()
    stored: dict[tuple[Path, DataType], Files] = {}
    for leaf, files in tally.leaves.items():
        place = _place(state.columns, leaf, by_id=by_id)
        if place is not None and place[0][0] not in partitions:
            add_files(stored, {place: files})
    found = (_stored_type(state.columns, path, type_, files) for (path, type_), files in stored.items())
    order = {path: index for index, (path, _type) in enumerate(walk(state.columns))}
    return PhysicalTypes(
        tally.count,
        tuple(sorted(found, key=lambda one: (order[one.path], one.standing.name, str(one.stored)))),
        tally.damaged,
        tuple(path for path in _widened(state.columns) if path[0] not in partitions),
    )


def _place(columns: Struct, leaf: StoredLeaf, *, by_id: bool) -> tuple[Path, DataType] | None:
    """The logical path of a leaf, and its type; the type is `GROUP` where there should be no inside."""
    declared: DataType = columns
    path: Path = ()
    for stored, number in zip(leaf.path, leaf.ids, strict=True):
        if declared in _OPAQUE or isinstance(declared, Unknown):
            return None
        if not is_container(declared):
            return path, GROUP
        if isinstance(stored, Part):
            inner = dict(parts(declared)).get(stored)
            if inner is None:
                return path, GROUP
            path, declared = (*path, stored), inner
            continue
        if not isinstance(declared, Struct):
            return path, GROUP
        field_ = _field(declared, stored, number if by_id else None)
        if field_ is None:
            return None
        path, declared = (*path, field_.name), field_.type
    return None if declared in _OPAQUE or isinstance(declared, Unknown) else (path, leaf.type)


def _field(struct: Struct, name: str, number: int | None) -> Field | None:
    """The field that readers take a column of a file for; Spark ignores case where nothing is mapped."""
    if number is not None:
        return next((one for one in struct.fields if one.column_id == number), None)
    for one in struct.fields:
        if (one.physical_name or one.name.lower()) == (name if one.physical_name else name.lower()):
            return one
    return None


def _stored_type(columns: Struct, path: Path, stored: DataType, files: Files) -> StoredType:
    declared = type_at(columns, path)
    carrier, way = carrier_of(path)
    field_ = field_at(columns, carrier)
    record = record_of(field_, way) if field_ else ()
    if declared is None:
        raise ValueError(f"{path} is no path of the table")
    standing = _standing(stored, declared, [one.from_type for one in record])
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
    for path, field_ in walk_fields(columns):
        for way in dict.fromkeys(entry.at for entry in record_of(field_)):
            if type_at(field_.type, way) is not None:
                yield (*path, *way)
