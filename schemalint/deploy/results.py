"""The results of a run by table, and the deploy log: JSON lines, as in ``log_lines.schema.json``.

A line is written as soon as what it says has happened: `started` with the plan, `step` after each statement,
`table` once a table is done, whatever became of it, and `summary` at the end. So a log without a summary is
that of a run that goes on, or that was killed; a table without a line may be in any state of its plan.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self

from schemalint import __version__
from schemalint.base.errors import SchemalintError, UnfilledError, UnrewrittenError, WaitingError
from schemalint.base.files import LineFile
from schemalint.base.printable import json_text
from schemalint.base.values import frozen
from schemalint.delta.path import format_path
from schemalint.deploy.approvals import allowing
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.stream_report import StreamReport, stream_json
from schemalint.model.table_plan import Approval, Step, TablePlan

VERSION: Final = 1
"""The version of the format; it changes with the meaning of a key."""


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
    REWRITING = "waits for its rewrite"
    FAILED = "failed"


def outcome_of(error: SchemalintError) -> Outcome:
    """Return the result of a table whose run ended with an error."""
    if isinstance(error, UnrewrittenError):
        return Outcome.REWRITING
    if isinstance(error, UnfilledError):
        return Outcome.FILLING
    if isinstance(error, WaitingError):
        return Outcome.WAITING
    return Outcome.FAILED


def unfilled_error(plan: TablePlan, left: Iterable[str] = ()) -> WaitingError | None:
    """Return the error of a table that is as declared, but for a rewrite, or for columns with rows to fill.

    None if it has neither.

    Args:
        plan: The plan, maybe without its fills and its rewrite.
        left: The columns with rows that its fills have left.
    """
    needed = frozenset[Approval]().union(*(step.needs for step in plan.unfilled))
    if any(step.rewrite is not None for step in plan.unfilled):
        return UnrewrittenError(f"{plan.table}: approval required to rewrite it", help=allowing(needed))
    waiting = ", ".join(format_path(fill.column) for step in plan.unfilled for fill in step.fills)
    if waiting:
        return UnfilledError(f"{plan.table}: {waiting}: approval required to fill", help=allowing(needed))
    names = ", ".join(left)
    if names:
        return UnfilledError(f"{plan.table}: {names}: rows are left to fill", help="apply again")
    return None


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
class AppliedTable:
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


class DeployLog:
    """The log of one run: a context that says what ended the run, if an error did.

    Args:
        file: Where the lines go; None writes none.

    Raises:
        UsageError: The file cannot be opened.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = LineFile(file) if file is not None else None
        self._deployment: Deployment | None = None
        self._plans: dict[str, TablePlan] = {}
        self._outcomes: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def problem(self) -> SchemalintError | None:
        """Why lines are missing; None if none are."""
        if self._file is not None:
            return self._file.problem
        return None

    def started(self, deployment: Deployment) -> None:
        """Say what is going to be applied."""
        self._deployment = deployment
        self._plans = {plan.table: plan for plan in deployment.plan.tables}
        self._write(
            "started",
            {
                "version": VERSION,
                "tool": {"name": "schemalint", "version": __version__},
                "target": deployment.plan.target,
                "revision": deployment.revision,
                "plan": deployment.plan_hash,
                "tables": len(deployment.plan.tables) + len(deployment.unplanned),
                "skipped": [
                    {"table": skipped.table, "reason": skipped.reason} for skipped in deployment.skipped
                ],
            },
        )

    def step(self, plan: TablePlan, done: DoneStep) -> None:
        """Say that a statement was executed."""
        self._write("step", {"table": plan.table, **_step_json(done)})

    def table(self, result: AppliedTable) -> AppliedTable:
        """Say what became of a table, and return that."""
        with self._lock:
            self._outcomes[result.outcome.name.lower()] += 1
        deployment = self._deployment
        self._write(
            "table",
            {
                "target": deployment.plan.target if deployment is not None else None,
                "revision": deployment.revision if deployment is not None else None,
                **table_json(result, self._plans.get(result.table)),
                "streams": [stream_json(report) for report in result.streams],
            },
        )
        return result

    def ended(self, exit_status: int, error: SchemalintError | None = None) -> None:
        """Say that the run is over.

        Args:
            exit_status: The exit status of the command.
            error: What ended the whole run; None if it went through its tables.
        """
        self._write(
            "summary",
            {"exit_status": exit_status, "outcomes": dict(self._outcomes), "error": _error_json(error)},
        )

    def __enter__(self) -> Self:
        """Return the log."""
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: TracebackType | None) -> None:
        """Say what ended the run, and close the file; after a bug there is no summary."""
        if isinstance(error, SchemalintError):
            self.ended(error.exit_status, error)
        if self._file is not None:
            self._file.close()

    def _write(self, kind: str, content: dict[str, object]) -> None:
        if self._file is not None:
            now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self._file.write(json_text({"type": kind, "time": now, **content}))


def table_json(result: AppliedTable, plan: TablePlan | None) -> dict[str, object]:
    """Return what each JSON output of `apply` says of a table."""
    return {
        "table": result.table,
        "uri": result.uri,
        "declaration": plan.declaration_hash if plan is not None else None,
        "plan": plan.hash if plan is not None and (plan.steps or plan.filed_hash) else None,
        "outcome": result.outcome.name.lower(),
        "version_before": result.before,
        "version_after": result.version,
        "steps": list(map(_step_json, result.done)),
        "refusals": [
            {"code": refusal.code, "reason": refusal.reason, "help": refusal.help}
            for refusal in (plan.refusals if plan is not None else ())
        ],
        "reason": result.reason or None,
        "error": _error_json(result.error),
        "warnings": warnings(result),
    }


def _step_json(done: DoneStep) -> dict[str, object]:
    """Return what each JSON output of `apply` says of an executed statement."""
    return {
        "kind": done.step.kind.name.lower(),
        "sql": done.step.sql,
        "version": done.version,
        "seconds": round(done.seconds, 3),
        "note": done.note or None,
    }


def warnings(result: AppliedTable) -> list[str]:
    """Say what a table that is as declared lacks: its marker, or a current entry in the catalog."""
    return [
        f"{result.table} is as declared, but {what}: {error.message}"
        for what, error in (
            ("its marker was not written", result.unmarked),
            ("the catalog may still show it as it was", result.stale),
        )
        if error is not None
    ]


def log_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one line; it shares definitions with that of the results."""
    return _read_schema("log_lines") | {"$defs": _read_schema("results")["$defs"]}


def _read_schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.schema.json").read_text("utf-8"))
    return loaded


def _error_json(error: SchemalintError | None) -> dict[str, str] | None:
    if error is not None:
        return {"message": error.message, "help": error.help}
    return None
