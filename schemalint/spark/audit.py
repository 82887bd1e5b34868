"""Thousands of tables, read by the executors of a Spark cluster.

The logs, and the footers of data files, are read there with the same code as without Spark; the rules run
where the command runs, with its contracts and its configuration. So what is found is the same.

Nothing but DataFrames is used, and Python functions over single rows: that works with Spark Connect, and
needs neither pandas nor pyarrow on the executors (``mapInArrow`` needs pandas; measured on Spark 4.2.0). The
functions are found by their names, so ``schemalint`` must be installed on the executors, in the same version,
or be given to them (``--py-files``).

How stores are opened goes to the executors as the configuration says it: ``${NAME}`` is looked up in their
environment. No secret is in a plan, in an event log, or on its way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from schemalint import catalog
from schemalint.catalog.table_location import absolute_location
from schemalint.delta.footer_summary import FooterSummary, merge_summaries
from schemalint.errors import ApplyError, LiveError, UsageError
from schemalint.lint.audit import AuditedTable
from schemalint.lint.audited import audited_table, is_relative
from schemalint.spark import executors
from schemalint.storage.requests import concurrently
from schemalint.table_json import TableDocument, TableFailure
from schemalint.values import field, frozen, replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schemalint.catalog.table_requests import TableRequest
    from schemalint.config import Target
    from schemalint.delta.table import CatalogTable

_AT_ONCE: Final = 512
"""Tables in one job: as many are held on the driver."""

_PER_TASK: Final = 4
_FILES_PER_TASK: Final = 5_000

_TABLE: Final = "reference string, version long, at long, storage string"
_VERSION: Final = "reference string, version long, storage string"
_SHARE: Final = "reference string, version long, storage string, number int, of int"

Row = tuple[object, ...]

Session: TypeAlias = "SparkSession"
"""Classic or Connect, for those who do not import pyspark."""


@frozen
class TableToRead:
    """A table to read.

    Attributes:
        reference: A path or a URI, as the executors see it.
        at: In place of a version, an instant (milliseconds since the epoch).
        storage: Of `schemalint.spark.executors.storage_text`.
    """

    reference: str
    version: int | None = None
    at: int | None = None
    storage: str = field(default_factory=lambda: executors.storage_text(None))


@frozen
class ReadTable:
    """A table that was read, or why it was not; with its data files, where these were asked for."""

    found: TableDocument | TableFailure
    files: FooterSummary | LiveError | None = None


def read_tables(
    session: SparkSession, wanted: Sequence[TableToRead], *, files: bool = False
) -> Iterator[ReadTable]:
    """Read tables on the executors, in their order; one that cannot be read stops no other.

    Args:
        session: Classic or Connect.
        wanted: The tables.
        files: Whether the footers of their data files are read too.

    Raises:
        UsageError: schemalint is not there on the executors.
        ApplyError: The job failed.
    """
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        rows = [(one.reference, one.version, one.at, one.storage) for one in some]
        lines = _mapped(session, executors.table_line, rows, _TABLE, _PER_TASK)
        tables = [executors.table_of(line) for line in lines]
        tallies = _tallies(session, some, tables) if files else {}
        yield from (ReadTable(table, tallies.get(index)) for index, table in enumerate(tables))


def _tallies(
    session: SparkSession, wanted: Sequence[TableToRead], tables: Sequence[TableDocument | TableFailure]
) -> dict[int, FooterSummary | LiveError]:
    """The footers of each table by its index; those of a large table are read in several tasks.

    Each task reads the table's log for itself and takes its share: so no list of files is sent around.
    """
    there = [(index, one) for index, one in enumerate(tables) if isinstance(one, TableDocument)]
    rows = [(wanted[index].reference, one.live.version, wanted[index].storage) for index, one in there]
    counts = list(map(executors.count_of, _mapped(session, executors.count_line, rows, _VERSION, _PER_TASK)))
    shares: list[tuple[int, Row]] = []
    found: dict[int, FooterSummary | LiveError] = {}
    for (index, _one), row, count in zip(there, rows, counts, strict=True):
        if isinstance(count, LiveError):
            found[index] = count
            continue
        of = max(1, -(-count // _FILES_PER_TASK))
        shares += ((index, (*row, number, of)) for number in range(of))
    lines = _mapped(session, executors.footers_line, [row for _index, row in shares], _SHARE, 1)
    parts: defaultdict[int, list[FooterSummary | LiveError]] = defaultdict(list)
    for (index, _row), line in zip(shares, lines, strict=True):
        parts[index].append(executors.footers_of(line))
    return found | {index: _together(some) for index, some in parts.items()}


def _together(parts: Sequence[FooterSummary | LiveError]) -> FooterSummary | LiveError:
    error = next((one for one in parts if isinstance(one, LiveError)), None)
    return error or merge_summaries(one for one in parts if isinstance(one, FooterSummary))


def _mapped(
    session: SparkSession, function: Callable[..., str], rows: Sequence[Row], schema: str, per_task: int
) -> list[str]:
    """The function's text for each row, in their order."""
    if not rows:
        return []
    from pyspark.sql.functions import col, udf  # noqa: PLC0415

    columns = [part.split()[0] for part in schema.split(", ")]
    numbered = [(number, *row) for number, row in enumerate(rows)]
    # Spark may evaluate a function again wherever it takes it for deterministic.
    called = udf(function, "string", useArrow=False).asNondeterministic()
    frame = session.createDataFrame(numbered, f"ordinal int, {schema}")
    frame = frame.repartition(-(-len(rows) // per_task))
    try:
        answers = frame.select("ordinal", called(*map(col, columns)).alias("line")).collect()
    except Exception as error:  # pyspark's errors have no common base class over classic and Connect
        raise _job_failed(error) from error
    return [str(line) for _ordinal, line in sorted(map(tuple, answers))]


def _job_failed(error: Exception) -> UsageError | ApplyError:
    if "No module named 'schemalint" in str(error):
        return UsageError(
            "schemalint is not there on the executors of the cluster",
            help="install schemalint[live] there in the same version, or give it to them with --py-files",
        )
    return ApplyError(f"the job that reads the tables failed: {_said(error)}")


def _said(error: Exception) -> str:
    """The last line of a Python worker's traceback, or the first of what the engine says."""
    lines = [line.strip() for line in str(error).split("JVM stacktrace")[0].splitlines() if line.strip()]
    return (lines[-1] if "Traceback" in str(error) else lines[0]) if lines else type(error).__name__


def audited_by_spark(
    session: SparkSession, asked: Sequence[TableRequest], target: Target | None, *, files: bool
) -> Iterator[AuditedTable]:
    """The same on the executors of a cluster; of a name the session says here where its table lies."""
    storage = executors.storage_text(target)
    known = concurrently(_known, asked)
    wanted = [
        TableToRead(table.location if table else _reference(one), one.version, one.at, storage)
        for one, table in zip(asked, known, strict=True)
        if not isinstance(table, LiveError)
    ]
    tables = read_tables(session, wanted, files=files)
    for one, table in zip(asked, known, strict=True):
        if isinstance(table, LiveError):
            yield AuditedTable(one.table or one.uri, table, one.contract)
            continue
        read = next(tables)
        found = read.found
        if isinstance(found, TableDocument):
            found = replace(found, live=replace(found.live, catalog=table))
        yield audited_table(one, found, read.files)


def _known(one: TableRequest) -> CatalogTable | LiveError | None:
    """What the session says of a table that is asked for by name; why it is not known."""
    if one.error is not None:
        return one.error
    if one.catalog is None:
        return None
    try:
        return catalog.find(one.uri, one.catalog, one.via)
    except LiveError as error:
        return error


def _reference(one: TableRequest) -> str:
    """As the executors see it, whatever folder they work in."""
    return absolute_location(one.uri, Path.cwd()) if is_relative(one) else one.uri
