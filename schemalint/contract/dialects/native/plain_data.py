"""Convert a contract to plain data in the native format; `build` converts it back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from schemalint.base.values import as_dict, changed_fields
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.contract.dialects.native.format import VERSION
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
    Unmanaged,
)
from schemalint.delta.path import Part, Path, format_path, is_within
from schemalint.delta.table import Deletion
from schemalint.delta.type_text import print_type
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Backfill, Contract, Deprecation, TargetOverlay, WaysOut
from schemalint.model.exception import RuleException
from schemalint.model.rewrite import ColumnRewrite, Rewrites

Data: TypeAlias = "str | bool | int | list[Data] | dict[str, Data] | None"

_LONGEST_TEXT: Final = 60
_NUMBER: Final = r"0|-?[1-9][0-9]{0,17}"
_BOOLEANS: Final = {"true": True, "false": False}

T = TypeVar("T")


def as_data(contract: Contract) -> dict[str, Data]:
    """Return a contract's keys and values in the order of the format, without defaults."""
    state = contract.state
    return _without_unmanaged(
        schemalint=VERSION,
        table=contract.table,
        location=_or_unmanaged(contract.location),
        description=state.description,
        owner=_or_unmanaged(contract.owner),
        managed_by=_managed_by(contract),
        columns=_Columns(contract.deprecated, contract.backfills, contract.rewrites.columns).of(
            state.columns, ()
        ),
        dropped=_or_unmanaged([deletion(entry) for entry in state.dropped]),
        partitioned_by=_texts(state.partitioned_by, str),
        clustered_by=_texts(state.clustered_by, format_path),
        rewrite=_table_rewrite(contract.rewrites),
        constraints=_or_unmanaged(dict(state.constraints)),
        properties=_or_unmanaged(_properties(state.properties)),
        features=_or_unmanaged(sorted(state.features)),
        drop_features=_or_unmanaged(
            [
                {"feature": name, "truncate_history": True} if name in contract.truncated_features else name
                for name in sorted(contract.drop_features)
            ]
        ),
        protocol=_or_unmanaged(_changed(contract.protocol)),
        open=_or_unmanaged(_changed(contract.open)),
        targets=_or_unmanaged({name: _target(overlay) for name, overlay in contract.targets.items()}),
        consumers=_or_unmanaged(_consumers(contract)),
        allow=_or_unmanaged([_exception(exception) for exception in contract.exceptions]),
    )


def _managed_by(contract: Contract) -> Managed[Data]:
    how = {
        "how": UNMANAGED if contract.managed_how == "alter" else contract.managed_how,
        "on_column_change": _or_unmanaged(contract.on_column_change),
    }
    manager = _without_unmanaged(**how)
    if manager:
        return {"tool": contract.managed_by, **manager}
    if contract.managed_by == "schemalint":
        return UNMANAGED
    return contract.managed_by


def column(field: Field) -> dict[str, Data]:
    """Return a column, or a field of a struct, as an entry of a list of columns."""
    return _Columns({}, {}, {}).field(field, ())


class _Columns:
    def __init__(
        self,
        deprecated: Mapping[Path, Deprecation],
        backfills: Mapping[Path, Backfill],
        rewrites: Mapping[Path, ColumnRewrite],
    ) -> None:
        self._deprecated = deprecated
        self._backfills = backfills
        self._rewrites = rewrites

    def of(self, struct: Struct, path: Path) -> list[Data]:
        return [self.field(field, (*path, field.name)) for field in struct.fields]

    def field(self, field: Field, path: Path) -> dict[str, Data]:
        deprecated, fill = self._deprecated.get(path), self._backfills.get(path)
        rewritten = self._rewrites.get(path)
        return _without_unmanaged(
            name=field.name,
            **self._type(field.type, path),
            nullable=UNMANAGED if field.nullable else False,
            comment=field.comment,
            default=field.default,
            generated=field.generated,
            identity=as_dict(field.identity) if isinstance(field.identity, Identity) else field.identity,
            type_changes=_history(field.type_changes),
            renamed_from=_or_unmanaged(field.renamed_from),
            deprecated=_if_there(deprecated, _changed),
            backfill=_if_there(fill, backfill),
            rewrite=_if_there(rewritten, column_rewrite),
        )

    def _type(self, type_: DataType, path: Path) -> dict[str, Data]:
        """Return type text if it is short and complete, else the type written out level by level."""
        text = print_type(type_)
        if not isinstance(type_, Struct | Array | Map) or self._fits_in_text(type_, text, path):
            return {"type": text}
        match type_:
            case Struct():
                return {"type": "struct", "columns": self.of(type_, path)}
            case Array():
                element = self._part(type_.element, Part.ELEMENT, path, type_.contains_null)
                return {"type": "array", "element": element}
            case Map():
                return {
                    "type": "map",
                    "key": self._part(type_.key, Part.KEY, path, UNMANAGED),
                    "value": self._part(type_.value, Part.VALUE, path, type_.value_contains_null),
                }

    def _part(self, type_: DataType, part: Part, path: Path, nullable: Managed[bool]) -> Data:
        return _without_unmanaged(**self._type(type_, (*path, part)), nullable=nullable)

    def _fits_in_text(self, type_: DataType, text: str, path: Path) -> bool:
        more_inside = any(
            is_within(inner, path) and inner != path
            for inner in (*self._deprecated, *self._backfills, *self._rewrites)
        )
        short = len(text) <= _LONGEST_TEXT and " comment '" not in text
        return short and declared_type(text) == type_ and not more_inside


