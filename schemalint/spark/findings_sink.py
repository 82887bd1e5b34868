"""The Delta table of ``audit --into``."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemalint.base.errors import UsageError
from schemalint.base.values import frozen
from schemalint.planner.sql import named_table, path_table
from schemalint.spark.findings import AuditRun, append, make_ready
from schemalint.tables.catalog.table_location import absolute_location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.model.finding import CheckResult
    from schemalint.spark.executor_audit import Session
    from schemalint.tables.catalog.table_requests import TableRequest

_PATH: Final = re.compile(r"[/\\]|^\.")


@frozen
class FindingsSink:
    """The table that receives the findings of a run.

    Attributes:
        table: The table as SQL names it.
    """

    session: Session
    table: str
    run: AuditRun

    def append(self, result: CheckResult) -> int:
        """Append the findings, and return the number of rows.

        Raises:
            ApplyError: The rows could not be written.
        """
        return append(self.session, self.table, result, self.run)


def open_sink(session: Session, table: str, run_id: str | None) -> FindingsSink:
    """Open the sink; create its table if it is missing.

    Args:
        session: Classic or Connect.
        table: The result of `sql_name`.
        run_id: The id of the run; None means a new one.

    Raises:
        ApplyError: The table cannot be created, or has another schema.
    """
    make_ready(session, table)
    return FindingsSink(session, table, AuditRun(run_id or str(uuid.uuid4()), dt.datetime.now(tz=dt.UTC)))


def require_one_version(requests: Sequence[TableRequest]) -> None:
    """Require that a run contains each table once.

    Raises:
        UsageError: A run requests two versions of a table.
    """
    counts = Counter(request.table or request.uri for request in requests)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise UsageError(f"{repeated[0]} is named twice: --into keeps one version of a table")


def sql_name(table: str) -> str:
    """Return the table of ``--into``, a path or a name, as SQL names it.

    Raises:
        UsageError: The name is invalid.
    """
    if _PATH.search(table):
        return path_table(absolute_location(table, Path.cwd()))
    try:
        return named_table(table)
    except ValueError as error:
        raise UsageError(
            f"--into {table}: {error}", help="give a name such as main.ops.findings, or a path"
        ) from None
