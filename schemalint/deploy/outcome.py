"""The results of a run, by table."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from schemalint.base.errors import SchemalintError, UnfilledError, WaitingError
from schemalint.base.values import frozen
from schemalint.delta.path import format_path
from schemalint.model.plan import Step, TablePlan
from schemalint.model.stream_report import StreamReport


class Outcome(Enum):
    """The result of a run for one table."""

    NOTHING = "nothing to do"
    APPLIED = "applied"
    RECORDED = "up to date"
    REFUSED = "refused"
    LEFT_ALONE = "left alone"
    UNPLANNED = "could not be planned"
    WAITING = "waits for the retention period"
    FILLING = "has rows to fill"
    FAILED = "failed"


def outcome_of(error: SchemalintError) -> Outcome:
    """Return the result of a table whose run ended with an error."""
    if isinstance(error, UnfilledError):
        return Outcome.FILLING
    return Outcome.WAITING if isinstance(error, WaitingError) else Outcome.FAILED


def unfilled_error(plan: TablePlan, left: Iterable[str] = ()) -> UnfilledError | None:
    """Return the error of a table that is as declared, but for columns with rows to fill; None without any.

    Args:
        plan: The plan, maybe without its fills.
        left: The columns with rows that its fills have left.
    """
    waiting = ", ".join(format_path(fill.column) for step in plan.unfilled for fill in step.fills)
    if waiting:
        return UnfilledError(f"{plan.table}: {waiting}: approval required to fill", help="--allow data")
    names = ", ".join(left)
    return (
        UnfilledError(f"{plan.table}: {names}: rows are left to fill", help="apply again") if names else None
    )


@frozen
class DoneStep:
    """A step that was executed.

    Attributes:
        step: The step.
        version: The version of the table, read after the statement.
        seconds: The duration of the statement and of the reading.
        note: What became of the rows, if the step fills a column.
    """

    step: Step
    version: int
    seconds: float = 0.0
    note: str = ""


@frozen
class Applied:
    """A table after `apply`.

    Attributes:
        table: The name of the table.
        uri: The location of the table.
        outcome: The result.
        version: The last known version of the table.
        done: The steps that this run executed, without those that another run had done already.
        error: The error that stopped the run for this table.
        before: The version when the plan was made; None if the table did not exist.
        streams: What the declared streams meet in the table after a run that changed it.
        unmarked: Why the table, which is as declared, has no marker; None if it has one.
        stale: Why the catalog may still show the table as it was before; None if it does not.
        reason: Why the table was left alone; empty if it was not.
    """

    table: str
    uri: str
    outcome: Outcome
    version: int | None = None
    done: tuple[DoneStep, ...] = ()
    error: SchemalintError | None = None
    before: int | None = None
    streams: tuple[StreamReport, ...] = ()
    unmarked: SchemalintError | None = None
    stale: SchemalintError | None = None
    reason: str = ""
