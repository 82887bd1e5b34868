"""Random pairs of contracts over the whole format: one that creates a table, and one to deploy next.

The first contract is valid. The second is one to three edits away; each edit is of any kind, valid or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from hypothesis import assume
from hypothesis import strategies as st

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.contract.dialects.native.plain_data import as_data
from schemalint.delta.datatype import UNMANAGED, VOID, DataType, Field, Identity, Struct, walk_fields
from schemalint.delta.path import Part, Path, lowercased
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract, ProtocolLimits

if TYPE_CHECKING:
    from random import Random

    from hypothesis.strategies import DrawFn
    from hypothesis.vendor.pretty import RepresentationPrinter

T = TypeVar("T")
Edit: TypeAlias = "Callable[[Maker, Contract], Contract | None]"
"""Returns the edited contract; None if the contract has nothing to edit."""

MAPPING: Final = "delta.columnMapping.mode"

LEAVES: Final = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary"),
    *("decimal(5,0)", "decimal(10,0)", "decimal(10,2)", "decimal(12,2)", "decimal(12,4)", "decimal(38,18)"),
    *("char(3)", "char(5)", "varchar(3)", "varchar(5)", "date", "timestamp", "timestamp_ntz", "variant"),
)
CONTAINERS: Final = (
    *("struct<x: int>", "struct<x: int, y: string>", "struct<x: bigint not null, y: struct<z: date>>"),
    *("struct<x: varchar(3), y: array<int>>", "array<int>", "array<varchar(3)>", "array<struct<x: int>>"),
    *("array<struct<x: tinyint, y: decimal(10,2)>>", "map<string, int>", "map<int, array<date>>"),
    *("map<int, struct<x: int>>", "map<struct<x: int>, float>", "struct<`z-z`: int, x: string>"),
)
ORDERED: Final = frozenset({*LEAVES} - {"binary", "boolean", "variant"})
"""Types that Delta can partition and cluster by."""

NAMES: Final = ("a", "b", "c", "d", "e")
DEFAULTS: Final[Mapping[str, str]] = {
    "boolean": "true",
    "date": "current_date()",
    "timestamp": "current_timestamp()",
    "string": "'x'",
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "float", "double"), "1"),
}
_FEATURES: Final = frozenset({"allowColumnDefaults", "timestampNtz"})
_MAPPED_NAMES: Final = ("A b", "dot.ted", "quo`ted", "é", "brack(et)")
"""Names that only tables with column mapping can have."""
_SWITCHES: Final = (
    "delta.appendOnly",
    "delta.enableChangeDataFeed",
    "delta.enableDeletionVectors",
    "delta.enableInCommitTimestamps",
    "delta.enableRowTracking",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A contract before and after edits.

    Attributes:
        made: The contract that creates the table; None if no table exists yet.
        declared: The contract to deploy.
        edits: The names of the edits that lead from `made` to `declared`.
        has_row: Whether the table contains a row.
        later: The pair to deploy next, if this one is deployed: its `made` is this one's `declared`.
    """

    made: Contract | None
    declared: Contract
    edits: tuple[str, ...]
    has_row: bool
    later: Pair | None = None

    def _repr_pretty_(self, printer: RepresentationPrinter, _cycle: object) -> None:
        """Print the pair for hypothesis, as contract text that can be tried again."""
        made = text_of(self.made) if self.made else "no table"
        printer.text(f"{self.edits}, has_row={self.has_row}\n{made}\n{text_of(self.declared)}\n")
        if self.later:
            printer.text(f"{self.later.edits}\n{text_of(self.later.declared)}\n")

    @property
    def revisions(self) -> tuple[Contract, ...]:
        """Revisions of the contract, oldest first."""
        return (self.declared,) if self.made is None else (self.made, self.declared)


@st.composite
def pairs(draw: DrawFn, edits: Sequence[Edit]) -> Pair:
    """Pairs that differ by these edits; most tables exist and are empty."""
    maker = Maker(draw(st.randoms(use_true_random=True)))
    made = maker.contract()
    declared, applied = edited(maker, made, edits)
    assume(applied)
    is_new = maker.chance(8)
    pair = Pair(None if is_new else as_written(made), as_written(declared), applied, maker.chance(5))
    then, applied = edited(maker, pair.declared, edits)
    return (
        replace(pair, later=Pair(pair.declared, as_written(then), applied, pair.has_row)) if applied else pair
    )


def edited(maker: Maker, contract: Contract, edits: Sequence[Edit]) -> tuple[Contract, tuple[str, ...]]:
    """Return a contract after one to three edits, and their names."""
    applied = list[str]()
    for _ in range(maker.one_of((1, 1, 1, 2, 2, 3))):
        if not is_editable(contract.state.columns):
            break
        edit = maker.one_of(edits)
        after = edit(maker, contract)
        if after is not None and after != contract:
            contract = after
            applied.append(edit.__name__)
    return contract, tuple(applied)


def as_written(contract: Contract) -> Contract:
    """Print and read a contract, so that it holds only what the format can express."""
    read = contracts.read("orders.yaml", text_of(contract))
    assume(not read.errors)
    (written,) = read.contracts
    return written


