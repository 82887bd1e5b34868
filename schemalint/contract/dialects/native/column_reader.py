"""Turn written columns into fields; a type is either type text or written out level by level.

Type changes of a nested field go to that field. Delta stores them there too (PROTOCOL.md, "Type Change
Metadata"): ``fieldPath`` has only the steps element, key and value.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from schemalint.base.document import Path as YamlPath
from schemalint.base.values import frozen, replace
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.declared_types import declared_type, suggestion
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.short_texts import path_in, read_date, read_path, read_time_zone
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Identity,
    Managed,
    Map,
    RecordedChange,
    Struct,
    items_of,
    parts,
    with_parts,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.type_history import carrier_of
from schemalint.delta.type_text import TypeTextError
from schemalint.model import contract
from schemalint.model.rewrite import ColumnRewrite

# Types that can be written out, with the keys of their nested types.
_NESTED_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "struct": ("columns",),
    "array": ("element",),
    "map": ("key", "value"),
}
_TEXT_FORMS: Final = {"struct": "struct<name: type>", "array": "array<type>", "map": "map<type, type>"}

_Level: TypeAlias = native.Column | native.Part


@frozen
class _TypeWithHistory:
    """A type as written, with the type changes recorded at its own and its nested levels."""

    type: DataType
    history: History = None


# Placeholder for a type with a reported error.
_BROKEN: Final = _TypeWithHistory(Struct())


class ColumnReader:
    """Turns columns into fields, and reports errors.

    Attributes:
        deprecated: The deprecated columns read so far.
        backfills: The columns read so far that are filled from others.
        rewrites: The columns read so far that are written anew.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self.deprecated: dict[Path, contract.Deprecation] = {}
        self.backfills: dict[Path, contract.Backfill] = {}
        self.rewrites: dict[Path, ColumnRewrite] = {}

    def struct(self, columns: list[native.Column], yaml_path: YamlPath, parent: Path) -> Struct:
        """Return the fields of a table, or of the struct at a path.

        Args:
            columns: The columns as written.
            yaml_path: The path of the list in the document.
            parent: The path of the struct in the schema; empty for the table.
        """
        fields = (self._field(column, (*yaml_path, index), parent) for index, column in enumerate(columns))
        return Struct(tuple(fields))

    def type_at(self, text: str, yaml_path: YamlPath) -> DataType | None:
        """Parse a type; report an error and return None if the text is not a type."""
        try:
            return declared_type(text)
        except TypeTextError as error:
            message = f"invalid type: {error.message}"
            self._report.in_text(yaml_path, error.offset, message, suggestion(text, error))
            return None

    def deprecation(self, data: native.Deprecation, yaml_path: YamlPath) -> contract.Deprecation:
        """Return the deprecation of a column; report dates that are none."""
        return contract.Deprecation(
            since=read_date(data.get("since"), (*yaml_path, "since"), self._report),
            remove_after=read_date(data.get("remove_after"), (*yaml_path, "remove_after"), self._report),
            reason=data.get("reason"),
        )

    def backfill(self, data: native.Backfill, yaml_path: YamlPath) -> contract.Backfill:
        """Return how a column is filled; the steps of its source count as names of fields."""
        source = read_path(data["from"], (*yaml_path, "from"), self._report, Struct())
        ways_out = contract.WaysOut("unfilled" in data, "inexact" in data, data.get("differing"))
        zone = read_time_zone(data.get("time_zone"), (*yaml_path, "time_zone"), self._report)
        return contract.Backfill(source, data["with"], ways_out, zone)

    def _field(self, column: native.Column, yaml_path: YamlPath, parent: Path) -> Field:
        path = (*parent, column["name"])
        typed = self._typed(column, yaml_path, path)
        type_, changes = distributed(typed.type, typed.history or ())
        if "deprecated" in column:
            self.deprecated[path] = self.deprecation(column["deprecated"], (*yaml_path, "deprecated"))
        if "backfill" in column:
            self.backfills[path] = self.backfill(column["backfill"], (*yaml_path, "backfill"))
        if "rewrite" in column:
            rewrite = self._rewrite(column["rewrite"], (*yaml_path, "rewrite"))
            self.rewrites |= {} if rewrite is None else {path: rewrite}
        return Field(
            column["name"],
            type_,
            nullable=column.get("nullable", True),
            comment=column.get("comment", UNMANAGED),
            default=column.get("default", UNMANAGED),
            generated=column.get("generated", UNMANAGED),
            identity=_identity(column["identity"]) if "identity" in column else UNMANAGED,
            type_changes=UNMANAGED if typed.history is None else changes,
            renamed_from=column.get("renamed_from"),
        )

    def _typed(self, level: _Level, yaml_path: YamlPath, path: Path) -> _TypeWithHistory:
        type_name = level["type"].strip().lower()
        self._check_keys(level, type_name, yaml_path)
        if type_name in _NESTED_KEYS:
            typed = self._written_out(level, type_name, yaml_path, path)
        else:
            type_ = self.type_at(level["type"], (*yaml_path, "type"))
            typed = _BROKEN if type_ is None else _TypeWithHistory(type_)
        if "type_changes" not in level:
            return typed
        own = self._history(level["type_changes"], typed.type, (*yaml_path, "type_changes"))
        return replace(typed, history=joined(own, typed.history))

    def _written_out(
        self, level: _Level, type_name: str, yaml_path: YamlPath, path: Path
    ) -> _TypeWithHistory:
        if type_name == "struct":
            return _TypeWithHistory(self.struct(level.get("columns", []), (*yaml_path, "columns"), path))
        if type_name == "array":
            element = self._part(level.get("element"), Part.ELEMENT, yaml_path, path)
            return _TypeWithHistory(Array(element.type, _nullable(level.get("element"))), element.history)
        key = self._part(level.get("key"), Part.KEY, yaml_path, path)
        if _nullable(level.get("key")) is True:
            message = "a map key cannot be null"
            self._report.at_value((*yaml_path, "key", "nullable"), message, "remove the line")
        value = self._part(level.get("value"), Part.VALUE, yaml_path, path)
        type_ = Map(key.type, value.type, _nullable(level.get("value")))
        return _TypeWithHistory(type_, joined(key.history, value.history))

    def _part(
        self, data: native.Part | None, part: Part, yaml_path: YamlPath, path: Path
    ) -> _TypeWithHistory:
        if data is None:
            return _BROKEN
        typed = self._typed(data, (*yaml_path, part.value), (*path, part))
        return replace(typed, history=below(part, typed.history))

    def _check_keys(self, level: _Level, type_name: str, yaml_path: YamlPath) -> None:
        """Report keys of nested types that do not belong to the type, and required ones that are missing."""
        required = _NESTED_KEYS.get(type_name, ())
        for other, keys in _NESTED_KEYS.items():
            for key in keys:
                if key in level and key not in required:
                    message = f'"{key}" does not belong to "type: {level["type"]}"'
                    help_text = (
                        f'it belongs to "type: {other}"; write a type either as text or level by level'
                    )
                    self._report.at_key((*yaml_path, key), message, help_text)
        for key in required:
            if key not in level:
                message = f'"type: {type_name}" needs "{key}"'
                help_text = f"add it, or write the type as text: {_TEXT_FORMS[type_name]}"
                self._report.at_value((*yaml_path, "type"), message, help_text)

    def _history(
        self, data: list[native.TypeChange], type_: DataType, yaml_path: YamlPath
    ) -> tuple[Entry, ...]:
        entries = (self._entry(entry, type_, (*yaml_path, index)) for index, entry in enumerate(data))
        return tuple(entry for entry in entries if entry is not None)

    def _entry(self, data: native.TypeChange, type_: DataType, yaml_path: YamlPath) -> Entry | None:
        from_type = self.type_at(data["from"], (*yaml_path, "from"))
        to_type = self.type_at(data["to"], (*yaml_path, "to"))
        at = path_in(type_, data["at"]) if "at" in data else ()
        if at is None:
            message = f'this type has no path "{data["at"]}"'
            help_text = 'a path begins with "element", "key", "value" or the name of a field'
            self._report.at_value((*yaml_path, "at"), message, help_text)
        if from_type is None or to_type is None or at is None:
            return None
        return Entry(at, from_type, to_type)

    def _rewrite(self, data: native.ColumnRewrite, yaml_path: YamlPath) -> ColumnRewrite | None:
        source = self.type_at(data["from"], (*yaml_path, "from"))
        zone = read_time_zone(data.get("time_zone"), (*yaml_path, "time_zone"), self._report)
        if source is None:
            return None
        return ColumnRewrite(source, data["with"], "unfilled" in data, "inexact" in data, zone)


