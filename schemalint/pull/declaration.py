"""What a contract says of a live table when it says everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, TypeVar

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
    walk,
)
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import TypeTextError, parse_type, print_type
from schemalint.errors import ContractError
from schemalint.model.marker import MARKER, PENDING
from schemalint.values import replace

T = TypeVar("T")

# Left by DROP FEATURE for what it cannot undo in the history: nobody asks for it.
_TRACES: Final = frozenset({"checkpointProtection"})


class Scope(Enum):
    """How much of a table a contract is to declare; what it does not manage is added for `ALL` only."""

    MANAGED = "managed"
    COLUMNS = "columns"
    PROPERTIES = "+properties"
    ALL = "all"

    @property
    def has_properties(self) -> bool:
        """Whether properties are looked at."""
        return self is not Scope.COLUMNS

    @property
    def has_settings(self) -> bool:
        """Whether the rest is looked at: description, layout, constraints, features."""
        return self in {Scope.MANAGED, Scope.ALL}


def declaration(live: LiveTable, scope: Scope = Scope.ALL) -> TableState:
    """What a new contract says of a table; what goes without saying is not managed.

    Raises:
        ContractError: A column has a type that contracts have no words for, or the name of another one.
    """
    require_words(live, live.state.columns)
    _require_names(live)
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
    """A live field as a contract writes it."""
    return Field(
        field.name,
        declared_type(field.type),
        field.nullable,
        comment=field.comment or UNMANAGED,
        default=_some(field.default),
        generated=_some(field.generated),
        identity=_some(field.identity),
        type_changes=recorded(field) or UNMANAGED,
    )


def declared_type(type_: DataType) -> DataType:
    """Only what is not as Delta makes it by itself is said of the nulls in a collection."""
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
    """The record of a live field, without the entries that a contract could not be read with."""
    entries = live.type_changes if isinstance(live.type_changes, tuple) else ()
    return tuple(
        replace(entry, version=None)
        for entry in entries
        if _has_words(entry.from_type) and _has_words(entry.to_type) and datatype.type_at(live.type, entry.at)
    )


def settable(live: Mapping[str, str | None]) -> dict[str, str | None]:
    """The properties that a contract may declare: no records of Delta's or of schemalint's own."""
    return {key: value for key, value in live.items() if value is not None and _is_settable(key, value)}


def _is_settable(key: str, value: str) -> bool:
    row = properties.find(key)
    if key in {MARKER, PENDING} or properties.is_protocol_key(key) or not properties.is_known(key):
        return False
    if row is None:
        return True
    return row.editable and not row.written_by_delta and properties.problem(key, value) is None


def named_features(live: LiveTable) -> frozenset[str]:
    """The features that the protocol names, that can be asked for, and that nothing else declared brings."""
    named = live.protocol.reader_features | live.protocol.writer_features
    # With another case it is no feature to Delta, which then refuses the table.
    rows = [row for name in named if (row := feature.find(name)) is not None and row.name == name]
    asked = {row.name for row in rows if row.settable and row.in_spark and row.name not in _TRACES}
    return frozenset(asked) - protocol.of_new_table(live.state.active_features | (named - asked))


def require_words(live: LiveTable, columns: Struct) -> None:
    unsaid = [format_path(path) for path in _unsaid(columns)]
    if unsaid:
        raise ContractError(
            f"{live.uri}: no contract can say the type of {', '.join(unsaid)}: it is of a newer Delta",
            help="update schemalint; or declare the other columns by hand, with open: {columns: true}",
        )


def _require_names(live: LiveTable) -> None:
    columns = live.state.columns
    for struct in (columns, *(type_ for _path, type_ in walk(columns) if isinstance(type_, Struct))):
        names = Counter(field.name.lower() for field in struct.fields)
        same = [field.name for field in struct.fields if names[field.name.lower()] > 1]
        if same:
            raise ContractError(
                f"{live.uri}: no contract can tell {', '.join(same)} apart: for Delta they have one name",
                help="restore the version before: RESTORE still works",
            )


def _unsaid(columns: Struct) -> Iterator[Path]:
    return (
        path for path, type_ in walk(columns) if not any(datatype.children(type_)) and not _has_words(type_)
    )


def _has_words(type_: DataType) -> bool:
    try:
        return parse_type(print_type(type_)) == type_
    except TypeTextError:
        return False


def _some(value: Managed[T | None]) -> Managed[T | None]:
    return UNMANAGED if value is None else value
