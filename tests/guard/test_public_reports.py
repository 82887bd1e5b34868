"""Public reports of silent changes of schemas: each is refused, or a finding says what happens to values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from engine.record_arrow_writes import ArrowWay
from engine.write_agreement import arrow_effect_on, effect_on
from engine.write_questions import (
    AUTO_MERGE,
    MERGE,
    OVERWRITE,
    WIDENING,
    Data,
    Question,
    Table,
    Way,
    struct_of,
)
from schemalint.base.values import replace
from schemalint.delta.write_effect import effect_of
from schemalint.delta.writes import Method, Mode, Write
from schemalint.guard.verdict import verdict
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.model.packed_contracts import unpack
from schemalint.tables.storage import read_table
from support.guard_tables import packed, table_at

if TYPE_CHECKING:
    from pathlib import Path


class Report(NamedTuple):
    """What somebody met.

    Attributes:
        outcome: What the guard says.
        says: The finding that tells it: its code and its column.
        allowed: What the contract allows writers to change.
    """

    table: Table
    data: Data
    way: Way | ArrowWay
    outcome: str
    says: tuple[str, str]
    allowed: tuple[str, ...] = ()


_LEGACY: Final = {"spark.sql.storeAssignmentPolicy": "LEGACY"}
_ORDERS: Final = "id: bigint, c: int, s: string"

REPORTS: Final = {
    "delta#1551: MERGE with autoMerge nulls a field of another type": Report(
        Table(_ORDERS), Data("id: bigint, c: string, s: string"),
        Way("MERGE", conf={**AUTO_MERGE, **_LEGACY}),
        "refused", ("WR002", "c"),
    ),
    "delta#873: overwriteSchema makes all fields nullable": Report(
        Table("id: bigint NOT NULL, c: int, s: string"), Data(_ORDERS), Way("save", "overwrite", OVERWRITE),
        "refused", ("DR001", "id"),
    ),
    "delta#2674: mergeSchema ignores that a new column is NOT NULL": Report(
        Table(_ORDERS), Data(f"{_ORDERS}, x: int NOT NULL"), Way("save", options=MERGE),
        "refused", ("DR001", "x"),
    ),
    "delta#944: a column of nulls is added as void": Report(
        Table(_ORDERS), Data(f"{_ORDERS}, x: void"), Way("save", options=MERGE), "refused", ("DR001", "x"),
    ),
    "delta#170: a void column takes the first type that comes": Report(
        Table("id: bigint, c: void"), Data("id: bigint, c: string"), Way("save", options=MERGE),
        "refused", ("WR006", "c"),
    ),
    "delta-rs#3917: an int is written into a string column in silence": Report(
        Table(_ORDERS), Data("id: bigint, c: int, s: int"), ArrowWay("append"), "refused", ("WR002", "s"),
    ),
    "delta-rs#2642: schema_mode=merge casts the fields of a struct": Report(
        Table("id: bigint, c: struct<a: int>"), Data("id: bigint, c: struct<a: double>"),
        ArrowWay("append", "merge"), "refused", ("WR002", "c.a"),
    ),
    "delta-rs#2567: an overwrite with a predicate replaces the schema of the table": Report(
        Table(_ORDERS), Data(f"{_ORDERS}, x: int"), ArrowWay("overwrite", "overwrite", "id = 1"),
        "refused", ("DR001", "x"),
    ),
    "delta-rs#3744: nullability is overwritten": Report(
        Table("id: bigint NOT NULL, c: int, s: string"), Data(f"{_ORDERS}, x: int"),
        ArrowWay("overwrite", "overwrite"), "refused", ("DR001", "id"),
    ),
    "ray#64923: an extra column is dropped in silence": Report(
        Table(_ORDERS), Data(f"{_ORDERS}, x: int"), Way("MERGE"), "refused", ("WR002", "x"),
    ),
    "smart-data-lake#20: a job must not evolve a schema in production": Report(
        Table("id: bigint, c: struct<a: int>"), Data("id: bigint, c: struct<a: int, b: int>"),
        Way("save", options=MERGE), "refused", ("DR001", "c.b"),
    ),
    "dqx#1042: a missing column is skipped in silence": Report(
        Table(_ORDERS), Data("id: bigint, c: int"), Way("save"), "allowed", ("WR004", "s"),
    ),
    "iceberg#15825: to widen types is another permission than to add columns": Report(
        Table(_ORDERS, WIDENING), Data("id: bigint, c: bigint, s: string, x: int"),
        Way("save", options=MERGE),
        "refused", ("DR001", "x"), ("widening",),
    ),
    "dbt-glue#674: the contract counts on the second run too": Report(
        Table(_ORDERS), Data("id: bigint, c: double, s: string"), Way("insertInto"),
        "refused", ("WR002", "c"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTS)
def test_what_somebody_met_is_said_before_the_write(name: str, tmp_path: Path) -> None:
    report = REPORTS[name]
    path = table_at(tmp_path / "orders", report.table)
    permissions = dict.fromkeys(report.allowed, True)
    contract = unpack(packed(path, report.table, **permissions)).tables["sales.orders"].contract
    if isinstance(report.way, ArrowWay):
        effect = arrow_effect_on(report.table, report.data, report.way)
    else:
        effect = effect_on("4.4.0", Question(name, report.table, report.data, report.way))
    result = verdict(contract, read_table(str(path)), effect)
    assert result.outcome == report.outcome, result
    assert report.says in {(finding.code, finding.path) for finding in result.findings}, result


def test_what_the_contract_opens_is_allowed(tmp_path: Path) -> None:
    table = Table(_ORDERS, WIDENING)
    path = table_at(tmp_path / "orders", table)
    data = Data("id: bigint, c: bigint, s: string, x: int")
    effect = effect_on("4.4.0", Question("both", table, data, Way("save", options=MERGE)))
    live = read_table(str(path))
    for permissions, outcome in (
        ({}, "refused"),
        ({"columns": True}, "refused"),
        ({"widening": True}, "refused"),
        ({"columns": True, "widening": True}, "allowed"),
    ):
        contract = unpack(packed(path, table, **permissions)).tables["sales.orders"].contract
        result = verdict(contract, live, effect)
        assert result.outcome == outcome, (permissions, result)


@pytest.mark.parametrize(
    ("table", "data", "words"),
    [
        (Table("id: bigint, c: smallint"), Data("id: bigint, c: int"), "needs no type widening"),
        (Table("id: bigint, c: int", WIDENING), Data("id: bigint, c: double"), "has type widening"),
        (Table("id: bigint, c: void"), Data("id: bigint, c: int"), "void takes the first type"),
    ],
)
def test_a_finding_says_by_which_rule_a_type_changes(
    table: Table, data: Data, words: str, tmp_path: Path
) -> None:
    path = table_at(tmp_path / "orders", table)
    contract = unpack(packed(path, table)).tables["sales.orders"].contract
    effect = effect_on("4.4.0", Question("wider", table, data, Way("save", options=MERGE)))
    assert words in str(verdict(contract, read_table(str(path)), effect))


def test_an_overwrite_that_removes_the_clustering_is_refused(tmp_path: Path) -> None:
    live = read_table(str(table_at(tmp_path / "orders", Table(_ORDERS))))
    state = replace(live.state, clustered_by=(("id",),))
    live = replace(live, metadata=replace(live.metadata, state=state))
    contract = Effective(Contract("sales.orders", state))
    data, features = struct_of(_ORDERS), frozenset({"clustering"})
    write = Write(Method.SAVE, (4, 4), Mode.OVERWRITE)
    result = verdict(contract, live, effect_of(state, features, data, write))
    assert (result.outcome, "removes the clustering" in str(result)) == ("refused", True)
    for other in (
        replace(write, delta=(4, 0, 1)),
        replace(write, method=Method.INSERT),
        replace(write, options={"replacewhere": "id = 1"}),
    ):
        assert effect_of(state, features, data, other).unknown is not None
    assert effect_of(state, features, data, replace(write, mode=Mode.APPEND)).after == state