def _identity(data: native.Identity | None) -> Identity | None:
    return None if data is None else Identity(**data)


def _nullable(part: native.Part | None) -> Managed[bool]:
    return UNMANAGED if part is None else part.get("nullable", UNMANAGED)


@frozen
class Entry:
    """An entry of ``type_changes``; ``at`` is the path relative to the current level."""

    at: Path
    from_type: DataType
    to_type: DataType


History: TypeAlias = tuple[Entry, ...] | None
"""Oldest first; None if no level has ``type_changes``."""


def below(part: Part, history: History) -> History:
    """Return the history of a part with paths relative to its array or map."""
    if history is None:
        return None
    return tuple(replace(entry, at=(part, *entry.at)) for entry in history)


def joined(first: History, second: History) -> History:
    """Concatenate two histories; None if both are None."""
    if (first, second) != (None, None):
        return (first or ()) + (second or ())
    return None


def distributed(type_: DataType, entries: tuple[Entry, ...]) -> tuple[DataType, tuple[RecordedChange, ...]]:
    """Move the entries of nested fields into the type; return it and the entries of the field itself."""
    own_changes: list[RecordedChange] = []
    for entry in entries:
        field, at = carrier_of(entry.at)
        change = RecordedChange(entry.from_type, entry.to_type, at)
        if field:
            type_ = _recorded(type_, field, change)
        else:
            own_changes.append(change)
    return type_, tuple(own_changes)


def _recorded(type_: DataType, field: Path, change: RecordedChange) -> DataType:
    step, rest = field[0], field[1:]
    match type_, step:
        case Struct(fields=fields), str():
            target = type_.get(step)
            return Struct(
                tuple(_recorded_on(inner, rest, change) if inner is target else inner for inner in fields)
            )
        case Array() | Map(), Part():
            return with_parts(type_, {step: _recorded(dict(parts(type_))[step], rest, change)})
        case _:
            raise AssertionError(f"{type_} has no {step}")  # paths are checked when they are read


def _recorded_on(field: Field, rest: Path, change: RecordedChange) -> Field:
    if rest:
        return replace(field, type=_recorded(field.type, rest, change))
    return replace(field, type_changes=(*items_of(field.type_changes), change))
