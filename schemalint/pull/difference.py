"""What a contract would have to say of a live table: the reverse of laying a declaration over one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TypeVar

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
from schemalint.pull.declaration import (
    Scope,
    declared_field,
    declared_type,
    named_features,
    recorded,
    require_words,
    settable,
)
from schemalint.values import frozen, replace

T = TypeVar("T")


def declared_changes(contract: Contract, live: LiveTable, scope: Scope = Scope.MANAGED) -> tuple[Change, ...]:
    """The changes of a declaration that make it say what the table is; columns keep their order.

    A live column that the log knows by a declared name, which nothing has any more, is that one, renamed.

    Args:
        contract: Effective for the target.
        live: With its history.
        scope: What is looked at.

    Raises:
        ContractError: A column is not declared, and has a type that contracts have no words for.
    """
    wanted = _Taking(contract, live, scope, ColumnLog(live.history)).state()
    require_words(live, wanted.columns)
    found = diff(contract.state, wanted)
    return tuple(one for one in found if not isinstance(one, change.FieldMoved))


@frozen
class _Taking:
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
            features=(declared.features & live.features) | self._more(named_features(self.live)),
        )

    def _value(self, declared: Managed[T], live: Managed[T]) -> Managed[T]:
        """The live value where one is managed, and where everything is wanted and there is one."""
        if not isinstance(declared, Unmanaged):
            return live
        return live if self.scope is Scope.ALL and live else UNMANAGED

    def _more(self, names: frozenset[str]) -> frozenset[str]:
        asked = self.contract.state.asked_features
        return names - asked if self.scope is Scope.ALL else frozenset()

    def _entries(
        self, declared: Mapping[str, str | None], live: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        more = live if self.scope is Scope.ALL else {}
        return {name: live.get(name) for name in (*declared, *more)}

    def _properties(self) -> dict[str, str | None]:
        declared, live = self.contract.state.properties, self.live.state
        stored = {key: value for key, value in declared.items() if not properties.is_protocol_key(key)}
        asked = {
            key: value
            for key, value in declared.items()
            if properties.is_protocol_key(key) and _is_supported(key, live.features)
        }
        kept = {key: value for key, value in live.properties.items() if key in stored}
        return asked | self._entries(stored, kept | settable(live.properties))

    def _struct(self, declared: Struct, live: Struct) -> Struct:
        """The declared fields that are live, each with the undeclared ones that the table has behind it."""
        there = fields_by_name(live)
        renamed = renamed_fields(declared, live, self.log)
        kept: list[Field] = []
        for field in declared.fields:
            now = there.get(field.name.lower()) or renamed.get(field.name)
            if now is not None:
                kept.append(self._field(field, now))
        first, behind = _undeclared(live, fields_by_name(Struct(tuple(kept))))
        fields = [*first, *(one for field in kept for one in (field, *behind[field.name.lower()]))]
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
    """Whether the log's way to each type is part of the contract's, which may go further back."""
    return all(
        _is_within(_way(logged, at) or [datatype.type_at(type_, at)], _way(own, at))
        and _way(own, at)[-1:] == [datatype.type_at(type_, at)]
        for at in {entry.at for entry in (*own, *logged)}
    )


def _way(entries: Iterable[RecordedChange], at: tuple[Part, ...]) -> list[DataType | None]:
    way: list[DataType | None] = []
    for entry in entries:
        if entry.at == at:
            way += [entry.from_type] * (way[-1:] != [entry.from_type]) + [entry.to_type]
    return way


def _is_within(some: Iterable[object], others: Iterable[object]) -> bool:
    remaining = iter(others)
    return all(one in remaining for one in some)


def _undeclared(live: Struct, kept: Container[str]) -> tuple[list[Field], defaultdict[str, list[Field]]]:
    """The live fields that are not kept: those before all that are, and those behind each, by its name."""
    first: list[Field] = []
    behind: defaultdict[str, list[Field]] = defaultdict(list)
    place = first
    for name, field in fields_by_name(live).items():
        if name in kept:
            place = behind[name]
        else:
            place.append(declared_field(field))
    return first, behind


def _is_pending(entry: Deletion, live: Struct) -> bool:
    """Whether a listed column is still there; with a type, as the one that was meant."""
    found = datatype.type_at(live, entry.path)
    return found is not None and entry.type in (None, found)


def _is_supported(key: str, features: frozenset[str]) -> bool:
    return (
        not key.lower().startswith(FEATURE_PREFIX)
        or protocol.canonical(key[len(FEATURE_PREFIX) :]) in features
    )


def _managed(declared: Managed[T], live: Managed[T]) -> Managed[T]:
    return declared if isinstance(declared, Unmanaged) else live
