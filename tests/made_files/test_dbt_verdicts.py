"""What schemalint says of changes of a dbt project, beside dbt's own check of contracts, and the engine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from made_files.changes import CHANGES, HERE, edit
from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.contract.made_files import Source, read_made
from schemalint.project.config.contracts_entry import ContractsEntry
from support.golden import assert_golden
from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.project import Project
    from support.shop import Shop

DOCS: Final = Path(__file__).parents[2] / "docs"
REMOVED: Final = "a removed model"

COLUMNS: Final = {
    "orders": "order_id BIGINT, amount DECIMAL(12,2), customer STRING, placed_at TIMESTAMP",
    "customers": "customer_id INT, address STRUCT<street: STRING, balance: DECIMAL(10,2), zip: INT>",
    "events": "event_id INT, day DATE, kind STRING",
}
_ORDERS: Final = "1L AS order_id, {amount} AS amount, 'Ada' AS {customer}, current_timestamp() AS placed_at"
_CUSTOMERS: Final = (
    "{id} AS customer_id, named_struct('street', 'x', 'balance', {balance}, 'zip', 1) AS address"
)
_AMOUNT: Final = "CAST(5 AS DECIMAL(12,2))"
_FROM: Final = " FROM VALUES (123456) AS v(n)"

ENGINE: Final[dict[str, tuple[str, str, str, str, str]]] = {
    "decimal(12,2) to decimal(5,2)": (
        "orders",
        "ALTER COLUMN amount TYPE DECIMAL(5,2)", "NOT_SUPPORTED_CHANGE_COLUMN",
        _ORDERS.format(amount="CAST(n AS DECIMAL(5,2))", customer="customer") + _FROM,
        "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
    ),
    "the same inside a struct": (
        "customers",
        "ALTER COLUMN address.balance TYPE DECIMAL(5,2)", "NOT_SUPPORTED_CHANGE_COLUMN",
        _CUSTOMERS.format(id="1", balance="CAST(n AS DECIMAL(5,2))") + _FROM,
        "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
    ),
    "int to bigint": (
        "customers",
        "ALTER COLUMN customer_id TYPE BIGINT", "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
        _CUSTOMERS.format(id="1L", balance="CAST(1 AS DECIMAL(10,2))"), "",
    ),
    "int to integer": (
        "customers",
        "ALTER COLUMN customer_id TYPE INTEGER", "",
        _CUSTOMERS.format(id="CAST(1 AS INTEGER)", balance="CAST(1 AS DECIMAL(10,2))"), "",
    ),
    "a new NOT NULL": (
        "orders",
        "CHANGE COLUMN placed_at SET NOT NULL", "_LEGACY_ERROR_TEMP_2330",
        "", "_LEGACY_ERROR_TEMP_2330",
    ),
    "a dropped column": (
        "orders",
        "DROP COLUMN customer", "DELTA_UNSUPPORTED_DROP_COLUMN",
        f"1L AS order_id, {_AMOUNT} AS amount, current_timestamp() AS placed_at", "",
    ),
    "a renamed column": (
        "orders",
        "RENAME COLUMN customer TO buyer", "DELTA_UNSUPPORTED_RENAME_COLUMN",
        _ORDERS.format(amount=_AMOUNT, customer="buyer"), "",
    ),
    "other partitions": (
        "events", "", "",
        "1 AS event_id, current_date() AS day, 'a' AS kind", "",
    ),
}  # fmt: skip
"""The table of each change, ALTER and its error, CREATE OR REPLACE and its error; empty for none.

