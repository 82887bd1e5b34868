"""Hypothesis strategies for a live table and the revisions of its contract, with renames and drops.

`physical_name` holds a column's identity, in every revision and in the live table. So a test notices a plan
that confuses two columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

from schemalint.base.values import replace
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hypothesis.strategies import DrawFn
    from hypothesis.vendor.pretty import RepresentationPrinter

T = TypeVar("T")

MODE: Final = "delta.columnMapping.mode"
WIDENING: Final = "delta.enableTypeWidening"

# Few names, so that they are freed and reused; two differ only in case, one needs quotes.
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
_KEYS: Final[Sequence[DataType]] = (STRING, INTEGER)
_CLUSTERING: Final = (INTEGER, LONG, STRING)
_COMMENTS: Final = (UNMANAGED, UNMANAGED, None, "x", "it's; --", "${x}")
_DEPTH: Final = 2


@dataclass(frozen=True, slots=True)
class TableHistory:
    """A live table and the revisions of its contract.

    Attributes:
        made: The contract that creates the table: the oldest revision, plus unmanaged objects.
        revisions: Oldest first; the oldest is applied, the last is the contract to deploy.
    """

    made: Contract
    live: LiveTable
    revisions: tuple[Contract, ...]

    def _repr_pretty_(self, printer: RepresentationPrinter, _cycle: object) -> None:
        """Print the history for hypothesis, short enough to read."""
        for state in (self.live.state, *(revision.state for revision in self.revisions)):
            printer.text(f"\n{_state_text(state)}")

    @property
    def contract(self) -> Contract:
        return self.revisions[-1]

    @property
    def dropped_identities(self) -> set[str | None]:
        """Columns that an older revision declares and the last one does not; it lists all under `dropped`."""
        known = [paths_by_identity(revision.state.columns).keys() for revision in self.revisions]
        return set[str | None]().union(*known) - known[-1]


def paths_by_identity(columns: Struct) -> dict[str | None, Path]:
    """Return the path of each column by its identity."""
    return {field.physical_name: path for path, field in walk_fields(columns)}


@st.composite
def table_histories(draw: DrawFn, *, max_revisions: int = 4) -> TableHistory:
    """Valid histories: some plan leads from each live table to the last revision."""
    maker = _Maker(draw, count(1))
    revision_count = draw(st.integers(2, max_revisions))
    mapped_since = draw(st.sampled_from((0, 0, 0, 1, max_revisions)))
    states = [maker.first()]
    for _ in range(1, revision_count):
        states.append(maker.next(states[-1], states[0].columns, may_rename=mapped_since < revision_count))
    states = [_mapped(state) if mapped_since <= number else state for number, state in enumerate(states)]
    created = maker.with_unmanaged(states[0])
    made, *revisions = [Contract("sales.orders", state) for state in (created, *states)]
    return TableHistory(made, live_table(made), tuple(revisions))


def live_table(made: Contract) -> LiveTable:
    """Return the table that Delta creates from a contract; column mapping ids go to parents first."""
    features = made.created_features
    state = replace(created_state(made.state), features=features)
    if state.properties.get(MODE) == "name":
        ids = count(1)
        columns = map_fields(state.columns, lambda _path, field: replace(field, column_id=next(ids)))
        state = replace(state, columns=columns)
    return LiveTable("/lake/orders", 3, Protocol(3, 7, frozenset(), features), Metadata("id", state))


def _state_text(state: TableState) -> str:
    fields = [
        f"{format_path(path)}{f' < {field.renamed_from}' if field.renamed_from else ''}: "
        f"{print_type(field.type)} {'' if field.nullable else 'NOT NULL '}{field.comment!r} "
        f"{field.default!r} {field.physical_name}"
        for path, field in walk_fields(state.columns)
    ]
    rest = (state.clustered_by, state.constraints, state.properties, state.dropped, state.description)
    return "\n  ".join((str(rest), *fields))


def _mapped(state: TableState) -> TableState:
    return replace(state, properties={**state.properties, MODE: "name"})


@dataclass(frozen=True)
class _Maker:
    """Draws the revisions of a contract.

    Attributes:
        numbers: Numbers for the identities of new columns.
    """

    draw: DrawFn
    numbers: Iterator[int]

    def one_of(self, values: Sequence[T]) -> T:
        return self.draw(st.sampled_from(values))

    def sample(self, values: Sequence[T], *, most: int = 2) -> list[T]:
        if not values:
            return []
        positions = st.lists(st.integers(0, len(values) - 1), max_size=most, unique=True)
        return [values[position] for position in self.draw(positions)]

    def chance(self, of: int = 2) -> bool:
        return self.draw(st.integers(1, of)) == of

    # The oldest revision

    def first(self) -> TableState:
        columns = self.struct(depth=_DEPTH, size=4)
        constrained = self.sample([path for path, _field in _readable(columns)])
        return TableState(
            columns=columns,
            description=self.one_of((UNMANAGED, None, "x")),
            clustered_by=tuple(self.sample(_clusterable(columns))) if self.chance() else UNMANAGED,
            constraints={f"c{number}": _check(path) for number, path in enumerate(constrained)},
            properties={WIDENING: "true", "team": "sales"},
            features=frozenset({"allowColumnDefaults", "timestampNtz"}),
        )

    def struct(self, *, depth: int, size: int = 3, fresh: bool = False) -> Struct:
        names = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=size, unique_by=str.lower)
        return Struct(tuple(self.field(name, depth=depth, fresh=fresh) for name in self.draw(names)))

    def field(self, name: str, *, depth: int, fresh: bool) -> Field:
        """Draw a field; NOT NULL appears only in the oldest revision, and never inside an array or a map."""
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
        """Draw a default value; nested fields get none."""
        texts = _DEFAULTS.get(type_, ()) if depth == _DEPTH else ()
        values: Sequence[Managed[str | None]] = (UNMANAGED, UNMANAGED, None, *texts)
        return self.one_of(values) if texts else UNMANAGED

    def with_unmanaged(self, state: TableState) -> TableState:
        """Add what no contract declares: columns at every level, a property, a constraint."""
        columns = self.struct_with_unmanaged(state.columns)
        constraints = {"theirs": _check(("u",))} if columns.get("u") else {}
        return replace(
            state,
            columns=columns,
            constraints={**state.constraints, **constraints},
            properties={**state.properties, "theirs": "1"},
        )

    def struct_with_unmanaged(self, struct: Struct) -> Struct:
        fields = [replace(field, type=self.type_with_unmanaged(field.type)) for field in struct.fields]
        for name in self.sample(_UNMANAGED_NAMES):
            unmanaged = Field(name, INTEGER, physical_name=f"u{next(self.numbers)}")
            fields.insert(self.draw(st.integers(0, len(fields))), unmanaged)
        return Struct(tuple(fields))

    def type_with_unmanaged(self, type_: DataType) -> DataType:
        match type_:
            case Struct():
                return self.struct_with_unmanaged(type_)
            case Array(element=element):
                return replace(type_, element=self.type_with_unmanaged(element))
            case Map(value=value):
                return replace(type_, value=self.type_with_unmanaged(value))
            case _:
                return type_

    # The next revision

    def next(self, before: TableState, applied: Struct, *, may_rename: bool) -> TableState:
        listed = {path_key(deletion.path) for deletion in before.dropped}
        edit = _Edit(self, listed, set(paths_by_identity(applied)), may_rename=may_rename)
        columns = edit.struct(before.columns, (), depth=_DEPTH, fresh=False)
        described = before.description is not UNMANAGED
        return replace(
            before,
            columns=columns,
            description=self.one_of((None, "x", "y")) if described else UNMANAGED,
            clustered_by=self.clustering(before, columns),
            constraints=self.constraints(before, columns),
            properties={**before.properties, self.one_of(("team", "old")): self.one_of((None, "x"))},
            dropped=(*before.dropped, *edit.deletions),
        )

    def clustering(self, before: TableState, columns: Struct) -> Managed[tuple[Path, ...]]:
        if not isinstance(before.clustered_by, tuple):
            return UNMANAGED
        if self.chance():
            return tuple(self.sample(_clusterable(columns)))
        clusterable = _clusterable(columns)
        return tuple(path for path in _followed(before, columns, before.clustered_by) if path in clusterable)

    def constraints(self, before: TableState, columns: Struct) -> dict[str, str | None]:
        """Draw constraints with the columns' new names; those of dropped columns are declared absent."""
        new_paths = paths_by_identity(columns)
        identities = {_check(path): field.physical_name for path, field in walk_fields(before.columns)}
        declared: dict[str, str | None] = {}
        for name, text in before.constraints.items():
            path = new_paths.get(identities[text]) if text is not None else None
            declared[name] = _check(path) if path and self.chance(4) is False else None
        new = self.sample([path for path, _field in _readable(columns)], most=1)
        return declared | {f"n{next(self.numbers)}": _check(path) for path in new}


