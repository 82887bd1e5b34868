"""Models of dbt with their live tables: what is checked, what is never planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, STRING, TIMESTAMP, Decimal, Field
from schemalint.delta.properties import KEPT_BY_REPLACE
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.shop import Shop

BASE = ("--base-from", "dbt:../state/manifest.json")
CONFIGURATION = (
    'contracts = [{path = "target/manifest.json", format = "dbt", models = ["models/no_types.sql"]}]\n'
    '[targets.prod]\nroot = "lake"\n'
)
ORDERS = (
    Field("order_id", LONG, nullable=False),
    Field("amount", Decimal(12, 2)),
    Field("customer", STRING),
    Field("placed_at", TIMESTAMP),
)


@pytest.fixture
def live(shop: Shop) -> Shop:
    """The shop with a lake beside it, in which some of its tables are."""
    shop.repo.write(".gitignore", "target/\nlake/\n")
    shop.repo.write("schemalint.toml", CONFIGURATION)
    shop.repo.commit()
    by_hand = {"delta.deletedFileRetentionDuration": "interval 30 days"}
    for table, columns in (
        ("orders", (*ORDERS, Field("extra", STRING))),
        ("orders_replaced", (*ORDERS, Field("extra", STRING))),
        ("no_types", (Field("id", LONG), Field("amount", Decimal(12, 2)))),
    ):
        created = [commit_info("CREATE TABLE"), protocol(), metadata(*columns, properties=by_hand)]
        write_log(shop.repo.path / "lake/sales" / table, [created])
    return shop


def test_all_models_are_compared_with_their_live_tables(live: Shop) -> None:
    """What nobody declares goes from the table that is built anew, and stays in the one that is altered."""
    report = live.compare("--all", "--live")
    found = {
        (finding["code"], finding["table"]) for finding in report["findings"] if finding["code"] != "DR003"
    }
    assert found == {
        ("DR001", "sales.orders"),
        ("DR001", "sales.orders_replaced"),
        ("RB008", "sales.orders_replaced"),
    }
    assert "the next build of dbt takes it away" in str(report)
    assert "`apply` creates it" not in str(report)
    assert any("yet: dbt creates it" in finding["message"] for finding in report["findings"])


def test_a_type_that_only_the_live_table_says_is_marked(live: Shop) -> None:
    live.column("no_types", "amount")["data_type"] = "decimal(5,2)"
    live.column("orders", "amount")["data_type"] = "decimal(5,2)"
    live.parse()
    report = live.compare("--live")
    helps = {
        finding["table"]: finding["help"] for finding in report["findings"] if finding["code"] == "TW003"
    }
    assert "the type before is observed in the live table, not declared" in helps["sales.no_types"]
    assert "observed" not in helps["sales.orders"]


def test_the_schema_of_a_pull_request_is_not_where_the_live_table_is(live: Shop) -> None:
    for node in live.manifest["nodes"].values():
        node["schema"] = node["schema"].replace("sales", "pr_17")
    live.column("orders", "amount")["data_type"] = "decimal(5,2)"
    live.parse()
    report = live.compare("--live")
    assert ("TW003", ["git", "live"]) in [
        (finding["code"], finding["against"]) for finding in report["findings"]
    ]


def test_plan_takes_no_contract_that_extends_a_model_for_a_table(live: Shop) -> None:
    live.repo.write("schemalint.toml", CONFIGURATION.replace("[{", '["contracts/**", {'))
    live.declare("schemalint: 1\ntable: sales.orders\nextends: dbt\nowner: somebody\n")
    live.repo.commit()
    run = live.run("plan", "sales.orders")
    assert (run.status, "Nothing to do" in run.out) == (0, True)
    assert "sales.orders: skipped, managed by dbt" in run.out


@pytest.mark.spark
@pytest.mark.each_time
def test_what_a_build_takes_away_is_what_the_engine_takes_away(spark: SparkSession, tmp_path: Path) -> None:
    """CREATE OR REPLACE as dbt writes it keeps three properties, and gives the table another id."""
    table = f"delta.`{tmp_path / 'orders'}`"
    gone = {
        "delta.enableChangeDataFeed": "true",
        "delta.deletedFileRetentionDuration": "interval 30 days",
        "team": "web",
    }
    kept = {
        "delta.enableDeletionVectors": "true",
        "delta.enableRowTracking": "true",
        "delta.checkpointPolicy": "v2",
    }
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in {**gone, **kept}.items())
    spark.sql(f"CREATE TABLE {table} (a BIGINT) USING delta CLUSTER BY (a) TBLPROPERTIES ({properties})")
    spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT positive CHECK (a > 0)")
    before = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    spark.sql(f"CREATE OR REPLACE TABLE {table} USING delta AS SELECT 1L AS a")
    after = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    assert {key for key in after.properties if "materialized" not in key} == kept.keys() == KEPT_BY_REPLACE
    assert (after.clusteringColumns, after.id == before.id) == ([], False)
