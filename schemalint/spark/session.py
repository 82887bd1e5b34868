"""Start Spark sessions that can write Delta tables, and run statements in them."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from schemalint.base.errors import ApplyError, UsageError
from schemalint.base.phrases import affixed
from schemalint.base.redaction import hide, without_secrets
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.jvm import jvm_output_in_a_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA: Final = "Java 17 or later"

# The settings that Delta needs (Delta's documentation, "Set up Apache Spark with Delta Lake").
_DELTA: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
# No web UI, no progress bars, few partitions; the user's own settings override these. The tests' session also
# has a compiler and a collector that start sooner; statements that read or rewrite data would be slower.
# Delta keeps the states of 10,000 tables for an hour: 4 MB each with 50 columns (measured on Delta 4.4.0), so
# that 300 tables fill the heap that Spark has by itself. A run takes one table after the other.
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "ERROR",
    "spark.databricks.delta.delta.log.cacheSize": "32",
}

# A mark of local sessions that schemalint started, unless the user chose a number: see `snapshots_that_fit`.
FITS_SNAPSHOTS: Final = "spark.schemalint.fitsSnapshots"
SNAPSHOT_PARTITIONS: Final = "spark.databricks.delta.snapshotPartitions"

# With an inline table, Spark evaluates the functions while it plans; without one, in a job with code for it.
CURRENT_SCHEMA: Final = "SELECT current_catalog(), current_schema() FROM VALUES (1)"

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
# Spark's own list of settings that it does not show (`spark.redaction.regex`).
_SECRET_KEY: Final = re.compile("secret|password|token|access[.]?key", re.IGNORECASE)
_LONGEST_WAIT: Final = 60.0  # seconds, for a Connect server
_LONGEST_STATEMENT: Final = 2_000
_OF_PY4J: Final = "An error occurred while calling "


class SqlSession(Protocol):
    """The parts of a session that schemalint uses; classic, Connect and Databricks Connect have them."""

    @property
    def conf(self) -> Any: ...  # noqa: ANN401 (pyspark's RuntimeConfig, classic or Connect)

    def sql(self, sqlQuery: str) -> Any: ...  # noqa: ANN401, N803 (pyspark's own name)


def start(settings: TrustedSpark) -> SparkSession:
    """Return the session that runs in this process, or start one.

    A new session is a local one unless the settings name a master or a Connect server. Spark downloads
    Delta's jars in the version of the installed ``delta-spark``. Under spark-submit, and where delta-spark is
    not installed, Spark is that of a platform, which decides about its master, its jars and its settings.

    Raises:
        UsageError: pyspark is not installed, or there is no Java.
        ApplyError: Spark does not start, or no Connect server answers.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            f"Spark is not installed here: {error}",
            help="pip install 'schemalint[spark]', or run schemalint where a platform provides pyspark",
        ) from error
    for key, value in settings.conf.items():
        if _SECRET_KEY.search(key):
            hide(value)
    if is_running():
        return SparkSession.active()
    remote = None if is_submitted() else _remote(settings)
    if remote:
        builder = _configured(SparkSession.builder.remote(remote), settings.conf)
    elif is_submitted():
        builder = _configured(SparkSession.builder, settings.conf)
    else:
        _require_java()
        builder = _of_own_jvm(SparkSession.builder.appName("schemalint"), settings)
    with jvm_output_in_a_file() as output:
        if remote and (server := connect_server(settings)):
            _require_answer(remote, server)
        try:
            session = builder.getOrCreate()
        except Exception as error:  # noqa: BLE001 (Spark's launcher raises many kinds, none of them documented)
            # Without the cause: its traceback could show credentials of the settings.
            raise ApplyError(
                f"Spark does not start: {first_line(error)}", help=f"its output is in {output}"
            ) from None
    if remote:
        _shorten_retries(session)
        require_understanding(session)
    return session


def _of_own_jvm(builder: Any, settings: TrustedSpark) -> Any:  # noqa: ANN401 (pyspark's builders)
    """Configure a session whose JVM this process starts."""
    if is_local(settings):
        # Spark would take the python3 on the PATH, which may be another interpreter than this one.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        from delta import configure_spark_with_delta_pip  # noqa: PLC0415
    except ImportError:  # a platform's Spark: Delta and the master are in its spark-defaults.conf
        builder = builder.master(settings.master) if settings.master else builder
        packages = {"spark.jars.packages": ",".join(settings.packages)} if settings.packages else {}
        return _configured(builder, {**packages, **settings.conf})
    defaults = {**_QUIET, **_DELTA}
    if is_local(settings) and SNAPSHOT_PARTITIONS not in settings.conf:
        defaults[FITS_SNAPSHOTS] = "true"
    builder = _configured(builder.master(settings.master or "local[*]"), {**defaults, **settings.conf})
    return configure_spark_with_delta_pip(builder, extra_packages=list(settings.packages))


def connect_server(settings: TrustedSpark) -> str | None:
    """Return the Connect server of the settings as ``sc://host:port``, without a token; None without one."""
    remote = _remote(settings)
    if remote and remote.startswith("sc://"):
        return remote.partition(";")[0].rstrip("/")
    return None


def is_remote(settings: TrustedSpark) -> bool:
    """Whether the session is one of a Spark Connect server."""
    return bool(_remote(settings))


