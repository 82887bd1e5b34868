"""Hypothesis strategies for types, fields, structs and table states.

``declared=True`` adds what only a contract has: unmanaged values and former names (``renamed_from``).
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

from schemalint.delta.datatype import (
    BINARY_COLLATION,
    UNMANAGED,
    VOID,
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Field,
    Identity,
    Managed,
    Map,
    RecordedChange,
    String,
    Struct,
    Unknown,
    Varchar,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.table import TableState

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")

_ATOMIC: Final = (
    *("boolean", "byte", "short", "integer", "long", "float", "double", "binary"),
    *("date", "timestamp", "timestamp_ntz", "variant", "time(6)"),
    *("interval day to second", "interval year", "geometry(4326)", "geography(any)"),
)
_NAMES: Final = ("id", "Amount", "element", "key", "value", "a.b", "two words", "back`quote", "größe", "not")
_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_EXTRA_KEYS: Final = ("EXISTS_DEFAULT", "delta.columnMapping.nested.ids", "delta.identity.highWaterMark", "x")


def texts(*, max_size: int = 12) -> SearchStrategy[str]:
    """Any text that UTF-8 can encode."""
    return st.text(st.characters(codec="utf-8"), max_size=max_size)


@cache
def names() -> SearchStrategy[str]:
    """Column names, awkward ones included, never empty."""
    return st.sampled_from(_NAMES) | texts(max_size=6).filter(bool)


@cache
def leaf_types() -> SearchStrategy[DataType]:
    """Types without nested types, including types of a newer Delta."""
    return st.one_of(
        st.sampled_from(_ATOMIC).map(Atomic),
        st.sampled_from((VOID, String())),
        st.sampled_from((BINARY_COLLATION, "UTF8_LCASE", "UNICODE_CI", "DE_CI_AI")).map(String),
        st.integers(1, 65535).map(Char),
        st.integers(1, 65535).map(Varchar),
        decimals(),
        st.sampled_from(('"newtype"', '{"of": ["int", 1], "type": "vector"}')).map(Unknown),
    )


@st.composite
def decimals(draw: DrawFn) -> Decimal:
    """Decimals that Delta can store."""
    precision = draw(st.integers(1, 38))
    return Decimal(precision, draw(st.integers(0, precision)))


@cache  # every field draws from this strategy
def datatypes(*, declared: bool = False) -> SearchStrategy[DataType]:
    """Types of any depth."""
    return st.recursive(leaf_types(), lambda inner: _containers(inner, declared=declared), max_leaves=5)


@st.composite
def fields(draw: DrawFn, types: SearchStrategy[DataType] | None = None, *, declared: bool = False) -> Field:
    """Fields; half of them have random metadata, the others none."""
    name = draw(names())
    type_ = draw(datatypes(declared=declared) if types is None else types)
    if draw(st.booleans()):
        return Field(name, type_)
    text = _managed(st.none() | texts(), declared=declared)
    changes = st.lists(recorded_changes(), max_size=3).map(tuple)
    return Field(
        name,
        type_,
        nullable=draw(st.booleans()),
        comment=draw(text),
        default=draw(text),
        generated=draw(text),
        identity=draw(_managed(st.none() | identities(), declared=declared)),
        type_changes=draw(_managed(changes, declared=declared)),
        column_id=None if declared else draw(st.none() | st.integers(1, 2**31)),
        physical_name=None if declared else draw(st.none() | names()),
        renamed_from=draw(st.none() | names()) if declared else None,
        extra=() if declared else draw(_extras()),
    )


@cache
def identities() -> SearchStrategy[Identity]:
    """Identity columns' settings, with 64-bit numbers."""
    number = st.integers(-(2**63), 2**63 - 1)
    return st.builds(Identity, number, number, st.booleans())


@cache
def recorded_changes() -> SearchStrategy[RecordedChange]:
    """Entries of ``delta.typeChanges``, valid or not."""
    types = st.sampled_from(("byte", "long", "date", "timestamp_ntz")).map(Atomic) | decimals()
    at = st.lists(st.sampled_from(Part), max_size=3).map(tuple)
    return st.builds(RecordedChange, types, types, at, st.none() | st.integers(0, 2**60))


def structs(*, declared: bool = False, max_size: int = 4) -> SearchStrategy[Struct]:
    """Columns of a table; names are unique at every level, ignoring case."""
    return _struct_of(fields(declared=declared), max_size)


@st.composite
def table_states(draw: DrawFn, *, declared: bool = False) -> TableState:
    """Table states, partitioned and clustered by their own top-level columns."""
    columns = draw(structs(declared=declared))
    column_names = [field.name for field in columns.fields]
    keys = (
        st.lists(st.sampled_from(column_names), unique=True, max_size=2)
        if column_names
        else st.just(list[str]())
    )
    paths: SearchStrategy[tuple[Path, ...]] = keys.map(lambda names: tuple((name,) for name in names))
    value: SearchStrategy[str | None] = st.none() | texts() if declared else texts()
    return TableState(
        columns=columns,
        description=draw(_managed(st.none() | texts(), declared=declared)),
        partitioned_by=draw(_managed(keys.map(tuple), declared=declared)),
        clustered_by=draw(_managed(paths, declared=declared)),
        constraints=draw(st.dictionaries(st.sampled_from(("positive", "known")), value, max_size=2)),
        properties=draw(
            st.dictionaries(st.sampled_from(("delta.enableTypeWidening", "delta.appendOnly", "team")), value)
        ),
        features=draw(st.frozensets(st.sampled_from(("appendOnly", "typeWidening", "someday")))),
    )


def _containers(inner: SearchStrategy[DataType], *, declared: bool) -> SearchStrategy[DataType]:
    nullable = _managed(st.booleans(), declared=declared)
    return st.one_of(
        st.builds(Array, inner, nullable),
        st.builds(Map, inner, inner, nullable),
        _struct_of(fields(inner, declared=declared), 3),
    )


def _struct_of(inner: SearchStrategy[Field], max_size: int) -> SearchStrategy[Struct]:
    unique = st.lists(inner, max_size=max_size, unique_by=lambda field: field.name.casefold())
    return unique.map(lambda drawn: Struct(tuple(drawn)))


@cache
def _extras() -> SearchStrategy[tuple[tuple[str, str], ...]]:
    json_texts = _JSON.map(lambda value: json.dumps(value, sort_keys=True))
    extras = st.dictionaries(st.sampled_from(_EXTRA_KEYS), json_texts, max_size=2)
    return extras.map(lambda extra: tuple(sorted(extra.items())))


def _managed(values: SearchStrategy[T], *, declared: bool) -> SearchStrategy[Managed[T]]:
    return st.just(UNMANAGED) | values if declared else values
