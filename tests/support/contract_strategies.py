"""Hypothesis strategies for contracts, covering every key of the native format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from schemalint.base.values import replace
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.delta.datatype import (
    STRING,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    RecordedChange,
    Struct,
    Unknown,
    type_at,
    walk_fields,
)
from schemalint.delta.path import Path, format_path
from schemalint.delta.streams import Blocking
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.contract import (
    Contract,
    Deprecation,
    ProtocolLimits,
    TargetOverlay,
    WriterPermissions,
)
from schemalint.model.exception import RuleException
from support.strategies import datatypes, names, table_states, texts

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

_FEATURES = st.frozensets(st.sampled_from(("appendOnly", "typeWidening", "someday")), max_size=2)
_DATES = st.dates().map(str)
_VALUES = st.sampled_from(("true", "FALSE", "32", "-0", "1.50", "null", "", "interval 7 days", "a: b # c"))


@st.composite
def contracts(draw: DrawFn) -> Contract:
    """Contracts with the file name ``contracts/any.yml``."""
    state = writable(draw(table_states(declared=True)))
    paths = [path for path, _ in walk_fields(state.columns)]
    path: SearchStrategy[Path] = st.sampled_from(paths) if paths else st.just(("gone",))
    deletions = st.builds(Deletion, path | st.just(("gone",)), st.none() | _printable_types())
    drop_features = draw(_FEATURES)
    return Contract(
        table=draw(st.lists(names(), min_size=1, max_size=3).map(_table_name)),
        state=replace(state, dropped=tuple(draw(st.lists(deletions, max_size=2)))),
        location=draw(st.none() | texts()),
        owner=draw(st.none() | texts()),
        managed_by=draw(st.just("schemalint") | texts()),
        managed_how=draw(st.sampled_from(("alter", "replace", "rename"))),
        on_column_change=draw(st.sampled_from((None, "append", "sync", "fail", "ignore"))),
        drop_features=drop_features,
        truncated_features=drop_features & draw(_FEATURES),
        protocol=draw(_limits()),
        open=draw(st.builds(WriterPermissions, st.booleans(), st.booleans())),
        targets=draw(st.dictionaries(texts(), _overlays(), max_size=2)),
        consumers=(consumers := draw(_unique_consumers(2))),
        named_consumers=draw(_names_besides(consumers)),
        exceptions=tuple(draw(st.lists(_exceptions(path), max_size=2))),
        deprecated=draw(st.dictionaries(st.sampled_from(paths), _deprecations(), max_size=2))
        if paths
        else {},
        file="contracts/any.yml",
    )


def writable(state: TableState) -> TableState:
    """Return the state without what a contract cannot express: unknown types, versions of type changes."""
    columns = _declared(state.columns)
    assert isinstance(columns, Struct)
    return replace(state, columns=columns)


def _declared(type_: DataType) -> DataType:
    match type_:
        case Unknown():
            return STRING
        case Array(element=element):
            return replace(type_, element=_declared(element))
        case Map(key=key, value=value):
            return replace(type_, key=_declared(key), value=_declared(value))
        case Struct(fields=fields):
            return Struct(tuple(_declared_field(field) for field in fields))
        case _:
            return type_


def _printable_types() -> SearchStrategy[DataType]:
    """Types that survive printing and parsing unchanged."""
    return datatypes().map(_declared).map(print_type).map(declared_type)


def _declared_field(field: Field) -> Field:
    type_ = _declared(field.type)
    changes: Managed[tuple[RecordedChange, ...]] = field.type_changes
    if isinstance(changes, tuple):
        changes = tuple(replace(change, version=None, at=()) for change in changes) + tuple(
            replace(change, version=None) for change in changes if type_at(type_, change.at)
        )
    return replace(field, type=type_, type_changes=changes)


def _table_name(parts: list[str]) -> str:
    return ".".join(format_path((part,)) for part in parts)


@st.composite
def _limits(draw: DrawFn) -> ProtocolLimits:
    number = st.none() | st.integers(1, 9)
    return ProtocolLimits(draw(number), draw(number), draw(st.booleans()))


@st.composite
def _overlays(draw: DrawFn) -> TargetOverlay:
    return TargetOverlay(
        location=draw(st.none() | texts()),
        absent=draw(st.booleans()),
        properties=draw(st.dictionaries(st.sampled_from(("team", "delta.appendOnly")), st.none() | _VALUES)),
        features=draw(st.none() | _FEATURES),
        protocol=draw(st.none() | _limits()),
        consumers=(consumers := draw(_unique_consumers(1))),
        named_consumers=draw(_names_besides(consumers)),
    )


def _unique_consumers(most: int) -> SearchStrategy[tuple[Consumer, ...]]:
    return st.lists(_consumers(), max_size=most, unique_by=lambda consumer: consumer.name).map(tuple)


def _names_besides(consumers: tuple[Consumer, ...]) -> SearchStrategy[tuple[str, ...]]:
    names = {consumer.name for consumer in consumers}
    return st.lists(texts().filter(lambda text: text not in names), max_size=2, unique=True).map(tuple)


@st.composite
def _consumers(draw: DrawFn) -> Consumer:
    text = st.none() | texts()
    stream = st.builds(
        Stream,
        texts(),
        text,
        st.integers(0, 9),
        st.none() | st.sampled_from(("s3", "s3a")),
        st.dictionaries(st.sampled_from(Blocking), st.just("always") | st.integers(0, 99)),
    )
    return Consumer(
        name=draw(texts()),
        client=draw(text),
        version=draw(text),
        read_path=draw(text),
        access=draw(st.sampled_from(("read", "write"))),
        columns=tuple(draw(st.lists(names().map(lambda name: (name,)), max_size=2))),
        owner=draw(text),
        cdf=draw(st.booleans()),
        stream=draw(st.none() | stream),
    )


def _exceptions(path: SearchStrategy[Path]) -> SearchStrategy[RuleException]:
    text = st.none() | texts()
    objects: SearchStrategy[dict[str, Any]] = st.one_of(
        st.just({}),
        path.map(lambda found: {"column": found}),
        st.just({"property": "delta.appendOnly"}),
        st.just({"constraint": "positive"}),
        st.just({"feature": "typeWidening"}),
        st.sampled_from(("table", "partitioning", "clustering")).map(lambda kind: {"object": kind}),
    )
    written = st.fixed_dictionaries(
        {"rule": texts(), "reason": texts(), "old": text, "new": text, "approved_by": text},
        optional={"expires": _DATES, "via": st.just("rewrite")},
    )
    return st.builds(lambda entry, about: RuleException(**entry, **about), written, objects)


def _deprecations() -> SearchStrategy[Deprecation]:
    return st.builds(Deprecation, st.none() | _DATES, st.none() | _DATES, st.none() | texts())
