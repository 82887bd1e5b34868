"""Run the plan of one table; read its log before and after each statement."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from schemalint.base.errors import ApplyError, InternalError, WaitingError
from schemalint.base.values import frozen
from schemalint.delta.change import subject_name
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable, TableState
from schemalint.deploy.results import DoneStep
from schemalint.model.effective import Effective
from schemalint.model.marker import PENDING, Marker, next_version, read_marker, read_pending
from schemalint.model.table_plan import Step, StepKind, TablePlan
from schemalint.planner import (
    columns_missing_noted_names,
    completed_steps,
    concurrent_changes,
    deviations,
    pending_changes,
    simulate,
    with_column_ids_of,
    without_unplanned_features,
)
from schemalint.planner.simulate import describe_change
from schemalint.planner.statements import append_nothing, takes_values, unset_properties
from schemalint.spark.fills.fill import TableFills
from schemalint.spark.fills.guard import guarded_drop, prove_drops, prove_past_drops, require_no_rows_left
from schemalint.spark.rewrites.rewrite import prove_past_rewrites, rewrite_table
from schemalint.spark.session_settings import transaction
from schemalint.spark.snapshot_partitions import uncompiled
from schemalint.spark.statements import ATTEMPTS, SqlSession, StatementError, pause, run
from schemalint.spark.transaction_identifier import commit_identifier

_USES_PENDING: Final = (StepKind.NOTE_PENDING, StepKind.RENAME_COLUMN, StepKind.DROP_COLUMNS)

OnStep = Callable[[TablePlan, Step], None]
OnStepDone = Callable[[TablePlan, DoneStep], None]


@frozen
class RecordedTable:
    """A table that is as declared.

    Attributes:
        version: The table's version.
        problem: Why the table has no marker; None if it has it.
    """

    version: int
    problem: ApplyError | None = None


@dataclass
class TableRun:
    """A run of one table's plan.

    Attributes:
        plan: A plan with steps or a marker to write, and without refusals.
        table: The table as SQL names it.
        read: Reads the live table; returns None if there is no table.
        tell: Called before each statement.
        done: The steps that this run has completed.
        tell_done: Called after each statement.
        fills: Fills columns.
        rewrite_attempts: How often a rewrite is run that meets commits of other writers.
        unfilled: The columns that have rows to fill after the last step.
        proved: The steps that dropped columns, and of which this run has proved that no value was lost.
        table_id: The id that the table had when this run last read it; None before.
    """

    session: SqlSession
    plan: TablePlan
    table: str
    read: Callable[[], LiveTable | None]
    tell: OnStep
    done: list[DoneStep] = field(default_factory=list)
    tell_done: OnStepDone = lambda _plan, _done: None
    fills: TableFills | None = None
    rewrite_attempts: int = 1
    unfilled: list[str] = field(default_factory=list)
    proved: list[Step] = field(default_factory=list)
    table_id: str | None = None

    def run_steps(self) -> None:
        """Run all steps; before each, check that the table is in the state that the step requires.

        Steps that another run has already completed are skipped.

        Raises:
            ApplyError: The table changed since it was planned, or a statement was refused or had another
                effect.
            WaitingError: Features stay until the retention period of the history is over; all other steps
                are done.
        """
        self._prove_past_runs()
        expected = self.plan.live or TableState()
        waiting: list[Step] = []
        remaining, attempt = list(self.plan.steps), 1
        while remaining:
            before = self._read_unchanged(expected, remaining)
            completed = self._completed_steps(expected, before, remaining)
            if completed:
                expected = simulate(expected, remaining[:completed])
                remaining = remaining[completed:]
            if before is not None:
                expected = with_column_ids_of(expected, before.state)
            if not remaining:
                break
            try:
                expected = self._run_step(remaining[0], expected, before, remaining)
            except StatementError as error:
                if error.is_waiting:
                    waiting.append(remaining.pop(0))
                    continue
                if not self._had_effect(expected, remaining):
                    if before is None and error.is_taken and self.plan.name is None:
                        raise _empty_log(self.plan) from error
                    if not error.is_conflict or attempt >= self._attempts(remaining[0]):
                        raise
                    pause(attempt)
                    attempt += 1
                continue
            remaining, attempt = remaining[1:], 1
        if waiting:
            names = ", ".join(subject_name(change) for step in waiting for change in step.changes)
            raise WaitingError(
                f"{self.plan.table}: {names} can be dropped only after the retention period of its history",
                help="apply again then; the other steps are done, and its traces are removed",
            )

    def record(self, contract: Effective, revision: str | None) -> RecordedTable:
        """Write the marker after the table is verified, and then remove the pending column ids.

        Without marker, only the ids tell columns with exchanged names from untouched ones. So they stay where
        the engine refuses the marker.

        Raises:
            ApplyError: The table differs from its declaration, or the ids cannot be removed.
        """
        self._prove(contract)
        marker = Marker(self.plan.declaration_hash, revision)
        table, problem = self._write(contract, self._is_marked, partial(self._commit_marker, marker))
        if problem is not None:
            return RecordedTable(table.version, problem)
        if not _is_noted(table):
            return RecordedTable(table.version)
        table, problem = self._write(contract, lambda table: not _is_noted(table), self._remove_pending)
        if problem is not None:
            raise problem
        return RecordedTable(table.version)

    def _write(
        self, contract: Effective, is_done: Callable[[LiveTable], bool], write: Callable[[LiveTable], None]
    ) -> tuple[LiveTable, ApplyError | None]:
        """Write something into a table that is as declared; return the table, and why it lacks that."""
        table = self._verified(contract)
        for attempt in range(1, ATTEMPTS + 1):
            if is_done(table):
                return table, None
            try:
                write(table)
            except ApplyError as error:
                table = self._verified(contract)
                is_conflict = isinstance(error, StatementError) and error.is_conflict
                if not is_conflict and not is_done(table):
                    return table, error
                pause(attempt)
            else:
                table = self._verified(contract)
        return table, None if is_done(table) else ApplyError("other writers came first each time")

    def _read_unchanged(self, expected: TableState, remaining: list[Step]) -> LiveTable | None:
        """Read the table; refuse it unless it is in the expected state, or some steps further."""
        table = self.read()
        exists = remaining[0].kind is not StepKind.CREATE
        if table is None:
            if exists:
                raise ApplyError(f"{self.plan.table} was dropped since it was planned", help="plan again")
            return None
        self._require_same(table)
        if self._completed_steps(expected, table, remaining) is None:
            differences = deviations(
                expected, without_unplanned_features(expected, table.state), remaining[0]
            )
            detail = "; ".join(differences) if exists else "it was created, and differs from its declaration"
            raise ApplyError(f"{self.plan.table} changed since it was planned: {detail}", help="plan again")
        return table

    @staticmethod
    def _completed_steps(expected: TableState, table: LiveTable | None, remaining: list[Step]) -> int | None:
        """Return how many of the steps the table has completed; None if it is in no such state."""
        if table is None:
            return 0
        return completed_steps(expected, table.state, remaining)

    def _run_step(
        self, step: Step, expected: TableState, before: LiveTable | None, remaining: list[Step]
    ) -> TableState:
        """Run one step, and return the state that it led to."""
        goal = simulate(expected, [step])
        self._require_column_ids(step, expected, goal, remaining)
        self.tell(self.plan, step)
        started = time.monotonic()
        note = self._fill_or_run(step)
        after = self.read_existing()
        self.done.append(DoneStep(step, after.version, time.monotonic() - started, note))
        self.tell_done(self.plan, self.done[-1])
        self._require_no_concurrent_changes(expected, before, after, remaining)
        missing = deviations(goal, without_unplanned_features(goal, after.state), step)
        if missing and expected != goal and not completed_steps(goal, after.state, remaining[1:]):
            raise ApplyError(
                f"{self.plan.table} is not as it should be after a step: {'; '.join(missing)}",
                help=f"the statement was: {step.sql}",
            )
        return with_column_ids_of(goal, after.state)

    def _fill_or_run(self, step: Step) -> str:
        """Run a step, with the guard that it needs; return what became of rows."""
        if step.rewrite is not None:
            text = rewrite_table(self._fills(), step, step.rewrite, self.plan)
            self.proved.append(step)
            return text
        if not step.fills:
            run(self.session, step.sql)
            return ""
        fills = self._fills()
        if step.kind is StepKind.FILL:
            filled = [fills.fill(fill) for fill in step.fills]
            left = [done.fill for done in filled if done.after.fillable(done.fill)]
            self.unfilled += [format_path(fill.column) for fill in left]
            return "; ".join(done.text for done in filled)
        if step.kind is StepKind.ADD_CONSTRAINT:
            require_no_rows_left(fills, step, self.plan.table)
            run(self.session, step.sql)
            return ""
        text = guarded_drop(fills, step, self.plan.table, lambda: run(self.session, step.sql))
        self.proved.append(step)
        return text

    def _prove_past_runs(self) -> None:
        if self.plan.drops_to_prove:
            prove_past_drops(self._fills(), self.plan.drops_to_prove, self.plan.table)
        if self.plan.rewrites_to_prove:
            prove_past_rewrites(self._fills(), self.plan.rewrites_to_prove, self.plan.table)

    def _prove(self, contract: Effective) -> None:
        """Prove what this run has not: another run made it, or an answer was lost."""
        rewrites = [step for step in self.plan.steps if step.rewrite is not None]
        if any(step not in self.proved for step in rewrites):
            prove_past_rewrites(self._fills(), contract.rewrites, self.plan.table)
        drops = [step for step in self.plan.steps if step.kind is StepKind.DROP_COLUMNS and step.fills]
        left = [step for step in drops if step not in self.proved]
        if left:
            prove_drops(self._fills(), left, self.plan.table, self.plan.version or 0)

    def _attempts(self, step: Step) -> int:
        return ATTEMPTS if step.rewrite is None else self.rewrite_attempts

    def _fills(self) -> TableFills:
        if self.fills is None:
            raise InternalError("a run that fills columns needs what fills them")
        return self.fills

    def _require_column_ids(
        self, step: Step, expected: TableState, goal: TableState, remaining: list[Step]
    ) -> None:
        """Require that the column ids in `PENDING` are those that the steps rename or drop.

        If the plan itself enables column mapping, the planner had to predict the ids.
        """
        noted = read_pending(goal if step.kind is StepKind.NOTE_PENDING else expected)
        if noted is None or step.kind not in _USES_PENDING:
            return
        wrong = columns_missing_noted_names(noted, expected, remaining)
        if wrong:
            raise ApplyError(
                f"{self.plan.table}: Delta assigned other column ids than predicted: {', '.join(wrong)}",
                help="plan again",
            )

    def _require_no_concurrent_changes(
        self, expected: TableState, before: LiveTable | None, after: LiveTable, remaining: list[Step]
    ) -> None:
        """Require that no other writer changed the same things since `before` was read."""
        if before is None:
            return
        states = (
            entry.metadata.state
            for entry in after.history_since(before.version).entries
            if entry.version > before.version and entry.metadata is not None
        )
        changes = concurrent_changes(expected, before.state, states, remaining)
        if changes:
            raise ApplyError(
                f"{self.plan.table} was changed by another writer during a step: {'; '.join(changes)}",
                help=f"look at its history, and plan again; the statement was: {remaining[0].sql}",
            )

    def _had_effect(self, expected: TableState, remaining: list[Step]) -> bool:
        """Whether the table has completed the next step, although the statement failed."""
        table = self.read()
        return table is not None and bool(self._completed_steps(expected, table, remaining))

    def _is_marked(self, table: LiveTable) -> bool:
        marker = read_marker(table)
        return marker is not None and marker.hash == self.plan.declaration_hash

    def _commit_marker(self, marker: Marker, table: LiveTable) -> None:
        app_id, version = marker.app_id, next_version(table)
        with uncompiled(self.session):
            if self.plan.name is None and commit_identifier(
                self.session, self.plan.uri, app_id, version, read=table.version
            ):
                return
            columns = [field.name for field in table.state.columns.fields if takes_values(field)]
            if not columns:
                raise ApplyError("no column of it takes values")
            with transaction(self.session, app_id, version):
                run(self.session, append_nothing(self.table, columns))

    def _remove_pending(self, _table: LiveTable) -> None:
        run(self.session, unset_properties(self.table, [PENDING]))

    def _verified(self, contract: Effective) -> LiveTable:
        """Read the table; refuse it if it differs from its declaration, or has other pending columns."""
        table = self.read_existing()
        noted = read_pending(table.state)
        if noted is not None and noted.targets and noted.hash != self.plan.declaration_hash:
            raise ApplyError(
                f"{self.plan.table} has pending column changes of another declaration",
                help="finish applying that declaration first",
            )
        changes = pending_changes(contract, table.state)
        if changes:
            raise ApplyError(
                f"{self.plan.table} differs from its declaration after all steps: "
                f"{'; '.join(map(describe_change, changes))}"
            )
        return table

    def read_existing(self) -> LiveTable:
        """Read the table; refuse it if it is gone, or another one."""
        table = self.read()
        if table is None:
            raise ApplyError(f"{self.plan.table} was dropped during the run")
        self._require_same(table)
        return table

    def _require_same(self, table: LiveTable) -> None:
        """Require that the table is the one that was planned; one that is created is known from then on."""
        table_id = table.metadata.table_id
        if (self.table_id or self.plan.table_id or table_id) != table_id:
            raise ApplyError(
                f"{self.plan.table} was recreated since it was planned",
                help="look at its history, and plan again",
            )
        self.table_id = table_id


def _empty_log(plan: TablePlan) -> ApplyError:
    """Return the error for a log that has no commits, but is enough for Delta to refuse a CREATE."""
    log = f"{plan.uri.rstrip('/')}/_delta_log"
    return ApplyError(
        f"{plan.table} cannot be created: {log} has no commits, and the engine takes it for a table",
        help="a run that is killed within CREATE TABLE leaves such a folder: if none creates the table now, "
        "remove the folder, and apply again",
    )


def _is_noted(table: LiveTable) -> bool:
    return PENDING in table.state.properties
