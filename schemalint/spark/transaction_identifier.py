"""Commit a transaction identifier alone, with Delta's own classes in the JVM of an own session.

For an append with an identifier Delta first rebuilds the state (``benchmarks/README.md``). These classes are
no API, so every failure but a conflict leaves it to the append, and Delta skips an identifier that is there
already.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, reduce
from typing import Any

from schemalint.base.values import frozen
from schemalint.spark.session import FITS_SNAPSHOTS
from schemalint.spark.statements import SqlSession, StatementError


def commit_identifier(session: SqlSession, uri: str, app_id: str, version: int, *, read: int) -> bool:
    """Commit a transaction identifier to the table at a location; return whether it is committed.

    SQL writes an identifier only with an append, and then Delta first rebuilds the table's state to look for
    an older one, in three Spark jobs (`benchmarks/README.md`). The transaction here is the one that the
    append would commit. Its classes are no API of Delta's: where one of them is missing or refuses, the
    append is left to tell why. It can follow in any case: Delta skips the repetition of an identifier.

    Args:
        session: Sessions that schemalint did not start commit nothing.
        uri: The location, of a table without a name: a catalog may have to see the commits of its tables.
        app_id: The application id of the identifier.
        version: The version of the identifier, which no older commit has.
        read: The version of the table for which the identifier is true; nothing is committed to another one.

    Raises:
        StatementError: The table's metadata or protocol changed meanwhile, or another run committed the
            identifier.
    """
    if session.conf.get(FITS_SNAPSHOTS, None) is None:
        return False
    try:
        spark_class = session._jsparkSession.getClass().getName()  # type: ignore[attr-defined]  # noqa: SLF001
        classes = _classes(session._jvm, spark_class)  # type: ignore[attr-defined]  # noqa: SLF001 (no Python API)
        gateway = session.sparkContext._gateway  # type: ignore[attr-defined]  # noqa: SLF001 (no Python API)
        with _active(session, classes.sessions) as spark, ExitStack() as held:
            # A transaction holds the table's whole state, and Python would let go of it at some collection.
            log = classes.logs.forTable(spark, uri)
            held.callback(gateway.detach, log)
            transaction = log.startTransaction()
            held.callback(gateway.detach, transaction)
            if transaction.readVersion() != read:
                return False
            # As if the state had been asked for it: then another run's commit of it meanwhile is a conflict.
            getattr(transaction.readTxn(), "$plus$eq")(app_id)
            updated = classes.option.apply(log.clock().getTimeMillis())
            transaction.updateSetTransaction(app_id, version, updated)
            transaction.commit(classes.no_more_actions, classes.empty_commit)
    except Exception as error:  # noqa: BLE001 (py4j's and pyspark's errors share no class)
        failure = StatementError(error, f"the transaction identifier {app_id}")
        if failure.is_conflict:
            raise failure from None
        return False
    return True


@frozen
class _Classes:
    """What a commit needs of the JVM: Spark's and Delta's classes, the operation, and the empty list."""

    sessions: Any
    logs: Any
    empty_commit: Any
    no_more_actions: Any
    option: Any


@lru_cache(maxsize=1)
def _classes(jvm: Any, spark_class: str) -> _Classes:  # noqa: ANN401 (py4j's)
    """Look the classes up once: the JVM searches all its jars for each part of their names.

    Spark 3.5 has another class of sessions than Spark 4.
    """
    sql, scala = jvm.org.apache.spark.sql, jvm.scala
    empty_commit = getattr(sql.delta, "DeltaOperations$EmptyCommit$")
    empty_list = getattr(scala.collection.immutable, "Nil$")
    return _Classes(
        reduce(getattr, spark_class.split("."), jvm),
        sql.delta.DeltaLog,
        getattr(empty_commit, "MODULE$"),
        getattr(empty_list, "MODULE$"),
        scala.Option,
    )


@contextmanager
def _active(session: Any, sessions: Any) -> Iterator[Any]:  # noqa: ANN401 (pyspark's classic session, py4j's class)
    """Yield a session in the JVM; Delta takes the settings of the thread's active session."""
    spark = session._jsparkSession  # noqa: SLF001 (no Python API)
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark)
    try:
        yield spark
    finally:
        sessions.setActiveSession(before.get()) if before.isDefined() else sessions.clearActiveSession()
