"""Tables, and what their contracts have been since: hypothesis makes histories of renames and drops.

Every field of a revision says in `physical_name` who it really is, and so does the live one: a plan that
mixes two columns up shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

from schemalint.delta.datatype import (
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
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.protocol import Protocol
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import Deletion, LiveTable, Metadata, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hypothesis.strategies import DrawFn
    from hypothesis.vendor.pretty import RepresentationPrinter

T = TypeVar("T")

MODE: Final = "delta.columnMapping.mode"
WIDENING: Final = "delta.enableTypeWidening"

# Few names, so that they are given up and taken again; two that differ by case alone, one that needs quotes.
_NAMES: Final = ("a", "b", "c", "d", "A", "it`s.")
_NAMES_OF_OTHERS: Final = ("u", "v")
_WIDER: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    BYTE: (SHORT, LONG),
    INTEGER: (LONG, Decimal(12, 1)),
    FLOAT: (),
    DATE: (TIMESTAMP_NTZ,),
    Decimal(10, 2): (Decimal(12, 4),),
    STRING: (),
}
_DEFAULTS: Final[Mapping[DataType, tuple[str, ...]]] = {INTEGER: ("1", "2"), STRING: ("'x'", "'it''s'")}
_KEYS: Final[Sequence[DataType]] = (STRING, INTEGER)
_CLUSTERING: Final = (INTEGER, LONG, STRING)
_COMMENTS: Final = (UNMANAGED, UNMANAGED, None, "x", "it's; --", "${x}")
_DEPTH: Final = 2


@dataclass(frozen=True, slots=True)
class World:
    """A live table and the revisions of its contract.

    Attributes:
        made: What the table was made as: the oldest revision, and what nobody declares.
        revisions: Oldest first; the oldest is applied, the last is the declaration.
    """

    made: Contract
    live: LiveTable
    revisions: tuple[Contract, ...]

    def _repr_pretty_(self, printer: RepresentationPrinter, _cycle: object) -> None:
        """For hypothesis: short enough to be read."""
        for state in (self.live.state, *(one.state for one in self.revisions)):
            printer.text(f"\n{_said(state)}")

    @property
    def contract(self) -> Contract:
        return self.revisions[-1]

    @property
    def dropped(self) -> set[str | None]:
        """Who was declared, and is no longer: all of them are listed under `dropped`."""
        known = [identities(one.state.columns).keys() for one in self.revisions]
        return set[str | None]().union(*known) - known[-1]


def identities(columns: Struct) -> dict[str | None, Path]:
    """Where each column is, by who it is."""
    return {field.physical_name: path for path, field in walk_fields(columns)}


@st.composite
def worlds(draw: DrawFn, *, max_revisions: int = 4) -> World:
    """Lawful histories: each can be brought to its last revision, whatever it takes."""
    maker = _Maker(draw, count(1))
    times = draw(st.integers(2, max_revisions))
    mapped_since = draw(st.sampled_from((0, 0, 0, 1, max_revisions)))
    states = [maker.first()]
    for _ in range(1, times):
        states.append(maker.next(states[-1], states[0].columns, may_rename=mapped_since < times))
    states = [_mapped(one) if mapped_since <= number else one for number, one in enumerate(states)]
    made, *revisions = [Contract("sales.orders", one) for one in (maker.with_others(states[0]), *states)]
    return World(made, live_table(made), tuple(revisions))


def live_table(made: Contract) -> LiveTable:
    """The table that Delta makes of a contract; where column mapping is on, ids are given parents first."""
    features = made.created_features
    state = replace(created_state(made.state), features=features)
    if state.properties.get(MODE) == "name":
        ids = count(1)
        columns = map_fields(state.columns, lambda _path, field: replace(field, column_id=next(ids)))
        state = replace(state, columns=columns)
    return LiveTable("/lake/orders", 3, Protocol(3, 7, frozenset(), features), Metadata("id", state))


def _said(state: TableState) -> str:
    fields = [
        f"{format_path(path)}{f' < {one.renamed_from}' if one.renamed_from else ''}: {print_type(one.type)}"
        f" {'' if one.nullable else 'NOT NULL '}{one.comment!r} {one.default!r} {one.physical_name}"
        for path, one in walk_fields(state.columns)
    ]
    rest = (state.clustered_by, state.constraints, state.properties, state.dropped, state.description)
    return "\n  ".join((str(rest), *fields))


def _mapped(state: TableState) -> TableState:
    return replace(state, properties={**state.properties, MODE: "name"})


@dataclass(frozen=True)
class _Maker:
    """Draws revisions.

    Attributes:
        numbers: Who is who.
    """

    draw: DrawFn
    numbers: Iterator[int]

    def one_of(self, values: Sequence[T]) -> T:
        return self.draw(st.sampled_from(values))

    def some(self, values: Sequence[T], *, most: int = 2) -> list[T]:
        if not values:
            return []
        places = st.lists(st.integers(0, len(values) - 1), max_size=most, unique=True)
        return [values[place] for place in self.draw(places)]

    def chance(self, of: int = 2) -> bool:
        return self.draw(st.integers(1, of)) == of

    # The oldest revision

    def first(self) -> TableState:
        columns = self.struct(depth=_DEPTH, size=4)
        guarded = self.some([path for path, _field in _readable(columns)])
        return TableState(
            columns=columns,
            description=self.one_of((UNMANAGED, None, "x")),
            clustered_by=tuple(self.some(_clusterable(columns))) if self.chance() else UNMANAGED,
            constraints={f"c{number}": _check(path) for number, path in enumerate(guarded)},
            properties={WIDENING: "true", "team": "sales"},
            features=frozenset({"allowColumnDefaults", "timestampNtz"}),
        )

    def struct(self, *, depth: int, size: int = 3, fresh: bool = False) -> Struct:
        names = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=size, unique_by=str.lower)
        return Struct(tuple(self.field(name, depth=depth, fresh=fresh) for name in self.draw(names)))

    def field(self, name: str, *, depth: int, fresh: bool) -> Field:
        """NOT NULL is only what a table is made with, and nothing inside of an array or a map."""
        type_ = self.type(depth=depth, fresh=fresh)
        return Field(
            name,
            type_,
            nullable=fresh or self.chance(),
            comment=self.one_of(_COMMENTS),
            default=self.default(type_, depth),
            generated=UNMANAGED,
            identity=UNMANAGED,
            type_changes=UNMANAGED,
            physical_name=f"p{next(self.numbers)}",
        )

    def type(self, *, depth: int, fresh: bool) -> DataType:
        kinds = ("leaf", "leaf", "leaf", "struct", "array", "map") if depth else ("leaf",)
        match self.one_of(kinds):
            case "struct":
                return self.struct(depth=depth - 1, fresh=fresh)
            case "array":
                return Array(self.struct(depth=depth - 1, fresh=True), UNMANAGED)
            case "map":
                key: DataType = self.one_of(_KEYS)
                return Map(key, self.struct(depth=depth - 1, fresh=True), UNMANAGED)
            case _:
                return self.one_of(tuple(_WIDER))

    def default(self, type_: DataType, depth: int) -> Managed[str | None]:
        """Nested fields have none."""
        texts = _DEFAULTS.get(type_, ()) if depth == _DEPTH else ()
        values: Sequence[Managed[str | None]] = (UNMANAGED, UNMANAGED, None, *texts)
        return self.one_of(values) if texts else UNMANAGED

    def with_others(self, state: TableState) -> TableState:
        """With what nobody declares: columns at every level, a property, a constraint."""
        columns = self.struct_with_others(state.columns)
        guards = {"theirs": _check(("u",))} if columns.get("u") else {}
        return replace(
            state,
            columns=columns,
            constraints={**state.constraints, **guards},
            properties={**state.properties, "theirs": "1"},
        )

    def struct_with_others(self, struct: Struct) -> Struct:
        fields = [replace(field, type=self.type_with_others(field.type)) for field in struct.fields]
        for name in self.some(_NAMES_OF_OTHERS):
            other = Field(name, INTEGER, physical_name=f"u{next(self.numbers)}")
            fields.insert(self.draw(st.integers(0, len(fields))), other)
        return Struct(tuple(fields))

    def type_with_others(self, type_: DataType) -> DataType:
        match type_:
            case Struct():
                return self.struct_with_others(type_)
            case Array(element=element):
                return replace(type_, element=self.type_with_others(element))
            case Map(value=value):
                return replace(type_, value=self.type_with_others(value))
            case _:
                return type_

    # The next one

    def next(self, before: TableState, applied: Struct, *, may_rename: bool) -> TableState:
        listed = {path_key(one.path) for one in before.dropped}
        edit = _Edit(self, listed, set(identities(applied)), may_rename=may_rename)
        columns = edit.struct(before.columns, (), depth=_DEPTH, fresh=False)
        described = before.description is not UNMANAGED
        return replace(
            before,
            columns=columns,
            description=self.one_of((None, "x", "y")) if described else UNMANAGED,
            clustered_by=self.clustering(before, columns),
            constraints=self.constraints(before, columns),
            properties={**before.properties, self.one_of(("team", "old")): self.one_of((None, "x"))},
            dropped=(*before.dropped, *edit.gone),
        )

    def clustering(self, before: TableState, columns: Struct) -> Managed[tuple[Path, ...]]:
        if not isinstance(before.clustered_by, tuple):
            return UNMANAGED
        if self.chance():
            return tuple(self.some(_clusterable(columns)))
        may = _clusterable(columns)
        return tuple(path for path in _followed(before, columns, before.clustered_by) if path in may)

    def constraints(self, before: TableState, columns: Struct) -> dict[str, str | None]:
        """They name the columns as they are called now; those of what is dropped are declared absent."""
        where = identities(columns)
        old = {_check(path): field.physical_name for path, field in walk_fields(before.columns)}
        found: dict[str, str | None] = {}
        for name, text in before.constraints.items():
            path = where.get(old[text]) if text is not None else None
            found[name] = _check(path) if path and self.chance(4) is False else None
        new = self.some([path for path, _field in _readable(columns)], most=1)
        return found | {f"n{next(self.numbers)}": _check(path) for path in new}


@dataclass
class _Edit:
    """From one revision's columns to the next one's.

    Attributes:
        listed: The paths that are under `dropped` already: such an entry does not act again.
        applied: Who was there at the oldest revision: a rename of anybody else is refused.
        gone: The new entries of `dropped`.
    """

    maker: _Maker
    listed: set[tuple[str, ...]]
    applied: set[str | None]
    may_rename: bool

    def __post_init__(self) -> None:
        self.gone: list[Deletion] = []

    def struct(self, old: Struct, path: Path, *, depth: int, fresh: bool) -> Struct:
        gone = self.dropped(old, path)
        kept = [field for field in old.fields if field not in gone]
        names = self.names(old, kept)
        fields = [
            self.field(field, name, path, depth, fresh=fresh) for field, name in zip(kept, names, strict=True)
        ]
        if self.maker.chance(4):
            fields = self.maker.draw(st.permutations(fields))
        taken = {name.lower() for name in names}
        for name in self.maker.some(_NAMES):
            former = next((one for one in gone if one.name.lower() == name.lower()), None)
            new = self.maker.field(name, depth=depth, fresh=True)
            is_back = any(name.lower() == listed[-1] for listed in self.listed)  # takes a deletion back
            if is_back or name.lower() in taken:
                continue
            if former is None or _differ(former.type, new.type):
                fields = _inserted(fields, new, self.maker.draw(st.integers(0, len(fields))))
                taken.add(name.lower())
        for one in gone:
            old_type = one.type if one.name.lower() in taken else None
            self.gone.append(Deletion((*path, one.name), old_type))
        return Struct(tuple(fields))

    def dropped(self, old: Struct, path: Path) -> list[Field]:
        """Never the last one of a struct: Delta has no such table."""
        if not (self.may_rename and self.maker.chance()):
            return []
        may = [field for field in old.fields if path_key((*path, field.name)) not in self.listed]
        return self.maker.some(may, most=min(2, len(old.fields) - 1))

    def names(self, old: Struct, kept: Sequence[Field]) -> list[str]:
        same = [field.name for field in kept]
        if not (self.may_rename and self.maker.chance()):
            return same
        pool = list(dict.fromkeys((*(field.name for field in old.fields), *_NAMES)))
        applied = [place for place, field in enumerate(kept) if field.physical_name in self.applied]
        changed = set(self.maker.some(applied, most=3))
        taken = {name.lower() for place, name in enumerate(same) if place not in changed}
        names: list[str] = []
        for place, field in enumerate(kept):
            free = [name for name in pool if name.lower() not in taken and _can_be_told(old, field, name)]
            name = self.maker.one_of(free) if place in changed and free else field.name
            taken.add(name.lower())
            names.append(name)
        return names if len({name.lower() for name in names}) == len(names) else same

    def field(self, old: Field, name: str, path: Path, depth: int, *, fresh: bool) -> Field:
        renamed = name != old.name
        kept = old.renamed_from if self.maker.chance() else None
        new = replace(old, name=name, renamed_from=old.name if renamed else kept)
        return replace(
            new,
            type=self.type(old.type, (*path, name), depth, fresh=fresh),
            nullable=old.nullable or self.maker.chance(),
            comment=self.maker.one_of(_COMMENTS) if self.maker.chance() else old.comment,
            default=self.maker.default(old.type, depth) if self.maker.chance() else old.default,
        )

    def type(self, old: DataType, path: Path, depth: int, *, fresh: bool) -> DataType:
        match old:
            case Struct():
                return self.struct(old, path, depth=depth - 1, fresh=fresh)
            case Array(element=element):
                inner = self.type(element, (*path, Part.ELEMENT), depth, fresh=True)
                return replace(old, element=inner)
            case Map(key=key, value=value):
                return replace(
                    old,
                    key=self.type(key, (*path, Part.KEY), depth, fresh=True),
                    value=self.type(value, (*path, Part.VALUE), depth, fresh=True),
                )
            case _:
                return self.maker.one_of((old, old, *_WIDER.get(old, ())))


def _can_be_told(old: Struct, field: Field, name: str) -> bool:
    """Whether a contract can say it: an old `renamed_from` of that name's column must not say the same."""
    namesake = old.get(name)
    return namesake is None or namesake.renamed_from != field.name


def _inserted(fields: Sequence[Field], new: Field, place: int) -> list[Field]:
    return [*fields[:place], new, *fields[place:]]


def _differ(one: DataType, other: DataType) -> bool:
    return print_type(one) != print_type(other)


def _followed(before: TableState, columns: Struct, paths: Sequence[Path]) -> list[Path]:
    where = identities(columns)
    who = {path: field.physical_name for path, field in walk_fields(before.columns)}
    return [where[who[path]] for path in paths if who[path] in where]


def _clusterable(columns: Struct) -> list[Path]:
    return [path for path, field in _readable(columns) if field.type in _CLUSTERING]


def _readable(columns: Struct) -> list[tuple[Path, Field]]:
    """The fields that SQL reaches by their names alone."""
    return [
        (path, field)
        for path, field in walk_fields(columns)
        if not any(isinstance(step, Part) for step in path)
        and not isinstance(field.type, Struct | Array | Map)
    ]


def _check(path: Path) -> str:
    return f"{'.'.join(always_quoted(str(step)) for step in path)} IS NOT NULL"