def backfill(fill: Backfill) -> dict[str, Data]:
    """Return how a column is filled."""
    return _without_unmanaged(
        **{
            "from": format_path(fill.source),
            "with": fill.expression,
            **_kept(fill.ways_out),
            "differing": fill.ways_out.differing or UNMANAGED,
            "time_zone": fill.time_zone or UNMANAGED,
        }
    )


def _kept(ways_out: WaysOut | ColumnRewrite) -> dict[str, Data]:
    """Return what may be lost: values that do not convert, or not exactly."""
    kept: dict[str, Data] = {}
    if ways_out.keeps_null:
        kept["unfilled"] = "keep_null"
    if ways_out.keeps_converted:
        kept["inexact"] = "keep_converted"
    return kept


def column_rewrite(rewrite: ColumnRewrite) -> dict[str, Data]:
    """Return how a column is written anew."""
    return _without_unmanaged(
        **{
            "from": print_type(rewrite.source),
            "with": rewrite.expression,
            **_kept(rewrite),
            "time_zone": rewrite.time_zone or UNMANAGED,
        }
    )


def _table_rewrite(rewrites: Rewrites) -> Data | Unmanaged:
    if rewrites.partitioned_by is None:
        return UNMANAGED
    return {"from": {"partitioned_by": list[Data](rewrites.partitioned_by)}}


def type_change(change: RecordedChange, at: Path) -> dict[str, Data]:
    """Return an entry of ``type_changes``; ``at`` is the path relative to the level with that key."""
    path: dict[str, Data] = {"at": format_path(at)} if at else {}
    return {**path, "from": print_type(change.from_type), "to": print_type(change.to_type)}


def property_value(value: str | None) -> Data:
    """Return the YAML value of a property: a boolean or whole number where possible, else text."""
    if value is not None and re.fullmatch(_NUMBER, value):
        return int(value)
    return _BOOLEANS.get(value or "", value)


def _history(changes: Managed[tuple[RecordedChange, ...]]) -> Data | Unmanaged:
    if isinstance(changes, Unmanaged):
        return changes
    return [type_change(change, change.at) for change in changes]


def deletion(entry: Deletion) -> Data:
    """Return an entry of ``dropped``."""
    if entry.type is None:
        return format_path(entry.path)
    return {"column": format_path(entry.path), "type": print_type(entry.type)}


def _target(overlay: TargetOverlay) -> Data:
    return _without_unmanaged(
        location=_or_unmanaged(overlay.location),
        absent=overlay.absent or UNMANAGED,
        properties=_or_unmanaged(_properties(overlay.properties)),
        features=_if_there(overlay.features, sorted),
        protocol=_if_there(overlay.protocol, _changed),
        consumers=_or_unmanaged(_consumers(overlay)),
    )


def _consumers(declared: Contract | TargetOverlay) -> list[Data]:
    return [*declared.named_consumers, *map(_consumer, declared.consumers)]


def _consumer(consumer: Consumer) -> Data:
    data = _changed(consumer)
    if consumer.columns:
        data["columns"] = [format_path(path) for path in consumer.columns]
    if consumer.stream is not None:
        unblock = {kind.key: value for kind, value in consumer.stream.unblock.items()}
        data["stream"] = {
            key: value
            for key, value in {**_changed(consumer.stream), "unblock": unblock}.items()
            if value != {}
        }
    return data


_EXCEPTION_KEYS: Final = {"old": "from", "new": "to"}


def _exception(exception: RuleException) -> Data:
    data = {_EXCEPTION_KEYS.get(name, name): content for name, content in _changed(exception).items()}
    if exception.column is None:
        return data
    return {**data, "column": format_path(exception.column)}


def _properties(properties: Mapping[str, str | None]) -> dict[str, Data]:
    return {key: property_value(value) for key, value in properties.items()}


def _changed(value: object) -> dict[str, Any]:
    """Return the fields of a value that differ from their defaults."""
    return {name: _plain(content) for name, content in changed_fields(value).items()}


def _plain(value: object) -> object:
    match value:
        case tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value


def _texts(values: Managed[tuple[T, ...]], text: Callable[[T], str]) -> Data | Unmanaged:
    if isinstance(values, Unmanaged):
        return values
    return [text(value) for value in values]


def _if_there(value: T | None, written: Callable[[T], Any]) -> Any:  # noqa: ANN401 - as `_or_unmanaged`
    return UNMANAGED if value is None else written(value)


def _or_unmanaged(value: Any) -> Any:  # noqa: ANN401 - any data, or UNMANAGED if empty
    return UNMANAGED if value is None or value in ({}, []) else value


def _without_unmanaged(**entries: Data | Unmanaged) -> dict[str, Data]:
    return {key: value for key, value in entries.items() if not isinstance(value, Unmanaged)}
