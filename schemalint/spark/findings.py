"""The findings of an audit in a Delta table: one row each, appended once per run."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import schemalint
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.errors import ApplyError
from schemalint.model.finding import CheckResult, Finding, Severity
from schemalint.spark.session import StatementError, ask, prepared, run
from schemalint.values import frozen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schemalint.model.inventory import TableSummary

CLEAN: Final = "none"
"""The severity of a row that stands for a table without findings."""

FAILURE: Final = "failure"
"""The severity of a row that stands for something that could not be judged."""


class Column(NamedTuple):
    """A column of the table of findings."""

    name: str
    type: str
    comment: str


COLUMNS: Final = (
    Column("run_id", "string", "The run that found it"),
    Column("run_at", "timestamp", "When that run began"),
    Column("tool_version", "string", "Of schemalint"),
    Column("target", "string", "The environment, null without one"),
    Column("table", "string", "The table as the report names it; null for what is about none"),
    Column("uri", "string", "Where the table lies"),
    Column("table_version", "bigint", "The version that was judged"),
    Column("code", "string", "Of the rule; null for a failure and for a table without findings"),
    Column("rule", "string", "The name of the rule"),
    Column("severity", "string", "error, warning, info; failure: not judged; none: a table without findings"),
    Column("object_kind", "string", "What it is about: table, column, property, feature"),
    Column("object_name", "string", "Its name"),
    Column("fingerprint", "string", "The same for the same finding in every run"),
    Column("message", "string", "The finding, or the failure"),
    Column("delta_error", "string", "The error class that Delta gives"),
    Column("existing", "boolean", "Whether it is not new"),
)
"""The schema: columns may be added by hand, none may go or change its type."""


@frozen
class AuditRun:
    """A run by its id: written a second time it changes nothing."""

    id: str
    at: dt.datetime


def make_ready(session: SparkSession, table: str) -> None:
    """Create the table if it is missing.

    Args:
        session: Classic or Connect.
        table: As SQL names it.

    Raises:
        ApplyError: It cannot be created, or what is there does not fit; nothing was written.
    """
    columns = ", ".join(
        f"{always_quoted(one.name)} {one.type} COMMENT {quote_literal(one.comment)}" for one in COLUMNS
    )
    comment = quote_literal("Findings of schemalint audit")
    with prepared(session, _provenance()):
        # On a table that exists it does nothing, whatever its schema is (measured on Delta 4.4.0).
        run(session, f"CREATE TABLE IF NOT EXISTS {table} ({columns}) USING delta COMMENT {comment}")
        (detail,) = ask(session, f"DESCRIBE DETAIL {table}")
        if detail["format"] != "delta":
            raise ApplyError(
                f"{table} is a table of {detail['format']}, not of Delta", help="name another one"
            )
        found = {row["col_name"].lower(): row["data_type"] for row in ask(session, f"DESCRIBE TABLE {table}")}
    wrong = [
        f"{one.name} is {found[one.name]}, not {one.type}" if one.name in found else f"{one.name} is missing"
        for one in COLUMNS
        if found.get(one.name) != one.type
    ]
    if wrong:
        raise ApplyError(
            f"{table} has another schema than the findings: {'; '.join(wrong)}",
            help="name a table that is not there yet, and it is created",
        )


def append(session: SparkSession, table: str, result: CheckResult, audit: AuditRun) -> int:
    """Append the findings of a run, unless they are there.

    Delta remembers the run in the commit that appends its rows (``txnAppId`` and ``txnVersion``; PROTOCOL.md,
    "Transaction Identifiers"), and ignores a second one. So a run that was killed, or that CI repeats, is
    there once or not at all.

    Args:
        session: Classic or Connect.
        table: As SQL names it; see `make_ready`.
        result: What was found.
        audit: The run.

    Returns:
        How many rows the run has in the table now.

    Raises:
        ApplyError: They could not be written.
    """
    rows = [(audit.id, audit.at, schemalint.__version__, result.run.target, *row) for row in _rows(result)]
    schema = ", ".join(f"{always_quoted(one.name)} {one.type}" for one in COLUMNS)
    from pyspark.sql.functions import col  # noqa: PLC0415

    with prepared(session, _provenance(audit)):
        try:
            frame = session.createDataFrame(rows, schema).coalesce(1)
            writer = frame.writeTo(table).option("txnAppId", f"schemalint-audit-{audit.id}")
            writer.option("txnVersion", "1").append()
            number: int = session.table(table).where(col("run_id") == audit.id).count()
        except Exception as error:  # pyspark's errors have no common base class over classic and Connect
            raise StatementError(error, f"append to {table}") from error
    return number


def _rows(result: CheckResult) -> Iterator[tuple[object, ...]]:
    """The columns from ``table`` on."""
    tables = {one.table: one for one in result.inventory.tables} if result.inventory else {}
    for finding in result.findings:
        yield (*_table(finding.table, tables.get(finding.table)), *_finding(finding))
    found = {finding.table for finding in result.findings}
    for name, summary in tables.items():
        if name not in found:
            yield (*_table(name, summary), None, None, CLEAN, None, None, None, None, None, False)
    for error in result.errors:
        yield (None, None, None, None, None, FAILURE, None, None, None, str(error), None, False)


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
    """The user metadata of the commits."""
    known = {"run": audit.id} if audit else {}
    return json.dumps({"tool": "schemalint", "version": schemalint.__version__, **known})
