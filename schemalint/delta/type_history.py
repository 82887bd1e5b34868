"""What a live field's ``delta.typeChanges`` says, and which commits may change it.

Sources: PROTOCOL.md, "Type Change Metadata"; ``TypeWideningMetadata.scala`` of Delta Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from schemalint.delta import history
from schemalint.delta.change import TypeChanged, TypeHistoryChanged
from schemalint.delta.datatype import (
    BYTE,
    INTEGER,
    SHORT,
    Char,
    DataType,
    Field,
    RecordedChange,
    String,
    Varchar,
    field_at,
    type_at,
)
from schemalint.delta.field_metadata import TYPE_CHANGES, recorded_type
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import Part, Path
from schemalint.delta.table import HistoryEntry
from schemalint.values import frozen

Record = tuple[RecordedChange, ...]
Way = tuple[Part, ...]

# mergeSchema makes these of any table and records nothing: all three are stored as INT32
# (SchemaMergingUtils.mergeDataTypes; measured on Delta 4.4.0).
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
_RESTORES: Final = frozenset({"RESTORE"})
_FORGETS: Final = frozenset({"DROP FEATURE", "UPDATE COLUMN METADATA"})


_CAST: Final = "ClassCastException"


@frozen
class RecordFault:
    """Why a record cannot be read.

    Attributes:
        what: The rest of a sentence about it.
        raised: What Delta Spark raises on a table that supports type widening (measured on Delta 4.4.0).
    """

    what: str
    raised: str


@frozen
class RecordStep:
    """One type of a field, and what is recorded of it, before and after a commit.

    Attributes:
        path: Of the type: the field, and the parts of collections in it.
    """

    path: Path
    old: DataType
    new: DataType
    before: Record
    after: Record

    @property
    def is_kept(self) -> bool:
        """Whether all that was recorded still is."""
        return _pairs(self.after)[: len(self.before)] == _pairs(self.before)

    @property
    def is_recorded(self) -> bool:
        """Whether new entries lead from the old type to the new one."""
        new = self.after[len(self.before) :] if self.is_kept else self.after
        return is_chain(new, self.old, self.new)


def record_of(field: Field, way: Way | None = None) -> Record:
    """What could be read of a field's record: all of it, or the entries for one type in it."""
    record = field.type_changes if isinstance(field.type_changes, tuple) else ()
    return record if way is None else tuple(entry for entry in record if entry.at == way)


def is_readable(field: Field) -> bool:
    """Whether all of a field's record could be read; also where it has none."""
    return TYPE_CHANGES not in dict(field.extra)


def record_fault(field: Field) -> RecordFault | None:
    """Why nobody can read a field's record; None if it can be, or only a ``fieldPath`` of it is unknown."""
    if is_readable(field):
        return None
    found = _raw(field)
    if found is None:
        return RecordFault("is null", "INTERNAL_ERROR")
    if not isinstance(found, list):
        return RecordFault("is no list", _CAST)
    if not found:
        return RecordFault("is an empty list, where there should be no key", _CAST)
    return next((fault for entry in found if (fault := _fault(entry))), None)


def unknown_field_paths(field: Field) -> tuple[str, ...]:
    """The texts of ``fieldPath`` that name other things than parts of collections."""
    found = None if is_readable(field) or record_fault(field) else _raw(field)
    entries = found if isinstance(found, list) else []
    ways = [str(entry["fieldPath"]) for entry in entries if "fieldPath" in entry]
    return tuple(way for way in ways if not set(way.split(".")) <= {part.value for part in Part})


def is_chain(record: Record, old: DataType, new: DataType) -> bool:
    """Whether the entries are a chain from one type to the other."""
    ends = bool(record) and same_stored(record[0].from_type, old) and same_stored(record[-1].to_type, new)
    return ends and all(same_stored(one.to_type, next_.from_type) for one, next_ in pairwise(record))


def same_stored(old: DataType, new: DataType) -> bool:
    """Whether two types are stored alike, so that nothing is recorded of the change: all kinds of text."""
    text = String | Char | Varchar
    return old == new or (isinstance(old, text) and isinstance(new, text))


