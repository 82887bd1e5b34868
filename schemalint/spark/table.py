"""One table's plan, carried out: each statement between two looks at the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from schemalint.delta.table import LiveTable, TableState
from schemalint.deploy.outcome import DoneStep
from schemalint.errors import ApplyError
from schemalint.model.contract import Contract
from schemalint.model.marker import MARKER, PENDING, Marker, read_pending
from schemalint.model.plan import Step, StepKind, TablePlan
from schemalint.planner import (
    concurrent_changes,
    deviations,
    known_features,
    pending,
    simulate,
    steps_behind,
    with_column_ids_of,
    wrongly_noted,
)
from schemalint.planner.simulate import describe_change
from schemalint.planner.sql import set_properties, unset_properties
from schemalint.spark.session import SqlSession, StatementError, run

ATTEMPTS: Final = 6
_FIRST_PAUSE_SECONDS: Final = 0.1

_BY_ID: Final = (StepKind.NOTE_PENDING, StepKind.RENAME_COLUMN, StepKind.DROP_COLUMNS)

OnStep = Callable[[TablePlan, Step], None]


@dataclass
class TableRun:
    """A plan that is being carried out.

    Attributes:
        plan: With steps or a record to make, and without refusals.
        table: As SQL names it.
        read: The table as it is now, None if there is none.
        tell: Called before each statement.
        done: The steps that this run has carried out.
    """

    session: SqlSession
    plan: TablePlan
    table: str
    read: Callable[[], LiveTable | None]
    tell: OnStep
    done: list[DoneStep] = field(default_factory=list)

    def carry_out(self) -> None:
        """All steps, each where the table is as it requires.

        A step that another run was ahead with is not made twice.

        Raises:
            ApplyError: The table moved, a statement was refused, or did not do what it should.
        """
        expected = self.plan.live if self.plan.live is not None else TableState()
        table_id, left, attempt = self.plan.table_id, list(self.plan.steps), 1
        while left:
            found = self._unmoved(table_id, expected, left)
            table_id = found.metadata.table_id if found else table_id
            behind = self._behind(expected, found, left)
            if behind:
                expected = simulate(expected, left[:behind])
                left = left[behind:]
            if found is not None:
                expected = with_column_ids_of(expected, found.state)
            if not left:
                return
            try:
                expected = self._make(left[0], expected, found, left)
            except StatementError as error:
                if not self._had_effect(expected, left):
                    if not error.is_conflict or attempt == ATTEMPTS:
                        raise
                    _pause(attempt)
                    attempt += 1
                continue
            left, attempt = left[1:], 1

    def record(self, contract: Contract, revision: str | None) -> int:
        """The marker, once the table is as declared; only then what was noted on the way goes.

        Returns:
            The table's version.

        Raises:
            ApplyError: The table is not as declared.
        """
        for attempt in range(1, ATTEMPTS + 1):
            table = self._verified(contract)
            statement = next(self._unrecorded(table, revision), None)
            if statement is None:
                return table.version
            try:
                run(self.session, statement)
            except StatementError as error:
                left = next(self._unrecorded(self._verified(contract), revision), None)
                if left == statement and not error.is_conflict:
                    raise
                _pause(attempt)
        raise ApplyError(f"{self.plan.table} is as declared, and other writers keep that from being recorded")

    def _unmoved(self, table_id: str | None, expected: TableState, left: list[Step]) -> LiveTable | None:
        found = self.read()
        exists = left[0].kind is not StepKind.CREATE
        if found is None:
            if exists:
                raise ApplyError(f"{self.plan.table} is gone since it was planned", help="plan again")
            return None
        if table_id not in (None, found.metadata.table_id):
            raise ApplyError(f"{self.plan.table} was made anew since it was planned", help="plan again")
        if self._behind(expected, found, left) is None:
            different = deviations(expected, known_features(expected, found.state), left[0])
            what = "; ".join(different) if exists else "it appeared, and is not as declared"
            raise ApplyError(f"{self.plan.table} moved since it was planned: {what}", help="plan again")
        return found

    @staticmethod
    def _behind(expected: TableState, found: LiveTable | None, left: list[Step]) -> int | None:
        return steps_behind(expected, found.state, left) if found is not None else 0

    def _make(
        self, step: Step, expected: TableState, found: LiveTable | None, left: list[Step]
    ) -> TableState:
        """Carry out one step; the state that it led to."""
        goal = simulate(expected, [step])
        self._require_noted(step, expected, goal, left)
        self.tell(self.plan, step)
        started = time.monotonic()
        run(self.session, step.sql)
        table = self._existing()
        self.done.append(DoneStep(step, table.version, time.monotonic() - started))
        self._require_alone(expected, found, table, left)
        missing = deviations(goal, known_features(goal, table.state), step)
        if missing and expected != goal and not steps_behind(goal, table.state, left[1:]):
            raise ApplyError(
                f"{self.plan.table} is not as it should be after a step: {'; '.join(missing)}",
                help=f"the statement was: {step.sql}",
            )
        return with_column_ids_of(goal, table.state)

    def _require_noted(self, step: Step, expected: TableState, goal: TableState, left: list[Step]) -> None:
        """What is noted for each column's id must be what the steps make of it.

        Where column mapping was switched on in this plan, the ids were foreseen when it was made.
        """
        noted = read_pending(goal if step.kind is StepKind.NOTE_PENDING else expected)
        if noted is None or step.kind not in _BY_ID:
            return
        wrong = wrongly_noted(noted, expected, left)
        if wrong:
            raise ApplyError(
                f"{self.plan.table}: Delta knows columns by other ids than was foreseen: {', '.join(wrong)}",
                help="plan again",
            )

    def _require_alone(
        self, expected: TableState, found: LiveTable | None, after: LiveTable, left: list[Step]
    ) -> None:
        """The commits since the look before the statement are its own, or of something else."""
        if found is None:
            return
        between = (
            entry.metadata.state
            for entry in after.history.entries
            if entry.version > found.version and entry.metadata is not None
        )
        altered = concurrent_changes(expected, found.state, between, left)
        if altered:
            raise ApplyError(
                f"{self.plan.table} was altered by somebody else during a step: {'; '.join(altered)}",
                help=f"look at its history, and plan again; the statement was: {left[0].sql}",
            )

    def _had_effect(self, expected: TableState, left: list[Step]) -> bool:
        """Whether the table has the next step behind it, though the statement failed."""
        found = self.read()
        return found is not None and bool(self._behind(expected, found, left))

    def _unrecorded(self, table: LiveTable, revision: str | None) -> Iterator[str]:
        noted = read_pending(table.state)
        if noted is not None and noted.targets and noted.hash != self.plan.hash:
            raise ApplyError(
                f"{self.plan.table} notes that another declaration is on its way", help="run it to its end"
            )
        marker = Marker(self.plan.hash, revision, table.metadata.table_id).to_text()
        if table.state.properties.get(MARKER) != marker:
            yield set_properties(self.table, {MARKER: marker})
        if PENDING in table.state.properties:
            yield unset_properties(self.table, [PENDING])

    def _verified(self, contract: Contract) -> LiveTable:
        """The table, read back; it must be as declared."""
        table = self._existing()
        left = pending(contract, table.state)
        if left:
            raise ApplyError(
                f"{self.plan.table} differs from its declaration after all steps: "
                f"{'; '.join(map(describe_change, left))}"
            )
        return table

    def _existing(self) -> LiveTable:
        table = self.read()
        if table is None:
            raise ApplyError(f"{self.plan.table} is gone")
        return table


def _pause(attempt: int) -> None:
    time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