After a build dbt sets NOT NULL by ALTER. No statement changes partitions in place."""


def changed(shop: Shop, change: str) -> tuple[str, str]:
    """Make a change in the manifest of the head; return its models."""
    if change == REMOVED:
        for model in ("payments", "notes"):
            del shop.manifest["nodes"][f"model.shop.{model}"]
        return "payments", "notes"
    model = CHANGES[change][0]
    for name in (model, f"{model}_replaced"):
        node = shop.model(name)
        columns: dict[str, Any] = node["columns"]
        match change:
            case "decimal(12,2) to decimal(5,2)":
                columns["amount"]["data_type"] = "decimal(5,2)"
            case "the same inside a struct":
                type_ = columns["address"]["data_type"]
                columns["address"]["data_type"] = type_.replace("decimal(10,2)", "decimal(5,2)")
            case "int to bigint":
                columns["customer_id"]["data_type"] = "bigint"
            case "int to integer":
                columns["customer_id"]["data_type"] = "integer"
            case "a new NOT NULL":
                columns["placed_at"]["constraints"] = [{"type": "not_null"}]
            case "a dropped column":
                del columns["customer"]
            case "a renamed column":
                node["columns"] = {
                    key: {**column, "name": "buyer"} if key == "customer" else column
                    for key, column in columns.items()
                }
            case "other partitions":
                node["config"]["partition_by"] = ["kind"]
    return model, f"{model}_replaced"


def verdicts(report: Any) -> dict[str, list[str]]:  # noqa: ANN401 (JSON)
    """Return the codes and severities of the findings of each table."""
    found: dict[str, list[str]] = {}
    for finding in report["findings"]:
        found.setdefault(finding["table"].partition(".")[2], []).append(
            f"{finding['severity']} {finding['code']}"
        )
    return {table: sorted(each) for table, each in found.items()}


def dbt_says() -> dict[str, str]:
    """Return what dbt says of each change."""
    answers: dict[str, str] = yaml.safe_load((HERE / "answers.yaml").read_text("utf-8"))
    return {
        change: "breaking" if "Breaking" in text else "not selected" if "No nodes" in text else "modified"
        for change, text in answers.items()
    }


def test_the_page_shows_the_verdicts(shop: Shop) -> None:
    rows = []
    says = dbt_says()
    original = shop.manifest
    for change in (*CHANGES, REMOVED):
        shop.manifest = json.loads(json.dumps(original))
        models = changed(shop, change)
        shop.parse()
        found = verdicts(shop.compare())
        ours = [", ".join(map(_linked, found.get(model, []))) or "nothing" for model in models]
        engine = ENGINE.get(change)
        by_engine = (
            [f"`{error}`" if error else "accepts" for error in (engine[2], engine[4])] if engine else []
        )
        if change == "other partitions":
            by_engine[0] = "no statement"
        rows.append(
            " | ".join([change, says[change], *ours, *(by_engine or ["does nothing", "does nothing"])])
        )
    page = (DOCS / "dbt.md").read_text("utf-8") if (DOCS / "dbt.md").exists() else ""
    head, _, rest = page.partition(_TABLE)
    table = _TABLE + "".join(f"| {row} |\n" for row in rows)
    after = rest.partition("\n\n")[2]
    assert_golden(f"{head}{table}\n{after}", DOCS / "dbt.md")


_TABLE: Final = (
    "| change | dbt | incremental model | table model | Delta: ALTER | Delta: CREATE OR REPLACE |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
)


def _linked(verdict: str) -> str:
    severity, code = verdict.split()
    return f"{severity} [{code}](rules/{code.lower()}.md)"


@pytest.mark.parametrize("change", [*CHANGES, REMOVED])
def test_the_same_change_of_native_contracts_has_the_same_verdict(
    shop: Shop, project: Project, change: str
) -> None:
    names = changed(shop, change)
    base = (HERE / "manifests/v12.json").read_bytes()
    shop.parse()
    head = (shop.repo.path / "target/manifest.json").read_bytes()
    of_dbt = verdicts(shop.compare())
    project.repo.write("schemalint.toml", "")
    for data in (base, head):
        shutil.rmtree(project.repo.path / "contracts", ignore_errors=True)
        settings = ContractsEntry("target/manifest.json", "dbt")
        for contract in read_made(Source("target/manifest.json", data, settings)).contracts:
            name = contract.table.partition(".")[2]
            if name in names:
                plain = replace(contract, consumers=())
                project.declare(contracts.print_contract(plain), f"contracts/{name}.yml")
        if data is base:
            project.repo.commit()
    run = project.run("check", "--output-format", "json")
    assert verdicts(yaml.safe_load(run.out)) == of_dbt


@pytest.mark.spark
@pytest.mark.each_time("decimal(12,2) to decimal(5,2)")
@pytest.mark.parametrize("change", ENGINE)
def test_the_engine_answers_as_the_page_says(spark: SparkSession, tmp_path: Path, change: str) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    model, alter, alter_error, query, query_error = ENGINE[change]
    table = f"delta.`{tmp_path / model}`"

    def error(statement: str) -> str:
        try:
            spark.sql(statement).collect()
        except PySparkException as refusal:
            return str(refusal.getCondition())
        return ""

    partitions = "PARTITIONED BY (day)" if model == "events" else ""
    spark.sql(f"CREATE TABLE {table} ({COLUMNS[model]}) USING delta {partitions}")
    if alter:
        assert error(f"ALTER TABLE {table} {alter}") == alter_error
    layout = "PARTITIONED BY (kind)" if model == "events" else ""
    selected = query or _ORDERS.format(amount=_AMOUNT, customer="customer")
    built = error(f"CREATE OR REPLACE TABLE {table} USING delta {layout} AS SELECT {selected}")
    assert built == ("" if not query else query_error)
    if not query:
        assert error(f"ALTER TABLE {table} {alter}") == query_error


@pytest.mark.dbt
@pytest.mark.parametrize("change", [*CHANGES, REMOVED])
def test_a_real_dbt_makes_the_manifest_that_is_judged(shop: Shop, tmp_path: Path, change: str) -> None:
    """``SCHEMALINT_DBT`` names a dbt with dbt-spark in an environment of its own; it connects to nothing."""
    dbt = os.environ.get("SCHEMALINT_DBT") or skip_or_fail("SCHEMALINT_DBT names no dbt")
    expected_of = changed(shop, change)
    shop.parse()
    expected = verdicts(shop.compare())
    project = tmp_path / "shop"
    shutil.copytree(HERE / "shop", project)
    edit(project, change)
    env = {**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    subprocess.run([dbt, "parse"], cwd=project, env=env, check=True, capture_output=True)
    shutil.copy(project / "target/manifest.json", shop.repo.path / "target")
    assert verdicts(shop.compare()) == expected
    assert {*expected} <= {*expected_of}
