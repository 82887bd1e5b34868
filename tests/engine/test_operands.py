"""What NC026 says of the operands of each operator agrees with Spark, for every recorded pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED
from engine.record_operands import COLUMNS, OF_ONE, OPERATORS, all_questions, ask, read_record
from schemalint.delta.conditions import condition_problem
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.type_text import parse_type
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
COLUMN_TYPES = Struct(tuple(Field(name, parse_type(type_)) for name, type_ in COLUMNS.items()))
LEFT_TO_APPLY = {"div", "coalesce"}
OF_MAPS = "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"
SAMPLE = 8


def test_every_question_is_recorded() -> None:
    assert set(RECORD) == set(all_questions())


@pytest.mark.parametrize("operator", dict.fromkeys((*OPERATORS, *OF_ONE)))
def test_a_fault_of_operands_is_spark_s(operator: str) -> None:
    for question in (question for question in RECORD if question.operator == operator):
        problem = condition_problem(question.condition(), COLUMN_TYPES)
        answer = RECORD[question]
        if problem is None:
            assert answer in {ACCEPTED, OF_MAPS} or operator in LEFT_TO_APPLY, question
        else:
            assert problem.fault.value == answer, question


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    asked = some_of_each(RECORD, lambda question: RECORD[question], SAMPLE)
    assert ask(spark, tmp_path, asked) == {question: RECORD[question] for question in asked}