def is_local(settings: TrustedSpark) -> bool:
    """Whether the session starts in a JVM of this machine, and has no other executors."""
    return not is_remote(settings) and (settings.master or "local").startswith("local")


def is_running() -> bool:
    """Whether this process has a running session, as in a notebook or a Spark job."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        return False
    try:
        return SparkSession.active() is not None
    except PySparkException:
        return False


def is_submitted() -> bool:
    """Whether spark-submit has started this process, and a JVM for it with all settings."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _remote(settings: TrustedSpark) -> str | None:
    return settings.remote or os.environ.get("SPARK_REMOTE")


def _require_answer(remote: str, server: str) -> None:
    """Require that the Connect server answers soon.

    PySpark itself tries 15 times, with pauses of up to a minute (`DefaultPolicy` in its `retries.py`).
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        import grpc  # noqa: PLC0415
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

        channel = DefaultChannelBuilder(remote).toChannel()
    except (ImportError, PySparkException):
        return  # a package is missing, or the address is invalid: creating the session reports it
    try:
        grpc.channel_ready_future(channel).result(timeout=_LONGEST_WAIT)
    except grpc.FutureTimeoutError:
        raise ApplyError(
            f"no Spark Connect server answers at {server} within {_LONGEST_WAIT:.0f} seconds: "
            f"{silence_of(server)}",
            help="check that it runs and can be reached, and see --remote and SPARK_REMOTE",
        ) from None
    finally:
        channel.close()


def silence_of(server: str) -> str:
    """Return why a server does not answer; gRPC does not say it."""
    address = urlsplit(server)
    try:
        with socket.create_connection(
            (address.hostname or "localhost", address.port or _CONNECT_PORT), _ATTEMPT_SECONDS
        ) as connection:
            connection.sendall(_HTTP2_PREFACE)
            answer = connection.recv(1)
    except TimeoutError:
        return "it accepts the connection, and stays silent"
    except ConnectionResetError:
        return "it resets the connection"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    if answer:
        return "what answers there is no Spark Connect server"
    return "it closes the connection"


_CONNECT_PORT: Final = 15002
_ATTEMPT_SECONDS: Final = 5.0
_HTTP2_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"  # RFC 9113, section 3.4


def require_understanding(session: SparkSession) -> None:
    """Require that the Connect server understands this client, which must not be newer.

    Spark 3.5 reads an empty statement in what databricks-connect 15.4 sends (measured).
    """
    import pyspark  # noqa: PLC0415

    try:
        session.sql("SELECT 1").collect()
    except Exception as error:
        raise ApplyError(
            f"the Connect server, Spark {session.version}, does not understand this client, pyspark "
            f"{pyspark.__version__}: {first_line(error)}",
            help="install the client in the version of the server, such as pyspark[connect]==3.5.*",
        ) from error


def _shorten_retries(session: SparkSession) -> None:
    """Let a Connect session repeat a request for 40 seconds at most; PySpark's own ten minutes are silent."""
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 (only with Connect)
    except ImportError:
        return  # PySpark 3.5 has one policy for all

    session.client.set_retry_policies([DefaultPolicy(max_retries=6, max_backoff=20_000)])


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


def sibling_sessions(session: SqlSession, number: int) -> list[SqlSession]:
    """Create sessions with the engine and settings of a given one; return only that one if it is impossible.

    Delta reads user metadata from the settings of a session, so concurrent changes need separate sessions.
    """
    if number < 2:  # noqa: PLR2004 (the given session suffices)
        return [session]
    # Classic sessions have `newSession`; in Connect it raises, and `cloneSession` exists since Spark 4.1.
    is_remote = type(session).__module__.startswith("pyspark.sql.connect")
    create = getattr(session, "cloneSession" if is_remote else "newSession", None)
    if create is None:
        return [session]
    try:
        siblings = [create() for _ in range(number)]
    except Exception:  # noqa: BLE001 (older Connect servers refuse with various errors: use one session then)
        return [session]
    if not is_remote:
        _copy_settings(session, siblings)
    return siblings


def _copy_settings(session: SqlSession, siblings: list[SqlSession]) -> None:
    """Set what was set in a session since it started: a notebook may have given it the keys of a store."""
    copied = _settings(session).items() - _settings(siblings[0]).items()  # all new sessions have the same
    for sibling in siblings:
        for key, value in copied:
            sibling.conf.set(key, value)


def _settings(session: SqlSession) -> dict[str, str]:
    """Return what is set in a session: ``SET`` lists the keys, but hides the values of secrets.

    ``RuntimeConfig.getAll`` exists since Spark 4.0.
    """
    return {row["key"]: session.conf.get(row["key"]) for row in session.sql("SET").collect()}


def _configured(builder: Any, settings: Mapping[str, str]) -> Any:  # noqa: ANN401 (pyspark's builders)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder


def _require_java() -> None:
    """Require Java in JAVA_HOME or on the PATH: Spark's launcher gives no clear error without it."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home, "bin")) if home else None) is None:
        brew, apt = "brew install openjdk@17", "apt-get install openjdk-17-jre-headless"
        folder = affixed(" in JAVA_HOME=", home)
        raise UsageError(
            f"there is no Java{folder}: Spark needs {JAVA}",
            help=f"for example: {brew if sys.platform == 'darwin' else apt}",
        )


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
