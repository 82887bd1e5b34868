"""What a way to another type is said to cost equals what it did on Delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.answers import record_path
from engine.record_rewrites import TABLES, WAYS, Question, make, read_record
from engine.record_types import refusal
from schemalint.delta import change
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import INTEGER, STRING
from schemalint.delta.diff import diff
from schemalint.delta.engine import parse_engine
from schemalint.delta.table import TableState
from schemalint.delta.ways import Way, WayOut, ways_out
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
def test_a_way_costs_what_is_said(spark: SparkSession, tmp_path: Path) -> None:
    for way, name in some_of_each(ASKED, lambda asked: asked[0], 3):
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


def test_every_question_is_recorded() -> None:
    recorded = read_record()
    assert {(question.way, question.about) for question in recorded} >= {
        (way, name) for way in WAYS for name in TABLES
    }


_REPLACED_WITH_LESS: Final = Question("replace", "all that a table can have")
OTHERWISE: Final[Mapping[str, Callable[[Question], bool]]] = {
    # Which of the properties are lost: Delta 4.4 keeps two features on.
    "4.0.1": lambda question: question == _REPLACED_WITH_LESS,
    # The older class of the rows that the constraint refuses, no history of types, and no replacement at all.
    "3.3.2": lambda question: (
        question.way == "replace"
        or question
        in (Question("overwrite", "constraint on it"), Question("overwrite", _REPLACED_WITH_LESS.about))
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
