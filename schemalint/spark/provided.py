"""Sessions that schemalint did not start: those of notebooks, jobs and platforms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from schemalint.base.errors import ApplyError
from schemalint.spark.session import SqlSession, StatementError, ask

# Without Delta's extension, Spark reads this as DESCRIBE of a column of the table HISTORY. With the extension
# alone, Delta refuses it by this class (measured on Spark 4.2.0). All other answers are Delta's own, about a
# folder that is no table.
_QUESTION: Final = "DESCRIBE HISTORY delta.`/schemalint/no/table`"
_ANSWERS_WITHOUT_DELTA: Final = ("DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG", "`HISTORY`")


def require_delta(session: SqlSession) -> None:
    """Require that the statements of a session are Delta's.

    Raises:
        ApplyError: The session has no Delta, or only a part of it.
    """
    try:
        ask(session, _QUESTION)
    except StatementError as error:
        if any(answer in error.message for answer in _ANSWERS_WITHOUT_DELTA):
            raise ApplyError(
                "this Spark session cannot change Delta tables: it was started without Delta's jars, its "
                "extension or its catalog",
                help="start it with Delta's jars for its version of Spark, and with "
                "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension and "
                "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog; "
                "spark.sql.extensions can list several classes",
            ) from None


@contextmanager
def with_settings(session: SqlSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Give a session settings meanwhile; those that count only when Spark starts are left out."""
    before = {key: session.conf.get(key, None) for key in settings if session.conf.isModifiable(key)}
    try:
        for key in before:
            session.conf.set(key, settings[key])
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)
