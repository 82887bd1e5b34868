"""Any declaration of any table: the engine does what is planned, and what is refused it does not do either.

Sixty pairs; ``SCHEMALINT_ENGINE_PLANS=300`` asks for so many (`make engine`), ``SCHEMALINT_ENGINE_SEED`` for
others.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from schemalint.catalog.target_tables import read_live
from schemalint.delta.datatype import Array, DataType, Field, Map, Struct, field_at, walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type
from schemalint.deploy.last_applied import LastApplied, drift
from schemalint.errors import ApplyError
from schemalint.lint.judge import judge_pair
from schemalint.lint.live import LiveComparison, judge_live, live_changes, live_context
from schemalint.lint.rulebook import Selection, rules_for_apply
from schemalint.lint.table import refused_by_spark
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.declaration import apply_declaration
from schemalint.model.plan import Refusal, StepKind
from schemalint.planner import PlanOptions, pending, plan_table
from schemalint.planner.create import create_steps
from schemalint.spark.expressioncheck import require_accepted
from support.contract_edits import EDITS
from support.contract_pairs import Pair, is_computed, pairs
from support.naive_statements import Attempt, attempts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.delta.table import LiveTable
    from schemalint.model.contract import Contract
    from schemalint.model.plan import TablePlan

PAIRS = int(os.environ.get("SCHEMALINT_ENGINE_PLANS", "60"))
SEED = int(os.environ.get("SCHEMALINT_ENGINE_SEED", "20261121"))
RULES = rules_for_apply(Selection())
# What the engine would do and schemalint does not: by the code of the rule, or by words of the refusal.
POLICY: Final[Mapping[str, str]] = {
    "Version cannot be applied": "features are asked for by name, never by versions of the protocol",
    "NC015": "without column mapping it may do no harm, which does not show: see docs/disagreements.md",
    "CT006": "a rename from what was not there, or over what is: the contract contradicts itself",
    "CT007": "a column that is dropped and declared: the contract contradicts itself",
    "renamed, and that is not there": "an empty column must not take the place of one that is lost",
    "is schemalint's own record": "only `apply` writes it",
}


# Where the engine looks at something else first: see docs/disagreements.md.
OTHER_CLASSES: Final[Mapping[str, Sequence[str]]] = {
    "DELTA_UNSUPPORTED_RENAME_COLUMN": (
        "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
        "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE",
    ),
    "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP": ("DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED",),
}


@dataclass
class Table:
    """A table of one pair, on the engine."""

    spark: SparkSession
    place: str
    has_row: bool = False

    @property
    def name(self) -> str:
        return f"delta.`{self.place}`"

    def read(self) -> LiveTable:
        table = read_live(self.place)
        assert table is not None
        return table

    def run(self, statement: str) -> str | None:
        """The error class with which the engine refuses the statement, or None."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
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
            self.has_row = True
        return self.read()

    def count_values(self) -> int:
        """How many values other than NULL the rows have, at any depth."""
        if not self.has_row:
            return 0
        rows = self.spark.sql(f"SELECT to_json(struct(*)) FROM {self.name}").collect()
        return sum(_leaves(json.loads(row[0])) for row in rows)


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
        tracking = (
            None if live is None else track_columns(live.state.columns, [one.state for one in pair.revisions])
        )
        plan = verdict(pair, live, tracking, table.place)
        assert not live or is_undisturbed(pair, live, tracking)
        refusals = plan.refusals or asked(table, plan)
        if refusals:
            assert_is_refused(pair, live, tracking, table, refusals)
        else:
            assert_is_carried_out(pair, live, tracking, table, plan)

    check()


def verdict(pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, place: str) -> TablePlan:
    """As `apply` comes to it, with upgrades and destructive steps allowed."""
    contract = pair.declared
    if live is None:
        return plan_table(contract, None, place, judge_pair(None, contract, RULES))
    refused = refused_by_spark(contract, live, RULES)
    comparison = LiveComparison(contract, live, tracking=tracking, of_table=refused)
    return plan_table(contract, live, place, judge_live(comparison, RULES), PlanOptions(tracking))


def asked(table: Table, plan: TablePlan) -> tuple[Refusal, ...]:
    """What the engine says of the expressions before the first statement."""
    try:
        require_accepted(table.spark, plan, table.name)
    except ApplyError as error:
        return (Refusal(error.message),)
    return ()


def _takes_more(pair: Pair, plan: TablePlan) -> bool:
    """A feature goes in several commits, and rows get their ids in one of its own."""
    drops = any(step.kind is StepKind.DROP_FEATURE for step in plan.steps)
    return drops or (pair.has_row and pair.declared.state.enabled("delta.enableRowTracking"))


