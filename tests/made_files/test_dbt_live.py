"""Models of dbt with their live tables: what is checked, what is never planned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.datatype import LONG, STRING, TIMESTAMP, Decimal, Field, Struct
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


@pytest.fixture
def uncontracted(live: Shop) -> Shop:
    """The same shop, where nothing names the models without a contract; their tables are in the lake."""
    live.repo.write("schemalint.toml", CONFIGURATION.replace(', models = ["models/no_types.sql"]', ""))
    live.repo.commit()
    columns = (Field("id", LONG), Field("total", Struct((Field("net", LONG),))))
    by_hand = {"delta.appendOnly": "true", "delta.enableChangeDataFeed": "true"}
    created = [commit_info("CREATE TABLE"), protocol(), metadata(*columns, properties=by_hand)]
    write_log(live.repo.path / "lake/sales/legacy_totals", [created])
    return live


def found(report: Any) -> set[tuple[str, str, str]]:  # noqa: ANN401 (a report, as JSON has it)
    """Return code, table and severity of the findings of tables that have no contract."""
    return {
        (each["code"], each["table"], each["severity"])
        for each in report["findings"]
        if each["table"] in ("sales.no_types", "sales.legacy_totals", "sales.refunds")
    }


def test_a_model_without_a_contract_is_judged_beside_its_live_table(uncontracted: Shop) -> None:
    """Its settings are dbt's, its columns those of the table; without the table nothing is compared."""
    config = uncontracted.model("no_types")["config"]
    config |= {"partition_by": ["id"], "tblproperties": {"delta.appendOnly": "false"}}
    uncontracted.model("refunds")["config"]["partition_by"] = ["refund_id"]
    uncontracted.parse()
    assert found(uncontracted.compare()) == set()
    report = uncontracted.compare("--live")
    assert found(report) == {("NC007", "sales.no_types", "error"), ("RB011", "sales.no_types", "warning")}
    assert [each["table"] for each in report["run"]["skipped"]] == ["sales.refunds"]
    assert (
        "judged with the columns of their live tables: 3 models"
        in uncontracted.run("check", "--live", *BASE).err
    )


def test_types_of_a_model_without_a_contract_are_those_of_its_live_table(uncontracted: Shop) -> None:
    """Dbt builds what the query returns: a type in the YAML says nothing, and a new column comes first."""
    uncontracted.manifest["metadata"]["adapter_type"] = "databricks"
    uncontracted.parse("../state/manifest.json")
    uncontracted.column("refunds", "amount")["data_type"] = "decimal(5,2)"
    uncontracted.column("no_types", "amount")["data_type"] = "date"
    uncontracted.model("no_types")["config"]["liquid_clustered_by"] = ["amount", "comes_with_the_next_run"]
    uncontracted.parse()
    assert found(uncontracted.compare("--live")) == set()
    uncontracted.model("legacy_totals")["config"]["liquid_clustered_by"] = ["total"]
    uncontracted.parse()
    report = uncontracted.compare("--live")
    assert ("PF004", "sales.legacy_totals", "info") in found(report)
    (finding,) = (each for each in report["findings"] if each["code"] == "NC014")
    assert finding["message"] == "the table is clustered by total, which is struct<net: bigint>"
    assert finding["location"]["file"] == "models/legacy_totals.sql"


