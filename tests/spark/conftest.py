"""Fixtures of the tests of `apply`."""

from __future__ import annotations

import importlib.util
import socket
from typing import TYPE_CHECKING

import pytest

from support.faulty_sessions import counting_commits
from support.lakehouse import Lakehouse
from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _counting_commits() -> Iterator[None]:
    """Let interrupted sessions write markers as own sessions do."""
    with counting_commits():
        yield


@pytest.fixture
def lakehouse(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Lakehouse:
    """Return an empty lakehouse; git ignores the user's own settings."""
    created = Lakehouse.make(tmp_path / "repository", spark)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, created.repo.env[name])
    return created


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
