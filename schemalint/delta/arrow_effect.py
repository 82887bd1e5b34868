"""What a write of delta-rs does to a table: ``write_deltalake`` with its modes.

Measured on deltalake 1.6.6: the tests compare every answer in ``tests/engine/arrow_writes.csv``. It casts
whatever Arrow can cast, in silence, and knows no widening.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    SHORT,
    TIMESTAMP,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    String,
    Struct,
    Unknown,
    stored,
    walk,
    walk_fields,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container
from schemalint.delta.write_columns import are_all
from schemalint.delta.write_types import (
    RefusedWrite,
    UnknownWrite,
    is_number,
    loses_in_silence,
    may_lose,
    nullable_field,
    rounds,
)
from schemalint.delta.writes import Effect, Kind, Mode, Note

WRITTEN: Final = frozenset(
    {"appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns", "timestampNtz"}
)
"""The features of a table that delta-rs writes, as far as measured."""

NOT_WRITTEN: Final = frozenset({"allowColumnDefaults", "identityColumns", "typeWidening"})
"""The features for which it refuses every write."""

_REFUSED: Final = "SchemaMismatchError"
_NO_DATES: Final = (BYTE, SHORT, FLOAT, DOUBLE)
"""The numbers, beside decimals, between which and dates Arrow has no cast."""
_ASKED: Final = (String(), DATE, TIMESTAMP)
"""The types, beside numbers, whose casts somebody has asked for."""


@frozen
class ArrowWrite:
    """The arguments of ``write_deltalake``.

    Attributes:
        mode: ``append`` or ``overwrite``.
        schema_mode: ``merge``, ``overwrite`` or None.
        has_predicate: Whether only the rows of a predicate are overwritten.
    """

    mode: Mode = Mode.APPEND
    schema_mode: str | None = None
    has_predicate: bool = False


def arrow_effect(table: TableState, features: frozenset[str], data: Struct, write: ArrowWrite) -> Effect:
    """Return what a write of delta-rs does to a table that exists."""
    try:
        return _effect(table, features, data, write)
    except RefusedWrite as refused:
        return Effect(table, error=refused.error, path=refused.path)
    except UnknownWrite as unknown:
        return Effect(table, unknown=str(unknown))


def _effect(table: TableState, features: frozenset[str], data: Struct, write: ArrowWrite) -> Effect:
    if write.schema_mode not in {None, "merge", "overwrite"}:
        raise UnknownWrite(f"there is no schema_mode {write.schema_mode!r}")
    if not data.has_unique_names:
        raise RefusedWrite("Duplicate field name (case-insensitive)")
    if refused := sorted(features & NOT_WRITTEN):
        raise RefusedWrite(f"Unsupported table features required: {refused[0]}")
    if unknown := sorted(features - WRITTEN - {"columnMapping"}):
        raise UnknownWrite(f"nobody has asked what delta-rs does with {', '.join(unknown)}")
    if any(type_ == VOID or isinstance(type_, Unknown) for _, type_ in walk(data)):
        raise UnknownWrite("the data has a type that no column of Delta has")
    if write.schema_mode == "overwrite" and write.mode is Mode.OVERWRITE:
        return _overwritten(table, data, write)
    if write.schema_mode is None:
        _require_same_fields(table.columns, data, ())
        return Effect(table, notes=tuple(_notes(table.columns, data)))
    return _merged(table, data)


def _overwritten(table: TableState, data: Struct, write: ArrowWrite) -> Effect:
    if _is_mapped(table) and _by_name(data) != _by_name(table.columns):
        raise RefusedWrite("Schema evolution on column-mapped tables is not yet supported")
    computed = [old for old in table.columns.fields if old.generated and data.get(old.name) is None]
    given = Struct((*data.fields, *computed))
    if _by_name(given) == _by_name(table.columns) and not _has_required(table.columns):
        return Effect(table)
    new_names = {field.name for field in data.fields}
    if write.has_predicate and not {field.name for field in table.columns.fields} & new_names:
        raise RefusedWrite("Schema error: No field named as in the predicate")
    if missing := [name for name in table.partition_columns if name not in new_names]:
        raise RefusedWrite(f"Generic error: Partition column(s) not found in write schema: {missing[0]}")
    if are_all(data, table.partition_columns):
        raise RefusedWrite("Generic DeltaTable error: failed to build partitioned record")
    return Effect(replace(table, columns=Struct(tuple(map(nullable_field, data.fields)))))


def _by_name(columns: Struct) -> object:
    """Return columns as a value that does not depend on their order and nullability."""
    return frozenset((field.name, _unordered(field.type)) for field in columns.fields)


def _unordered(type_: DataType) -> object:
    match type_:
        case Struct():
            return _by_name(type_)
        case Array(element=element):
            return ("array", _unordered(element))
        case Map(key=key, value=value):
            return ("map", _unordered(key), _unordered(value))
    return type_


def _has_required(columns: Struct) -> bool:
    return any(not field.nullable for _, field in walk_fields(columns))


def _is_mapped(table: TableState) -> bool:
    return table.column_mapping != "none"


def _require_same_fields(table: Struct, data: Struct, path: Path) -> None:
    """Refuse other fields than those of the table: without a schema mode, the names must be the same."""
    missing = [field for field in table.fields if data.get(field.name) is None and not field.generated]
    if missing or len(data.fields) > len(table.fields):
        raise RefusedWrite(f"{_REFUSED}: number of fields does not match", path)
    for new in data.fields:
        old = next((field for field in table.fields if field.name == new.name), None)
        if old is None:
            raise RefusedWrite(f"{_REFUSED}: Field {new.name} not found in schema", path)
        _require_castable(old.type, new.type, (*path, new.name))


def _require_castable(old: DataType, new: DataType, path: Path) -> None:
    match old, new:
        case Struct(), Struct():
            _require_same_fields(old, new, path)
        case Array(), Array():
            _require_castable(old.element, new.element, (*path, Part.ELEMENT))
        case Map(), Map():
            _require_castable(old.key, new.key, (*path, Part.KEY))
            _require_castable(old.value, new.value, (*path, Part.VALUE))
        case _ if is_container(old) or is_container(new):
            raise RefusedWrite(f"{_REFUSED}: Cannot cast field", path)
        case _:
            _require_cast(old, new, path)


def _require_cast(old: DataType, new: DataType, path: Path) -> None:
    """Refuse leaf types between which Arrow has no cast; of some pairs nobody has asked."""
    types = {stored(old), stored(new)}
    if len(types) == 1 or all(map(is_number, types)):
        return
    if DATE in types and any(type_ in _NO_DATES or isinstance(type_, Decimal) for type_ in types):
        raise RefusedWrite(f"{_REFUSED}: Cannot cast field", path)
    if unknown := [type_ for type_ in types if not (is_number(type_) or type_ in _ASKED)]:
        raise UnknownWrite(f"nobody has asked how delta-rs casts {print_type(unknown[0])}")


def _merged(table: TableState, data: Struct) -> Effect:
    columns = _merged_struct(table.columns, data, ())
    if columns != table.columns and _is_mapped(table):
        raise RefusedWrite("Schema evolution on column-mapped tables is not yet supported")
    if columns != table.columns and table.partition_columns:
        columns = _with_partitions_last(columns, table)
    return Effect(replace(table, columns=columns), notes=tuple(_notes(table.columns, data)))


def _with_partitions_last(columns: Struct, table: TableState) -> Struct:
    """Return merged columns in their order: the table's own without a partition, its partitions, new ones."""
    known = [field for field in columns.fields if table.columns.get(field.name) is not None]
    new = [field for field in columns.fields if table.columns.get(field.name) is None]
    partitions = [field for field in known if field.name.lower() in table.partition_keys]
    unpartitioned = [field for field in known if field.name.lower() not in table.partition_keys]
    return Struct((*unpartitioned, *partitions, *new))


