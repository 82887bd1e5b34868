"""Tables and what their contracts have been since: what hypothesis makes histories of renames and drops from.

Every field of a revision has in `physical_name` who it really is. So does the live one, and a plan that mixes
two columns up shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from schemalint.model.datatype import (
    BYTE,
    DATE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP_NTZ,
    UNMANAGED,
    Array,
    DataType,
    Decimal,
    Field,
    Managed,
    Map,
    Struct,
    map_fields,
    walk_fields,
)
from schemalint.model.overlay import created
from schemalint.model.path import Part, Path, words
from schemalint.model.protocol import Protocol
from schemalint.model.sqltext import always_quoted
from schemalint.model.table import Contract, Deletion, LiveTable, Metadata, TableState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

MODE: Final = "delta.columnMapping.mode"
WIDENING: Final = "delta.enableTypeWidening"

# Few names, so that they are given up and taken again; one that needs quotes, one that differs by case.
_NAMES: Final = ("a", "b", "c", "d", "A", "it`s.")
_UNMANAGED_NAMES: Final = ("u", "v")
_WIDER: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    BYTE: (SHORT, LONG),
    INTEGER: (LONG, Decimal(12, 1)),
    FLOAT: (),
    DATE: (TIMESTAMP_NTZ,),
    Decimal(10, 2): (Decimal(12, 4),),
    STRING: (),
}
_DEFAULTS: Final[Mapping[DataType, tuple[str, ...]]] = {INTEGER: ("1", "2"), STRING: ("'x'", "'it''s'")}
_CLUSTERS: Final = (INTEGER, LONG, STRING)
_COMMENTS: SearchStrategy[Managed[str | None]] = st.sampled_from((UNMANAGED, None, "x", "it's; --", "${x}"))


@dataclass(frozen=True, slots=True)
class World:
    """A live table and the revisions of its contract.

    Attributes:
        made: What the table was made as: the oldest revision, and what nobody declares.
        live: The table that Delta made of it.
        revisions: Oldest first; the oldest is applied, the last is the declaration.
    """

    made: Contract
    live: LiveTable
    revisions: tuple[Contract, ...]

    @property
    def contract(self) -> Contract:
        return self.revisions[-1]

    @property
    def states(self) -> list[TableState]:
        return [one.state for one in self.revisions]

    @property
    def dropped(self) -> set[str | None]:
        """Who was declared, and is no longer: all of them are listed under ``dropped``."""
        known = [set(identities(one.columns)) for one in self.states]
        return set().union(*known) - known[-1]


def identities(columns: Struct) -> dict[str | None, Path]:
    """Where each column is, by who it is."""
    return {field.physical_name: path for path, field in walk_fields(columns)}


@st.composite
def worlds(draw: DrawFn, *, max_revisions: int = 4) -> World:
    """Lawful histories: every one of them can be brought to its last revision."""
    numbers = count(1)
    mapped_since = draw(st.sampled_from((0, 0, 0, 1, 9)))
    times = draw(st.integers(2, max_revisions))
    first = draw(_first_revision(numbers, mapped=mapped_since == 0))
    states = [first]
    may_rename = mapped_since < times
    for number in range(1, times):
        drawn = draw(_next_revision(states[-1], numbers, may_rename=may_rename))
        properties = {**drawn.properties, **({MODE: "name"} if mapped_since <= number else {})}
        states.append(replace(drawn, properties=properties))
    made = draw(_with_unmanaged(first, numbers))
    contracts = [Contract("sales.orders", one) for one in (made, *states)]
    return World(contracts[0], live_table(contracts[0]), tuple(contracts[1:]))


def live_table(made: Contract) -> LiveTable:
    """The table that Delta makes of a contract; with ids, parents first, where column mapping is on."""
    features = made.created_features
    state = replace(created(made.state), features=features)
    if state.properties.get(MODE) == "name":
        ids = count(1)
        columns = map_fields(state.columns, lambda _path, field: replace(field, column_id=next(ids)))
        state = replace(state, columns=columns)
    return LiveTable("/lake/orders", 3, Protocol(3, 7, frozenset(), features), Metadata("id", state))


@st.composite
def _first_revision(draw: DrawFn, numbers: Iterator[int], *, mapped: bool) -> TableState:
    columns = draw(_struct(numbers, depth=2, size=4))
    properties: dict[str, str | None] = {WIDENING: "true", "team": "sales"}
    clustering = draw(st.sampled_from(("unmanaged", "none", "some")))
    state = TableState(
        columns=columns,
        description=draw(st.sampled_from((UNMANAGED, None, "x"))),
        clustered_by={"unmanaged": UNMANAGED, "none": ()}.get(clustering) or draw(_clustering(columns)),
        properties={**properties, **({MODE: "name"} if mapped else {})},
        features=frozenset({"allowColumnDefaults", "timestampNtz"}),
    )
    if clustering == "unmanaged":
        state = replace(state, clustered_by=UNMANAGED)
    guarded = draw(st.lists(st.sampled_from(_guardable(columns)), max_size=2, unique=True))
    return replace(state, constraints={f"c{n}": _check(path) for n, path in enumerate(guarded)})


@st.composite
def _next_revision(draw: DrawFn, before: TableState, numbers: Iterator[int], *, may_rename: bool) -> TableState:
    edit = _Edit(numbers, frozenset(words(one.path) for one in before.dropped), may_rename=may_rename)
    columns, gone = draw(edit.struct(before.columns, (), depth=2))
    declared = {words(path) for path, _field in walk_fields(columns)}
    kept = [one for one in before.dropped if words(one.path) not in declared and draw(st.booleans())]
    properties = dict(before.properties)
    properties |= draw(st.dictionaries(st.sampled_from(("team", "old")), st.none() | st.just("x"), max_size=2))
    return replace(
        before,
        columns=columns,
        description=before.description
        if before.description is UNMANAGED
        else draw(st.sampled_from((None, "x", "y"))),
        clustered_by=draw(_clustering_again(before, columns)),
        constraints=draw(_constraints_again(before, columns)),
        properties=properties,
        dropped=(*kept, *gone),
    )


@st.composite
def _with_unmanaged(draw: DrawFn, first: TableState, numbers: Iterator[int]) -> TableState:
    """What nobody declares: columns at every level, a property, a constraint on such a column."""

    def beside(struct: Struct) -> Struct:
        names = draw(st.lists(st.sampled_from(_UNMANAGED_NAMES), max_size=2, unique=True))
        fields = [replace(one, type=inside(one.type)) for one in struct.fields]
        for name in names:
            fields.insert(
                draw(st.integers(0, len(fields))), Field(name, INTEGER, physical_name=f"u{next(numbers)}")
            )
        return Struct(tuple(fields))

    def inside(type_: DataType) -> DataType:
        match type_:
            case Struct():
                return beside(type_)
            case Array(element=element):
                return replace(type_, element=inside(element))
            case Map(value=value):
                return replace(type_, value=inside(value))
            case _:
                return type_

    columns = beside(first.columns)
    guards = {"unmanaged": _check(("u",))} if columns.get("u") else {}
    return replace(
        first,
        columns=columns,
        constraints={**first.constraints, **guards},
        properties={**first.properties, "their.own": "1"},
    )


@st.composite
def _struct(draw: DrawFn, numbers: Iterator[int], *, depth: int, size: int, nullable: bool = False) -> Struct:
    names = draw(
        st.lists(st.sampled_from(_NAMES), min_size=1, max_size=size, unique_by=lambda name: name.lower())
    )
    return Struct(tuple(draw(_field(name, numbers, depth=depth, nullable=nullable)) for name in names))


@st.composite
def _field(
    draw: DrawFn, name: str, numbers: Iterator[int], *, depth: int, nullable: bool = False, new: bool = False
) -> Field:
    """A new column: only what a table is made with can be NOT NULL."""
    number = f"p{next(numbers)}"
    type_ = draw(_type(numbers, depth=depth, nullable=nullable or new))
    return Field(
        name,
        type_,
        nullable=nullable or new or draw(st.booleans()),
        comment=draw(_COMMENTS),
        default=draw(_default(type_, depth=depth)),
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
        physical_name=number,
    )


@st.composite
def _type(draw: DrawFn, numbers: Iterator[int], *, depth: int, nullable: bool) -> DataType:
    kind = draw(st.sampled_from(("leaf", "leaf", "leaf", "struct", "array", "map"))) if depth else "leaf"
    match kind:
        case "struct":
            return draw(_struct(numbers, depth=depth - 1, size=3, nullable=nullable))
        case "array":
            return Array(draw(_struct(numbers, depth=depth - 1, size=3, nullable=True)), UNMANAGED)
        case "map":
            inner = draw(_struct(numbers, depth=depth - 1, size=2, nullable=True))
            return Map(draw(st.sampled_from((STRING, INTEGER))), inner, UNMANAGED)
        case _:
            return draw(st.sampled_from(tuple(_WIDER)))


def _default(type_: DataType, *, depth: int) -> SearchStrategy[Managed[str | None]]:
    """Only columns have defaults (a struct's fields none that Spark would take)."""
    texts = _DEFAULTS.get(type_, ()) if depth == 2 else ()  # noqa: PLR2004 (the depth of a column)
    return st.sampled_from((UNMANAGED, UNMANAGED, None, *texts))


@dataclass(frozen=True)
class _Edit:
    """The next revision of the columns.

    Attributes:
        listed: The paths under `dropped` already: an entry that is there does not act again.
    """

    numbers: Iterator[int]
    listed: frozenset[tuple[str, ...]]
    may_rename: bool

    def struct(
        self, old: Struct, path: Path, *, depth: int, nullable: bool = False
    ) -> SearchStrategy[tuple[Struct, list[Deletion]]]:
        return self._struct(old, path, depth, nullable)

    @property
    def _struct(self):  # noqa: ANN202 (a strategy made of a method)
        @st.composite
        def build(
            draw: DrawFn, old: Struct, path: Path, depth: int, nullable: bool
        ) -> tuple[Struct, list[Deletion]]:
            gone = draw(self._gone(old, path)) if self.may_rename else []
            kept = [one for one in old.fields if one not in gone]
            names = draw(self._names(old, kept)) if self.may_rename else [one.name for one in kept]
            taken = {name.lower() for name in names}
            fields: list[Field] = []
            deletions: list[Deletion] = []
            for one, name in zip(kept, names, strict=True):
                field, below = draw(self._field(one, name, path, depth))
                fields.append(field)
                deletions += below
            if draw(st.integers(0, 3)) == 0:
                fields = list(draw(st.permutations(fields)))
            for name in draw(st.lists(st.sampled_from(_NAMES), max_size=2, unique_by=str.lower)):
                if name.lower() in taken:
                    continue
                field = draw(_field(name, self.numbers, depth=depth, nullable=nullable, new=True))
                former = next((one for one in gone if one.name.lower() == name.lower()), None)
                if former is not None and _kind(former.type) == _kind(field.type):
                    continue
                fields.insert(draw(st.integers(0, len(fields))), field)
                taken.add(name.lower())
            for one in gone:
                typed = one.name.lower() in taken
                deletions.append(Deletion((*path, one.name), _written(one.type) if typed else None))
            return Struct(tuple(fields)), deletions

        return build

    @st.composite
    @staticmethod
    def _unused(draw: DrawFn) -> None: ...

    def _gone(self, old: Struct, path: Path) -> SearchStrategy[list[Field]]:
        may = [one for one in old.fields[1:] if words((*path, one.name)) not in self.listed]
        some = st.lists(st.sampled_from(may), max_size=2, unique_by=lambda one: one.name) if may else st.just([])
        return st.one_of(st.just([]), some)
