"""Derive a complete declaration from a live table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeVar

from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.delta import datatype, feature, properties, protocol
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    RecordedChange,
    Struct,
    items_of,
    walk,
)
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import TypeTextError, parse_type, print_type
from schemalint.model.marker import OWN_PROPERTIES

T = TypeVar("T")

# DROP FEATURE leaves these behind for history that it cannot rewrite; contracts do not request them.
_TRACES: Final = frozenset({"checkpointProtection"})


class Scope(Enum):
    """The part of a table that `pull` declares; only `ALL` adds values that the contract does not manage."""

    MANAGED = "managed"
    COLUMNS = "columns"
    PROPERTIES = "+properties"
    ALL = "all"

    @property
    def has_properties(self) -> bool:
        """Whether the scope includes properties."""
        return self is not Scope.COLUMNS

    @property
    def has_settings(self) -> bool:
        """Whether the scope includes description, layout, constraints and features."""
        return self in {Scope.MANAGED, Scope.ALL}


def declaration(live: LiveTable, scope: Scope = Scope.ALL) -> TableState:
    """Return the declaration of a new contract for a table; default values are left unmanaged.

    Raises:
        ContractError: Contracts cannot express the type of a column, or two columns have the same name.
    """
    require_expressible_types(live, live.state.columns)
    _require_distinct_names(live)
    state = live.state
    columns = Struct(tuple(declared_field(field) for field in state.columns.fields))
    declared = TableState(columns, properties=settable(state.properties) if scope.has_properties else {})
    if not scope.has_settings:
        return declared
    return replace(
        declared,
        description=state.description or UNMANAGED,
        partitioned_by=state.partitioned_by or UNMANAGED,
        clustered_by=state.clustered_by or UNMANAGED,
        constraints=state.constraints,
        features=named_features(live),
    )


def declared_field(field: Field) -> Field:
    """Return a live field as a contract declares it."""
    return Field(
        field.name,
        declared_type(field.type),
        field.nullable,
        comment=field.comment or UNMANAGED,
        default=_managed_if_set(field.default),
        generated=_managed_if_set(field.generated),
        identity=_managed_if_set(field.identity),
        type_changes=recorded(field) or UNMANAGED,
    )


def declared_type(type_: DataType) -> DataType:
    """Return a live type as a contract declares it: default nullability of elements is left unmanaged."""
    match type_:
        case Struct(fields=fields):
            return Struct(tuple(declared_field(field) for field in fields))
        case Array(element=element, contains_null=nulls):
            return Array(declared_type(element), UNMANAGED if nulls else nulls)
        case Map(key=key, value=value, value_contains_null=nulls):
            return Map(declared_type(key), declared_type(value), UNMANAGED if nulls else nulls)
        case _:
            return type_


def recorded(live: Field) -> tuple[RecordedChange, ...]:
    """Return the recorded type changes of a live field, without entries that a contract cannot express."""
    return tuple(
        replace(entry, version=None)
        for entry in items_of(live.type_changes)
        if _is_expressible(entry.from_type)
        and _is_expressible(entry.to_type)
        and datatype.type_at(live.type, entry.at)
    )


def settable(live: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the properties that a contract may declare, without those that others write."""
    return {key: value for key, value in live.items() if value is not None and _is_settable(key, value)}


def _is_settable(key: str, value: str) -> bool:
    row = properties.find_property(key)
    if (
        key in OWN_PROPERTIES | properties.RESERVED
        or properties.is_protocol_key(key)
        or not properties.is_known(key)
    ):
        return False
    if row is None:
        return True
    return row.editable and not row.written_by_delta and properties.property_problem(key, value) is None


def named_features(live: LiveTable) -> frozenset[str]:
    """Return the requestable features of the protocol that no other declaration activates."""
    features = live.protocol.reader_features | live.protocol.writer_features
    # Delta refuses tables with feature names in another case.
    rows = [row for name in features if (row := feature.find_feature(name)) is not None and row.name == name]
    requestable = {row.name for row in rows if row.settable and row.in_spark and row.name not in _TRACES}
    return frozenset(requestable) - protocol.features_of_new_table(
        live.state.active_features | (features - requestable)
    )


def require_expressible_types(live: LiveTable, columns: Struct) -> None:
    """Raise a ContractError if contracts cannot express the type of a column."""
    paths = [
        format_path(path)
        for path, type_ in walk(columns)
        if not any(datatype.children(type_)) and not _is_expressible(type_)
    ]
    if paths:
        raise ContractError(
            f"{live.uri}: contracts cannot express the type of {', '.join(paths)}: Delta 4.4 has none such",
            help="update schemalint; or declare the other columns by hand, with open: {columns: true}",
        )


def _require_distinct_names(live: LiveTable) -> None:
    for struct in (type_ for _path, type_ in walk(live.state.columns) if isinstance(type_, Struct)):
        names = Counter(field.name.lower() for field in struct.fields)
        same = [field.name for field in struct.fields if names[field.name.lower()] > 1]
        if same:
            raise ContractError(
                f"{live.uri}: contracts cannot tell {', '.join(same)} apart: Delta ignores case",
                help="restore the previous version: RESTORE still works",
            )


def _is_expressible(type_: DataType) -> bool:
    try:
        return parse_type(print_type(type_)) == type_
    except TypeTextError:
        return False


def _managed_if_set(value: Managed[T | None]) -> Managed[T | None]:
    return UNMANAGED if value is None else value
