"""Starting a Spark session that can write Delta tables."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from schemalint.config import SparkSettings
from schemalint.errors import ApplyError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA: Final = "Java 17 or later"

# What makes a session one for Delta (Delta's documentation, "Set up Apache Spark with Delta Lake").
_DELTA: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
# Nothing that a user would look at or wait for; their own settings win.
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "ERROR",
}

# Delta's errors about concurrent writers (delta-error-classes.json), in whichever form they come: an error
# class in brackets, or the name of the Java class (io.delta.exceptions).
_CONFLICT: Final = re.compile(
    r"DELTA_CONCURRENT_\w+|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"
    r"|\b(?:MetadataChanged|ProtocolChanged|Concurrent\w+)Exception\b"
)
_LONGEST_WAIT: Final = 60.0  # seconds, for a Connect server
_LONGEST_STATEMENT: Final = 2_000
_OF_PY4J: Final = "An error occurred while calling "


class SqlSession(Protocol):
    """What is needed of a session: classic, Connect and Databricks Connect all have it."""

    @property
    def conf(self) -> Any: ...  # noqa: ANN401 (pyspark's RuntimeConfig, classic or Connect)

    def sql(self, sqlQuery: str) -> Any: ...  # noqa: ANN401, N803 (pyspark's own name)


def start(settings: SparkSettings) -> SparkSession:
    """A session: local unless the settings name a master or a Connect server.

    Delta's jars are resolved by Spark, in the version that belongs to the installed ``delta-spark``. Where a
    session is running in this process, that is the one, and only what `settings` say is set in it.

    Raises:
        UsageError: pyspark or delta-spark is not installed, or there is no Java.
        ApplyError: Spark does not start, or no Connect server answers.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415

        from delta import configure_spark_with_delta_pip  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            f"Spark is not installed here: {error}", help="pip install 'schemalint[spark]'"
        ) from error
    is_own = not is_running()
    if is_own:
        _log_no_refusals()
    remote = _remote(settings)
    if remote:
        builder = _configured(SparkSession.builder.remote(remote), settings.conf)
    else:
        _require_java()
        if (settings.master or "local").startswith("local"):
            # Spark's own choice is the python3 on the PATH, which may be another than this one.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(settings.master or "local[*]").appName("schemalint")
        defaults = {**_QUIET, **_DELTA} if is_own else {}
        builder = _configured(builder, {**defaults, **settings.conf})
        builder = configure_spark_with_delta_pip(builder, extra_packages=list(settings.packages))
    with _jvm_output_in_a_file() as output:
        if is_own and remote and (server := connect_server(settings)):
            _require_answer(remote, server)
        try:
            return builder.getOrCreate()
        except Exception as error:  # Spark's launcher raises many kinds, none of them documented
            raise ApplyError(
                f"Spark does not start: {_first_line(error)}", help=f"what it said stands in {output}"
            ) from error


def connect_server(settings: SparkSettings) -> str | None:
    """The Connect server that `start` asks, as ``sc://host:port`` without a token; None if it asks none."""
    remote = _remote(settings)
    return remote.partition(";")[0].rstrip("/") if remote and remote.startswith("sc://") else None


def is_running() -> bool:
    """Whether this process has a session: that of a notebook, or of the job that it is."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        return False
    try:
        return SparkSession.active() is not None
    except PySparkException:
        return False


def _remote(settings: SparkSettings) -> str | None:
    return settings.remote or os.environ.get("SPARK_REMOTE")


def _require_answer(remote: str, server: str) -> None:
    """PySpark itself asks 15 times, with pauses of up to a minute (`DefaultPolicy` in its `retries.py`)."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        import grpc  # noqa: PLC0415
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

        channel = DefaultChannelBuilder(remote).toChannel()
    except (ImportError, PySparkException):
        return  # a package is missing, or the address is none: the session says it
    try:
        grpc.channel_ready_future(channel).result(timeout=_LONGEST_WAIT)
    except grpc.FutureTimeoutError:
        raise ApplyError(
            f"no Spark Connect server answers at {server} within {_LONGEST_WAIT:.0f} seconds",
            help="is it running, and can it be reached from here? See --remote and SPARK_REMOTE",
        ) from None
    finally:
        channel.close()


