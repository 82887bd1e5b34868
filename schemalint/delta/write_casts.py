"""The data of a write as Delta gets it: matched with the table's columns by name or position, and cast.

Sources: ``DeltaInsertCastSupport``, ``DeltaImplicitCast`` and ``DeltaSink`` of Delta Spark 4.4.0; measured as
in `schemalint.delta.write_effect`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from schemalint.base.values import frozen
from schemalint.delta import writes
from schemalint.delta.datatype import DATE, VOID, Array, DataType, Field, Map, Struct, stored
from schemalint.delta.path import Part, Path
from schemalint.delta.write_columns import is_computed, require_unique
from schemalint.delta.write_errors import DUPLICATE_IN_QUERY, MISMATCH
from schemalint.delta.write_types import (
    Merge,
    RefusedWrite,
    Widens,
    can_cast,
    is_number,
    may_lose,
    never,
)
from schemalint.delta.writes import Method, Mode, Write

_ARITY: Final = "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
_NO_CAST: Final = "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"
_NO_CAST_BUT_FUNCTION: Final = "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION"
_NO_UP_CAST: Final = "CANNOT_UP_CAST_DATATYPE"

Structs: TypeAlias = Callable[[Struct, Struct, Path], Struct]
"""Casts a struct of the data to one of the table."""

_CASTS_BY_NAME: Final = (4, 4)
"""Since when Delta casts what ``saveAsTable`` appends and ``writeTo`` writes (``DeltaImplicitCast``)."""

_WIDENS_BY_POSITION: Final = (4,)
"""The first release that changes a column to the wider type of what goes into it by its position."""

_STREAMS_CAST: Final = (4,)
"""The first release whose streams cast what they write."""

_KEEPS_TYPE_FOR_VOID: Final = (4, 4)
"""The first release that keeps the type of a value for a void column."""


@frozen
class Casts:
    """How the data of a write is matched with a table and cast.

    Attributes:
        table: The columns of the table.
        write: How it is written.
        widens: Which types of the table the write may change.
        merges: Whether the write may change the schema.
        overwrites: Whether the write replaces the schema.
    """

    table: Struct
    write: Write
    widens: Widens
    merges: bool
    overwrites: bool

    def given(self, data: Struct) -> Struct:
        """Return the data as Delta gets it: matched with the table's columns, and cast.

        Raises:
            RefusedWrite: It does not match, or there is no cast.
        """
        method = self.write.method
        if method.is_by_position:
            return data if _reads_as(self.table, data) else self._by_position(data, self.table, ())
        if method.is_by_name_in_sql:
            return self._by_name_in_sql(data)
        if method is Method.STREAM and self.write.delta >= _STREAMS_CAST:
            return self._for_stream(data)
        is_append = method is Method.SAVE_AS_TABLE and self.write.mode is Mode.APPEND
        is_cast = is_append or (method is Method.WRITE_TO and not self.overwrites)
        if is_cast and self.write.delta >= _CASTS_BY_NAME:
            require_unique(data, DUPLICATE_IN_QUERY)
            return self._cast_by_name(data, self.table, ())
        return data

    def _cast_by_name(self, data: Struct, table: Struct, path: Path) -> Struct:
        fields = []
        for new in data.fields:
            old = table.get(new.name)
            if old is not None:
                place = (*path, old.name)
                new = Field(new.name, self._cast(new.type, old.type, place, self._cast_by_name))  # noqa: PLW2901
            fields.append(new)
        return Struct(tuple(fields))

    def _by_position(self, data: Struct, table: Struct, path: Path) -> Struct:
        if len(data.fields) < len(table.fields):
            raise RefusedWrite(_ARITY, path)
        fields = [
            Field(old.name, self._cast(new.type, old.type, (*path, old.name)))
            for new, old in zip(data.fields, table.fields, strict=False)
        ]
        return Struct((*fields, *data.fields[len(table.fields) :]))

    def _by_name_in_sql(self, data: Struct) -> Struct:
        require_unique(data, DUPLICATE_IN_QUERY)
        for column in self.table.fields:
            if data.get(column.name) is None and not column.nullable and not is_computed(column):
                raise RefusedWrite("DELTA_INSERT_COLUMN_MISMATCH", (column.name,))
        fields = []
        for new in data.fields:
            old = self.table.get(new.name)
            if old is None:
                if not self.merges:
                    raise RefusedWrite(MISMATCH, (new.name,))
                fields.append(new)
            else:
                fields.append(Field(old.name, self._cast(new.type, old.type, (old.name,))))
        return Struct(tuple(fields))

    def _for_stream(self, data: Struct) -> Struct:
        widens = self.widens if self.merges else never
        written = Merge(widens, casts=True).structs(self.table, data)
        fields = []
        for new in data.fields:
            target = written.get(new.name)
            fields.append(new if target is None else Field(new.name, target.type))
        return Struct(tuple(fields))

    def _cast(self, new: DataType, old: DataType, path: Path, structs: Structs | None = None) -> DataType:
        """Return the type of a value after it was cast to a column; structs by position, or as told."""
        match new, old:
            case _ if stored(new) == stored(old) or new == old:
                return old
            case Struct(), Struct():
                return (structs or self._by_position)(new, old, path)
            case Array(), Array():
                return Array(self._cast(new.element, old.element, (*path, Part.ELEMENT), structs))
            case Map(), Map():
                key = self._cast(new.key, old.key, (*path, Part.KEY), structs)
                return Map(key, self._cast(new.value, old.value, (*path, Part.VALUE), structs))
        if old == VOID and self.write.delta >= _KEEPS_TYPE_FOR_VOID:
            return new
        is_late = self.write.method.is_by_position and self.write.delta < _WIDENS_BY_POSITION
        if self.merges and not is_late and self.widens(old, new):
            return new
        self.require(new, old, path)
        return old

    def require(self, new: DataType, old: DataType, path: Path) -> None:
        """Require a cast between two leaf types, by the session's ``storeAssignmentPolicy``.

        Raises:
            RefusedWrite: There is none.
        """
        policy = self.write.setting(writes.ASSIGNMENT, "ansi")
        if policy == "strict":
            if may_lose(new, old):
                raise RefusedWrite(_NO_UP_CAST, path)
            return
        if not can_cast(new, old, ansi=policy == "ansi"):
            # For days and numbers, Spark names functions (`Cast.typeCheckFailureMessage`).
            has_function = (is_number(new) and old == DATE) or (new == DATE and is_number(old))
            raise RefusedWrite(_NO_CAST_BUT_FUNCTION if has_function else _NO_CAST, path)


def _reads_as(table: Struct, data: Struct) -> bool:
    """Whether the data fits as it is, by the names in it: then nothing in it is cast or reordered.

    The columns have the names of the table in its order (``needsSchemaAdjustmentByOrdinal``), and no type in
    them differs; fields may come in another order, and further ones too (``SchemaUtils.isReadCompatible``).
    """
    first = data.fields[: len(table.fields)]
    return [new.name for new in first] == [old.name for old in table.fields] and all(
        _type_reads_as(old.type, new.type) for old, new in zip(table.fields, first, strict=True)
    )


def _type_reads_as(old: DataType, new: DataType) -> bool:
    match old, new:
        case Struct(), Struct():
            types = {field.name: field.type for field in new.fields}
            return all(
                field.name in types and _type_reads_as(field.type, types[field.name]) for field in old.fields
            )
        case Array(), Array():
            return _type_reads_as(old.element, new.element)
        case Map(), Map():
            return _type_reads_as(old.key, new.key) and _type_reads_as(old.value, new.value)
    return stored(old) == stored(new)
