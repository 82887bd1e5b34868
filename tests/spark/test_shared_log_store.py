"""`apply` commits to S3 only through a log store that several writers can share."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.base.errors import ApplyError
from schemalint.delta.log_store import DYNAMODB, SINGLE_DRIVER
from schemalint.model.table_plan import TablePlan
from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget
from schemalint.spark.shared_log_store import require_shared_log_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TARGET = TrustedTarget(Target("prod"))
OF_S3, OF_S3A = "spark.delta.logStore.s3.impl", "spark.delta.logStore.s3a.impl"
OF_ALL = "spark.delta.logStore.class"
OWN = "com.acme.OurLogStore"
DELEGATING = "org.apache.spark.sql.delta.storage.DelegatingLogStore"


def _plan(location: str = "s3://lake/orders", **more: object) -> TablePlan:
    return TablePlan("sales.orders", location, "hash", writes_marker=True, **more)  # type: ignore[arg-type]


@pytest.fixture
def application(spark: SparkSession) -> Iterator[Any]:
    """Yield the settings with which the application started, and restore them."""
    conf = spark.sparkContext._jsc.sc().conf()  # noqa: SLF001
    before = {pair._1(): pair._2() for pair in conf.getAll()}  # noqa: SLF001
    yield conf
    for pair in conf.getAll():
        if pair._1() not in before:  # noqa: SLF001
            conf.remove(pair._1())  # noqa: SLF001


@pytest.mark.each_time("settings1-refused1")
@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({}, {"s3": SINGLE_DRIVER, "s3a": SINGLE_DRIVER}),
        ({OF_S3: DYNAMODB}, {"s3a": SINGLE_DRIVER}),
        ({OF_S3A: DYNAMODB}, {"s3": SINGLE_DRIVER}),
        ({OF_S3.removeprefix("spark."): DYNAMODB, OF_S3A: DYNAMODB}, {}),
        ({OF_ALL: DYNAMODB}, {}),
        ({OF_ALL: DELEGATING}, {"s3": SINGLE_DRIVER, "s3a": SINGLE_DRIVER}),
        ({OF_S3: DYNAMODB, OF_S3A: OWN}, {"s3a": OWN}),
        ({OF_ALL: OWN}, {"s3": OWN, "s3a": OWN}),
    ],
)
def test_log_store_of_the_application_decides_and_delta_takes_the_same(
    spark: SparkSession,
    application: Any,  # noqa: ANN401
    settings: Mapping[str, str],
    refused: Mapping[str, str],
) -> None:
    for key, value in settings.items():
        application.set(key, value)

    found = {scheme: _refused(spark, scheme) for scheme in ("s3", "s3a")}

    assert {scheme for scheme, error in found.items() if error is not None} == set(refused)
    for scheme, error in found.items():
        if error is not None:
            assert refused[scheme] in error.message
            assert f"spark.delta.logStore.{scheme}.impl={DYNAMODB}" in error.help
            assert "single_writer = true under [targets.prod]" in error.help
    taken = {scheme: _delta_takes(spark, application, scheme) for scheme in ("s3", "s3a")}
    assert taken == {"s3": DYNAMODB, "s3a": DYNAMODB, **refused}


def _refused(session: SparkSession, scheme: str) -> ApplyError | None:
    try:
        require_shared_log_store(session, [_plan(f"{scheme}://lake/orders")], TARGET)
    except ApplyError as error:
        return error
    return None


def _delta_takes(spark: SparkSession, application: Any, scheme: str) -> str:  # noqa: ANN401
    """Return the class that Delta takes, from its error where the tests do not have the class."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001
    path = jvm.org.apache.hadoop.fs.Path(f"{scheme}://lake/orders")
    provider = getattr(getattr(jvm.org.apache.spark.sql.delta.storage, "LogStore$"), "MODULE$")
    try:
        store = provider.createLogStore(application, jvm.org.apache.hadoop.conf.Configuration())
        delegate = store.getDelegate(path)
    except Exception as error:  # noqa: BLE001 (py4j has no class for it)
        return str(error).partition("ClassNotFoundException: ")[2].split()[0]
    return str(delegate.logStoreImpl().getClass().getName())