def test_nothing_that_stands_is_an_error_of_a_model_that_nobody_contracted(uncontracted: Shop) -> None:
    """Other columns, partitions and features than its settings say: nobody promised any of them."""
    raised = [commit_info("SET TBLPROPERTIES"), protocol(3, 7, ["deletionVectors"], ["deletionVectors"])]
    write_log(uncontracted.repo.path / "lake/sales/no_types", [raised], first=1)
    policy = 'options.PO008 = {columns = {loaded_at = "timestamp"}, applies_to = "all"}'
    file = uncontracted.repo.path / "schemalint.toml"
    settings = f'{file.read_text("utf-8")}[[tables]]\nmatch = "sales.*"\n{policy}\n'
    uncontracted.repo.write("schemalint.toml", settings)
    for model in ("no_types", "legacy_totals"):
        uncontracted.model(model)["config"]["partition_by"] = ["somewhere"]
    uncontracted.parse()
    uncontracted.parse("../state/manifest.json")
    uncontracted.repo.commit()
    report = uncontracted.compare("--live", "--all")
    assert found(report) == {
        ("PF010", "sales.legacy_totals", "warning"),
        ("RB008", "sales.legacy_totals", "warning"),
        ("RB009", "sales.legacy_totals", "error"),
    }
    assert {each["existing"] for each in report["findings"] if each["table"] == "sales.legacy_totals"} == {
        True
    }
    assert uncontracted.run("check", "--live", *BASE).status == 0


def test_a_contract_that_goes_is_reported_with_live_tables_too(uncontracted: Shop) -> None:
    uncontracted.model("orders")["config"]["contract"] = {"enforced": False}
    del uncontracted.manifest["nodes"]["model.shop.no_types"]
    uncontracted.parse()
    report = uncontracted.compare("--live")
    (gone,) = (each for each in report["findings"] if each["code"] == "CT001")
    assert (gone["table"], "without an enforced contract" in str(gone)) == ("sales.orders", True)


def test_an_exception_for_a_model_without_a_contract_is_of_use_with_live_tables(uncontracted: Shop) -> None:
    uncontracted.model("no_types")["config"]["partition_by"] = ["id"]
    uncontracted.parse()
    of = "table: sales.no_types, rule: NC007, object: partitioning"
    entry = f"{of}, from: '', to: id, via: rewrite, reason: x"
    uncontracted.repo.write("exceptions.yaml", f"schemalint_exceptions: 1\nexceptions: [{{{entry}}}]\n")
    for arguments in ((), ("--live",), ("--all",)):
        report = uncontracted.compare(*arguments)
        codes = {each["code"] for each in report["findings"]}
        assert (codes & {"NC007", "CT005"}, report["errors"]) == (set(), [])


def test_what_adds_to_a_model_needs_one_with_a_contract(uncontracted: Shop) -> None:
    file = uncontracted.repo.path / "schemalint.toml"
    uncontracted.repo.write("schemalint.toml", file.read_text("utf-8").replace("[{", '["contracts/**", {'))
    uncontracted.declare("schemalint: 1\ntable: sales.no_types\nextends: dbt\nowner: somebody\n")
    for arguments in ((), ("--live",)):
        errors = uncontracted.compare(*arguments)["errors"]
        assert [each["message"] for each in errors] == ["no file of dbt declares sales.no_types"]


def test_commands_that_read_live_tables_know_a_model_without_a_contract(uncontracted: Shop) -> None:
    report = uncontracted.run("audit", "--target", "prod", "--root", "lake", "--output-format", "json")
    assert ("RB009", "sales.legacy_totals", "error") in found(json.loads(report.out))
    alone = uncontracted.run("audit", "--target", "prod", "sales.no_types")
    assert (alone.status, "sales.no_types" in alone.out or "1 table" in alone.out) == (0, True)
    shown = uncontracted.run("show", "--target", "prod", "sales.legacy_totals").out
    assert "sales.legacy_totals at" in shown
    pulled = uncontracted.run("pull", "--target", "prod", "--format", "dbt-yaml", "sales.no_types").out
    assert 'data_type: "decimal(12,2)"' in pulled
    everything = uncontracted.run("audit", "--target", "prod", "--all").out
    assert ("lake/sales/payments" in everything, "lake/sales/refunds" in everything) == (True, False)
    planned = uncontracted.run("plan", "--target", "prod", "--base", "HEAD").err
    assert "dbt alters the tables of target/manifest.json itself" in planned


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