def _merged_struct(table: Struct, data: Struct, path: Path) -> Struct:
    fields = []
    for old in table.fields:
        new = data.get(old.name)
        if new is not None and new.name != old.name:
            raise RefusedWrite(f"Duplicate field name (case-insensitive): {new.name!r}", path)
        if new is None and not old.nullable:
            raise RefusedWrite("Invalid data found", (*path, old.name))
        fields.append(
            old if new is None else replace(old, type=_merged_type(old.type, new.type, (*path, old.name)))
        )
    fields += [nullable_field(new) for new in data.fields if table.get(new.name) is None]
    return Struct(tuple(fields))


def _merged_type(old: DataType, new: DataType, path: Path) -> DataType:
    match old, new:
        case Struct(), Struct():
            return _merged_struct(old, new, path)
        case Array(), Array():
            return replace(old, element=_merged_type(old.element, new.element, (*path, Part.ELEMENT)))
        case Map(), Map():
            if _lacks_fields(old.value, new.value):
                raise RefusedWrite("This feature is not implemented", path)
            key = _merged_type(old.key, new.key, (*path, Part.KEY))
            return replace(old, key=key, value=_merged_type(old.value, new.value, (*path, Part.VALUE)))
        case _ if is_container(old) or is_container(new):
            raise RefusedWrite("This feature is not implemented: Unsupported CAST", path)
        case _:
            _require_cast(old, new, path)
    return old


def _lacks_fields(old: DataType, new: DataType) -> bool:
    if isinstance(old, Struct) and isinstance(new, Struct):
        return any(new.get(field.name) is None for field in old.fields)
    return False


def _notes(table: Struct, data: Struct, path: Path = ()) -> Iterator[Note]:
    for old in table.fields:
        new, place = data.get(old.name), (*path, old.name)
        if new is None:
            yield Note(Kind.FILLED, place, "is missing in the data: it gets null")
        elif isinstance(old.type, Struct) and isinstance(new.type, Struct):
            yield from _notes(old.type, new.type, place)
        else:
            yield from _note_of_cast(old, new, place)


def _note_of_cast(old: Field, new: Field, path: Path) -> Iterator[Note]:
    source, target = new.type, old.type
    if not old.nullable:
        yield Note(Kind.MAY_FAIL, path, "is NOT NULL: a row with a null is refused")
    if stored(source) == stored(target):
        if source != target:
            yield Note(Kind.LOSES, path, f"is {print_type(target)}, and delta-rs checks no length")
        return
    cast = f"is {print_type(target)}, and delta-rs casts {print_type(source)} to it in silence"
    if loses_in_silence(source, target) or is_number(source) != is_number(target):
        yield Note(Kind.LOSES, path, cast)
    elif rounds(source, target):
        yield Note(Kind.ROUNDS, path, f"{cast}: digits that it cannot hold are rounded")
    elif may_lose(source, target):
        yield Note(Kind.MAY_FAIL, path, f"{cast}: a value that does not fit is refused")
