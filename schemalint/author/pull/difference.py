"""Find the changes that bring a contract up to date with a live table: the reverse of `apply_declaration`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from schemalint.author.pull.live_declaration import (
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
    DataType,
    Field,
    Managed,
    RecordedChange,
    Struct,
    Unmanaged,
)
from schemalint.delta.diff import diff
from schemalint.delta.path import Part, Path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.table import Deletion, LiveTable, TableState
from schemalint.delta.type_history import is_subsequence
from schemalint.delta.widening import TypeStep, step
from schemalint.judge.column_log import ColumnLog, fields_by_name, renamed_fields
from schemalint.model.contract import Contract
from schemalint.model.declaration import merge, merge_columns

T = TypeVar("T")


def declared_changes(contract: Contract, live: LiveTable, scope: Scope = Scope.MANAGED) -> tuple[Change, ...]:
    """Return the changes of the declaration that make it match the table; columns keep their order.

    A live column is a renamed declared column if the log knows it by the declared name, and no live column
    has that name now.

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
            columns=merge_columns(declared.columns, live.columns, self.pairs, self),
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
        if self.scope is Scope.ALL and live:
            return live
        return UNMANAGED

    def _unrequested(self, names: frozenset[str]) -> frozenset[str]:
        requested = self.contract.state.requested_features
        if self.scope is Scope.ALL:
            return names - requested
        return frozenset()

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

    def pairs(self, declared: Struct, live: Struct, _path: Path) -> Iterator[tuple[Field, Field]]:
        """Yield the declared fields that are live, with the live ones."""
        live_by_name = fields_by_name(live)
        renamed = renamed_fields(declared, live, self.log)
        for field in declared.fields:
            live_field = live_by_name.get(field.name.lower()) or renamed.get(field.name)
            if live_field is not None:
                yield field, live_field

    def both(self, declared: Field, live: Field, path: Path) -> Field:
        """Return a declared field with the live values that the contract manages."""
        is_renamed = declared.name.lower() != live.name.lower()
        type_ = merge(declared.type, live.type, self.pairs, self, (*path, live.name))
        return replace(
            declared,
            name=live.name if is_renamed else declared.name,
            renamed_from=declared.name if is_renamed else declared.renamed_from,
            type=type_,
            nullable=live.nullable,
            comment=self._value(declared.comment, live.comment),
            default=self._value(declared.default, live.default),
            generated=self._value(declared.generated, live.generated),
            identity=self._value(declared.identity, live.identity),
            type_changes=self._history(declared, live, changed=type_ != declared.type),
        )

    def right_alone(self, live: Field, names: Collection[str], _path: Path) -> Field | None:
        """Return an undeclared field, unless a damaged table has its name twice."""
        if live.name.lower() in names:
            return None
        return declared_field(live)

    def nulls(self, declared: Managed[bool], live: Managed[bool]) -> Managed[bool]:
        """Return the live nullability if the contract manages it."""
        if isinstance(declared, Unmanaged):
            return declared
        return live

    def leaf(self, declared: DataType, live: DataType, _path: Path) -> DataType:
        """Return the live type; where writers may widen types, a narrower declared one stays."""
        is_open = self.contract.open.widening and step(declared, live) == TypeStep.WIDENING
        if is_open:
            return declared
        return declared_type(live)

    def _history(self, declared: Field, live: Field, *, changed: bool) -> Managed[tuple[RecordedChange, ...]]:
        logged = recorded(live)
        if isinstance(declared.type_changes, Unmanaged):
            if logged and (changed or self.scope is Scope.ALL):
                return logged
            return UNMANAGED
        own = declared.type_changes
        if _agree(own, logged, live.type):
            return own
        return logged


def _agree(own: Sequence[RecordedChange], logged: Sequence[RecordedChange], type_: DataType) -> bool:
    """Return whether the contract's record contains the log's record; it may go further back."""
    return all(
        is_subsequence(_types_in(logged, at) or [datatype.type_at(type_, at)], _types_in(own, at))
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


def _is_pending(entry: Deletion, live: Struct) -> bool:
    """Return whether a column listed as dropped is still live, with the listed type if there is one."""
    live_type = datatype.type_at(live, entry.path)
    return live_type is not None and entry.type in (None, live_type)


def _is_supported(key: str, features: frozenset[str]) -> bool:
    return (
        not key.lower().startswith(FEATURE_PREFIX)
        or protocol.canonical(key[len(FEATURE_PREFIX) :]) in features
    )