@dataclass
class _Edit:
    """Draws the columns of the next revision from those of the last.

    Attributes:
        listed: Paths that `dropped` already lists; listing a path again has no effect.
        applied: Identities of the oldest revision's columns; other columns may not be renamed.
        deletions: The new entries of `dropped`.
    """

    maker: _Maker
    listed: set[tuple[str, ...]]
    applied: set[str | None]
    may_rename: bool

    def __post_init__(self) -> None:
        self.deletions: list[Deletion] = []

    def struct(self, old: Struct, path: Path, *, depth: int, fresh: bool) -> Struct:
        dropped = self.draw_dropped(old, path)
        kept = [field for field in old.fields if field not in dropped]
        names = self.names(old, kept)
        fields = [
            self.field(field, name, path, depth, fresh=fresh) for field, name in zip(kept, names, strict=True)
        ]
        if self.maker.chance(4):
            fields = self.maker.draw(st.permutations(fields))
        taken = {name.lower() for name in names}
        for name in self.maker.sample(_NAMES):
            former = next((field for field in dropped if field.name.lower() == name.lower()), None)
            new = self.maker.field(name, depth=depth, fresh=True)
            is_back = any(name.lower() == listed[-1] for listed in self.listed)  # reverts a deletion
            if is_back or name.lower() in taken:
                continue
            if former is None or _differ(former.type, new.type):
                fields = _inserted(fields, new, self.maker.draw(st.integers(0, len(fields))))
                taken.add(name.lower())
        for field in dropped:
            old_type = field.type if field.name.lower() in taken else None
            self.deletions.append(Deletion((*path, field.name), old_type))
        return Struct(tuple(fields))

    def draw_dropped(self, old: Struct, path: Path) -> list[Field]:
        """Draw the fields to drop; one always stays, because Delta has no empty structs."""
        if not (self.may_rename and self.maker.chance()):
            return []
        droppable = [field for field in old.fields if path_key((*path, field.name)) not in self.listed]
        return self.maker.sample(droppable, most=min(2, len(old.fields) - 1))

    def names(self, old: Struct, kept: Sequence[Field]) -> list[str]:
        same = [field.name for field in kept]
        if not (self.may_rename and self.maker.chance()):
            return same
        pool = list(dict.fromkeys((*(field.name for field in old.fields), *_NAMES)))
        applied = [index for index, field in enumerate(kept) if field.physical_name in self.applied]
        changed = set(self.maker.sample(applied, most=3))
        taken = {name.lower() for index, name in enumerate(same) if index not in changed}
        names: list[str] = []
        for index, field in enumerate(kept):
            free = [name for name in pool if name.lower() not in taken and _is_expressible(old, field, name)]
            name = self.maker.one_of(free) if index in changed and free else field.name
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


