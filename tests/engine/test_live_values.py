"""The table of properties says what stops on a table with an invalid value, for every recorded value."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED, _outcome
from engine.record_values import Question, _write_log, all_questions, ask, read_record
from schemalint.delta.datatype import INTEGER, Field
from schemalint.delta.live_effect import mended_by, refusal_of_value, stopped_by
from schemalint.delta.property_values import Stops
from schemalint.review.rulebook import load_rules
from schemalint.tables.storage import read_table
from support.judging import judge_table
from support.logs import metadata, protocol, write_log
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
SAMPLE = 2

# What fails: reading, writing, altering; and whether a write leaves a checkpoint, where that is certain.
EFFECTS = {
    Stops.NOTHING: (False, False, False),
    Stops.CHECKPOINTS: (False, False, False),
    Stops.WRITES: (False, True, False),
    Stops.CHANGES: (False, False, True),
    Stops.WRITES_AND_CHANGES: (False, True, True),
    Stops.ALL: (True, True, True),
}


@pytest.mark.parametrize("question", RECORD, ids=" ".join)
def test_what_stops_is_what_the_engine_refused(question: Question) -> None:
    answer, stops = RECORD[question], stopped_by(*question)
    assert stops is not None
    assert tuple(one != ACCEPTED for one in answer[:3]) == EFFECTS[stops]
    assert refusal_of_value(*question) in ({None} if EFFECTS[stops] == (False,) * 3 else set(answer[:3]))
    assert (mended_by(*question) == "ALTER TABLE") == (answer.mend == ACCEPTED)
    if stops is Stops.CHECKPOINTS:
        assert answer.checkpoint == "no"
    if stops is Stops.NOTHING and question[0] != "delta.checkpointInterval":
        assert answer.checkpoint == "yes"


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_reads_values_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask again for a sample of the values, chosen by ``SCHEMALINT_SEED``."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


@pytest.mark.spark
def test_restore_replaces_some_values_that_alter_cannot(spark: SparkSession, tmp_path: Path) -> None:
    """Ask about a value of each kind: what they stop, and what mends them."""
    expected, answers = {}, {}
    stuck = (question for question in RECORD if RECORD[question].mend != ACCEPTED)
    sample = some_of_each(stuck, lambda question: (stopped_by(*question), mended_by(*question)), 1)
    for number, question in enumerate(sample):
        table = tmp_path / str(number)
        _write_log(table, {})
        _write_log(table, dict([question]), version=1)
        expected[question] = mended_by(*question) == "RESTORE"
        _outcome(spark, f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 0")
        restored = read_table(str(table))  # not what the statement reports: one commits, and then fails
        answers[question] = restored is not None and question[0] not in restored.state.properties
    assert answers == expected


@pytest.mark.spark
def test_help_about_column_mapping_names_the_statement_that_spark_accepts(
    spark: SparkSession, tmp_path: Path
) -> None:
    mode, highest = "delta.columnMapping.mode", "delta.columnMapping.maxColumnId"
    valid = {mode: "name", highest: "1"}
    column = Field("a", INTEGER, column_id=1, physical_name="x")
    invalid = {
        "mode": (column, {**valid, mode: "both"}),
        "highest": (column, {**valid, highest: "x"}),
        "id": (Field("a", INTEGER, physical_name="x"), valid),
    }
    helps = {}
    for name, (last, properties) in invalid.items():
        table = tmp_path / name
        states = ((column, valid), (last, properties))
        write_log(table, [[protocol(2, 5), metadata(field, properties=state)] for field, state in states])
        live = read_table(str(table))
        assert live is not None
        (finding,) = (one for one in judge_table(live, load_rules()) if one.code == "CM005")
        restored = _outcome(spark, f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 0") == ACCEPTED
        copy = (
            f"CREATE TABLE delta.`{table}-copy` USING delta AS SELECT * FROM delta.`{table}` VERSION AS OF 0"
        )
        assert _outcome(spark, copy) == ACCEPTED
        helps[name] = "CREATE TABLE" in finding.help
        assert helps[name] is not restored
    assert helps == {"mode": True, "highest": True, "id": False}
