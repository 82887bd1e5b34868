"""For generated pairs of table and contract, Spark carries out each plan, and no refused change succeeds.

Another revision is deployed to each table whose plan was carried out. The default is 8 pairs;
``SCHEMALINT_ENGINE_PLANS=200`` tries 200 (`make engine`), and ``SCHEMALINT_ENGINE_SEED`` selects other pairs.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, Phase, given, reject, seed, settings

from schemalint.base.errors import ApplyError
from schemalint.delta.datatype import Array, DataType, Field, Map, Struct, field_at, type_at, walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type
from schemalint.deploy.last_applied import LastApplied, drift
from schemalint.judge.case import Purpose, live_context
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.declaration import apply_declaration
from schemalint.model.marker import PENDING, read_pending
from schemalint.model.table_plan import Refusal, RefusalKind, StepKind
from schemalint.planner import PlanOptions, pending_changes, plan_table
from schemalint.planner.create_steps import create_steps
from schemalint.planner.statements import unset_properties
from schemalint.project.config import Config
from schemalint.review.rulebook import rules_for_apply
from schemalint.spark.prechecks.expressions import require_accepted
from support.contract_edits import EDITS
from support.contract_pairs import Pair, is_computed, pairs
from support.effective import counting
from support.judging import judge_live, judge_pair, live_case
from support.logs import read_live
from support.naive_statements import Attempt, attempts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.delta.table import LiveTable
    from schemalint.model.contract import Contract
    from schemalint.model.table_plan import TablePlan

PAIRS = int(os.environ.get("SCHEMALINT_ENGINE_PLANS", "8"))
SEED = int(os.environ.get("SCHEMALINT_ENGINE_SEED", "20261121"))
RULES = rules_for_apply(Config())
# Changes that Spark makes and schemalint refuses, with the reason: by rule code, or by a part of the refusal.
POLICY: Final[Mapping[str, str]] = {
    "Version cannot be applied": "features are requested by name, never by protocol versions",
    "NC015": "may be harmless without column mapping, but that is not visible: see docs/disagreements.md",
    "CT006": "a rename from a missing or to an existing column: the contract contradicts itself",
    "CT007": "a column is both dropped and declared: the contract contradicts itself",
    "cannot be added: it is renamed from": "an empty column must not replace a lost column",
    "is reserved for schemalint": "only `apply` writes it",
}


# Error classes that Spark may give instead, if it checks something else first: see docs/disagreements.md.
OTHER_CLASSES: Final[Mapping[str, Sequence[str]]] = {
    "DELTA_UNSUPPORTED_RENAME_COLUMN": (
        "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
        "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE",
        "FIELD_ALREADY_EXISTS",
    ),
    "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED": ("DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN",),
    "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP": ("DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED",),
}
# Spark analyses a default before anything else: schemalint does not know its type and all functions.
ANALYSIS: Final = frozenset({"INVALID_DEFAULT_VALUE.DATA_TYPE", "UNRESOLVED_ROUTINE"})


@dataclass
class Table:
    """The live table of one pair."""

    spark: SparkSession
    location: str
    has_row: bool = False

    @property
    def name(self) -> str:
        return f"delta.`{self.location}`"

    def read(self) -> LiveTable:
        table = read_live(self.location)
        assert table is not None
        return table

    def run(self, statement: str) -> str | None:
        """Run a statement, and return the error class if the engine refuses it."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
        from pyspark.errors import PySparkException  # noqa: PLC0415

        try:
            self.spark.sql(statement.replace("{t}", self.name))
        except PySparkException as error:
            return str(error.getCondition() or _error_class(str(error)))
        except Py4JJavaError as error:  # PySpark does not know DeltaTableFeatureException
            return _error_class(str(error.java_exception.getMessage()))
        return None

    def make(self, pair: Pair) -> None:
        """Create the table of the pair and insert its row, if it has one."""
        if pair.made is None:
            return
        for step in plan_table(counting(pair.made), None, self.location).steps:
            refused = self.run(step.sql)
            assert refused is None, (refused, step.sql)
        if pair.has_row:
            columns = [field for field in pair.made.state.columns.fields if not is_computed(field)]
            names = ", ".join(always_quoted(column.name) for column in columns)
            values = ", ".join(_value(column.type) for column in columns)
            refused = self.run(f"INSERT INTO {{t}} ({names}) SELECT {values}")
            assert refused is None, (refused, values)
            self.has_row = True

    def count_values(self) -> int:
        """Count the values other than NULL in the rows, at any depth."""
        if not self.has_row:
            return 0
        rows = self.spark.sql(f"SELECT to_json(struct(*)) FROM {self.name}").collect()
        return sum(_leaves(json.loads(row[0])) for row in rows)