def _is_expressible(old: Struct, field: Field, name: str) -> bool:
    """Whether a contract can express this rename: no other column may have the same `renamed_from`."""
    namesake = old.get(name)
    return namesake is None or namesake.renamed_from != field.name


def _inserted(fields: Sequence[Field], new: Field, position: int) -> list[Field]:
    return [*fields[:position], new, *fields[position:]]


def _differ(first: DataType, second: DataType) -> bool:
    return print_type(first) != print_type(second)


def _followed(before: TableState, columns: Struct, paths: Sequence[Path]) -> list[Path]:
    new_paths = paths_by_identity(columns)
    identities = {path: field.physical_name for path, field in walk_fields(before.columns)}
    return [new_paths[identities[path]] for path in paths if identities[path] in new_paths]


def _clusterable(columns: Struct) -> list[Path]:
    return [path for path, field in _readable(columns) if field.type in _CLUSTERING]


def _readable(columns: Struct) -> list[tuple[Path, Field]]:
    """Return the fields that SQL can address by names alone (no arrays or maps on the way)."""
    return [
        (path, field)
        for path, field in walk_fields(columns)
        if not any(isinstance(step, Part) for step in path)
        and not isinstance(field.type, Struct | Array | Map)
    ]


def _check(path: Path) -> str:
    return f"{'.'.join(always_quoted(str(step)) for step in path)} IS NOT NULL"