def text_of(contract: Contract) -> str:
    """Return the contract as JSON, which is also YAML."""
    return json.dumps(as_data(contract))


@dataclass(frozen=True)
class Maker:
    """Makes contracts and random choices for edits; all choices are equally likely.

    Hypothesis prefers small and earlier values, and would not reach most kinds of edits.
    """

    random: Random

    def one_of(self, values: Sequence[T]) -> T:
        return self.random.choice(values)

    def chance(self, of: int = 2) -> bool:
        return self.random.randrange(of) == 0

    def sample(self, values: Sequence[T], most: int) -> list[T]:
        return self.random.sample(values, self.random.randint(0, min(most, len(values))))

    # The contract that creates the table

    def contract(self) -> Contract:
        properties = self.properties()
        features = frozenset[str]() if self.chance(3) else _FEATURES
        names = (*NAMES, *_MAPPED_NAMES) if properties.get(MAPPING, "none") != "none" else NAMES
        own = self.random.sample(names, self.random.randint(2, 4))
        with_defaults = "allowColumnDefaults" in features
        columns = Struct(
            (
                bare("id", declared_type("bigint")),
                *(self.column(name, with_defaults=with_defaults) for name in own),
            )
        )
        columns = self.with_computed(columns)
        state = TableState(
            columns=columns,
            description="x" if self.chance() else UNMANAGED,
            constraints=self.constraints(columns),
            properties=properties,
            features=features,
        )
        return Contract("sales.orders", self.with_layout(state), protocol=ProtocolLimits(allow_upgrade=True))

    def column(self, name: str, *, with_defaults: bool) -> Field:
        text = "void" if self.chance(20) else self.one_of(CONTAINERS if self.chance(3) else LEAVES)
        default = DEFAULTS.get(text) if with_defaults and self.chance(3) else None
        return replace(
            bare(name, declared_type(text)),
            nullable=text == "void" or self.chance(4) is False,
            comment=self.one_of((UNMANAGED, None, "x")),
            default=default or UNMANAGED,
        )

    def with_computed(self, columns: Struct) -> Struct:
        """Add a generated column, an identity column, or neither."""
        match self.one_of(("", "", "", "generated", "identity")):
            case "generated":
                source = self.one_of(columns.fields)
                text = always_quoted(source.name)
                if isinstance(source.type, Struct):
                    text = f"{text}.x"
                new = replace(bare("g", declared_type("boolean")), generated=f"{text} IS NULL")
            case "identity":
                new = replace(bare("n", declared_type("bigint")), identity=Identity())
            case _:
                return columns
        return Struct((*columns.fields, new))

    def constraints(self, columns: Struct) -> dict[str, str | None]:
        candidates = readable(columns)
        if not (candidates and self.chance(4)):
            return {}
        path, _field = self.one_of(candidates)
        return {"guard": f"{quoted(path)} IS NOT NULL"}

    def properties(self) -> dict[str, str | None]:
        mode = self.one_of(("", "", "none", "name", "name", "name", "id"))
        widening = self.one_of(("", "true", "true", "true", "false"))
        switches = self.sample(_SWITCHES, most=2) if self.chance(3) else ()
        properties = {MAPPING: mode, "delta.enableTypeWidening": widening, **dict.fromkeys(switches, "true")}
        return {key: value for key, value in properties.items() if value}

    def with_layout(self, state: TableState) -> TableState:
        """Partition the table, cluster it, or neither."""
        keys = [(path, field) for path, field in readable(state.columns) if print_type(field.type) in ORDERED]
        match self.one_of(("", "", "partitioned", "clustered")):
            case "partitioned":
                names = [field.name for path, field in keys if len(path) == 1 and not is_computed(field)]
                if any(field.type == VOID for field in state.columns.fields):
                    return state  # all other columns would be keys, and a row needs one that is none
                return replace(state, partitioned_by=tuple(self.sample(names, most=2)))
            case "clustered":
                return replace(state, clustered_by=tuple(path for path, _field in self.sample(keys, most=2)))
            case _:
                return state


def readable(columns: Struct) -> list[tuple[Path, Field]]:
    """Return the leaves that SQL can address by names alone."""
    return [
        (path, field)
        for path, field in walk_fields(columns)
        if not any(isinstance(step, Part) for step in path) and print_type(field.type) in LEAVES
    ]


def is_editable(columns: Struct) -> bool:
    """Whether the table has columns with unique names; an edit cannot distinguish duplicates."""
    paths = [lowercased(path) for path, _field in walk_fields(columns)]
    return 0 < len(paths) == len(set(paths))


def quoted(path: Path) -> str:
    """Return the path as a quoted SQL identifier."""
    return ".".join(step.value if isinstance(step, Part) else always_quoted(step) for step in path)


def is_computed(field: Field) -> bool:
    """Whether Delta computes the column's values."""
    return isinstance(field.generated, str) or isinstance(field.identity, Identity)


def bare(name: str, type_: DataType) -> Field:
    """Return a field that declares only its type."""
    return Field(
        name,
        type_,
        comment=UNMANAGED,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
    )
