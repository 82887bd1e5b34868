"""Columns as written to fields: type text, and types that are written out level by level."""

from __future__ import annotations

from typing import Final, TypeAlias

from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.column_path import Report
from schemalint.contract.dialects.native.declared import declared_type, suggestion
from schemalint.contract.dialects.native.history import Entry, History, below, distributed, joined
from schemalint.contract.dialects.native.texts import path_in, read_date
from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Identity, Managed, Map, Struct
from schemalint.delta.path import Part, Path
from schemalint.delta.type_text import TypeTextError
from schemalint.document import Path as YamlPath
from schemalint.model import contract
from schemalint.values import frozen, replace

# The words that stand for a type written out, with the keys that write it out.
_WRITTEN_OUT: Final[dict[str, tuple[str, ...]]] = {
    "struct": ("columns",),
    "array": ("element",),
    "map": ("key", "value"),
}
_AS_TEXT: Final = {"struct": "struct<name: type>", "array": "array<type>", "map": "map<type, type>"}

_Level: TypeAlias = native.Column | native.Part


@frozen
class _Typed:
    """A type as written, with the history that is written inside it."""

    type: DataType
    history: History = None


# Stands in for a type that is reported as none.
_BROKEN: Final = _Typed(Struct())


class ColumnReader:
    """Makes fields of columns, and reports what is wrong with them.

    Attributes:
        deprecated: The columns met so far that are on their way out.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self.deprecated: dict[Path, contract.Deprecation] = {}

    def struct(self, columns: list[native.Column], place: YamlPath, parent: Path) -> Struct:
        """The fields of a table, or of the struct at a path.

        Args:
            columns: As written.
            place: Where the list stands in the document.
            parent: Where the struct is in the schema.
        """
        fields = (self._field(column, (*place, index), parent) for index, column in enumerate(columns))
        return Struct(tuple(fields))

    def type_at(self, text: str, place: YamlPath) -> DataType | None:
        """The type of a text; None if it is none, which is reported."""
        try:
            return declared_type(text)
        except TypeTextError as error:
            message = f"this is no type: {error.message}"
            self._report.in_text(place, error.offset, message, suggestion(text, error))
            return None

    def _field(self, column: native.Column, place: YamlPath, parent: Path) -> Field:
        path = (*parent, column["name"])
        typed = self._typed(column, place, path)
        unmanaged = typed.history is None
        type_, changes = distributed(typed.type, typed.history or ())
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
            type_changes=UNMANAGED if unmanaged else changes,
            renamed_from=column.get("renamed_from"),
        )

    def _typed(self, level: _Level, place: YamlPath, path: Path) -> _Typed:
        word = level["type"].strip().lower()
        self._check_keys(level, word, place)
        if word in _WRITTEN_OUT:
            typed = self._written_out(level, word, place, path)
        else:
            type_ = self.type_at(level["type"], (*place, "type"))
            typed = _BROKEN if type_ is None else _Typed(type_)
        if "type_changes" not in level:
            return typed
        own = self._history(level["type_changes"], typed.type, (*place, "type_changes"))
        return replace(typed, history=joined(own, typed.history))

    def _written_out(self, level: _Level, word: str, place: YamlPath, path: Path) -> _Typed:
        if word == "struct":
            return _Typed(self.struct(level.get("columns", []), (*place, "columns"), path))
        if word == "array":
            element = self._part(level.get("element"), Part.ELEMENT, place, path)
            return _Typed(Array(element.type, _nullable(level.get("element"))), element.history)
        key = self._part(level.get("key"), Part.KEY, place, path)
        if _nullable(level.get("key")) is True:
            message = "a key of a map is never null"
            self._report.at_value((*place, "key", "nullable"), message, "take the line away")
        value = self._part(level.get("value"), Part.VALUE, place, path)
        type_ = Map(key.type, value.type, _nullable(level.get("value")))
        return _Typed(type_, joined(key.history, value.history))

    def _part(self, written: native.Part | None, part: Part, place: YamlPath, path: Path) -> _Typed:
        if written is None:
            return _BROKEN
        typed = self._typed(written, (*place, part.value), (*path, part))
        return replace(typed, history=below(part, typed.history))

    def _check_keys(self, level: _Level, word: str, place: YamlPath) -> None:
        """Each key that writes a type out must be one of this type's, and none of those may lack."""
        wanted = _WRITTEN_OUT.get(word, ())
        for other, keys in _WRITTEN_OUT.items():
            for key in keys:
                if key in level and key not in wanted:
                    message = f'"{key}" stands beside "type: {level["type"]}"'
                    belongs = f'it belongs to "type: {other}"; a type is either text or written out'
                    self._report.at_key((*place, key), message, belongs)
        for key in wanted:
            if key not in level:
                message = f'"type: {word}" needs "{key}"'
                instead = f"add it, or write the type as text: {_AS_TEXT[word]}"
                self._report.at_value((*place, "type"), message, instead)

    def _history(
        self, written: list[native.TypeChange], type_: DataType, place: YamlPath
    ) -> tuple[Entry, ...]:
        entries = (self._entry(entry, type_, (*place, index)) for index, entry in enumerate(written))
        return tuple(entry for entry in entries if entry is not None)

    def _entry(self, written: native.TypeChange, type_: DataType, place: YamlPath) -> Entry | None:
        from_type = self.type_at(written["from"], (*place, "from"))
        to_type = self.type_at(written["to"], (*place, "to"))
        at = path_in(type_, written["at"]) if "at" in written else ()
        if at is None:
            message = f'"{written["at"]}" leads nowhere in this type'
            begins = 'it begins with "element", "key", "value" or the name of a field'
            self._report.at_value((*place, "at"), message, begins)
        if from_type is None or to_type is None or at is None:
            return None
        return Entry(at, from_type, to_type)

    def _deprecation(self, written: native.Deprecation, place: YamlPath) -> contract.Deprecation:
        return contract.Deprecation(
            since=read_date(written.get("since"), (*place, "since"), self._report),
            remove_after=read_date(written.get("remove_after"), (*place, "remove_after"), self._report),
            reason=written.get("reason"),
        )


def _identity(written: native.Identity | None) -> Identity | None:
    return None if written is None else Identity(**written)


def _nullable(part: native.Part | None) -> Managed[bool]:
    return UNMANAGED if part is None else part.get("nullable", UNMANAGED)
