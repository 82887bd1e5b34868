"""The engines that the commits of a table name."""

from __future__ import annotations

import pytest

from schemalint.delta.commit_engines import (
    as_setting,
    client_of_commit,
    engine_of_commit,
    recent_writers,
    undeclared_writers,
)
from schemalint.delta.engine import Engines, parse_engine

DAY = 24 * 60 * 60 * 1000
NOW = 1_800_000_000_000
SPARK = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"


@pytest.mark.parametrize(
    ("info", "engine"),
    [
        (SPARK, "delta-spark 4.4.0"),
        ("Apache-Spark/3.5.1.5.4.20240407-1 Delta-Lake/3.2.0.3", "fabric 1.3"),
        ("Apache-Spark/3.4.1.5.3-110807746 Delta-Lake/2.4.0.8", "delta-spark 2.4.0"),
        ("Apache-Spark/3.5.1-amzn-0 Delta-Lake/3.1.0", "delta-spark 3.1.0"),
        ("Databricks-Runtime/16.4.x-scala2.12", "databricks 16.4"),
        ("Databricks-Runtime/16.4.x-photon-scala2.12", "databricks 16.4"),
        ("delta-rs:py-1.6.6", None),
        ("Kernel-4.0.0/Trino-476", None),
        ("Apache-Spark/9 Delta-Lake/0.1.0", None),
        ("", None),
    ],
)
def test_engine_of_a_commit(info: str, engine: str | None) -> None:
    found = engine_of_commit(info)
    assert (None if found is None else str(found)) == engine


@pytest.mark.parametrize(
    ("info", "client"),
    [
        ("delta-rs:py-1.6.6", ("deltalake", "1.6.6")),
        ("delta-rs.0.17.3", ("deltalake", "")),
        ("Kernel-4.0.0/Flink", ("delta-kernel-java", "4.0.0")),
        (SPARK, None),
        ("a delta-rs:py-1.6.6", None),
    ],
)
def test_client_of_a_commit(info: str, client: tuple[str, str] | None) -> None:
    assert client_of_commit(info) == client


def test_writers_of_the_last_30_days_make_the_line() -> None:
    tables = [
        {SPARK: NOW - 31 * DAY, "Databricks-Runtime/16.4.x-scala2.12": NOW - 29 * DAY},
        {"Apache-Spark/3.5.7 Delta-Lake/3.3.2": NOW, "delta-rs:py-1.6.6": NOW},
    ]
    writers = recent_writers(tables, NOW)
    assert as_setting(writers) == 'writers = ["databricks 16.4", "delta-spark 3.3.2"]'


@pytest.mark.parametrize(
    ("declared", "warned"),
    [
        ([], False),
        (["delta-spark 4.4.0"], False),
        (["delta-spark 4.4"], False),
        (["delta-spark 4.0.1"], True),
        (["databricks 16.4"], True),
        (["databricks 16.4", "delta-spark 4.4.0"], False),
    ],
)
def test_missing_writer_is_named_if_any_is_declared(declared: list[str], *, warned: bool) -> None:
    engines = Engines(writers=tuple(map(parse_engine, declared)))
    text = undeclared_writers("prod", [engines], [{SPARK: NOW}, {SPARK: NOW}], NOW)
    assert (text is not None) == warned
    if text is not None:
        assert text.startswith("delta-spark 4.4.0 wrote tables of target prod in the last 30 days")


def test_fabric_signs_as_the_delta_that_it_is_made_from() -> None:
    engines = Engines(writers=(parse_engine("fabric 1.3"),))
    info = "Apache-Spark/3.5.1.5.4 Delta-Lake/3.2.0.3"
    assert undeclared_writers("prod", [engines], [{info: NOW}], NOW) is None
    assert undeclared_writers(
        "prod", [Engines(writers=(parse_engine("delta-spark 4.4.0"),))], [{info: NOW}], NOW
    )
