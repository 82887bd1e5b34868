"""Columns as written to fields: type text, and types that are written out level by level."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from schemalint.contract.native import format as native
from schemalint.contract.native.places import Report
from schemalint.contract.native.texts import path_in, read_date
from schemalint.document import Path as YamlPath
from schemalint.model import table
from schemalint.model.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Identity,
    Managed,
    Map,
    RecordedChange,
    Struct,
    with_parts,
)
from schemalint.model.path import Part, Path
from schemalint.model.typetext import TypeTextError, parse_type

Spec: TypeAlias = native.Column | native.Part

# The words that stand for a type written out, with the keys that write it out.
WRITTEN_OUT: Final[dict[str, tuple[str, ...]]] = {
    "struct": ("columns",),
    "array": ("element",),
    "map": ("key", "value"),
}
_EXAMPLES: Final = {"struct": "struct<name: type>", "array": "array<type>", "map": "map<type, type>"}
_TYPE_WORDS: Final = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "char",
    "varchar", "binary", "date", "timestamp", "timestamp_ntz", "variant", "void", "array", "map", "struct",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of ``type_changes``, with the path from where it was written."""

    at: Path
    from_type: DataType
    to_type: DataType


@dataclass(frozen=True, slots=True)
class _Typed:
    """A type as written, with the history that is kept in it; None where no level has the key."""

    type: DataType
    history: tuple[_Entry, ...] | None = None


class ColumnReader:
    """Makes fields of columns, and notes what is wrong with them."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.deprecated: dict[Path, table.Deprecation] = {}

    def struct(self, columns: list[native.Column], place: YamlPath, parent: Path) -> Struct:
        """The fields of a table or of a struct.

        Args:
            columns: As written.
            place: Where the list stands.
            parent: The path of the struct.
        """
        return Struct(
            tuple(self._field(column, (*place, index), parent) for index, column in enumerate(columns))
        )

    def _field(self, column: native.Column, place: YamlPath, parent: Path) -> Field:
        path = (*parent, column["name"])
        typed = self._typed(column, place, path)
        type_, changes = _distributed(typed)
        if "deprecated" in column:
            self.deprecated[path] = self._deprecation(column["deprecated"], (*place, "deprecated"))
        return Field(
            column["name"],
            type_,
            nullable=column.get("nullable", True),
            comment=column.get("comment", UNMANAGED),
            default=column.get("default", UNMANAGED),
            generated=column.get("generated", UNMANAGED),
            identity=_identity(column["identity"]) if "identity" in column else UNMANAGED,
            type_changes=changes,
            renamed_from=column.get("renamed_from"),
        )

    def _typed(self, spec: Spec, place: YamlPath, path: Path) -> _Typed:
        word = spec["type"].strip().lower()
        self._check_parts(spec, word, place)
        typed = self._written_out(spec, word, place, path) if word in WRITTEN_OUT else self._text(spec, place)
        if "type_changes" not in spec:
            return typed
        own = (
            self._entry(entry, typed.type, (*place, "type_changes", index))
            for index, entry in enumerate(spec["type_changes"])
        )
        return replace(typed, history=(*(entry for entry in own if entry), *(typed.history or ())))

    def _text(self, spec: Spec, place: YamlPath) -> _Typed:
        return _Typed(self.type_at(spec["type"], (*place, "type")) or _BROKEN)

    def type_at(self, text: str, place: YamlPath) -> DataType | None:
        """The type of a text; what it does not say is unmanaged. None if it is no type."""
        try:
            return declared_type(text)
        except TypeTextError as error:
            self._report.in_text(
                place, error.offset, f"this is no type: {error.message}", _suggestion(text, error)
            )
            return None

    def _written_out(self, spec: Spec, word: str, place: YamlPath, path: Path) -> _Typed:
        match word:
            case "struct":
                columns = spec.get("columns", [])
                return _Typed(self.struct(columns, (*place, "columns"), path))
            case "array":
                element = self._part(spec, Part.ELEMENT, place, path)
                history = _below(Part.ELEMENT, element)
                return _Typed(Array(element.type, _nullable(spec.get("element"))), history)
            case _:
                key, value = (self._part(spec, part, place, path) for part in (Part.KEY, Part.VALUE))
                self._check_key(spec, place)
                below = _below(Part.KEY, key), _below(Part.VALUE, value)
                history = (
                    None if below == (None, None) else tuple(entry for part in below for entry in part or ())
                )
                return _Typed(Map(key.type, value.type, _nullable(spec.get("value"))), history)

    def _part(self, spec: Spec, part: Part, place: YamlPath, path: Path) -> _Typed:
        inner = {Part.ELEMENT: spec.get("element"), Part.KEY: spec.get("key"), Part.VALUE: spec.get("value")}
        written = inner[part]
        if written is None:
            return _Typed(_BROKEN)
        return self._typed(written, (*place, part.value), (*path, part))

    def _check_parts(self, spec: Spec, word: str, place: YamlPath) -> None:
        """Every key that writes a type out must be one of this type's, and none of them may lack."""
        wanted = WRITTEN_OUT.get(word, ())
        for type_word, keys in WRITTEN_OUT.items():
            for key in keys:
                if key in spec and key not in wanted:
                    self._report.at_key(
                        (*place, key),
                        f'"{key}" stands beside "type: {spec["type"]}"',
                        f'it belongs to "type: {type_word}"; a type is either text or written out',
                    )
        for key in wanted:
            if key not in spec:
                self._report.at_value(
                    (*place, "type"),
                    f'"type: {word}" needs "{key}"',
                    f"add it, or write the type as text: {_EXAMPLES[word]}",
                )

    def _check_key(self, spec: Spec, place: YamlPath) -> None:
        key = spec.get("key")
        if key is not None and key.get("nullable"):
            self._report.at_value(
                (*place, "key", "nullable"), "a key of a map is never null", "take the line away"
            )

    def _entry(self, entry: native.TypeChange, type_: DataType, place: YamlPath) -> _Entry | None:
        from_type = self.type_at(entry["from"], (*place, "from"))
        to_type = self.type_at(entry["to"], (*place, "to"))
        at: Path | None = ()
        if "at" in entry:
            at = path_in(type_, entry["at"])
            if at is None:
                self._report.at_value(
                    (*place, "at"),
                    f'"{entry["at"]}" leads nowhere in this type',
                    'it begins with "element", "key", "value" or the name of a field',
                )
        if from_type is None or to_type is None or at is None:
            return None
        return _Entry(at, from_type, to_type)

    def _deprecation(self, written: native.Deprecation, place: YamlPath) -> table.Deprecation:
        return table.Deprecation(
            since=read_date(written.get("since"), (*place, "since"), self._report),
            remove_after=read_date(written.get("remove_after"), (*place, "remove_after"), self._report),
            reason=written.get("reason"),
        )


