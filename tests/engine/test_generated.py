"""What schemalint says of the expressions of generated columns agrees with Delta, for every recorded text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_generated import COLUMNS, OPERATORS, Question, all_questions, ask, read_record
from engine.record_logs import ACCEPTED
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.expression_types import expression_type
from schemalint.delta.expressions import Expression, Place, functions_called, unusable_part
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.model.contract import Contract
from schemalint.review.rulebook import load_rules
from support.judging import judge_pair
from support.recorded import check_each
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.delta.datatype import DataType

RECORD = read_record()
ASKED = {text: answer for text, answer in RECORD.items() if answer.create}
UNSUPPORTED = "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"
SAMPLE = 1
RULES = [rule for rule in load_rules() if rule.code == "NC029"]


COLUMN_TYPES = Struct(tuple(Field(name, parse_type(type_)) for name, type_ in COLUMNS.items()))
# What is left to `apply`: the arguments decide, not the names.
LEFT_TO_APPLY = {
    *("extract(second FROM ts)", "dt - dt", "ts - ts", "unix_timestamp()", "map(1, 2)[1]"),
    *(
        "s LIKE ANY ('x', 'y')",
        "decode(encode('abc', 'utf-8'), 'utf-8')",
        "decode(unhex('537061726B2053514C'), 'UTF-8')",
    ),
}
# Functions of which each recorded call has another one that Delta refuses.
AMBIGUOUS = {"unhex", "parse_json", "st_geogfromwkb", "st_geomfromwkb"}


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


def test_a_known_type_is_the_engine_s() -> None:
    check_each(_check_type, ASKED)


def _check_type(question: Question) -> None:
    type_ = expression_type(question.text, COLUMN_TYPES)
    assert type_ is None or _print(type_) == _print(parse_type(ASKED[question].type))


def test_the_types_of_most_operators_are_known() -> None:
    texts = [text for text in OPERATORS if Question(text) in ASKED]
    known = [text for text in texts if expression_type(text, COLUMN_TYPES) is not None]
    assert len(known) > 0.75 * len(texts)


def test_rules_report_what_no_generated_column_can_use() -> None:
    check_each(_check_use, (question for question in ASKED if not question.declared))


def _check_use(question: Question) -> None:
    text, created = question.text, ASKED[question].create
    if text in LEFT_TO_APPLY or AMBIGUOUS.intersection(functions_called(text)):
        return
    reported = unusable_part(Expression(Place.GENERATED, text, "g", ("g",)), COLUMN_TYPES) is not None
    assert not reported or created != ACCEPTED
    assert reported or created != UNSUPPORTED


def test_rule_reports_a_type_that_differs_as_the_engine_does() -> None:
    check_each(_check_declared_type, (question for question in ASKED if question.declared))


def _check_declared_type(question: Question) -> None:
    field = Field("g", parse_type(question.declared), generated=question.text)
    contract = Contract("sales.orders", TableState(Struct((*COLUMN_TYPES.fields, field))))
    errors = [finding.delta_error for finding in judge_pair(None, contract, RULES)]
    assert errors == ([] if ASKED[question].create == ACCEPTED else [ASKED[question].create])


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    sample = some_of_each(ASKED, lambda question: (bool(question.declared), ASKED[question].create), SAMPLE)
    assert ask(spark, tmp_path, sample) == {question: ASKED[question] for question in sample}


def _print(type_: DataType) -> str:
    return print_type(type_).replace(" ", "")
