"""Any declaration of any table: the plan does on the engine what it says, or the engine refuses the change too.

Sixty pairs; ``SCHEMALINT_ENGINE_PLANS=300`` asks for so many (`make engine`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from attempts import attempts
from edits import EDITS
from pairs import Pair, is_computed, pairs, text_of
from schemalint.engine.judge import judge_pair
from schemalint.engine.live import LiveComparison, judge_live, live_changes, live_context
from schemalint.engine.rulebook import Selection, rules_for_apply
from schemalint.engine.table import refused_by_spark
from schemalint.engine.tables import read_live
from schemalint.model.datatype import Array, DataType, Map, Struct
from schemalint.model.lineage import Lineage, trace
from schemalint.model.plan import StepKind
from schemalint.model.sqltext import always_quoted, quote_literal
from schemalint.model.typetext import print_type
from schemalint.planner import Wish, pending, plan_table
from schemalint.planner.create import create_steps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.model.plan import Refusal, TablePlan
    from schemalint.model.table import LiveTable

PAIRS = int(os.environ.get("SCHEMALINT_ENGINE_PLANS", "60"))
SEED = int(os.environ.get("SCHEMALINT_ENGINE_SEED", "20261121"))
RULES = rules_for_apply(Selection())
SETTINGS = {
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    "spark.sql.variable.substitute": "false",
}
# What the engine would do, and schemalint does not: by the code of the rule, or by words of the refusal.
POLICY: Final = {
}


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    before = {key: spark.conf.get(key, None) for key in SETTINGS}
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    yield spark
    for key, old in before.items():
        spark.conf.unset(key) if old is None else spark.conf.set(key, old)


@dataclass
class Table:
    """A table of one pair, on the engine."""

    spark: SparkSession
    place: str

    @property
    def name(self) -> str:
        return f"delta.`{self.place}`"

    def read(self) -> LiveTable:
        table = read_live(self.place)
        assert table is not None
        return table

    def run(self, statement: str) -> str | None:
        """The error class with which the engine refuses the statement, or None."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # noqa: PLC0415 (only with Spark)
        from pyspark.errors import PySparkException  # noqa: PLC0415

        try:
            self.spark.sql(statement.replace("{t}", self.name))
        except PySparkException as error:
            return str(error.getCondition() or _in_brackets(str(error)))
        except Py4JJavaError as error:  # PySpark does not know DeltaTableFeatureException
            return _in_brackets(str(error.java_exception.getMessage()))
        return None

    def make(self, pair: Pair) -> LiveTable | None:
        if pair.made is None:
            return None
        for step in plan_table(pair.made, None, self.place).steps:
            refused = self.run(step.sql)
            assert refused is None, (refused, step.sql)
        if pair.has_row:
            columns = [one for one in pair.made.state.columns.fields if not is_computed(one)]
            names = ", ".join(always_quoted(one.name) for one in columns)
            values = ", ".join(_value(one.type) for one in columns)
            refused = self.run(f"INSERT INTO {{t}} ({names}) SELECT {values}")
            assert refused is None, (refused, values)
        return self.read()


@pytest.mark.spark
def test_plan_is_what_the_engine_does_and_refusal_what_it_refuses(
    session: SparkSession, tmp_path: Path
) -> None:
    numbers = count()

    @seed(SEED)
    @settings(
        max_examples=PAIRS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(pairs(EDITS))
    def check(pair: Pair) -> None:
        table = Table(session, str(tmp_path / str(next(numbers))))
        live = table.make(pair)
        lineage = None if live is None else trace(live.state.columns, [pair.made.state, pair.declared.state])
        plan = verdict(pair, live, lineage, table.place)
        if plan.refusals:
            assert_is_refused(pair, live, lineage, table, plan.refusals)
        else:
            assert_is_carried_out(pair, live, table, plan)

    check()


def verdict(pair: Pair, live: LiveTable | None, lineage: Lineage | None, place: str) -> TablePlan:
    """As `apply` comes to it, with upgrades and destructive steps allowed."""
    contract = pair.declared
    if live is None:
        return plan_table(contract, None, place, judge_pair(None, contract, RULES))
    refused = refused_by_spark(contract, live, RULES)
    comparison = LiveComparison(contract, live, lineage=lineage, of_table=refused)
    return plan_table(contract, live, place, judge_live(comparison, RULES), Wish(lineage))


def assert_is_carried_out(pair: Pair, live: LiveTable | None, table: Table, plan: TablePlan) -> None:
    """Every statement is taken, the log holds what is declared, and a second plan is empty."""
    for step in plan.steps:
        refused = table.run(step.sql)
        assert refused is None, f"{refused}: {step.sql}"
    after = table.read()
    assert pending(pair.declared, after.state) == ()
    assert pair.declared.drop_features.isdisjoint(after.protocol.features)
    if not any(step.kind is StepKind.DROP_FEATURE for step in plan.steps):
        before = -1 if live is None else live.version
        assert after.version == before + sum(step.commits for step in plan.steps)
    lineage = trace(after.state.columns, [pair.declared.state])
    again = verdict(pair, after, lineage, table.place)
    assert again.refusals == ()
    assert [step.sql for step in again.steps] == []


def assert_is_refused(
    pair: Pair, live: LiveTable | None, lineage: Lineage | None, table: Table, refusals: tuple[Refusal, ...]
) -> None:
    """Whoever tries it by hand is refused too, has no words for it, or does not get what is declared."""
    if any(one.code in POLICY or any(words in one.reason for words in POLICY) for one in refusals):
        return
    if live is None:
        ways = [((step.sql,),) for step in create_steps(pair.declared, table.name)]
    else:
        ways = attempts(live_changes(live_context(pair.declared, live, lineage=lineage)), pair.declared)
    answer = carry_out(table, ways)
    if answer is None and pair.declared.drop_features.isdisjoint(table.read().protocol.features):
        answer = "not held" if pending(pair.declared, table.read().state) else None
    assert answer is not None, f"refused without need: {refusals}"


def carry_out(table: Table, waiting: list[tuple[tuple[str, ...], ...]]) -> str | None:
    """Why not all of it can be done, or None; what is refused is tried again after the others."""
    if () in waiting:
        return "no words"
    while waiting:
        answers = [_tried(table, ways) for ways in waiting]
        if None not in answers:
            return str(answers)
        waiting = [ways for ways, answer in zip(waiting, answers, strict=True) if answer]
    return None


def _tried(table: Table, ways: tuple[tuple[str, ...], ...]) -> str | None:
    refused: str | None = None
    for way in ways:
        for statement in way:
            refused = table.run(statement)
            if refused:
                break
        else:
            return None
    return refused


def _value(type_: DataType) -> str:
    """Something of that type, other than NULL."""
    match type_:
        case Struct(fields=fields):
            inside = ", ".join(f"{quote_literal(one.name)}, {_value(one.type)}" for one in fields)
            return f"named_struct({inside})"
        case Array(element=element):
            return f"array({_value(element)})"
        case Map(key=key, value=value):
            return f"map({_value(key)}, {_value(value)})"
    text = print_type(type_)
    if text == "variant":
        return "parse_json('1')"
    return f"CAST('{'2026-01-01' if text.startswith(('date', 'timestamp')) else '1'}' AS {text})"


def _in_brackets(message: str) -> str:
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else message.partition("\n")[0]