def _log_no_refusals() -> None:
    """PySpark logs every refused statement with its Java stack trace, and some are asked to be refused."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415

    # Not logging.getLogger: the first one to ask for a logger decides its class.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


@contextmanager
def _jvm_output_in_a_file() -> Iterator[str]:
    """What the JVM says for as long as it lives goes into a file: some hundred lines about jars and logging.

    A JVM takes over the standard error that its parent has when it is started.
    """
    descriptor, path = tempfile.mkstemp(prefix="schemalint-spark-", suffix=".log")
    sys.stderr.flush()
    own = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield path
    finally:
        os.dup2(own, 2)
        os.close(own)
        os.close(descriptor)


@contextmanager
def prepared(session: SqlSession, user_metadata: str) -> Iterator[None]:
    """While it lasts, statements are taken as they are written, and commits carry a text as user metadata.

    Spark substitutes ``${…}`` in the whole text of a statement, in quoted names too, unless told otherwise
    (measured on Spark 4.2.0).
    """
    settings = {
        "spark.databricks.delta.commitInfo.userMetadata": user_metadata,
        "spark.sql.variable.substitute": "false",
    }
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, value)


class StatementError(ApplyError):
    """The engine refused a statement, or its answer was lost.

    Attributes:
        is_conflict: Whether only a writer that committed at the same time was in the way.
    """

    def __init__(self, error: Exception, statement: str) -> None:
        super().__init__(
            f"the engine refused: {_first_line(error)}", help=f"the statement was: {_cut(statement)}"
        )
        self.is_conflict = _CONFLICT.search(_first_line(error)) is not None


def run(session: SqlSession, statement: str) -> None:
    """Run one statement to its end.

    Raises:
        StatementError: The engine refused it.
    """
    ask(session, statement)


def ask(session: SqlSession, query: str) -> list[Any]:
    """The rows that a query gives.

    Raises:
        StatementError: The engine refused it.
    """
    try:
        rows: list[Any] = session.sql(query).collect()
    except Exception as error:  # pyspark's errors have no common base class over classic and Connect
        raise StatementError(error, query) from error
    return rows


def sessions_beside(session: SqlSession, number: int) -> list[SqlSession]:
    """Sessions that share the engine of a given one, with settings of their own; only that one if need be.

    User metadata is read from a session's settings: tables can be altered at the same time only in several.
    """
    if number < 2:  # noqa: PLR2004 (one is there)
        return [session]
    # Classic sessions have `newSession`; Connect's raise at it, and have `cloneSession` since Spark 4.1.
    is_remote = type(session).__module__.startswith("pyspark.sql.connect")
    another = getattr(session, "cloneSession" if is_remote else "newSession", None)
    if another is None:
        return [session]
    try:
        return [another() for _ in range(number)]
    except Exception:  # noqa: BLE001 (an older Connect server refuses, in one of many ways: one after the other then)
        return [session]


def _configured(builder: Any, settings: Mapping[str, str]) -> Any:  # noqa: ANN401 (pyspark's builders)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder


def _require_java() -> None:
    """Spark's own launcher takes JAVA_HOME first, and says little where that leads nowhere."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home, "bin")) if home else None) is None:
        brew, apt = "brew install openjdk@17", "apt-get install openjdk-17-jre-headless"
        where = f" in JAVA_HOME={home}" if home else ""
        raise UsageError(
            f"there is no Java{where}: Spark needs {JAVA}",
            help=f"for example: {brew if sys.platform == 'darwin' else apt}",
        )


def _first_line(error: Exception) -> str:
    """What the engine says first, without py4j's own words around it."""
    lines = (line.strip().removeprefix(": ") for line in str(error).splitlines())
    return next((line for line in lines if line and not line.startswith(_OF_PY4J)), type(error).__name__)


def _cut(statement: str) -> str:
    short = statement[:_LONGEST_STATEMENT]
    return short if short == statement else f"{short}… ({len(statement)} characters)"
