"""The type changes that a live field records in ``delta.typeChanges``, and the commits that may change them.

A *record* is the list of entries of one field, or those entries that concern one type inside it. Sources:
PROTOCOL.md, "Type Change Metadata"; ``TypeWideningMetadata.scala`` of Delta Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta import history
from schemalint.delta.change import TypeChanged, TypeHistoryChanged
from schemalint.delta.datatype import (
    BYTE,
    INTEGER,
    SHORT,
    VOID,
    Char,
    DataType,
    Field,
    Managed,
    RecordedChange,
    String,
    Varchar,
    field_at,
    items_of,
    type_at,
)
from schemalint.delta.field_metadata import TYPE_CHANGES, recorded_type
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import Part, Path
from schemalint.delta.table import HistoryEntry

Record = tuple[RecordedChange, ...]
"""Entries of ``delta.typeChanges``, oldest first."""

PartPath = tuple[Part, ...]
"""The collection parts from a field to a type inside it; empty for the field's own type."""

TYPE_WIDENING_FEATURES: Final = frozenset({"typeWidening", "typeWidening-preview"})
"""The features with which readers apply recorded type changes."""

# A write with mergeSchema makes these changes on any table without a record, because Parquet stores all three
# types as INT32 (SchemaMergingUtils.mergeDataTypes; measured on Delta 4.4.0).
_UNRECORDED: Final = frozenset({(BYTE, SHORT), (BYTE, INTEGER), (SHORT, INTEGER)})

_REPLACES: Final = frozenset(
    {
        "CREATE OR REPLACE TABLE",
        "CREATE OR REPLACE TABLE AS SELECT",
        "REPLACE TABLE",
        "REPLACE TABLE AS SELECT",
        "CLONE",
    }
)
_FORGETS: Final = frozenset({"DROP FEATURE", "UPDATE COLUMN METADATA"})
_CAST: Final = "ClassCastException"


@frozen
class RecordFault:
    """The reason why a record cannot be read.

    Attributes:
        reason: The reason, as the rest of a sentence that begins with the record.
        delta_error: The exception or error class that Delta Spark raises on a table that supports type
            widening (measured on Delta 4.4.0).
    """

    reason: str
    delta_error: str


@frozen
class RecordStep:
    """A type and its record before and after a commit.

    Attributes:
        path: The path of the type: of the field, then the collection parts inside it.
        old: The type before the commit.
        new: The type after the commit; equal to `old` if only the record changed.
        before: The record of this type before the commit.
        after: The record of this type after the commit.
    """

    path: Path
    old: DataType
    new: DataType
    before: Record
    after: Record

    @property
    def is_kept(self) -> bool:
        """Whether the commit keeps all earlier entries, at the start of the record."""
        return _pairs(self.after)[: len(self.before)] == _pairs(self.before)

    @property
    def is_recorded(self) -> bool:
        """Whether the new entries form a chain from the old type to the new type."""
        new = self.after[len(self.before) :] if self.is_kept else self.after
        return is_chain(new, self.old, self.new)


def record_of(field: Field, at: PartPath | None = None) -> Record:
    """Return the record of a field, or only the entries for the type at ``at`` inside it.

    The record is empty if it cannot be read; see `is_readable`.
    """
    if at is None:
        return items_of(field.type_changes)
    return _entries(field.type_changes, at)


def is_readable(field: Field) -> bool:
    """Whether schemalint can read the record of a field; true if the field has none."""
    return TYPE_CHANGES not in dict(field.extra)


def record_fault(field: Field) -> RecordFault | None:
    """Return the reason why Delta cannot read the record of a field; None if Delta can.

    Delta can read a record with an unknown ``fieldPath``; see `unknown_field_paths`.
    """
    if is_readable(field):
        return None
    value = _raw(field)
    if value is None:
        return RecordFault("is null", "INTERNAL_ERROR")
    if not isinstance(value, list):
        return RecordFault("is not a list", _CAST)
    if not value:
        return RecordFault("is an empty list; without entries, there must be no key", _CAST)
    return next((fault for entry in value if (fault := _fault(entry))), None)


def unknown_field_paths(field: Field) -> tuple[str, ...]:
    """Return the values of ``fieldPath`` with a word other than ``element``, ``key`` and ``value``."""
    value = None if is_readable(field) or record_fault(field) else _raw(field)
    entries = value if isinstance(value, list) else []
    field_paths = [str(entry["fieldPath"]) for entry in entries if "fieldPath" in entry]
    return tuple(text for text in field_paths if not set(text.split(".")) <= {part.value for part in Part})


def is_chain(record: Record, old: DataType, new: DataType) -> bool:
    """Whether the entries form a chain from one type to the other."""
    ends = bool(record) and same_stored(record[0].from_type, old) and same_stored(record[-1].to_type, new)
    return ends and all(same_stored(entry.to_type, next_.from_type) for entry, next_ in pairwise(record))


