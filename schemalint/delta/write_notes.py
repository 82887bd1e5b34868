"""What becomes of the values of a write: cast, filled, put elsewhere by their position, or lost."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.values import frozen
from schemalint.delta import writes
from schemalint.delta.datatype import (
    VOID,
    Array,
    Char,
    DataType,
    Field,
    Map,
    Struct,
    Varchar,
    stored,
    walk_fields,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.type_text import print_type
from schemalint.delta.write_columns import is_computed, struct_at
from schemalint.delta.write_errors import NO_VALUE, NULL_IN_ROW
from schemalint.delta.write_types import RefusedWrite, Widens, loses_in_silence, may_lose, rounds
from schemalint.delta.writes import Kind, Method, Note, Write


@frozen
class ValueNotes:
    """The notes of a write into a table."""

    table: Struct
    data: Struct
    write: Write
    widens: Widens

    def all(self, given: Struct) -> tuple[Note, ...]:
        """Return the notes of a write.

        Raises:
            RefusedWrite: A required column is missing in the data.
        """
        missing = () if self.write.keeps_rest else self._of_missing(given)
        return (*missing, *self._of_casts(), *self._of_order())

    def _of_missing(self, given: Struct) -> Iterator[Note]:
        for path, column in walk_fields(self.table):
            parent = given if len(path) == 1 else struct_at(given, path[:-1])
            if parent is None or parent.get(column.name) is not None:
                continue
            if not is_computed(column) and not column.nullable:
                # A MERGE finds out by the rows that it inserts.
                is_merge = self.write.method is Method.MERGE
                raise RefusedWrite(NULL_IN_ROW if is_merge else NO_VALUE, path)
            yield Note(Kind.FILLED, path, f"is missing in the data: {self._filled_with(column)}")

    def _filled_with(self, column: Field) -> str:
        if column.generated or column.identity:
            return "it is computed"
        rows = "new rows get" if self.write.method is Method.MERGE else "it gets"
        if column.default:
            return f"{rows} its default {column.default}"
        return f"{rows} null"

    def _of_casts(self) -> Iterator[Note]:
        for old, new in self._pairs():
            if old.type is not new.type:
                yield from self._of_pair(old, new, (old.name,))
            if not old.nullable:
                yield Note(Kind.MAY_FAIL, (old.name,), "is NOT NULL: a row with a null is refused")

    def _of_pair(self, old: Field, new: Field, path: Path) -> Iterator[Note]:
        if old.type == VOID and new.type != VOID:
            yield Note(Kind.TAKES_TYPE, path, f"has no type so far, and becomes {print_type(new.type)}")
            return
        by_position = self.write.method.is_by_position or self.write.method.is_by_name_in_sql
        for inner, source, target in _leaves(new.type, old.type, path, by_position=by_position):
            if isinstance(target, Char | Varchar):
                yield Note(Kind.MAY_FAIL, inner, f"is {print_type(target)}: a longer text is refused")
                continue
            loses = may_lose(source, target) or loses_in_silence(source, target) or rounds(source, target)
            if loses and not self.widens(target, source):
                yield self._of_cast(source, target, inner)

    def _of_cast(self, source: DataType, target: DataType, path: Path) -> Note:
        cast = f"is {print_type(target)}, and the data has {print_type(source)}"
        if self.write.setting(writes.ASSIGNMENT, "ansi") == "legacy":
            return Note(Kind.LOSES, path, f"{cast}: a value that does not fit becomes null or another one")
        if loses_in_silence(source, target):
            return Note(Kind.LOSES, path, f"{cast}: what does not fit of a value is cut off or rounded")
        if rounds(source, target):
            return Note(Kind.ROUNDS, path, f"{cast}: digits that it cannot hold are rounded")
        return Note(Kind.MAY_FAIL, path, f"{cast}: a value that does not fit is refused")

    def _of_order(self) -> Iterator[Note]:
        if not self.write.method.is_by_position:
            return
        for old, new in self._pairs():
            if old.name.lower() != new.name.lower():
                text = f"takes the values of {new.name}, by their position"
                yield Note(Kind.BY_POSITION, (old.name,), text)

    def _pairs(self) -> Iterator[tuple[Field, Field]]:
        if self.write.method.is_by_position:
            yield from zip(self.table.fields, self.data.fields, strict=False)
            return
        for old in self.table.fields:
            if (new := self.data.get(old.name)) is not None:
                yield old, new


def _leaves(
    source: DataType, target: DataType, path: Path, *, by_position: bool
) -> Iterator[tuple[Path, DataType, DataType]]:
    """Yield the leaf types of a source and of a target that meet and differ."""
    match source, target:
        case Struct(), Struct():
            for number, field in enumerate(target.fields):
                inner = source.get(field.name)
                if by_position:
                    inner = source.fields[number] if number < len(source.fields) else None
                if inner is not None:
                    yield from _leaves(inner.type, field.type, (*path, field.name), by_position=by_position)
        case Array(), Array():
            place = (*path, Part.ELEMENT)
            yield from _leaves(source.element, target.element, place, by_position=by_position)
        case Map(), Map():
            yield from _leaves(source.key, target.key, (*path, Part.KEY), by_position=by_position)
            yield from _leaves(source.value, target.value, (*path, Part.VALUE), by_position=by_position)
        case _ if stored(source) != stored(target) or (
            isinstance(target, Char | Varchar) and source != target
        ):
            yield path, source, target