@lru_cache(maxsize=4096)
def declared_type(text: str) -> DataType:
    """The type of a text, with all that it does not say unmanaged.

    Raises:
        TypeTextError: The text is no type.
    """
    return _declared(parse_type(text))


# Stands in for a type that was reported, until the report is handed out instead of a contract.
_BROKEN: Final = Struct()


def _declared(type_: DataType) -> DataType:
    match type_:
        case Struct(fields=fields):
            return Struct(tuple(_declared_field(field) for field in fields))
        case Array(element=element):
            return Array(_declared(element), UNMANAGED)
        case Map(key=key, value=value):
            return Map(_declared(key), _declared(value), UNMANAGED)
        case _:
            return type_


def _declared_field(field: Field) -> Field:
    return Field(
        field.name,
        _declared(field.type),
        nullable=field.nullable,
        comment=UNMANAGED if field.comment is None else field.comment,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
    )


def _identity(written: native.Identity | None) -> Identity | None:
    return None if written is None else Identity(**written)


def _nullable(part: native.Part | None) -> Managed[bool]:
    return UNMANAGED if part is None else part.get("nullable", UNMANAGED)


def _below(part: Part, typed: _Typed) -> tuple[_Entry, ...] | None:
    if typed.history is None:
        return None
    return tuple(replace(entry, at=(part, *entry.at)) for entry in typed.history)


def _distributed(typed: _Typed) -> tuple[DataType, Managed[tuple[RecordedChange, ...]]]:
    """The type, and the field's own history: a change is kept on the nearest struct field, as Delta does."""
    if typed.history is None:
        return typed.type, UNMANAGED
    type_, own = typed.type, list[RecordedChange]()
    for entry in typed.history:
        field, at = _nearest_field(entry.at)
        change = RecordedChange(entry.from_type, entry.to_type, at)
        if field:
            type_ = _recorded(type_, field, change)
        else:
            own.append(change)
    return type_, tuple(own)


def _nearest_field(at: Path) -> tuple[Path, tuple[Part, ...]]:
    inner: list[Part] = []
    for length in range(len(at), 0, -1):
        step = at[length - 1]
        if not isinstance(step, Part):
            return at[:length], tuple(reversed(inner))
        inner.append(step)
    return (), tuple(reversed(inner))


def _recorded(type_: DataType, field: Path, change: RecordedChange) -> DataType:
    """The type with one more change recorded on the field at the path."""
    step, rest = field[0], field[1:]
    if isinstance(type_, Struct):
        return Struct(
            tuple(
                _recorded_on(inner, rest, change) if inner is type_.get(str(step)) else inner
                for inner in type_.fields
            )
        )
    if isinstance(type_, Array | Map) and isinstance(step, Part):
        inner_type = (
            type_.element if isinstance(type_, Array) else type_.key if step is Part.KEY else type_.value
        )
        return with_parts(type_, {step: _recorded(inner_type, rest, change)})
    return type_


def _recorded_on(field: Field, rest: Path, change: RecordedChange) -> Field:
    if rest:
        return replace(field, type=_recorded(field.type, rest, change))
    known = field.type_changes if isinstance(field.type_changes, tuple) else ()
    return replace(field, type_changes=(*known, change))


def _suggestion(text: str, error: TypeTextError) -> str:
    word = next(iter(text[error.offset :].split()), "")
    name = word.split("(")[0].split("<")[0].rstrip(",>)").lower()
    near = difflib.get_close_matches(name, _TYPE_WORDS, n=1) if name and name not in _TYPE_WORDS else []
    return f'did you mean "{near[0]}"?' if near else ""
