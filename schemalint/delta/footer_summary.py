"""The column types in the Parquet footers of data files, and how they relate to the declared types.

Sources: PROTOCOL.md, "Column Mapping" and "Reader Requirements for Type Widening".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from heapq import nsmallest
from typing import Final, TypeVar

from schemalint.base.values import field, frozen
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
from schemalint.delta.path import Part, Path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import carrier_of, is_unrecorded_widening, record_of, same_stored
from schemalint.delta.widening import TypeStep, step

K = TypeVar("K")

EXAMPLES: Final = 3
"""The largest number of file names in `Files`."""
GROUP: Final = Unknown("a group of columns")
"""The stored type if a file has nested columns and the table declares a leaf."""

# Parquet stores all three as INT32; only an annotation has the number of bits in use.
_INT32: Final = frozenset({BYTE, SHORT, INTEGER})
# Some writers omit the annotation that bytes are text.
_BYTES: Final = frozenset({STRING, BINARY})
# The columns inside a variant are not part of the schema, and void has no column in a file.
_OPAQUE: Final = frozenset({VARIANT, VOID})


@frozen
class StoredLeaf:
    """A leaf column in a Parquet footer.

    Attributes:
        path: The path of physical names and collection parts.
        ids: The Parquet field id of each step; None for a step without one.
        type: The Delta type of the leaf; `Unknown` if no Delta type corresponds to it.
    """

    path: Path
    ids: tuple[int | None, ...]
    type: DataType


@frozen
class Files:
    """A set of data files: their number, and the first `EXAMPLES` file names in sorted order."""

    count: int
    examples: tuple[str, ...]


_NO_FILES: Final = Files(0, ())


@frozen
class FooterSummary:
    """The footers of many data files in summary.

    Attributes:
        count: Number of files with a readable footer.
        leaves: The files that contain each leaf.
        damaged: The unreadable files, by reason.
    """

    count: int = 0
    leaves: Mapping[StoredLeaf, Files] = field(default_factory=dict)
    damaged: Mapping[str, Files] = field(default_factory=dict)


class Standing(Enum):
    """How the type in a file relates to the declared type."""

    CURRENT = "as declared"
    RECORDED = "an older type; recorded type changes lead to the declared type"
    """Includes the changes between INT32 integers that Delta makes without a record."""
    UNRECORDED = "a type that Delta can widen to the declared type, without a record of the change"
    UNREADABLE = "a type that Delta cannot read as the declared type"


@frozen
class StoredType:
    """A type that files contain for a column, a nested field or a collection part.

    Attributes:
        path: The logical path: column names, not physical names.
        declared: The type in the table's schema.
        stored: The type in the files.
        standing: How the stored type relates to the declared one.
        files: The files that contain the stored type.
    """

    path: Path
    declared: DataType
    stored: DataType
    standing: Standing
    files: Files


@frozen
class PhysicalTypes:
    """The column types in the data files of a snapshot.

    Attributes:
        count: Number of files with a readable footer.
        types: The stored types in the order of the table's columns; for each path the declared type first.
        damaged: The unreadable files, by reason.
        widened: The paths with recorded type changes, without partition columns: Delta reads their values
            from the log.
    """

    count: int
    types: tuple[StoredType, ...]
    damaged: Mapping[str, Files] = field(default_factory=dict)
    widened: tuple[Path, ...] = ()


def merge_summaries(summaries: Iterable[FooterSummary]) -> FooterSummary:
    """Merge the summaries of disjoint sets of files."""
    count = 0
    leaves: dict[StoredLeaf, Files] = {}
    damaged: dict[str, Files] = {}
    for summary in summaries:
        count += summary.count
        add_files(leaves, summary.leaves)
        add_files(damaged, summary.damaged)
    return FooterSummary(count, leaves, damaged)


def add_files(total: dict[K, Files], more: Mapping[K, Files]) -> None:
    """Add files to a total by key, in place; both must count different files."""
    for key, files in more.items():
        files_so_far = total.get(key, _NO_FILES)
        examples = nsmallest(EXAMPLES, {*files_so_far.examples, *files.examples})
        total[key] = Files(files_so_far.count + files.count, tuple(examples))


def physical_types(table: LiveTable, summary: FooterSummary) -> PhysicalTypes:
    """Compare the footers of a table's data files with its declared columns.

    Ignores partition columns and columns of the files that the table no longer has.
    """
    state = table.state
    by_id = state.column_mapping == "id"
    # Delta 4.4.0 writes partition values into the files too, but reads them from the log.
    partitions = state.partition_columns
    files_of: dict[tuple[Path, DataType], Files] = {}
    for leaf, files in summary.leaves.items():
        column = _declared_column(state.columns, leaf, by_id=by_id)
        if column is not None and column[0][0] not in partitions:
            add_files(files_of, {column: files})
    types = [_stored_type(state.columns, path, type_, files) for (path, type_), files in files_of.items()]
    order = {path: index for index, (path, _type) in enumerate(walk(state.columns))}
    types.sort(key=lambda type_: (order[type_.path], type_.standing.name, str(type_.stored)))
    widened = tuple(path for path in _widened(state.columns) if path[0] not in partitions)
    return PhysicalTypes(summary.count, tuple(types), summary.damaged, widened)


def _declared_column(columns: Struct, leaf: StoredLeaf, *, by_id: bool) -> tuple[Path, DataType] | None:
    """Return the logical path of a leaf with its stored type: `GROUP` if the table declares no fields there.

    None if the table does not have the column, or its content has no declared type.
    """
    declared: DataType = columns
    path: Path = ()
    for name, field_id in zip(leaf.path, leaf.ids, strict=True):
        if declared in _OPAQUE or isinstance(declared, Unknown):
            return None
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
    if declared in _OPAQUE or isinstance(declared, Unknown):
        return None
    return (path, leaf.type)


def _field(struct: Struct, name: str, field_id: int | None) -> Field | None:
    """Return the field that readers match with a file column; Spark ignores case without column mapping."""
    if field_id is not None:
        return next((column for column in struct.fields if column.column_id == field_id), None)
    for column in struct.fields:
        if (column.physical_name or column.name.lower()) == (name if column.physical_name else name.lower()):
            return column
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
    for path, column in walk_fields(columns):
        for at in dict.fromkeys(entry.at for entry in record_of(column)):
            if type_at(column.type, at) is not None:
                yield (*path, *at)
