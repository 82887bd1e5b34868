"""Run statements in a session: their errors, and what another writer's commit does to them."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from schemalint.base.errors import ApplyError
from schemalint.base.redaction import without_secrets

ATTEMPTS: Final = 6
_FIRST_PAUSE_SECONDS: Final = 0.1
# Delta's errors about concurrent writers (delta-error-classes.json). A message has the error class in
# brackets, or the name of the Java class (io.delta.exceptions).
_CONFLICT: Final = re.compile(
    r"DELTA_CONCURRENT_\w+|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"
    r"|\b(?:MetadataChanged|ProtocolChanged|Concurrent\w+)Exception\b"
)
# A drop with TRUNCATE HISTORY removed the traces of the feature; older versions of the table still have them.
_WAITING: Final = re.compile(
    r"DELTA_FEATURE_DROP_(?:WAIT_FOR_RETENTION_PERIOD|HISTORICAL_VERSIONS_EXIST"
    r"|CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD)"
)
_LONGEST_STATEMENT: Final = 2_000
_OF_PY4J: Final = "An error occurred while calling "


class SqlSession(Protocol):
    """The parts of a session that schemalint uses; classic, Connect and Databricks Connect have them."""

    @property
    def conf(self) -> Any: ...  # noqa: ANN401 (pyspark's RuntimeConfig, classic or Connect)

    def sql(self, sqlQuery: str) -> Any: ...  # noqa: ANN401, N803 (pyspark's own name)


class StatementError(ApplyError):
    """The engine refused a statement, or its answer was lost.

    Attributes:
        is_conflict: Whether the statement only conflicted with a concurrent commit.
        is_waiting: Whether the statement succeeds once the retention period of the history is over.
        is_taken: Whether the engine takes the place of a new table for a table.
    """

    def __init__(self, error: Exception, statement: str) -> None:
        super().__init__(
            f"the engine refused: {first_line(error)}", help=f"the statement was: {_cut(statement)}"
        )
        self.is_conflict = _CONFLICT.search(first_line(error)) is not None
        self.is_waiting = _WAITING.search(first_line(error)) is not None
        self.is_taken = "TABLE_OR_VIEW_ALREADY_EXISTS" in first_line(error)


def run(session: SqlSession, statement: str) -> None:
    """Run a statement.

    Raises:
        StatementError: The engine refused it.
    """
    ask(session, statement)


def pause(attempt: int) -> None:
    """Wait before the next attempt of what lost against another writer's commit, each time twice as long."""
    time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))


def ask(session: SqlSession, query: str) -> list[Any]:
    """Run a query, and return its rows.

    Raises:
        StatementError: The engine refused it.
    """
    try:
        rows: list[Any] = session.sql(query).collect()
    except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
        raise StatementError(error, query) from None
    return rows


@contextmanager
def refusals_not_logged() -> Iterator[None]:
    """Silence PySpark's log of refused statements: some statements only test whether Spark refuses them."""
    try:
        from pyspark.logger import PySparkLogger  # noqa: PLC0415
    except ImportError:  # before Spark 4
        yield
        return
    # Not logging.getLogger: the first call for a logger decides its class.
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def first_line(error: Exception) -> str:
    """Return the first line of the engine's message, without py4j's own text."""
    lines = (line.strip().removeprefix(": ") for line in str(error).splitlines())
    return next((line for line in lines if line and not line.startswith(_OF_PY4J)), type(error).__name__)


def _cut(statement: str) -> str:
    statement = without_secrets(statement)
    short = statement[:_LONGEST_STATEMENT]
    if short == statement:
        return short
    return f"{short}… ({len(statement)} characters)"