def is_unrecorded_widening(old: DataType, new: DataType) -> bool:
    """Whether a write with mergeSchema makes the change without type widening, and records nothing."""
    return (old, new) in _UNRECORDED


def record_steps(step: HistoryStep) -> Iterator[RecordStep]:
    """Every type of which a commit changed the type itself, or what is recorded of it."""
    if step.entry.metadata is None:
        return
    changes = history.changes(step)
    old_records = {one.path: one.old for one in changes if isinstance(one, TypeHistoryChanged)}
    columns = step.entry.metadata.state.columns
    types = {one.path: one for one in changes if isinstance(one, TypeChanged)}
    for path, change in types.items():
        carrier, way = carrier_of(path)
        field = field_at(columns, carrier)
        if field is not None and is_readable(field):
            old = old_records.get(carrier, field.type_changes)
            yield RecordStep(path, change.old, change.new, _entries(old, way), record_of(field, way))
    for carrier, old in old_records.items():
        field = field_at(columns, carrier)
        if field is None or not is_readable(field):
            continue
        for way in dict.fromkeys(entry.at for entry in (*_record(old), *record_of(field))):
            kept = type_at(field.type, way)
            if kept is not None and (*carrier, *way) not in types:
                yield RecordStep((*carrier, *way), kept, kept, _entries(old, way), record_of(field, way))


def carrier_of(path: Path) -> tuple[Path, Way]:
    """The field that carries the record of a type, and the way from it to the type."""
    end = len(path)
    while isinstance(path[end - 1], Part):
        end -= 1
    return path[:end], tuple(one for one in path[end:] if isinstance(one, Part))


def replaces_all_files(entry: HistoryEntry) -> bool:
    """Whether a commit replaces all files of the table, as far as its operation tells: any type may change.

    ``overwriteSchema`` is a WRITE in the mode Overwrite. One that replaces some partitions or rows only says
    so, and so does Spark's streaming sink in the mode Complete.
    """
    mode = entry.parameters.get("mode", entry.parameters.get("outputMode", ""))
    if mode.lower() not in ("overwrite", "complete"):
        return entry.operation in _REPLACES
    in_part = entry.parameters.get("isDynamicPartitionOverwrite", "").lower() == "true"
    return not in_part and entry.parameters.get("predicate", "[]") in ("", "[]", "null", "true")


def is_restore(entry: HistoryEntry) -> bool:
    """Whether a commit brings an older state back, with the files and types of then."""
    return entry.operation in _RESTORES


def may_remove_record(entry: HistoryEntry) -> bool:
    """Whether a commit may remove what is recorded: DROP FEATURE has rewritten the files with old types."""
    return entry.operation in _FORGETS


def _pairs(record: Record) -> list[tuple[DataType, DataType]]:
    return [(entry.from_type, entry.to_type) for entry in record]


def _record(found: object) -> Record:
    return found if isinstance(found, tuple) else ()


def _entries(found: object, way: Way) -> Record:
    return tuple(entry for entry in _record(found) if entry.at == way)


def _raw(field: Field) -> object:
    return json.loads(dict(field.extra)[TYPE_CHANGES])


def _fault(entry: object) -> RecordFault | None:
    if not isinstance(entry, dict):
        return RecordFault("holds an entry that is no object", _CAST)
    for key in ("fromType", "toType"):
        if key not in entry:
            return RecordFault(f"has an entry without {key}", "NoSuchElementException")
        if not isinstance(entry[key], str):
            return RecordFault(f"has an entry whose {key} is no text", _CAST)
        if recorded_type(entry[key]) is None:
            return RecordFault(f"names {entry[key]!r}, which is no type", "UNSUPPORTED_DATATYPE")
    if not isinstance(entry.get("fieldPath", ""), str):
        return RecordFault("has a fieldPath that is no text", _CAST)
    if type(entry.get("tableVersion", 0)) is not int:
        return RecordFault("has a tableVersion that is no number", _CAST)
    return None
