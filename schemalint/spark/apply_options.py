"""How a plan is run, and who is asked and told."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from schemalint.base.values import frozen
from schemalint.deploy.approvals import without_unapproved
from schemalint.deploy.deploy_input import Deployment, DeployOptions
from schemalint.model.table_plan import Step, TablePlan
from schemalint.spark.fills.fill import FillLimits
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, Tell


@frozen
class ApplyOptions(DeployOptions):
    """What is planned, and how the plan is run.

    Attributes:
        all_or_nothing: Change no table if one is refused or cannot be planned.
        fail_fast: Begin no further table after one failed.
        max_tables: Change nothing if the plan changes more tables.
        jobs: How many tables to change at the same time. With more than one, each table gets its own session,
            with the settings of the given one.
        trusted_refs: In CI, branches of ``origin``, or full references, whose commits count like those of the
            default branch.
        log: The file of the deploy log, written as JSON lines while tables change.
        max_bytes: Fill at most the rows of so many bytes of data files, for each column.
        attempts: How often a rewrite is run that meets a commit of another writer.
        samples: Show values that keep a column from being dropped to the operator; they are in no report and
            no log.
        samples_to: A file for these values in place of the operator.
    """

    all_or_nothing: bool = False
    fail_fast: bool = False
    max_tables: int | None = None
    jobs: int | None = None
    trusted_refs: tuple[str, ...] = ()
    log: str | Path | None = None
    max_bytes: int | None = None
    attempts: int = 1
    samples: bool = False
    samples_to: str | Path | None = None

    @property
    def log_file(self) -> Path | None:
        """The file of the deploy log."""
        return None if self.log is None else Path(self.log)

    @property
    def fills(self) -> FillLimits:
        """How far to fill columns."""
        return FillLimits(self.max_bytes, self.samples or self.samples_to is not None)


class Operator(Protocol):
    """Who runs a plan: is asked before it begins, and told what happens."""

    def confirm(self, deployment: Deployment) -> Deployment | None:
        """Return the deployment with the steps that are approved; None to change nothing."""

    def planned_again(self, deployment: Deployment) -> None:
        """Hear that the engine of the session gets another plan; `confirm` is asked about it next."""

    def progress(self) -> AbstractContextManager[Tell]:
        """Provide what is called whenever the work on a table begins or ends."""

    def step_begins(self, plan: TablePlan, step: Step) -> None:
        """Hear of a statement before it runs; called in several threads."""

    def note(self, text: str) -> None:
        """Hear what is worth telling, and stops nothing; called in several threads."""

    def sample(self, text: str) -> None:
        """See values of a table, which must not reach a report or a log; called in several threads."""


class Unattended:
    """Nobody is asked or told: what is approved runs."""

    def confirm(self, deployment: Deployment) -> Deployment:
        """Return the deployment without the steps that lack an approval."""
        return without_unapproved(deployment)

    def planned_again(self, deployment: Deployment) -> None:
        """Tell nobody."""

    def progress(self) -> AbstractContextManager[Tell]:
        """Tell nobody."""
        return nullcontext(SIDE_BY_SIDE.tell)

    def step_begins(self, plan: TablePlan, step: Step) -> None:
        """Tell nobody."""

    def note(self, text: str) -> None:
        """Tell nobody."""

    def sample(self, text: str) -> None:
        """Show nobody values of a table."""