@pytest.mark.spark
def test_engine_carries_out_every_plan_and_no_refused_change(session: SparkSession, tmp_path: Path) -> None:
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
        table.make(pair)
        if is_deployed(pair, table) and pair.later:
            is_deployed(pair.later, table)

    check()


def is_deployed(pair: Pair, table: Table) -> bool:
    """Return whether the plan of a pair was carried out; assert that the engine agrees if it was refused."""
    if drops_another(pair):
        reject()
    live = table.read() if pair.made else None
    tracking = (
        None
        if live is None
        else track_columns(live.state.columns, [revision.state for revision in pair.revisions])
    )
    plan = plan_of(pair, live, tracking, table.location)
    assert not live or is_undisturbed(pair, live, tracking)
    refusals = plan.refusals or expression_refusals(table, plan)
    if refusals:
        assert_is_refused(pair, live, tracking, table, refusals)
    else:
        assert_is_carried_out(pair, live, tracking, table, plan)
    return not refusals


def drops_another(pair: Pair) -> bool:
    """Return whether several edits in one revision drop a column under a name that another one has before."""
    made = pair.made.state if pair.made else pair.declared.state
    newly_listed = frozenset(pair.declared.state.dropped) - frozenset(made.dropped)
    return any(
        entry.type is not None and type_at(made.columns, entry.path) not in (None, entry.type)
        for entry in newly_listed
    )


def plan_of(pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, location: str) -> TablePlan:
    """Plan as `apply` does, with upgrades and destructive steps allowed."""
    contract = pair.declared
    if live is None:
        return plan_table(counting(contract), None, location, judge_pair(None, contract, RULES))
    comparison = live_case(contract, live, tracking=tracking, purpose=Purpose.PLAN)
    return plan_table(
        counting(contract), live, location, judge_live(comparison, RULES), PlanOptions(tracking)
    )


def expression_refusals(table: Table, plan: TablePlan) -> tuple[Refusal, ...]:
    """Return the engine's refusals of expressions, found before the first statement."""
    try:
        require_accepted(table.spark, plan, table.name)
    except ApplyError as error:
        return (Refusal(RefusalKind.OPERATION, error.message),)
    return ()


def _may_take_more_commits(pair: Pair, plan: TablePlan) -> bool:
    """Return whether the plan drops a feature, or adds row ids to existing rows."""
    drops = any(step.kind is StepKind.DROP_FEATURE for step in plan.steps)
    return drops or (pair.has_row and pair.declared.state.enabled("delta.enableRowTracking"))


def is_undisturbed(pair: Pair, live: LiveTable, tracking: ColumnTracking | None) -> bool:
    """Return whether the table has no drift."""
    return not list(
        drift(
            counting(pair.declared),
            LastApplied(tuple(map(counting, pair.revisions))),
            live,
            PlanOptions(tracking),
            repair=False,
        )
    )


def assert_is_carried_out(
    pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, table: Table, plan: TablePlan
) -> None:
    """Assert that every statement succeeds, the log holds the declaration, and a second plan is empty."""
    values = table.count_values()
    for step in plan.steps:
        refused = table.run(step.sql)
        if refused == "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION":
            reject()  # the row violates the constraint, which no contract shows
        assert refused is None, f"{refused}: {step.sql}"
    assert pair.declared.state.dropped or table.count_values() == values
    after = table.read()
    assert pending_changes(counting(pair.declared), after.state) == ()
    assert holds_declaration(pair.declared, after)
    assert lost(pair, live, tracking, after) == []
    commits = after.version - (-1 if live is None else live.version)
    least = sum(step.commits for step in plan.steps)
    assert commits == least or (commits > least and _may_take_more_commits(pair, plan))
    second = plan_of(pair, after, track_columns(after.state.columns, [pair.declared.state]), table.location)
    assert second.refusals == ()
    assert [step.sql for step in second.steps] == []
    if read_pending(after.state):  # `apply` removes the note when it has written the marker
        assert table.run(unset_properties(table.name, [PENDING])) is None


