"""What a way to another type is said to cost equals what it did on Delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.answers import NEWEST, engine_of, record_path
from engine.record_rewrites import (
    ASKED_OF_CHANGES,
    CHANGES,
    TABLES,
    WAYS,
    WAYS_OF_CHANGES,
    Question,
    make,
    make_for,
    outcome_of,
    read_record,
    streams_of,
)
from engine.record_types import refusal
from schemalint.delta import change
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import INTEGER, LONG, STRING, Field, Identity, Struct
from schemalint.delta.diff import diff
from schemalint.delta.engine import parse_engine
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type
from schemalint.delta.way_out import Way, WayOut
from schemalint.delta.ways import ways_out
from schemalint.tables.storage import read_table
from support.sampling import some_of_each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.delta.change import Change

CONVERTED = TypeChanged(("c",), STRING, INTEGER)
ASKED: Final = [(way, name) for way in (Way.COLUMN, Way.OVERWRITE, Way.REPLACE) for name in TABLES]

# The constraint compares the column with a text that is no number.
REFUSED_BY_ROWS: Final = {(Way.OVERWRITE, "constraint on it"): "TASK_WRITE_FAILED"}


def way_of(state: TableState, way: Way) -> WayOut:
    """Return what is said of a way."""
    return next(each for each in ways_out(CONVERTED, state) if each.way is way)


def lost(changed: Change) -> str | None:
    """Return the words for a change that nobody asked for; None for one that loses nothing."""
    match changed:
        case change.NullabilityChanged():
            return f"NOT NULL of {changed.path[0]}"
        case change.GeneratedChanged():
            return f"the expression of {changed.path[0]}"
        case change.IdentityChanged():
            return f"the identity of {changed.path[0]}"
        case change.DefaultChanged():
            return f"the default of {changed.path[0]}"
        case change.CommentChanged():
            return f"the comment of {changed.path[0]}"
        case change.PartitioningChanged():
            return "the partitioning"
        case change.ClusteringChanged():
            return "the clustering"
        case change.DescriptionChanged():
            return "the comment of the table"
        case change.PropertyChanged(key="delta.columnMapping.maxColumnId"):
            return None
        case change.PropertyChanged():
            return "the properties"
        case change.ConstraintChanged():
            return "the constraints"
        case TypeChanged() | change.TypeHistoryChanged() | change.FieldAdded() | change.FieldRemoved():
            return None  # asked for, with column mapping as another column; no older file is left
    raise AssertionError(changed)


@pytest.mark.spark
@pytest.mark.each_time
def test_a_way_costs_what_is_said(spark: SparkSession, tmp_path: Path) -> None:
    for way, name in some_of_each(ASKED, lambda asked: asked[0], 1):
        path = str(tmp_path / f"{way.value}-{name.replace(' ', '-')}")
        make(spark, path, TABLES[name])
        before = read_table(path)
        said = way_of(before.state, way)
        # The way by a column is taken whole, and named by its last step.
        taken = "columns" if way is Way.COLUMN else way.value
        refused = refusal(lambda: WAYS[taken](spark, path))  # noqa: B023 (it runs at once)
        after = read_table(path)
        assert (way, name, refused) == (way, name, REFUSED_BY_ROWS.get((way, name), said.refused))
        if refused is None and way is not Way.COLUMN:
            # A layout is kept where the writer repeats its clause.
            costs = {words for each in diff(before.state, after.state) if (words := lost(each))}
            costs |= {"the table id"} if before.metadata.table_id != after.metadata.table_id else set()
            words_said = {words.partition(",")[0] for words in said.loses}
            assert (way, name, words_said) == (way, name, costs)


@pytest.mark.parametrize("way", [Way.COLUMN, Way.OVERWRITE, Way.REPLACE])
def test_a_stream_without_a_schema_log_ends_with_the_class_that_is_said(way: Way) -> None:
    taken = "columns" if way is Way.COLUMN else way.value
    ends = read_record()[Question(taken, "stream: plain")].split(" | ")
    assert {*ends} == {way_of(TableState(), way).stops}
    _runs, *ends = read_record()[Question(taken, "stream: tracked")].split(" | ")
    assert {*ends} == {way_of(TableState(), way).stops_tracked}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("new", "properties", "refused"),
    [
        ("date", "delta.appendOnly", "DELTA_CANNOT_MODIFY_APPEND_ONLY"),
        ("date", "delta.enableChangeDataFeed", "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION"),
        ("timestamp_ntz", "team", "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"),
    ],
)
def test_a_way_that_delta_refuses_is_said_to_be_refused(
    spark: SparkSession, tmp_path: Path, new: str, properties: str, refused: str
) -> None:
    """Delta 3.3.2 and 4.0.1 answer the same for the overwrite, 4.0.1 for the replacement too."""
    table = f"delta.`{tmp_path}/t`"
    of_table = f"TBLPROPERTIES ('{properties}' = 'true', 'delta.columnMapping.mode' = 'name')"
    spark.sql(f"CREATE TABLE {table} (id INT, c STRING) USING delta {of_table}")
    spark.sql(f"INSERT INTO {table} VALUES (1, '2026-01-31')")
    live = read_table(f"{tmp_path}/t")
    change = TypeChanged(("c",), STRING, parse_type(new))
    ways = {way.way: way.refused for way in ways_out(change, live.state, features=live.protocol.features)}
    query = f"SELECT id, CAST(c AS {new}) AS c FROM {table}"
    writer = spark.sql(query).write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    with pytest.raises(Exception, match=refused):
        writer.save(f"{tmp_path}/t")
    assert ways[Way.OVERWRITE] == refused
    if new == "date":
        with pytest.raises(Exception, match=refused):
            spark.sql(f"CREATE OR REPLACE TABLE {table} USING delta {of_table} AS {query}")
    assert ways[Way.REPLACE] == (refused if new == "date" else None)


def test_every_question_is_recorded() -> None:
    recorded = read_record()
    assert {(question.way, question.about) for question in recorded} >= {
        *((way, name) for way in WAYS for name in TABLES),
        *ASKED_OF_CHANGES,
    }


_REPLACED_WITH_LESS: Final = Question("replace", "all that a table can have")
OTHERWISE: Final[Mapping[str, Callable[[Question], bool]]] = {
    # Which of the properties are lost: Delta 4.4 keeps two features on.
    "4.0.1": lambda question: question == _REPLACED_WITH_LESS,
    # The older class of the rows that the constraint refuses, no history of types, no replacement at all, and
    # a writer without clusterBy.
    "3.3.2": lambda question: (
        question.way == "replace"
        or question
        in (
            Question("overwrite", "constraint on it"),
            Question("overwrite", _REPLACED_WITH_LESS.about),
            Question("overwrite", "clustered in place of partitioned"),
        )
    ),
}


@pytest.mark.parametrize("version", OTHERWISE)
def test_older_releases_answer_as_the_newest_but_for_what_is_said(version: str) -> None:
    newest, older = read_record(), read_record(record_path("rewrites", version))
    assert older.keys() == newest.keys()
    differing = {question for question, answer in older.items() if answer != newest[question]}
    assert differing == set(filter(OTHERWISE[version], newest))


def test_delta_3_3_replaces_no_table_by_a_query() -> None:
    older = read_record(record_path("rewrites", "3.3.2"))
    ways = ways_out(CONVERTED, TableState(), parse_engine("delta-spark 3.3.2"))
    said = {way.way.value: way.refused for way in ways}
    assert dict.fromkeys(TABLES, said["replace"]) == {
        name: older[Question("replace", name)].removeprefix("refused ").removesuffix("; 0 commits")
        for name in TABLES
    }
    assert (said["overwrite"], said["column"]) == (None, None)
    for about, fact in FACTS.items():
        for way in ways_out(fact, state_before(about), parse_engine("delta-spark 3.3.2")):
            if way.way is Way.REPLACE:
                assert older[Question("replace", about)] == f"refused {way.refused}; 0 commits"
                assert way.unknown_for is None


FACTS: Final[dict[str, Change]] = {
    "NOT NULL of a column": change.NullabilityChanged(("a",), old=True, new=False),
    "partitioned by a column": change.PartitioningChanged((), ("p",)),
    "partitioned by another column": change.PartitioningChanged(("p",), ("a",)),
    "no longer partitioned": change.PartitioningChanged(("p",), ()),
    "clustered in place of partitioned": change.PartitioningChanged(("p",), ()),
    "without the column that partitions it": change.FieldRemoved(("p",), Field("p", INTEGER)),
    "an expression for a column": change.GeneratedChanged(("p",), None, "CAST(a AS INT)"),
    "another expression": change.GeneratedChanged(("p",), "CAST(a AS INT)", "CAST(a + 0 AS INT)"),
    "without the expression": change.GeneratedChanged(("p",), "CAST(a AS INT)", None),
    "an identity for a column": change.IdentityChanged(("a",), None, Identity(allow_explicit_insert=True)),
    "an identity that takes no value": change.IdentityChanged(
        ("a",), None, Identity(allow_explicit_insert=False)
    ),
    "without the identity": change.IdentityChanged(("a",), Identity(allow_explicit_insert=True), None),
    "a new column that is NOT NULL": change.FieldAdded(("n",), Field("n", INTEGER, nullable=False), "p"),
    "without the column that clusters it": change.FieldRemoved(("p",), Field("p", INTEGER)),
}


def state_before(about: str) -> TableState:
    """Return the table before a change of another kind than of a type."""
    fact, clauses = FACTS[about], CHANGES[about].clauses
    expression = fact.old if isinstance(fact, change.GeneratedChanged) else None
    identity = fact.old if isinstance(fact, change.IdentityChanged) else None
    columns = Struct((Field("a", LONG, identity=identity), Field("p", INTEGER, generated=expression)))
    return TableState(
        columns=columns,
        partitioned_by=("p",) if clauses.startswith("PARTITIONED") else (),
        clustered_by=(("p",),) if clauses.startswith("CLUSTER") else (),
    )


@pytest.mark.parametrize("about", CHANGES)
def test_each_way_of_another_change_makes_it_and_no_other_does(about: str) -> None:
    fact = FACTS[about]
    wanted = f"{type(fact).__name__} {change.subject_name(fact)}".strip()
    wanted += " NOT NULL" if isinstance(fact, change.FieldAdded) else ""
    ways = {each.way.value: each for each in ways_out(fact, state_before(about))}
    recorded = read_record()
    for way in ("overwrite", "replace", "define"):
        parts = recorded[Question(way, about)].split("; ")
        makes_it = wanted in parts and not parts[0].startswith("refused")
        said = ways.get(way)
        # The definition makes each change; where one commit suffices, it is no way. The others only lose an
        # expression.
        if said is None or said.refused:
            assert not makes_it or (way == "define" and "overwrite" in ways) or about == "another expression"
            assert said is None or parts[0] == f"refused {said.refused}"
        else:
            assert makes_it, (way, parts)
            assert f"{said.commits} commits" in parts
            assert ("the table id" in said.loses) == ("table id" in parts)


INSTEAD: Final = {"constraint", "cluster"}
"""The ways that replace no table."""


@pytest.mark.parametrize(
    ("about", "wanted"),
    [
        ("NOT NULL of a column", {"ConstraintChanged a_set"}),
        ("a new column that is NOT NULL", {"FieldAdded n", "ConstraintChanged n_set"}),
        ("without the column that clusters it", {"FieldRemoved p", "ClusteringChanged"}),
    ],
)
def test_what_comes_close_replaces_no_table(about: str, wanted: set[str]) -> None:
    (said,) = (way for way in ways_out(FACTS[about], state_before(about)) if way.way.value in INSTEAD)
    recorded = read_record()
    parts = set(recorded[Question("instead", about)].split("; "))
    assert wanted <= parts
    assert said.commits is None or f"{said.commits} commits" in parts
    assert "table id" not in parts
    assert said.loses == ()
    if said.way is Way.CONSTRAINT:
        assert recorded[Question("instead", f"{about}: a null")] == "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"


@pytest.mark.parametrize("version", [NEWEST, *OTHERWISE])
@pytest.mark.parametrize(
    ("way", "about"), sorted({(way, about) for way in WAYS_OF_CHANGES for about, _options in streams_of(way)})
)
def test_a_stream_ends_at_a_way_of_another_change_with_the_class_that_is_said(
    way: str, about: str, version: str
) -> None:
    recorded = read_record(record_path("rewrites", version))
    ends = recorded[Question(way, f"{about}: stream: plain")].split(" | ")
    shown = "NOT NULL of a column" if way == "define" else about
    names = INSTEAD if way == "instead" else {way}
    ways = ways_out(FACTS[shown], state_before(shown), engine_of(version))
    said = next(each for each in ways if each.way.value in names)
    assert {*ends} == {f"refused {said.refused}" if said.refused else said.stops or "runs"}
    # The first start may only find that the metadata changed; a refusal is one answer.
    *_, before_last, last = 2 * recorded[Question(way, f"{about}: stream: tracked")].split(" | ")
    assert {before_last, last} == {
        f"refused {said.refused}" if said.refused else said.stops_tracked or "runs"
    }


@pytest.mark.spark
def test_the_ways_of_other_changes_still_answer_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    recorded = read_record()
    for way, about in some_of_each(ASKED_OF_CHANGES, lambda pair: pair[0], 1):
        path = str(tmp_path / f"{way}-{about.replace(' ', '-')}")
        make_for(spark, path, CHANGES[about])
        assert outcome_of(spark, path, way, CHANGES[about]) == recorded[Question(way, about)]
