"""What the rules say of constraints that are no conditions agrees with Spark, for every recorded text."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from engine.record_constraints import (
    QUESTIONS,
    REFUSED,
    ROW,
    _parsed,
    all_questions,
    ask,
    log_with,
    read_record,
)
from engine.record_logs import ACCEPTED, _outcome
from schemalint.delta.conditions import ConditionFault, condition_problem
from schemalint.delta.datatype import Struct
from schemalint.delta.expression_faults import expression_fault
from schemalint.delta.operands import OperandFault
from schemalint.delta.type_text import parse_type
from support.recorded import check_each
from support.sampling import some_of_each
from support.short_logs import write_short_log

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
# The comment would hide the bracket that ends the statement's text.
NOT_IN_A_STATEMENT = {"a > 0 -- x"}
PIECES = (
    *("a", "s", "high", "price", "0", "1", "1.5", "'x'", "`b`", "(a)", "f(a)", "l[0]", "()", "[a]"),
    *("=", "==", "<>", "<", "<=", ">", ">=", "!", "~", "&", "|", "^", "+", "-", "*", "/", "%", "||"),
    *("and", "or", "not", "in", "is", "null", "like", "between", "case", "when", "then", "else", "end"),
    *("true", "date", "filter", "distinct", "div", "interval 1 day", "cast(a as int)"),
    *("( a > 0 )", "f( a , )", "( , a )", "( > a )", "( a > )", "[ 'x' ]"),
)
# The rule leaves to the engine: values of literals with a type, most elements and intervals, and divisions.
UNDECIDED = {
    *("null", "l[0] = 'x'", "abs(s) = 'x'", 'upper("x") > 0', "a > 1 / 0"),
    *("a > CAST('x' AS INT)", "a > int('x')", "d > CAST('x' AS DATE)", "d > to_date('x')", "d > DATE('x')"),
    *("l[0]", "array(a)", "struct(a)", "not_a_function(a)", "all(a)"),
    *("a = current_user()", "b = current_user()", "b AND current_user()"),
}
# A write looks at what computes with dates in another order than the statement (docs/disagreements.md).
WRITES_FAIL_WITH = {
    "d - d > 3": "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE",
    "d + p > d": "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
}
MISTAKES = (
    *("high price > 0", "[high price] > 0", "a > 0 1", "length s > 0", "coalesce(a 1) > 0", "a mod 2 = 1"),
    *("a >", "> 0", "a > > 0", "a === 1", "a =< 1", "a && b", "a > 0 XOR b", "a IN (1,)"),
    *("s ~ 'x'", "s MATCHES 'x'"),
)


def _columns() -> Struct:
    columns = parse_type(
        "struct<a: int, s: string, b: boolean, d: date, t: timestamp, p: decimal(10,2), f: double, "
        "`Product.Id`: int, st: struct<x: int>, l: array<int>>"
    )
    assert isinstance(columns, Struct)
    return columns


COLUMNS = _columns()


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


def test_a_fault_of_the_text_is_refused_by_spark() -> None:
    with_fault = {text for text in RECORD if expression_fault(text)} - NOT_IN_A_STATEMENT
    # The parser takes a parameter, which nothing gives a value later.
    assert {text for text in with_fault if RECORD[text].parse != REFUSED} == {"a > :x", "a > ?"}


@pytest.mark.parametrize("text", MISTAKES)
def test_what_people_write_by_mistake_is_a_fault(text: str) -> None:
    assert RECORD[text].parse == REFUSED
    assert expression_fault(text)


def test_a_problem_of_a_condition_is_the_engine_s() -> None:
    check_each(_check_condition, QUESTIONS["table"])


def _check_condition(text: str) -> None:
    answer = RECORD[text]
    if fault := expression_fault(text):
        assert answer.add == fault.error
        return
    problem = condition_problem(text, COLUMNS)
    found = problem.fault.value if problem else ""
    if text in UNDECIDED:
        assert not found
        assert answer.add != ACCEPTED
        return
    assert found == ("" if answer.add == ACCEPTED else answer.add)
    if problem is None or problem.is_optional:
        return
    if problem.fault is ConditionFault.TEXT:
        assert answer.insert == "TASK_WRITE_FAILED"
    elif isinstance(problem.fault, OperandFault):
        error = "INTERNAL_ERROR" if problem.is_after_call else answer.add
        assert answer.insert == WRITES_FAIL_WITH.get(text, error)
    elif problem.fault is ConditionFault.NOT_BOOLEAN:
        assert answer.insert == ACCEPTED


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    asked = [
        *some_of_each(QUESTIONS["parser"], lambda text: RECORD[text].add, 1),
        *some_of_each(QUESTIONS["table"], lambda text: RECORD[text].add, 1),
    ]
    assert ask(spark, tmp_path, asked) == {text: RECORD[text] for text in asked}


@pytest.mark.spark
def test_spark_reads_a_table_of_writer_version_3_whose_constraint_it_cannot_parse(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It refuses to write and to alter it; `logs.csv` has tables whose protocol lists features."""
    write_short_log(log_with("high price > 0"), tmp_path / "t")
    name = f"delta.`{tmp_path / 't'}`"
    statements = {
        f"INSERT INTO {name} VALUES ({ROW})": "PARSE_SYNTAX_ERROR",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('team' = 'sales')": "PARSE_SYNTAX_ERROR",
        f"SELECT * FROM {name}": ACCEPTED,
    }
    assert {statement: _outcome(spark, statement) for statement in statements} == statements


@pytest.mark.spark
def test_spark_refuses_every_generated_text_with_a_fault(spark: SparkSession) -> None:
    chosen = random.Random(7)  # noqa: S311 (no secret is made of it)
    texts = {" ".join(chosen.choices(PIECES, k=chosen.randint(2, 6))) for _ in range(4000)}
    faulty = sorted(text for text in texts if expression_fault(text))
    assert len(faulty) > 1000
    assert [text for text in faulty if _parsed(spark, text) != REFUSED] == []