def same_stored(old: DataType, new: DataType) -> bool:
    """Whether Delta stores two types alike and records no change: equal types; string, char and varchar."""
    text = String | Char | Varchar
    return old == new or (isinstance(old, text) and isinstance(new, text))


def is_unrecorded_widening(old: DataType, new: DataType) -> bool:
    """Whether a write with mergeSchema makes the type change without type widening and without a record."""
    return (old, new) in _UNRECORDED


def record_steps(step: HistoryStep) -> Iterator[RecordStep]:
    """Yield every type that a commit changes, and every type whose record it changes.

    Types of fields with an unreadable record are omitted.
    """
    if step.entry.metadata is None:
        return
    changes = history.changes(step)
    old_records = {change.path: change.old for change in changes if isinstance(change, TypeHistoryChanged)}
    columns = step.entry.metadata.state.columns
    type_changes = {change.path: change for change in changes if isinstance(change, TypeChanged)}
    for path, change in type_changes.items():
        carrier, at = carrier_of(path)
        field = field_at(columns, carrier)
        if field is not None and is_readable(field):
            old = old_records.get(carrier, field.type_changes)
            yield RecordStep(path, change.old, change.new, _entries(old, at), record_of(field, at))
    for carrier, old in old_records.items():
        field = field_at(columns, carrier)
        if field is None or not is_readable(field):
            continue
        for at in dict.fromkeys(entry.at for entry in (*items_of(old), *record_of(field))):
            type_ = type_at(field.type, at)
            if type_ is not None and (*carrier, *at) not in type_changes:
                yield RecordStep((*carrier, *at), type_, type_, _entries(old, at), record_of(field, at))


def unrecorded_changes(step: HistoryStep) -> Iterator[RecordStep]:
    """Yield the type changes of a commit that need a record and have none."""
    is_off = step.before is None or not step.before.state.enabled("delta.enableTypeWidening")
    for record in record_steps(step):
        needs_none = (
            record.old == VOID
            or same_stored(record.old, record.new)
            or (is_off and is_unrecorded_widening(record.old, record.new))
        )
        if not needs_none and not record.is_recorded:
            yield record


def lost_records(step: HistoryStep) -> Iterator[RecordStep]:
    """Yield the records of which a commit removes entries; DROP FEATURE may, because it rewrites files."""
    if step.entry.operation not in _FORGETS:
        yield from (record for record in record_steps(step) if not record.is_kept)


def carrier_of(path: Path) -> tuple[Path, PartPath]:
    """Split the path of a type into the path of the field with its record and the collection parts below."""
    end = len(path)
    while end and isinstance(path[end - 1], Part):
        end -= 1
    return path[:end], tuple(step for step in path[end:] if isinstance(step, Part))


def replaces_all_files(entry: HistoryEntry) -> bool:
    """Whether a commit replaces all files of the table, judged by its operation; it may then change any type.

    A write with ``overwriteSchema`` is a WRITE with mode Overwrite, or a streaming update with output mode
    Complete. A write that replaces only some partitions or rows has a predicate or
    ``isDynamicPartitionOverwrite``.
    """
    mode = entry.parameters.get("mode", entry.parameters.get("outputMode", ""))
    if mode.lower() not in ("overwrite", "complete"):
        return entry.operation in _REPLACES
    is_partial = entry.parameters.get("isDynamicPartitionOverwrite", "").lower() == "true"
    return not is_partial and entry.parameters.get("predicate", "[]") in ("", "[]", "null", "true")


def is_restore(entry: HistoryEntry) -> bool:
    """Whether a commit restores an older version, with its files and types."""
    return entry.operation == "RESTORE"


def _pairs(record: Record) -> list[tuple[DataType, DataType]]:
    return [(entry.from_type, entry.to_type) for entry in record]


def _entries(type_changes: Managed[Record], at: PartPath) -> Record:
    return tuple(entry for entry in items_of(type_changes) if entry.at == at)


def _raw(field: Field) -> object:
    return json.loads(dict(field.extra)[TYPE_CHANGES])


def _fault(entry: object) -> RecordFault | None:
    if not isinstance(entry, dict):
        return RecordFault("has an entry that is not an object", _CAST)
    for key in ("fromType", "toType"):
        if key not in entry:
            return RecordFault(f"has an entry without {key}", "NoSuchElementException")
        if not isinstance(entry[key], str):
            return RecordFault(f"has an entry whose {key} is not a string", _CAST)
        if recorded_type(entry[key]) is None:
            return RecordFault(f"names {entry[key]!r}, which is not a type", "UNSUPPORTED_DATATYPE")
    if not isinstance(entry.get("fieldPath", ""), str):
        return RecordFault("has a fieldPath that is not a string", _CAST)
    if type(entry.get("tableVersion", 0)) is not int:
        return RecordFault("has a tableVersion that is not a number", _CAST)
    return None


def is_subsequence(part: Iterable[object], whole: Iterable[object]) -> bool:
    """Return whether a record still has all entries of another one, in their order."""
    remaining = iter(whole)
    return all(entry in remaining for entry in part)
