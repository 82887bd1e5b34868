"""NC023 and NC024 report the columns that Delta makes and whose rows it then refuses, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED
from engine.record_shapes import Question, all_questions, ask, read_record
from schemalint import contract as contracts
from schemalint.judge.case import Case
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import judge
from support.effective import counting
from support.rule_judging import built_in
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
NO_FIELDS = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_NO_FIELDS"
NULL = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
REQUIRED = " NOT NULL"
MADE = [question for question, answer in RECORD.items() if answer.create == ACCEPTED]


def reported(question: Question) -> set[str]:
    """Return the codes of the findings about a new table with the column."""
    type_ = question.column.removesuffix(REQUIRED).lower()
    mapping = "properties: {delta.columnMapping.mode: name}\n" if question.mapping else ""
    nullable = "false" if question.column.endswith(REQUIRED) else "true"
    (contract,) = contracts.read(
        "c.yml",
        "schemalint: 1\ntable: s.t\ncolumns:\n  - {name: id, type: int}\n"
        f'  - {{name: c, type: "{type_}", nullable: {nullable}}}\n{mapping}',
    ).contracts
    rules = RuleSet(tuple(built_in().values()))
    return {finding.code for finding in judge(Case((rules,), declared=counting(contract))).findings}


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.parametrize("question", MADE, ids=str)
def test_a_column_that_no_row_can_be_written_to_is_reported(question: Question) -> None:
    refused = NO_FIELDS in (RECORD[question].without, RECORD[question].value)
    assert ("NC023" in reported(question)) == refused


# No question sets a struct inside a NOT NULL struct to null.
@pytest.mark.parametrize("question", [each for each in MADE if not each.column.endswith(REQUIRED)], ids=str)
def test_a_null_struct_that_delta_refuses_is_reported(question: Question) -> None:
    refused = NULL in (RECORD[question].without, RECORD[question].null)
    assert ("NC024" in reported(question)) == refused


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    asked = some_of_each(RECORD, lambda question: RECORD[question], 1)
    assert ask(spark, tmp_path, asked) == {question: RECORD[question] for question in asked}
