"""Whether a session has Delta, and which engine it is, as its jars and its functions say."""

from __future__ import annotations

import re
from typing import Any, Final

from schemalint.base.errors import ApplyError
from schemalint.delta.engine import DATABRICKS, DELTA_SPARK, Engine, parse_engine
from schemalint.spark.statements import SqlSession, StatementError, ask

_EXTENSION: Final = "io/delta/sql/DeltaSparkSessionExtension.class"
# Delta writes the same text into `commitInfo.engineInfo`. SQL calls a static method of Java, in Connect too;
# a session that forbids it tells no version.
_DELTA: Final = "SELECT java_method('io.delta.package', 'VERSION') FROM VALUES (1)"
_RUNTIME: Final = "SELECT current_version().dbr_version FROM VALUES (1)"
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+){1,2}")


# Without Delta's extension, Spark reads this as DESCRIBE of a column of the table HISTORY. With the extension
# alone, Delta refuses it by this class (measured on Spark 4.2.0). All other answers are Delta's own, about a
# folder that is no table.
_QUESTION: Final = "DESCRIBE HISTORY delta.`/schemalint/no/table`"
_ANSWERS_WITHOUT_DELTA: Final = ("DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG", "`HISTORY`")


def is_databricks(session: SqlSession) -> bool:
    """Whether the engine is a Databricks runtime.

    It is told by a function that only this runtime has: its cluster's settings could be copied to any other.

    Raises:
        StatementError: The session lists no functions.
    """
    return bool(ask(session, "SHOW SYSTEM FUNCTIONS LIKE 'current_version'"))


def engine_of(session: SqlSession) -> Engine | None:
    """Return the engine that runs the statements of a session; None if the session does not tell.

    Raises:
        ApplyError: Two versions of Delta are on its classpath.
    """
    _require_one_delta(session)
    try:
        name, query = (DATABRICKS, _RUNTIME) if is_databricks(session) else (DELTA_SPARK, _DELTA)
        ((version,),) = ask(session, query)
        numbers = _NUMBERS.match(str(version))
        return parse_engine(f"{name} {numbers[0]}") if numbers else None
    except (StatementError, ValueError):
        return None


def _require_one_delta(session: Any) -> None:  # noqa: ANN401 (pyspark's classic session)
    """Require that Java finds one Delta: of two, the order of the jars would decide for each class."""
    try:
        loader = session._jvm.Thread.currentThread().getContextClassLoader()  # noqa: SLF001 (no Python API)
        resources = loader.getResources(_EXTENSION)
        jars = set()
        while resources.hasMoreElements():
            jars.add(resources.nextElement().toString().partition("!")[0].rpartition("/")[2])
    except Exception:  # noqa: BLE001 (Connect has no JVM here, and other clients raise various errors)
        return
    if len(jars) > 1:
        raise ApplyError(
            f"this Spark session has several versions of Delta: {', '.join(sorted(jars))}",
            help="keep one: look at spark.jars.packages, spark.jars and the folder of Spark's jars",
        )


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
