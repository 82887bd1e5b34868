"""A finding about a type that Delta cannot change in place says which ways there are, and whom they stop."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import ClusteringChanged, PartitioningChanged, TypeChanged
from schemalint.delta.datatype import INTEGER, LONG, Decimal
from schemalint.delta.engine import parse_engine
from schemalint.delta.table import TableState
from schemalint.delta.way_out import Way
from schemalint.delta.ways import ways_out
from schemalint.judge.case import Case, live_context
from schemalint.judge.rule_judge import with_ways
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import judge
from schemalint.report.words import way_text
from support.effective import counting
from support.rule_judging import built_in
from support.seam import created_table

if TYPE_CHECKING:
    from schemalint.model.finding import Finding

HEAD = "schemalint: 1\ntable: sales.orders\ncolumns:\n"
STREAM = "{name: to_silver, client: delta-spark, version: 4.4.0, stream: {checkpoint: /checkpoints/silver}}"
REST = f"consumers:\n  - {STREAM}\n  - {{name: dashboards, client: trino}}\n"


def found(before: str, after: str, rest: str = REST) -> dict[str, Finding]:
    old, new = (
        contracts.read("orders.yml", HEAD + columns + rest).contracts[0] for columns in (before, after)
    )
    rules = RuleSet(tuple(built_in().values()))
    return {finding.code: finding for finding in judge(Case((rules,), counting(old), counting(new))).findings}


def test_the_cheapest_way_comes_first_and_streams_are_named() -> None:
    finding = found("  - {name: a, type: 'decimal(12,2)'}\n", "  - {name: a, type: 'decimal(8,3)'}\n")[
        "TW003"
    ]
    assert [(way.way.value, way.streams) for way in finding.ways] == [
        ("widen", ()),
        ("column", ("to_silver",)),
        ("overwrite", ("to_silver",)),
        ("replace", ("to_silver",)),
    ]
    assert finding.ways[0].does == "widen a to decimal(13,3) instead"


def test_streams_with_a_schema_log_end_with_a_class_of_their_own() -> None:
    tracked = STREAM.replace("to_silver", "to_gold").replace(
        "silver}}", "gold, schema_tracking_location: /checkpoints/gold}}"
    )
    rest = f"consumers:\n  - {STREAM}\n  - {tracked}\n"
    finding = found("  - {name: a, type: bigint}\n", "  - {name: a, type: int}\n", rest)["TW001"]
    overwrite = next(way for way in finding.ways if way.way is Way.OVERWRITE)
    assert (overwrite.streams, overwrite.tracked) == (("to_silver",), ("to_gold",))
    stops = "stops to_silver (DELTA_SCHEMA_CHANGED_WITH_VERSION); "
    assert f"{stops}stops to_gold (DELTA_SOURCE_TABLE_IGNORE_CHANGES)" in way_text(overwrite)


def test_a_way_loses_what_this_table_has() -> None:
    keys = "  - {name: id, type: bigint, nullable: false}\n"
    rest = "constraints: {positive: id > 0}\nclustered_by: [id]\n"
    finding = found(keys + "  - {name: a, type: bigint}\n", keys + "  - {name: a, type: int}\n", rest)[
        "TW001"
    ]
    lost = {way.way.value: way.loses for way in finding.ways}
    assert lost["column"] == ()
    assert lost["overwrite"] == ("NOT NULL of id", "the clustering")
    assert lost["replace"] == ("the table id", "NOT NULL of id", "the clustering", "the constraints")


def test_an_overwrite_with_an_identity_that_takes_no_old_value_is_refused() -> None:
    key = "  - {name: id, type: bigint, identity: {allow_explicit_insert: false}}\n"
    finding = found(key + "  - {name: a, type: bigint}\n", key + "  - {name: a, type: int}\n")["TW001"]
    refused = {way.way.value: way.refused for way in finding.ways}
    assert refused["overwrite"] == "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"
    assert refused["replace"] is None


def test_a_type_that_the_engine_does_not_widen_to_is_no_way() -> None:
    change = TypeChanged(("a",), INTEGER, LONG)
    older = ways_out(change, TableState(), parse_engine("delta-spark 3.3.2"))
    assert "widen" not in [way.way.value for way in older]
    decimals = TypeChanged(("a",), Decimal(12, 2), Decimal(8, 3))
    assert ways_out(decimals, TableState())[0].does == "widen a to decimal(13,3) instead"


def test_an_overwrite_says_how_apply_makes_it() -> None:
    plain = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: string}]\n"
    other, managed = plain.replace("string", "int"), "managed_by: dbt\n"
    rules = RuleSet(tuple(built_in().values()))
    texts: list[str] = []
    for more in ("", managed):
        old, new = (contracts.read("orders.yml", text + more).contracts[0] for text in (plain, other))
        findings = judge(Case((rules,), counting(old), counting(new))).findings
        ways = [way for finding in findings for way in finding.ways if way.way is Way.OVERWRITE]
        texts += map(way_text, ways)
    assert ["`apply` does it: declare `rewrite`; 1 commit" in text for text in texts] == [True, False]


@pytest.mark.parametrize(
    ("engine", "unknown_for"),
    [
        ("delta-spark 3.3.2", set()),
        ("delta-spark 4.0.1", set()),
        ("delta-spark 4.4.1", set()),
        ("delta-spark 4.2.0", {"delta-spark 4.2.0"}),
        ("databricks 16.4", {"databricks 16.4"}),
    ],
)
def test_a_price_says_for_which_engine_it_is_unknown(engine: str, unknown_for: set[str]) -> None:
    change = TypeChanged(("a",), Decimal(12, 2), Decimal(8, 3))
    ways = [way for way in ways_out(change, TableState(), parse_engine(engine)) if way.way is not Way.WIDEN]
    assert {str(way.unknown_for) for way in ways} - {"None"} == unknown_for
    texts = [way_text(way) for way in ways]
    assert len(texts) == 3
    assert all(text.endswith(f"unknown for {engine})") == bool(unknown_for) for text in texts)


def test_the_price_of_another_change_is_known_for_the_releases_that_were_asked() -> None:
    change = PartitioningChanged(("p",), ("a",))
    prices = {
        engine: [
            (way.refused, way.unknown_for) for way in ways_out(change, TableState(), parse_engine(engine))
        ]
        for engine in ("delta-spark 3.3.2", "delta-spark 4.0.1", "delta-spark 4.2.0")
    }
    assert prices == {
        "delta-spark 3.3.2": [(None, None), ("_LEGACY_ERROR_TEMP_1113", None)],
        "delta-spark 4.0.1": [(None, None), (None, None)],
        "delta-spark 4.2.0": [(None, parse_engine("delta-spark 4.2.0"))] * 2,
    }


def test_an_array_is_made_anew_as_a_whole() -> None:
    array = "  - {name: tags, type: 'array<%s>', nullable: false}\n"
    finding = found(array % "bigint", array % "int")["TW001"]
    column = next(way for way in finding.ways if way.way.value == "column")
    assert column.does == (
        "turn on column mapping, add a column like tags with int in it, fill it, "
        "move writers and readers to it, and list tags under dropped"
    )
    assert column.loses == ("NOT NULL of tags",)


def test_a_column_that_others_use_cannot_be_left_behind() -> None:
    rest = "constraints: {positive: a > 0}\n"
    finding = found("  - {name: a, type: bigint}\n", "  - {name: a, type: int}\n", rest)["TW001"]
    column = next(way for way in finding.ways if way.way.value == "column")
    assert column.refused == "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"


@pytest.mark.parametrize(
    ("retention", "size", "costs"),
    [
        ({}, 2_500_000, (2_500_000, dt.date(2026, 1, 8))),
        ({"delta.deletedFileRetentionDuration": "interval 30 days"}, None, (None, dt.date(2026, 1, 31))),
        ({"delta.deletedFileRetentionDuration": "interval 9999999 weeks"}, 0, (0, None)),
        ({"delta.deletedFileRetentionDuration": "often"}, 0, (0, None)),
    ],
)
def test_a_live_table_tells_what_is_written_again_and_how_long_restore_can_undo_it(
    retention: dict[str, str], size: int | None, costs: tuple[int | None, dt.date | None]
) -> None:
    old, new = (
        contracts.read("orders.yml", f"{HEAD}  - {{name: a, type: {type_}}}\n").contracts[0]
        for type_ in ("bigint", "int")
    )
    table = created_table(old)
    state = replace(table.state, properties=retention)
    live = replace(table, metadata=replace(table.metadata, state=state), size=lambda: size)
    ctx = replace(live_context(counting(new), live), today=dt.date(2026, 1, 1))
    fact = TypeChanged(("a",), LONG, INTEGER)
    finding = replace(found("  - {name: a, type: bigint}\n", "  - {name: a, type: int}\n")["TW001"], ways=())
    assert {(way.size, way.until) for way in with_ways(finding, fact, ctx).ways if way.rewrites} == {costs}


@pytest.mark.parametrize(
    ("text", "is_unsure"), [("a > 0 !! 1", True), ("other > 0 !! 1", False), ("other > 0", False)]
)
def test_a_constraint_that_cannot_be_parsed_leaves_the_drop_unknown(text: str, is_unsure: bool) -> None:  # noqa: FBT001
    rest = f"constraints: {{odd: '{text}'}}\n"
    finding = found("  - {name: a, type: bigint}\n", "  - {name: a, type: int}\n", rest)["TW001"]
    column = next(way for way in finding.ways if way.way is Way.COLUMN)
    assert column.refused is None
    assert (column.unsure is not None) == is_unsure
    assert ("unknown whether Delta goes the last step" in way_text(column)) == is_unsure


def test_a_change_that_an_edit_makes_possible_has_no_ways() -> None:
    finding = found("  - {name: a, type: int}\n", "  - {name: a, type: bigint}\n")["TW006"]
    assert finding.needs_rewrite
    assert finding.ways == ()


MAPPED = "properties: {delta.columnMapping.mode: name}\n"
PLAIN = "  - {name: a, type: bigint}\n  - {name: p, type: int}\n"


@pytest.mark.parametrize(
    ("code", "before", "after", "ways"),
    [
        ("NC001", PLAIN, PLAIN.replace("int}", "int, nullable: false}", 2), ["constraint", "define"]),
        ("NC002", PLAIN, PLAIN + "  - {name: n, type: int, nullable: false}\n", ["constraint", "define"]),
        (
            "NC007",
            PLAIN + "clustered_by: [p]\n" + MAPPED,
            PLAIN.partition("\n")[0] + "\ndropped: [p]\n" + MAPPED,
            ["cluster", "overwrite", "replace"],
        ),
        ("NC007", PLAIN + "partitioned_by: [p]\n", PLAIN + "partitioned_by: [a]\n", ["overwrite", "replace"]),
        (
            "NC006",
            PLAIN.replace("type: int", "type: int, generated: cast(a AS INT)"),
            PLAIN.replace("type: int", "type: int, generated: cast(a + 1 AS INT)"),
            ["define"],
        ),
        (
            "NC008",
            PLAIN.replace("bigint", "bigint, identity: {allow_explicit_insert: true}"),
            PLAIN.replace("bigint", "bigint, identity: null"),
            ["overwrite", "replace"],
        ),
    ],
)
def test_other_changes_that_delta_refuses_have_ways(
    code: str, before: str, after: str, ways: list[str]
) -> None:
    assert [way.way.value for way in found(before, after, "")[code].ways] == ways


def test_a_definition_with_an_identity_that_takes_no_value_cannot_get_the_rows_back() -> None:
    before = PLAIN.replace("bigint", "bigint, identity: {allow_explicit_insert: false}")
    (_constraint, way) = found(before, before + "  - {name: n, type: int, nullable: false}\n", "")[
        "NC002"
    ].ways
    assert way.refused == "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"
    assert "Delta refuses the rows, and leaves the table empty" in way_text(way)


MAPPED = "properties: {delta.columnMapping.mode: name}\n"


def test_a_way_names_the_column_as_the_table_has_it() -> None:
    after = "  - {name: quantity, type: int, renamed_from: qty}\n"
    finding = found("  - {name: qty, type: string}\n", after, MAPPED)["TW002"]
    column, overwrite, replacement = (way.does for way in finding.ways)
    assert column.endswith("list qty under dropped")
    assert overwrite.endswith("overwriteSchema and without replaceWhere, with qty cast to int as quantity")
    assert replacement.endswith("with qty cast to int as quantity")


def test_no_way_casts_what_spark_does_not_cast() -> None:
    finding = found("  - {name: a, type: boolean}\n", "  - {name: a, type: date}\n", "")["TW002"]
    assert [way.does for way in finding.ways if "cast to" in way.does] == []
    assert "with a value of type date in place of a (Spark has no cast)" in finding.ways[1].does


def test_nobody_rewrites_a_table_that_spark_cannot_read() -> None:
    columns = "  - {{name: a, type: {}}}\n  - {{name: shape, type: geometry(4326)}}\n"
    finding = found(columns.format("bigint"), columns.format("int"), "")["TW001"]
    assert finding.ways == ()


def test_a_partitioned_table_becomes_a_clustered_one_and_back() -> None:
    columns = "  - {name: a, type: int}\n"
    old, new = (
        contracts.read("orders.yml", HEAD + columns + layout).contracts[0].state
        for layout in ("partitioned_by: [a]\n", "clustered_by: [a]\n")
    )
    forth = ways_out(ClusteringChanged(old.clustered_by, new.clustered_by), old)
    assert [(way.way.value, way.commits, way.refused) for way in forth] == [
        ("overwrite", 2, None),
        ("replace", 1, None),
    ]
    back = ways_out(PartitioningChanged((), ("a",)), new)
    assert [(way.way.value, way.refused) for way in back] == [
        ("overwrite", None),
        ("replace", "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"),
    ]