def is_undisturbed(pair: Pair, live: LiveTable, tracking: ColumnTracking | None) -> bool:
    """Whether nobody is said to have altered the table by hand."""
    return not list(
        drift(pair.declared, LastApplied(pair.revisions), live, PlanOptions(tracking), repair=False)
    )


def assert_is_carried_out(
    pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, table: Table, plan: TablePlan
) -> None:
    """Every statement is taken, the log holds what is declared, and a second plan is empty."""
    values = table.count_values()
    for step in plan.steps:
        refused = table.run(step.sql)
        assert refused is None, f"{refused}: {step.sql}"
    assert pair.declared.state.dropped or table.count_values() == values
    after = table.read()
    assert pending(pair.declared, after.state) == ()
    assert is_held(pair.declared, after)
    assert lost(pair, live, tracking, after) == []
    commits = after.version - (-1 if live is None else live.version)
    least = sum(step.commits for step in plan.steps)
    assert commits == least or (commits > least and _takes_more(pair, plan))
    again = verdict(pair, after, track_columns(after.state.columns, [pair.declared.state]), table.place)
    assert again.refusals == ()
    assert [step.sql for step in again.steps] == []


def assert_is_refused(
    pair: Pair,
    live: LiveTable | None,
    tracking: ColumnTracking | None,
    table: Table,
    refusals: tuple[Refusal, ...],
) -> None:
    """Whoever tries it by hand is refused too, has no words for it, or does not get what is declared."""
    if any(one.code in POLICY or any(words in one.reason for words in POLICY) for one in refusals):
        return
    ways = by_hand(pair, live, tracking, table)
    if () in ways:
        return
    tried = carry_out(table, ways)
    if tried.is_done:
        after = table.read()
        is_done = is_held(pair.declared, after) and not lost(pair, live, tracking, after)
        assert not is_done, f"refused without need: {refusals}"
        return
    # CREATE TABLE has other classes, and of several edits one may hide what would be said of another.
    if live is None or len(pair.edits) > 1:
        return
    named = {one.finding.delta_error for one in refusals if one.finding and one.finding.delta_error}
    wanted = named.union(*(OTHER_CLASSES.get(one, ()) for one in named))
    assert not wanted or wanted & tried.errors, f"refused for {wanted}, by the engine for {tried.errors}"


def by_hand(
    pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, table: Table
) -> list[Attempt]:
    """What would be tried; to make a table, the statements that are planned where nothing is refused."""
    if live is None:
        made = [((step.sql,),) for step in create_steps(pair.declared, table.name)]
        return [*made, *attempts((), pair.declared)]
    return attempts(live_changes(live_context(pair.declared, live, tracking=tracking)), pair.declared)


def is_held(declared: Contract, live: LiveTable) -> bool:
    return not pending(declared, live.state) and declared.drop_features.isdisjoint(live.protocol.features)


def lost(pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, after: LiveTable) -> list[str]:
    """The columns that are to stay and are others now: of another physical name, or without their history."""
    if live is None:
        return []
    expected = apply_declaration(pair.declared.state, live.state, tracking=tracking)
    return [
        format_path(path)
        for path, field in walk_fields(expected.columns)
        if (found := field_at(after.state.columns, path)) is None or not _is_the_same(field, found)
    ]


def _is_the_same(before: Field, after: Field) -> bool:
    history = before.type_changes if isinstance(before.type_changes, tuple) else ()
    grown = after.type_changes if isinstance(after.type_changes, tuple) else ()
    return (
        (None in (before.physical_name, after.physical_name) or before.physical_name == after.physical_name)
        and (before.comment or None) == (after.comment or None)
        and grown[: len(history)] == history
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of attempts.

    Attributes:
        errors: The error classes of all statements that were refused.
        is_done: Whether each attempt came to its end at last.
    """

    errors: frozenset[str]
    is_done: bool


def carry_out(table: Table, waiting: Sequence[Attempt]) -> Tried:
    """What is refused is tried again once others are done, which may have been in its way."""
    errors: set[str] = set()
    while waiting:
        refused = [one for one in waiting if not _is_carried_out(table, one, errors)]
        if len(refused) == len(waiting):
            return Tried(frozenset(errors), is_done=False)
        waiting = refused
    return Tried(frozenset(errors), is_done=True)


def _is_carried_out(table: Table, attempt: Attempt, errors: set[str]) -> bool:
    for way in attempt:
        for statement in way:
            if refused := table.run(statement):
                errors.add(refused)
                break
        else:
            return True
    return False


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


def _leaves(value: object) -> int:
    match value:
        case dict():
            return sum(map(_leaves, value.values()))
        case list():
            return sum(map(_leaves, value))
        case _:
            return 1


def _in_brackets(message: str) -> str:
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else message.partition("\n")[0]
