"""What all tests share: an environment without CI, and a local SparkSession with Delta.

The session is for the tests of the run that are marked ``spark``.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from schemalint.base.redaction import hide_nothing
from schemalint.spark.session import FITS_SNAPSHOTS
from support import jvm
from support.foreign import without_foreign_variables
from support.skipping import skip_or_fail
from support.targets import COLLECTED, mark_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

JAVA_VERSIONS = "17 or 21"  # Spark 4.2 runs on these
SESSION_CONF = {
    "spark.driver.memory": "2g",  # the default of 1g is too small for so many tests in one session
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    # For the list of files in a checksum, each commit reads the whole log. Only some invalid values of
    # properties have another answer without it; `engine.record_logs.listing_files` lists them.
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
    # As in the sessions that schemalint starts: markers are appended without compiled code, in half the time.
    FITS_SNAPSHOTS: "true",
    # Delta commits without checksum files. With them, Hadoop starts twice as many processes for a commit
    # (`chmod`, `readlink`), a fifth of its CPU. The processes that tests kill have the file system of users.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Spark would not start on a machine whose host name does not resolve, such as a container.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def pytest_configure() -> None:
    """Run every test outside CI and without the user's settings, wherever the tests run."""
    for name in set(os.environ) - set(without_foreign_variables(os.environ)):
        del os.environ[name]
    # No test asserts a time: a busy machine takes longer for an example.
    settings.register_profile(
        "busy", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("busy")
    gc.disable()  # until all tests are there


def pytest_collection_finish() -> None:
    """Collect garbage from now on, and never look at the tests again: they stay to the end.

    Looking at 16,000 tests over and over took a tenth of the CPU of a run.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say which target runs a test of the engine, and which tests go to one worker of pytest-xdist.

    The engine's come first. The workers' groups are those of ``--dist loadgroup``.

    The tests of the commands that use Spark take as long as all other questions to the engine. Where a
    fixture is made for its module, two workers would make it twice.
    """
    for item in items:
        if item.get_closest_marker("spark"):
            mark_target(item)
            of_commands = item.path.is_relative_to(Path(__file__).with_name("spark"))
            item.add_marker(pytest.mark.xdist_group("spark-commands" if of_commands else "spark-engine"))
        elif uses_fixture_of_module(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
    config.stash[COLLECTED] = [*items]


def uses_fixture_of_module(item: pytest.Item) -> bool:
    """Whether a fixture of the test is made once for its module."""
    definitions = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009 (pytest has no public name for it)
    return any(fixture.scope == "module" for of_name in definitions.values() for fixture in of_name)


@pytest.fixture(autouse=True)
def _no_hidden_secrets() -> None:
    """Forget the secrets of the test before, whose values may be words of this one."""
    hide_nothing()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start a local session with Delta and a warehouse in a temporary folder.

    Without Java or PySpark the test skips, or fails under SCHEMALINT_TEST_ALL=1.
    """
    if missing := missing_engine():
        skip_or_fail(missing)
    session = start_session(tmp_path_factory.mktemp("warehouse"))
    yield session
    session.stop()


@pytest.fixture
def connect(spark: SparkSession) -> Iterator[str]:
    """Yield the address of a Connect server in the JVM of the tests' own session."""
    if importlib.util.find_spec("grpc") is None:
        skip_or_fail("no Connect client is installed: pip install 'pyspark[connect]'")
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    jvm = spark.sparkContext._jvm  # noqa: SLF001 (the server has no Python API)
    assert jvm is not None
    jvm.org.apache.spark.SparkEnv.get().conf().set("spark.connect.grpc.binding.port", str(port))
    service = jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(spark.sparkContext._jsc.sc())  # noqa: SLF001
    yield f"sc://127.0.0.1:{port}"
    no_timeout = jvm.scala.Option.apply(None)
    service.stop(no_timeout, no_timeout)


def missing_engine() -> str:
    """Return what is not installed but needed by Spark, or an empty string."""
    if any(importlib.util.find_spec(package) is None for package in ("pyspark", "delta")):
        return "the engine's tests need PySpark and Delta: pip install 'schemalint[spark]'"
    java_home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=str(Path(java_home, "bin")) if java_home else None):
        return f"the engine's tests need Java {JAVA_VERSIONS}, on the PATH or in JAVA_HOME"
    return ""


def start_session(warehouse: Path) -> SparkSession:
    """Start Spark in this process; the first start downloads Delta's jars from Maven Central."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    from delta import configure_spark_with_delta_pip  # noqa: PLC0415 (takes long, and only these tests need it)

    builder = SparkSession.builder.master("local[2]").appName("schemalint-tests")
    for key, value in {**SESSION_CONF, "spark.sql.warehouse.dir": str(warehouse)}.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as environment:
        # Keep existing options: a site may need them to reach Maven Central (proxy, trust store).
        environment.setenv("JAVA_TOOL_OPTIONS", jvm.OPTIONS, prepend=" ")
        with jvm.one_fetches_jars():
            session = configure_spark_with_delta_pip(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # PySpark 4 logs every refused statement with its Java stack trace; these tests expect refusals.
    if importlib.util.find_spec("pyspark.logger"):
        from pyspark.logger import PySparkLogger  # noqa: PLC0415

        PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return session
