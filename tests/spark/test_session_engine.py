"""A session tells which engine it is, and `apply` asks it before the first statement."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from schemalint.base.errors import ApplyError, UsageError
from schemalint.deploy.results import Outcome
from schemalint.spark.session_engine import engine_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

PLAIN = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: amount, type: bigint}\n"
WIDENING = f"{PLAIN}properties: {{delta.enableTypeWidening: true}}\n"


class _OnlySql:
    """A session without a JVM in this process, as those of Connect."""

    def __init__(self, session: SparkSession, *, knows_java: bool = True) -> None:
        self._session = session
        self._knows_java = knows_java
        self.conf = session.conf

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's own name)
        if "java_method" in sqlQuery and not self._knows_java:
            raise ValueError(sqlQuery)
        return self._session.sql(sqlQuery)


def test_a_session_tells_its_engine(spark: SparkSession) -> None:
    assert str(engine_of(spark)) == "delta-spark 4.4.0"
    assert str(engine_of(_OnlySql(spark))) == "delta-spark 4.4.0"
    assert engine_of(_OnlySql(spark, knows_java=False)) is None


@pytest.mark.each_time
def test_two_versions_of_delta_are_refused_before_the_first_statement(
    spark: SparkSession, lakehouse: Lakehouse, tmp_path: Path
) -> None:
    lakehouse.declare(PLAIN)
    jvm: Any = spark._jvm  # noqa: SLF001 (no Python API)
    thread = jvm.Thread.currentThread()
    own = thread.getContextClassLoader()
    extension = own.getResource("io/delta/sql/DeltaSparkSessionExtension.class").toString()
    jar = urlsplit(extension.removeprefix("jar:").partition("!")[0]).path
    older = shutil.copy(jar, tmp_path / "delta-spark_2.13-4.0.1.jar")
    urls = spark.sparkContext._gateway.new_array(jvm.java.net.URL, 1)  # noqa: SLF001
    urls[0] = jvm.java.net.URL(f"file:{older}")
    thread.setContextClassLoader(jvm.java.net.URLClassLoader(urls, own))
    try:
        with pytest.raises(
            ApplyError, match=r"several versions of Delta: .*delta-spark_2\.13-4\.0\.1\.jar"
        ) as error:
            engine_of(spark)
        with pytest.raises(ApplyError, match="several versions of Delta"):
            lakehouse.apply()
    finally:
        thread.setContextClassLoader(own)
    assert error.value.exit_status == 2
    assert list(lakehouse.root.iterdir()) == []


def _named(lakehouse: Lakehouse, engine: str) -> Lakehouse:
    lakehouse.repo.write("schemalint.toml", f'[targets.dev]\nroot = "lake"\nengine = "{engine}"\n')
    return lakehouse


@pytest.mark.each_time
def test_a_statement_with_another_answer_in_the_session_is_not_run(lakehouse: Lakehouse) -> None:
    _named(lakehouse, "delta-spark 3.3.2").declare(WIDENING)
    with pytest.raises(UsageError, match=r"the session is delta-spark 4\.4\.0") as error:
        lakehouse.apply(allow=["upgrade"])
    assert error.value.exit_status == 2
    assert list(lakehouse.root.iterdir()) == []


def test_a_plan_that_is_the_same_in_the_session_is_run(lakehouse: Lakehouse) -> None:
    _named(lakehouse, "delta-spark 3.3.2").declare(PLAIN)
    assert lakehouse.apply().outcome is Outcome.APPLIED
