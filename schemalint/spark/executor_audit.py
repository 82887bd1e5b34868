"""Read thousands of tables on the executors of a Spark cluster.

Executors read the logs and the footers of data files with the same code as without Spark. The rules run in
the driver, with its contracts and its configuration, so the findings are the same.

The job uses only DataFrames and row-wise Python functions: they work with Spark Connect, and need neither
pandas nor pyarrow on the executors (``mapInArrow`` needs pandas; measured on Spark 4.2.0). Spark sends the
functions by name, so the executors need the same version of ``schemalint``, installed or sent with
``--py-files``.

Executors get the storage settings as the configuration contains them, and look up ``${NAME}`` in their own
environment. Thus no secret is part of a query plan, an event log or a message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from schemalint.base.errors import ApplyError, LiveError, UsageError
from schemalint.base.values import field, frozen, replace
from schemalint.delta.footer_summary import FooterSummary, merge_summaries
from schemalint.delta.table import CatalogTable
from schemalint.project.config.trust import TrustedTarget
from schemalint.review.audit_cases import TableReading, is_relative
from schemalint.spark import executors
from schemalint.tables import catalog
from schemalint.tables.catalog.table_location import absolute_location
from schemalint.tables.catalog.table_requests import TableRequest
from schemalint.tables.storage.table_workers import TableWorkers
from schemalint.tables.table_json import TableDocument, TableFailure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_BATCH_SIZE: Final = 512
"""Tables that one job reads, and that the driver holds in memory."""

_TABLES_PER_TASK: Final = 16
"""Spark takes longer to start a task than to read a few small tables (benchmarks/README.md, "Scale")."""

_FILES_PER_TASK: Final = 5_000

_TABLE_ROW: Final = "reference string, version long, at long, storage string"
_VERSION_ROW: Final = "reference string, version long, storage string"
_SHARE_ROW: Final = "reference string, version long, storage string, number int, of int"

Row = tuple[object, ...]

Session: TypeAlias = "SparkSession"
"""A session, classic or Connect, for modules that must not import pyspark."""


@frozen
class TableToRead:
    """A table to read.

    Attributes:
        reference: A path or a URI that is valid on the executors.
        version: The version to read; None means the latest, or the one at `at`.
        at: An instant in milliseconds since the epoch.
        storage: The result of `schemalint.spark.executors.storage_text`.
    """

    reference: str
    version: int | None = None
    at: int | None = None
    storage: str = field(default_factory=lambda: executors.storage_text(None))


@frozen
class ReadTable:
    """The result of reading a table, and the summary of its data files if it was requested."""

    found: TableDocument | TableFailure
    files: FooterSummary | LiveError | None = None


def read_tables(
    session: SparkSession, tables: Sequence[TableToRead], *, files: bool = False
) -> Iterator[ReadTable]:
    """Read tables on the executors, in their order; a table that fails does not stop the others.

    Raises:
        UsageError: schemalint is not available on the executors.
        ApplyError: The job failed.
    """
    for start in range(0, len(tables), _BATCH_SIZE):
        batch = tables[start : start + _BATCH_SIZE]
        rows = [(table.reference, table.version, table.at, table.storage) for table in batch]
        lines = _map_rows(session, executors.table_line, rows, _TABLE_ROW, _TABLES_PER_TASK)
        results = [executors.table_of(line) for line in lines]
        summaries = _summarize_footers(session, batch, results) if files else {}
        yield from (ReadTable(result, summaries.get(index)) for index, result in enumerate(results))


def _summarize_footers(
    session: SparkSession, batch: Sequence[TableToRead], results: Sequence[TableDocument | TableFailure]
) -> dict[int, FooterSummary | LiveError]:
    """Summarize the footers of each table, by its index; several tasks share a large table.

    Each task reads the table's log itself and takes its share of the files: Spark sends no lists of files.
    """
    readable = [(index, result) for index, result in enumerate(results) if isinstance(result, TableDocument)]
    rows = [(batch[index].reference, table.live.version, batch[index].storage) for index, table in readable]
    lines = _map_rows(session, executors.count_line, rows, _VERSION_ROW, _TABLES_PER_TASK)
    shares: list[tuple[int, Row]] = []
    errors: dict[int, FooterSummary | LiveError] = {}
    for (index, _table), row, count in zip(readable, rows, map(executors.count_of, lines), strict=True):
        if isinstance(count, LiveError):
            errors[index] = count
            continue
        of = max(1, -(-count // _FILES_PER_TASK))
        shares += ((index, (*row, number, of)) for number in range(of))
    lines = _map_rows(session, executors.footers_line, [row for _index, row in shares], _SHARE_ROW, 1)
    parts: defaultdict[int, list[FooterSummary | LiveError]] = defaultdict(list)
    for (index, _row), line in zip(shares, lines, strict=True):
        parts[index].append(executors.footers_of(line))
    return errors | {index: _merge(summaries) for index, summaries in parts.items()}


def _merge(parts: Sequence[FooterSummary | LiveError]) -> FooterSummary | LiveError:
    error = next((part for part in parts if isinstance(part, LiveError)), None)
    return error or merge_summaries(part for part in parts if isinstance(part, FooterSummary))


def _map_rows(
    session: SparkSession, function: Callable[..., str], rows: Sequence[Row], schema: str, per_task: int
) -> list[str]:
    """Call the function on each row, on the executors; return its texts in the order of the rows.

    A task is one row of the frame, so that the function sees all its tables, and reads them side by side.
    """
    if not rows:
        return []
    from pyspark.sql.functions import col, udf  # noqa: PLC0415

    tasks = [(start, rows[start : start + per_task]) for start in range(0, len(rows), per_task)]
    # Spark may evaluate a deterministic function more than once.
    called = udf(partial(executors.lines_of, function), "array<string>", useArrow=False).asNondeterministic()
    frame = session.createDataFrame(tasks, f"first int, rows array<struct<{schema}>>").repartition(len(tasks))
    try:
        answers = frame.select("first", called(col("rows")).alias("lines")).collect()
    except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
        raise _job_failed(error) from None
    return [str(line) for _first, lines in sorted(map(tuple, answers)) for line in lines]


def _job_failed(error: Exception) -> UsageError | ApplyError:
    if "No module named 'schemalint" in str(error):
        return UsageError(
            "schemalint is not installed on the executors of the cluster",
            help="install schemalint[live] there in the same version, or send it with --py-files",
        )
    return ApplyError(f"the job that reads the tables failed: {_summary(error)}")


def _summary(error: Exception) -> str:
    """Return the last line of a Python worker's traceback, or the first line of the engine's message."""
    lines = [line.strip() for line in str(error).split("JVM stacktrace")[0].splitlines() if line.strip()]
    if lines:
        return lines[-1] if "Traceback" in str(error) else lines[0]
    return type(error).__name__


def audited_by_spark(
    session: SparkSession,
    requests: Sequence[TableRequest],
    target: TrustedTarget | None,
    workers: TableWorkers,
    *,
    files: bool,
) -> Iterator[TableReading]:
    """Read tables for an audit on the executors; the driver looks up the locations of names."""
    storage = executors.storage_text(target)
    entries = workers.each("looking up", _catalog_entry, requests, lambda request: request.uri)
    tables = [
        TableToRead(entry.location if entry else _reference(request), request.version, request.at, storage)
        for request, entry in zip(requests, entries, strict=True)
        if not isinstance(entry, LiveError)
    ]
    results = read_tables(session, tables, files=files)
    for request, entry in zip(requests, entries, strict=True):
        if isinstance(entry, LiveError):
            yield TableReading(request, entry)
            continue
        result = next(results)
        document = result.found
        if isinstance(document, TableDocument):
            document = replace(document, live=replace(document.live, catalog=entry))
        yield TableReading(request, document, result.files)


def _catalog_entry(request: TableRequest) -> CatalogTable | LiveError | None:
    """Return the catalog's entry for a table, or the error; None if the request is for a location."""
    if request.error is not None:
        return request.error
    if request.catalog is None:
        return None
    try:
        return catalog.find(request.uri, request.catalog, request.via)
    except LiveError as error:
        return error


def _reference(request: TableRequest) -> str:
    """Return an absolute reference: executors have another working folder."""
    if is_relative(request):
        return absolute_location(request.uri, Path.cwd())
    return request.uri
