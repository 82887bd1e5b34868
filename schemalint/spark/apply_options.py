"""How a plan is run."""

from __future__ import annotations

from collections.abc import Callable

from schemalint.base.values import field, frozen
from schemalint.deploy.results import DeployLog
from schemalint.spark.fill import FillLimits
from schemalint.spark.table_run import OnStep
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, Tell


@frozen
class ApplyOptions:
    """How to run a plan.

    Attributes:
        tell: Called before each statement, from several threads.
        jobs: How many tables to change at the same time, each in its own session; 1 uses the given session.
        all_or_nothing: Whether to change no table if one is refused or has no plan.
        fail_fast: Whether to begin no further table after one failed.
        note: Called with what is worth telling, and stops nothing.
        progress: Called whenever the work on a table begins or ends.
        log: Gets a line for each statement and each table as it ends.
        fills: How far to fill columns.
    """

    tell: OnStep = field(default=lambda _plan, _step: None)
    jobs: int = 1
    all_or_nothing: bool = False
    fail_fast: bool = False
    note: Callable[[str], None] = field(default=lambda _text: None)
    progress: Tell = field(default=SIDE_BY_SIDE.tell)
    log: DeployLog = field(default=DeployLog(None))
    fills: FillLimits = FillLimits()