@pytest.mark.each_time
def test_settings_of_a_session_are_no_settings_of_its_application(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set(OF_S3, DYNAMODB)

    with _refusal():
        require_shared_log_store(session, [_plan()], TARGET)
    assert session.conf.get(OF_S3) == DYNAMODB


def test_no_setting_makes_an_engine_a_databricks_runtime(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.databricks.clusterUsageTags.sparkVersion", "17.3.x-scala2.13")

    with _refusal():
        require_shared_log_store(session, [_plan()], TARGET)


@pytest.mark.parametrize(
    ("plan", "single_writer"),
    [
        (_plan(features=frozenset({"catalogManaged"})), False),
        (_plan(), True),
        (_plan("gs://lake/orders"), False),
        (_plan("abfss://c@a.dfs.core.windows.net/orders"), False),
        (_plan("/lake/orders"), False),
    ],
    ids=["catalog", "single writer", "google", "azure", "local"],
)
def test_other_tables_need_no_log_store(spark: SparkSession, plan: TablePlan, *, single_writer: bool) -> None:
    target = TrustedTarget(Target("prod", single_writer=single_writer))

    require_shared_log_store(spark, [plan], target)


def test_table_to_create_is_where_its_schema_is(spark: SparkSession) -> None:
    asked = "DESCRIBE NAMESPACE `spark_catalog`.`default`"
    rows: list[tuple[str, ...]] = [
        (str(name), f"S3A://lake{value}") for name, value in spark.sql(asked).collect()
    ]
    session = _Answering({asked: rows})
    plan = _plan("spark_catalog.default.t", name="spark_catalog.default.t")

    with _refusal():
        require_shared_log_store(session, [plan], TARGET)  # type: ignore[arg-type]
    require_shared_log_store(spark, [plan], TARGET)


CLIENT = f"""
from pyspark.sql import SparkSession
from schemalint.project.config import Target
from schemalint.base.errors import ApplyError
from schemalint.model.table_plan import TablePlan
from schemalint.spark.shared_log_store import require_shared_log_store

session = SparkSession.builder.remote({{remote!r}}).config({OF_S3!r}, {DYNAMODB!r}).getOrCreate()
for scheme in ("s3", "s3a"):
    try:
        plan = TablePlan("sales.orders", f"{{{{scheme}}}}://lake/orders", "hash", writes_marker=True)
        require_shared_log_store(session, [plan], Target("prod"))
        print(scheme, "accepted")
    except ApplyError as error:
        print(scheme, "refused", "S3SingleDriverLogStore" in error.message)
print(session.conf.get({OF_S3!r}))
"""


def test_log_store_of_a_connect_server_decides(spark: SparkSession, connect: str) -> None:
    of_server = spark._jsparkSession.sharedState().conf()  # noqa: SLF001
    of_server.set(OF_S3A, DYNAMODB)
    try:
        process = subprocess.run(
            [sys.executable, "-c", CLIENT.format(remote=connect)], capture_output=True, text=True, check=False
        )
    finally:
        of_server.remove(OF_S3A)

    assert process.stdout.split("\n") == ["s3 refused True", "s3a accepted", DYNAMODB, ""], process.stderr


class _Answering:
    """A session with answers to some statements; settings are undefined, and nothing else is known."""

    def __init__(self, answers: Mapping[str, list[tuple[str, ...]]]) -> None:
        self._answers = answers

    def sql(self, query: str) -> _Answering:
        self._rows = self._answers.get(query, [(query, "<undefined>")] if query.startswith("SET ") else [])
        return self

    def collect(self) -> list[tuple[str, ...]]:
        return self._rows


@pytest.mark.each_time("false-True")
@pytest.mark.parametrize(
    ("coordinated", "is_refused"), [("<undefined>", False), ("true", False), ("false", True)]
)
def test_databricks_runtime_coordinates_its_writers(coordinated: str, *, is_refused: bool) -> None:
    session = _Answering(
        {
            "SHOW SYSTEM FUNCTIONS LIKE 'current_version'": [("current_version",)],
            "SELECT current_version().dbr_version": [("17.3",)],
            "SET spark.databricks.delta.multiClusterWrites.enabled": [("", coordinated)],
        }
    )

    with _refusal() if is_refused else nullcontext():
        require_shared_log_store(session, [_plan()], TARGET)  # type: ignore[arg-type]


def _refusal() -> AbstractContextManager[object]:
    return pytest.raises(
        ApplyError, match="S3SingleDriverLogStore, Delta's default, locks within one JVM only"
    )
