"""Start Spark sessions that can write Delta tables, or take the one that runs."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemalint.base.errors import ApplyError, UsageError
from schemalint.base.phrases import affixed
from schemalint.base.redaction import hide
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.connect_server import (
    connect_server,
    remote_of,
    require_answer,
    require_understanding,
    shorten_retries,
)
from schemalint.spark.jvm import jvm_output_in_a_file
from schemalint.spark.statements import SqlSession, first_line

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

# Spark's own list of settings that it does not show (`spark.redaction.regex`).
_SECRET_KEY: Final = re.compile("secret|password|token|access[.]?key", re.IGNORECASE)


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
    remote = None if is_submitted() else remote_of(settings)
    if remote:
        builder = _configured(SparkSession.builder.remote(remote), settings.conf)
    elif is_submitted():
        builder = _configured(SparkSession.builder, settings.conf)
    else:
        _require_java()
        builder = _of_own_jvm(SparkSession.builder.appName("schemalint"), settings)
    with jvm_output_in_a_file() as output:
        if remote and (server := connect_server(settings)):
            require_answer(remote, server)
        try:
            session = builder.getOrCreate()
        except Exception as error:  # noqa: BLE001 (Spark's launcher raises many kinds, none of them documented)
            # Without the cause: its traceback could show credentials of the settings.
            raise ApplyError(
                f"Spark does not start: {first_line(error)}", help=f"its output is in {output}"
            ) from None
    if remote:
        shorten_retries(session)
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


def is_remote(settings: TrustedSpark) -> bool:
    """Whether the session is one of a Spark Connect server."""
    return bool(remote_of(settings))


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
