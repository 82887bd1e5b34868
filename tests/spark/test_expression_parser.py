"""`check --parse-with spark`: a session parses and analyses expressions of contracts, and computes none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.contract import read
from schemalint.delta.datatype import BOOLEAN, INTEGER, STRING, Field, Struct
from schemalint.judge.asked_expressions import asked_expressions, not_modelled
from schemalint.model.effective import EVERYWHERE, effective
from schemalint.spark.session_questions import ExpressionParser, is_sent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS: Final = Struct((Field("id", INTEGER), Field("name", STRING)))
NOT_SENT: Final = (
    "reflect('java.lang.System', 'exit', 0)",
    "java_method('java.util.UUID', 'randomUUID') = name",
    "`reflect`('java.lang.System', 'exit', 0)",
    "system.builtin.reflect('java.lang.System', 'exit', 0)",
    "from_json(name, reflect('a', 'b')).x",
    "schema_of_json(repeat('x', 2000000000))",
    "raise_error('x')",
    "my_function(id)",
    "other.schema.my_function(id)",
    "(SELECT max(id) FROM secrets) > 0",
    "EXISTS (TABLE secrets)",
    "'${env:AWS_SECRET_ACCESS_KEY}' = name",
    "explode(array(1))",
    "IDENTIFIER('name') = 'x'",
    "id > 0" + " OR id > 0" * 2_000,
)


@pytest.mark.parametrize("text", NOT_SENT, ids=lambda text: text[:40])
def test_what_runs_code_or_reads_a_table_is_not_sent(text: str) -> None:
    assert not is_sent(text)


@pytest.mark.spark
@pytest.mark.each_time
def test_spark_analyses_and_computes_nothing(spark: SparkSession) -> None:
    ask = ExpressionParser(spark)
    tracker = spark.sparkContext.statusTracker()
    jobs = set(tracker.getJobIdsForGroup())
    good = {"id > 0": BOOLEAN, "id + 1": INTEGER, "upper(name)": STRING, "1 / 0 > 1": BOOLEAN}
    for text, type_ in good.items():
        answer = ask(COLUMNS, text)
        assert answer is not None
        assert (answer.error, answer.type) == (None, type_), text
    bad = {
        "id > ": "PARSE_SYNTAX_ERROR",
        "customer > 0": "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        "id + array(1)": "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
        "upper(name, 1)": "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    }
    for text, error in bad.items():
        answer = ask(COLUMNS, text)
        assert answer is not None
        assert answer.error == error, text
        assert answer.what
        assert "\n" not in answer.what
    assert set(tracker.getJobIdsForGroup()) == jobs


@pytest.mark.spark
def test_the_verdict_is_sparks(spark: SparkSession) -> None:
    text = """\
schemalint: 1
table: t
columns:
  - {name: id, type: int, default: "1 + now()"}
  - {name: name, type: string}
  - {name: up, type: string, backfill: {from: name, with: "upper(name, 2)"}}
constraints: {a: id > 0, b: "upper(name, 1) = 'X'", c: length(name), d: "reflect('a', 'b') = name"}
"""
    (contract,) = read("t.yml", text).contracts
    after = effective(contract, EVERYWHERE)
    asked = asked_expressions({after.key: (None, after)}, ExpressionParser(spark), ())
    facts = [(fact.rule, fact.constraint, fact.path, fact.error) for fact in asked.refused[after.key]]
    assert facts == [
        ("NC026", "b", None, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("NC026", "c", None, "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT"),
        ("NC026", None, ("id",), "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"),
        ("BF001", None, ("up",), "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
    ]
    assert asked.taken == {(after.key, "id > 0")}
    assert (asked.asked, asked.kept) == (5, 1)
    again = asked_expressions({after.key: (after, after)}, ExpressionParser(spark), ())
    assert again.refused == {}, "the base has them too"


def test_what_the_offline_model_does_not_know_is_counted() -> None:
    text = """\
schemalint: 1
table: t
columns: [{name: id, type: int}]
constraints: {a: id > 0, b: 'f(id)', c: 'id > = 0'}
"""
    (contract,) = read("t.yml", text).contracts
    assert not_modelled([contract.state]) == (2, 3)
