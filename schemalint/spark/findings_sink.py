"""The Delta table of ``audit --into``."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import schemalint
from schemalint.base.errors import ApplyError, UsageError
from schemalint.base.printable import json_text
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.model.finding import CheckResult, Finding, Severity
from schemalint.model.inventory import TableSummary
from schemalint.planner.statements import named_table, path_table
from schemalint.spark.executor_audit import Session
from schemalint.spark.session_settings import prepared, required_settings
from schemalint.spark.statements import StatementError, ask, run
from schemalint.tables.catalog.table_location import absolute_location
from schemalint.tables.catalog.table_requests import TableRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_PATH: Final = re.compile(r"[/\\]|^\.")
_CLEAN: Final = "none"
"""The severity of a row that stands for a table without findings."""

FAILURE: Final = "failure"
"""The severity of a row that stands for an error of the audit."""


@frozen
class FindingsSink:
    """The table that receives the findings of a run."""

    session: Session
    table: str
    run: AuditRun

    def append(self, result: CheckResult) -> int:
        """Append the findings, unless the table has those of the run already.

        Delta records the run in the commit that appends its rows (``txnAppId`` and ``txnVersion``;
        PROTOCOL.md, "Transaction Identifiers"), and ignores a repeated one. So the table contains a run that
        was killed, or that CI repeats, once or not at all.

        Returns:
            The number of rows that the run has in the table now.

        Raises:
            ApplyError: The rows could not be written.
        """
        rows = rows_of(result, self.run)
        schema = ", ".join(f"{always_quoted(column.name)} {column.type}" for column in COLUMNS)
        from pyspark.sql.functions import col  # noqa: PLC0415

        with required_settings(self.session), prepared(self.session, _provenance(self.run)):
            try:
                frame = self.session.createDataFrame(rows, schema).coalesce(1)
                writer = frame.writeTo(self.table).option("txnAppId", f"schemalint-audit-{self.run.id}")
                writer.option("txnVersion", "1").append()
                number: int = self.session.table(self.table).where(col("run_id") == self.run.id).count()
            except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
                raise StatementError(error, f"append to {self.table}") from None
        return number


def open_sink(session: Session, table: str, run_id: str | None) -> FindingsSink:
    """Open the sink; create its table if it is missing.

    Args:
        session: Classic or Connect.
        table: The result of `sql_name`.
        run_id: The id of the run; None means a new one.

    Raises:
        ApplyError: The table cannot be created, or has another schema.
    """
    _make_ready(session, table)
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


class Column(NamedTuple):
    """A column of the table of findings."""

    name: str
    type: str
    comment: str


COLUMNS: Final = (
    Column("run_id", "string", "The id of the run"),
    Column("run_at", "timestamp", "The time at which the run started"),
    Column("tool_version", "string", "The version of schemalint"),
    Column("target", "string", "The target; null without one"),
    Column("table", "string", "The table as the report names it; null for a failure"),
    Column("uri", "string", "The location of the table"),
    Column("table_version", "bigint", "The version of the table that was checked"),
    Column("code", "string", "The code of the rule; null for a failure and for a table without findings"),
    Column("rule", "string", "The name of the rule"),
    Column(
        "severity", "string", "error, warning, info; failure: not checked; none: a table without findings"
    ),
    Column("object_kind", "string", "The kind of the affected object: table, column, property, feature"),
    Column("object_name", "string", "The name of the affected object"),
    Column("fingerprint", "string", "Identifies the same finding in every run"),
    Column("message", "string", "The message of the finding or the failure"),
    Column("delta_error", "string", "The error class of Delta"),
    Column("existing", "boolean", "Whether the finding is not new"),
)
"""The schema of the table; users may add columns, but not remove these or change their types."""


@frozen
class AuditRun:
    """A run of `audit`; appending a second time with the same id changes nothing."""

    id: str
    at: dt.datetime


def _make_ready(session: SparkSession, table: str) -> None:
    """Create the table if it is missing, and check its schema.

    Raises:
        ApplyError: The table cannot be created, or has another schema; nothing was written.
    """
    columns = ", ".join(
        f"{always_quoted(column.name)} {column.type} COMMENT {quote_literal(column.comment)}"
        for column in COLUMNS
    )
    comment = quote_literal("Findings of schemalint audit")
    with required_settings(session), prepared(session, _provenance()):
        # The statement ignores an existing table, whatever its schema (measured on Delta 4.4.0).
        run(session, f"CREATE TABLE IF NOT EXISTS {table} ({columns}) USING delta COMMENT {comment}")
        (detail,) = ask(session, f"DESCRIBE DETAIL {table}")
        if detail["format"] != "delta":
            raise ApplyError(
                f"{table} is a {detail['format']} table, not a Delta table", help="name another table"
            )
        types = {row["col_name"].lower(): row["data_type"] for row in ask(session, f"DESCRIBE TABLE {table}")}
    differences: list[str] = []
    for column in COLUMNS:
        if column.name not in types:
            differences.append(f"{column.name} is missing")
        elif types[column.name] != column.type:
            differences.append(f"{column.name} is {types[column.name]}, not {column.type}")
    if differences:
        raise ApplyError(
            f"{table} does not have the schema of the findings: {'; '.join(differences)}",
            help="name a table that does not exist yet: schemalint creates it",
        )


def rows_of(result: CheckResult, audit: AuditRun) -> list[tuple[object, ...]]:
    """Return the rows of a run, without credentials."""
    run = (audit.id, audit.at, schemalint.__version__, result.run.target)
    return [tuple(map(_without_secrets, (*run, *row))) for row in _rows(result)]


def _rows(result: CheckResult) -> Iterator[tuple[object, ...]]:
    """Yield the values of the columns from ``table`` on."""
    tables = {summary.table: summary for summary in result.inventory.tables} if result.inventory else {}
    for finding in result.findings:
        yield (*_table(finding.table, tables.get(finding.table)), *_finding(finding))
    with_findings = {finding.table for finding in result.findings}
    for name, summary in tables.items():
        if name not in with_findings:
            yield (*_table(name, summary), None, None, _CLEAN, None, None, None, None, None, False)
    for error in result.errors:
        yield (None, None, None, None, None, FAILURE, None, None, None, str(error), None, False)


def _without_secrets(value: object) -> object:
    if isinstance(value, str):
        return without_secrets(value)
    return value


def _table(name: str, summary: TableSummary | None) -> tuple[object, ...]:
    return name, summary.uri if summary else None, summary.version if summary else None


def _finding(finding: Finding) -> tuple[object, ...]:
    return (
        finding.code,
        finding.rule,
        Severity(finding.severity).label,
        finding.object.kind,
        finding.object.name,
        finding.fingerprint,
        finding.message,
        finding.delta_error,
        finding.existing,
    )


def _provenance(audit: AuditRun | None = None) -> str:
    """Return the user metadata of the commits."""
    run = {"run": audit.id} if audit else {}
    return json_text({"tool": "schemalint", "version": schemalint.__version__, **run}).rstrip()