def assert_is_refused(
    pair: Pair,
    live: LiveTable | None,
    tracking: ColumnTracking | None,
    table: Table,
    refusals: tuple[Refusal, ...],
) -> None:
    """Assert that the change fails by hand too: refused, not expressible, or not the declared result."""
    if any(refusal.code in POLICY or any(part in refusal.reason for part in POLICY) for refusal in refusals):
        return
    statements = manual_attempts(pair, live, tracking, table)
    if () in statements:
        return
    result = carry_out(table, statements)
    if result.is_done:
        after = table.read()
        succeeded = holds_declaration(pair.declared, after) and not lost(pair, live, tracking, after)
        assert not succeeded, f"refused without need: {refusals}"
        return
    # CREATE TABLE has other error classes, and the refusal of one edit may hide that of another.
    if live is None or len(pair.edits) > 1:
        return
    named = {
        refusal.finding.delta_error for refusal in refusals if refusal.finding and refusal.finding.delta_error
    }
    expected = named.union(*(OTHER_CLASSES.get(error_class, ()) for error_class in named))
    assert not expected or (expected | ANALYSIS) & result.errors, (
        f"refused for {expected}, by the engine for {result.errors}"
    )


def manual_attempts(
    pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, table: Table
) -> list[Attempt]:
    """Return the statements a user would try; for a new table, those of a plan without refusals."""
    if live is None:
        created = [((step.sql,),) for step in create_steps(counting(pair.declared), table.name)]
        return [*created, *attempts((), pair.declared)]
    return attempts(live_context(counting(pair.declared), live, tracking=tracking).changes, pair.declared)


def holds_declaration(declared: Contract, live: LiveTable) -> bool:
    return not pending_changes(counting(declared), live.state) and declared.drop_features.isdisjoint(
        live.protocol.features
    )


def lost(pair: Pair, live: LiveTable | None, tracking: ColumnTracking | None, after: LiveTable) -> list[str]:
    """Return the columns that should stay but were replaced: other physical name, or lost type history."""
    if live is None:
        return []
    expected = apply_declaration(pair.declared.state, live.state, tracking=tracking)
    return [
        format_path(path)
        for path, field in walk_fields(expected.columns)
        if (live_field := field_at(after.state.columns, path)) is None or not _is_same(field, live_field)
    ]


def _is_same(before: Field, after: Field) -> bool:
    history = before.type_changes if isinstance(before.type_changes, tuple) else ()
    new_history = after.type_changes if isinstance(after.type_changes, tuple) else ()
    return (
        (None in (before.physical_name, after.physical_name) or before.physical_name == after.physical_name)
        and (before.comment or None) == (after.comment or None)
        and new_history[: len(history)] == history
    )


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of manual attempts.

    Attributes:
        errors: The error classes of all refused statements.
        is_done: Whether each attempt succeeded in the end.
    """

    errors: frozenset[str]
    is_done: bool


def carry_out(table: Table, waiting: Sequence[Attempt]) -> AttemptResult:
    """Run the attempts, and repeat refused ones as long as others succeed, which may unblock them."""
    errors: set[str] = set()
    while waiting:
        refused = [attempt for attempt in waiting if not _is_carried_out(table, attempt, errors)]
        if len(refused) == len(waiting):
            return AttemptResult(frozenset(errors), is_done=False)
        waiting = refused
    return AttemptResult(frozenset(errors), is_done=True)


def _is_carried_out(table: Table, attempt: Attempt, errors: set[str]) -> bool:
    for way in attempt:
        for statement in way:
            if refused := table.run(statement):
                errors.add(refused)
                break
        else:
            return True
    return False


_VALUES: Final[Mapping[str, str]] = {"variant": "parse_json('1')", "void": "NULL"}


def _value(type_: DataType) -> str:
    """Return an SQL expression of that type, not NULL if the type has other values."""
    match type_:
        case Struct(fields=fields):
            inside = ", ".join(f"{quote_literal(field.name)}, {_value(field.type)}" for field in fields)
            return f"named_struct({inside})"
        case Array(element=element):
            return f"array({_value(element)})"
        case Map(key=key, value=value):
            return f"map({_value(key)}, {_value(value)})"
    text = print_type(type_)
    if text in _VALUES:
        return _VALUES[text]
    return f"CAST('{'2026-01-01' if text.startswith(('date', 'timestamp')) else '1'}' AS {text})"


def _leaves(value: object) -> int:
    match value:
        case dict():
            return sum(map(_leaves, value.values()))
        case list():
            return sum(map(_leaves, value))
        case _:
            return 1


def _error_class(message: str) -> str:
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else message.partition("\n")[0]
