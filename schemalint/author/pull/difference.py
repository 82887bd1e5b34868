"""Find the changes that bring a contract up to date with a live table: the reverse of `apply_declaration`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TypeVar

from schemalint.author.pull.declaration import (
    Scope,
    declared_field,
    declared_type,
    named_features,
    recorded,
    require_expressible_types,
    settable,
)
from schemalint.base.values import frozen, replace
from schemalint.delta import change, datatype, properties, protocol
from schemalint.delta.change import Change
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    RecordedChange,
    Struct,
    Unmanaged,
)
from schemalint.delta.diff import diff
from schemalint.delta.path import Part
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.table import Deletion, LiveTable, TableState
from schemalint.delta.widening import TypeStep, step
from schemalint.lint.renamed import ColumnLog, fields_by_name, renamed_fields
from schemalint.model.contract import Contract

T = TypeVar("T")


def declared_changes(contract: Contract, live: LiveTable, scope: Scope = Scope.MANAGED) -> tuple[Change, ...]:
    """Return the changes of the declaration that make it match the table; columns keep their order.

    A live column is a renamed declared column if the log knows it by the declared name, and no live column
    has that name now.

    Args:
        contract: The contract effective for the target.
        live: The table.
        scope: The part of the table to compare.

    Raises:
        ContractError: Contracts cannot express the type of an undeclared column.
    """
    updated = _Update(contract, live, scope, ColumnLog(live)).state()
    require_expressible_types(live, updated.columns)
    changes = diff(contract.state, updated)
    return tuple(changed for changed in changes if not isinstance(changed, change.FieldMoved))


@frozen
class _Update:
    contract: Contract
    live: LiveTable
    scope: Scope
    log: ColumnLog

    def state(self) -> TableState:
        declared, live = self.contract.state, self.live.state
        state = replace(
            declared,
            columns=self._struct(declared.columns, live.columns),
            dropped=tuple(entry for entry in declared.dropped if not _is_pending(entry, live.columns)),
        )
        if self.scope.has_properties:
            state = replace(state, properties=self._properties())
        if not self.scope.has_settings:
            return state
        return replace(
            state,
            description=self._value(declared.description, live.description),
            partitioned_by=self._value(declared.partitioned_by, live.partitioned_by),
            clustered_by=self._value(declared.clustered_by, live.clustered_by),
            constraints=self._entries(declared.constraints, live.constraints),
            features=(declared.features & live.features) | self._unrequested(named_features(self.live)),
        )

    def _value(self, declared: Managed[T], live: Managed[T]) -> Managed[T]:
        """Return the live value if the contract manages it, or if the scope is `ALL` and there is a value."""
        if not isinstance(declared, Unmanaged):
            return live
        return live if self.scope is Scope.ALL and live else UNMANAGED

    def _unrequested(self, names: frozenset[str]) -> frozenset[str]:
        requested = self.contract.state.requested_features
        return names - requested if self.scope is Scope.ALL else frozenset()

    def _entries(
        self, declared: Mapping[str, str | None], live: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        added = live if self.scope is Scope.ALL else {}
        return {name: live.get(name) for name in (*declared, *added)}

    def _properties(self) -> dict[str, str | None]:
        declared, live = self.contract.state.properties, self.live.state
        stored = {key: value for key, value in declared.items() if not properties.is_protocol_key(key)}
        requests = {
            key: value
            for key, value in declared.items()
            if properties.is_protocol_key(key) and _is_supported(key, live.features)
        }
        kept = {key: value for key, value in live.properties.items() if key in stored}
        return requests | self._entries(stored, kept | settable(live.properties))

    def _struct(self, declared: Struct, live: Struct) -> Struct:
        """Return the declared fields that are live; the undeclared ones follow their live predecessors."""
        live_by_name = fields_by_name(live)
        renamed = renamed_fields(declared, live, self.log)
        kept: list[Field] = []
        for field in declared.fields:
            live_field = live_by_name.get(field.name.lower()) or renamed.get(field.name)
            if live_field is not None:
                kept.append(self._field(field, live_field))
        fields, following = _undeclared(live, fields_by_name(Struct(tuple(kept))))
        for field in kept:
            fields += [field, *following[field.name.lower()]]
        return Struct(tuple(fields))

    def _field(self, declared: Field, live: Field) -> Field:
        renamed = declared.name.lower() != live.name.lower()
        type_ = self._type(declared.type, live.type)
        return replace(
            declared,
            name=live.name if renamed else declared.name,
            renamed_from=declared.name if renamed else declared.renamed_from,
            type=type_,
            nullable=live.nullable,
            comment=self._value(declared.comment, live.comment),
            default=self._value(declared.default, live.default),
            generated=self._value(declared.generated, live.generated),
            identity=self._value(declared.identity, live.identity),
            type_changes=self._history(declared, live, changed=type_ != declared.type),
        )

    def _type(self, declared: DataType, live: DataType) -> DataType:
        match declared, live:
            case Struct(), Struct():
                return self._struct(declared, live)
            case Array(), Array():
                nulls = _managed(declared.contains_null, live.contains_null)
                return Array(self._type(declared.element, live.element), nulls)
            case Map(), Map():
                nulls = _managed(declared.value_contains_null, live.value_contains_null)
                value = self._type(declared.value, live.value)
                return Map(self._type(declared.key, live.key), value, nulls)
            case _ if self.contract.open.widening and step(declared, live) == TypeStep.WIDENING:
                return declared
            case _:
                return declared_type(live)

    def _history(self, declared: Field, live: Field, *, changed: bool) -> Managed[tuple[RecordedChange, ...]]:
        logged = recorded(live)
        if isinstance(declared.type_changes, Unmanaged):
            return logged if logged and (changed or self.scope is Scope.ALL) else UNMANAGED
        own = declared.type_changes
        return own if _agree(own, logged, live.type) else logged


def _agree(own: Sequence[RecordedChange], logged: Sequence[RecordedChange], type_: DataType) -> bool:
    """Return whether the contract's record contains the log's record; it may go further back."""
    return all(
        _is_subsequence(_types_in(logged, at) or [datatype.type_at(type_, at)], _types_in(own, at))
        and _types_in(own, at)[-1:] == [datatype.type_at(type_, at)]
        for at in {entry.at for entry in (*own, *logged)}
    )


def _types_in(entries: Iterable[RecordedChange], at: tuple[Part, ...]) -> list[DataType | None]:
    """Return the successive types of one part of a field."""
    types: list[DataType | None] = []
    for entry in entries:
        if entry.at == at:
            types += [entry.from_type] * (types[-1:] != [entry.from_type]) + [entry.to_type]
    return types


def _is_subsequence(part: Iterable[object], whole: Iterable[object]) -> bool:
    remaining = iter(whole)
    return all(item in remaining for item in part)


def _undeclared(live: Struct, kept: Container[str]) -> tuple[list[Field], defaultdict[str, list[Field]]]:
    """Return the undeclared live fields: those before all kept fields, and those after each, by its name."""
    first: list[Field] = []
    following: defaultdict[str, list[Field]] = defaultdict(list)
    group = first
    for name, field in fields_by_name(live).items():
        if name in kept:
            group = following[name]
        else:
            group.append(declared_field(field))
    return first, following


def _is_pending(entry: Deletion, live: Struct) -> bool:
    """Return whether a column listed as dropped is still live, with the listed type if there is one."""
    found = datatype.type_at(live, entry.path)
    return found is not None and entry.type in (None, found)


def _is_supported(key: str, features: frozenset[str]) -> bool:
    return (
        not key.lower().startswith(FEATURE_PREFIX)
        or protocol.canonical(key[len(FEATURE_PREFIX) :]) in features
    )


def _managed(declared: Managed[T], live: Managed[T]) -> Managed[T]:
    return declared if isinstance(declared, Unmanaged) else live
