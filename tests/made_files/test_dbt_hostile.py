"""What a manifest of the head can hide: the change's own code makes it. Each is found, or said."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.shop import Shop

BASE = ("--base-from", "dbt:../state/manifest.json")
NAMED = (
    'contracts = [{path = "target/manifest.json", format = "dbt", '
    'models = ["models/refunds.sql", "models/no_types.sql"]}]\n'
)


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in CI."""
    monkeypatch.setenv("CI", "true")


def _config(**values: object) -> Callable[[Shop], None]:
    return lambda shop: shop.model("orders")["config"].update(values)


def _node(**values: object) -> Callable[[Shop], None]:
    return lambda shop: shop.model("orders").update(values)


def _disable(shop: Shop) -> None:
    node = shop.manifest["nodes"].pop("model.shop.orders")
    shop.manifest["disabled"] = {"model.shop.orders": [node]}


def _another_id(shop: Shop) -> None:
    node = shop.manifest["nodes"].pop("model.shop.orders")
    del node["columns"]["customer"]
    shop.manifest["nodes"]["model.shop.other"] = {**node, "unique_id": "model.shop.other"}


def _twin(shop: Shop, **values: object) -> None:
    """Hide the model behind another one that claims to be it, as it was."""
    twin = json.loads(json.dumps(shop.model("orders")))
    shop.manifest["nodes"]["model.shop.twin"] = {**twin, **values}
    del shop.model("orders")["columns"]["customer"]


def _twin_for_another_id(shop: Shop) -> None:
    _twin(shop, alias="zzz")
    nodes: dict[str, Any] = shop.manifest["nodes"]
    nodes["model.shop.orders"]["unique_id"] = "model.shop.another"


def _twin_in_the_schema_of_the_base(shop: Shop) -> None:
    _twin(shop)
    for name, node in shop.manifest["nodes"].items():
        if name != "model.shop.twin":
            node["schema"] = "pr_17"


def _all_of_another_adapter(shop: Shop) -> None:
    shop.manifest["metadata"]["adapter_type"] = "duckdb"


REMOVED = "CT001 error the contract was removed"


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        (lambda shop: shop.column("orders", "amount").update(data_type=None), "amount has no data_type"),
        (_config(contract={"enforced": False}), f"{REMOVED}: model orders is without an enforced contract"),
        (_config(contract=None), f"{REMOVED}: model orders is without an enforced contract"),
        (_config(materialized="view"), f"{REMOVED}: model orders is materialized as view"),
        (_config(materialized="of_ours"), f"{REMOVED}: model orders is materialized as of ours"),
        (_config(materialized="table"), "RB007 warning dbt builds the table anew from now on"),
        (_config(full_refresh=True), "RB007 warning dbt builds the table anew from now on"),
        (_config(file_format="parquet"), f"{REMOVED}: model orders is in parquet"),
        (_config(file_format=None), f"{REMOVED}: model orders is in parquet"),
        (_config(table_format="iceberg"), f"{REMOVED}: model orders is in iceberg"),
        (_node(alias="orders_2"), "CT001 error dbt builds sales.orders_2 from now on"),
        (_node(schema="other"), "CT001 error dbt builds other.orders from now on"),
        (_node(database="lake"), "CT001 error dbt builds lake.sales.orders from now on"),
        (_node(resource_type="test"), REMOVED),
        (_node(columns=None), "CM003 error customer is gone"),
        (_node(macro_sql="a key by which macros are dropped"), REMOVED),
        (_disable, f"{REMOVED}: model.shop.orders is disabled"),
        (_another_id, "CM003 error customer is gone"),
        (lambda shop: _twin(shop, alias="zzz"), "CM003 error customer is gone"),
        (_twin, "sales.orders is the table of two models"),
        (_twin_for_another_id, "CM003 error customer is gone"),
        (_twin_in_the_schema_of_the_base, "sales.orders is the table of two declarations"),
        (_all_of_another_adapter, "made for the adapter duckdb, and that of the base for the adapter spark"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("ci")
def test_a_manifest_hides_no_table(shop: Shop, attack: Callable[[Shop], None], says: str) -> None:
    attack(shop)
    shop.parse()
    run = shop.check(*BASE, "--against", "HEAD")
    assert says in run.out + run.err


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        (lambda shop: shop.column("refunds", "amount").update(data_type=None), "CM003 error amount is gone"),
        (lambda shop: shop.model("refunds").update(original_file_path="models/x/refunds.sql"), REMOVED),
        (lambda shop: shop.column("refunds", "amount").update(data_type="decimal(5,2)"), "TW003 error"),
        (lambda shop: shop.repo.write("schemalint.toml", NAMED.replace("refunds", "x")),
         "CF001 warning contracts.models loses models/refunds.sql"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("ci")
def test_a_change_takes_no_model_out_of_the_globs(
    shop: Shop, attack: Callable[[Shop], None], says: str
) -> None:
    shop.repo.write("schemalint.toml", NAMED)
    shop.repo.commit()
    base = shop.repo.head()
    attack(shop)
    shop.repo.commit()
    shop.parse()
    run = shop.check(*BASE, "--against", base)
    assert says in run.out


@pytest.mark.usefixtures("ci")
def test_observed_types_are_those_of_the_base(shop: Shop) -> None:
    """A catalog beside the head's manifest is the change's own."""
    shop.repo.write("schemalint.toml", NAMED)
    shop.repo.commit()

    def catalog(type_: str) -> str:
        columns = {"amount": {"name": "amount", "type": type_, "index": 1}}
        return json.dumps({"nodes": {"model.shop.no_types": {"columns": columns}}})

    shop.repo.write("../state/catalog.json", catalog("decimal(12,2)"))
    shop.repo.write("target/catalog.json", catalog("decimal(5,2)"))
    assert shop.check(*BASE, "--against", "HEAD").codes == []
    shop.column("no_types", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    assert shop.check(*BASE, "--against", "HEAD").codes == ["TW003"]


def test_a_schema_of_a_pull_request_is_said(shop: Shop) -> None:
    for node in shop.manifest["nodes"].values():
        node["schema"] = node["schema"].replace("sales", "pr_17")
    shop.parse()
    run = shop.check(*BASE)
    assert run.status == 0
    assert (
        "judged as the tables of the base, which it builds elsewhere: sales as pr_17, sales_marts as"
        in run.err
    )


@pytest.mark.usefixtures("ci")
def test_a_manifest_that_the_change_commits_is_not_that_of_dbt_parse(shop: Shop) -> None:
    """``target-path`` of the project lets dbt write somewhere else."""
    shop.repo.write(".gitignore", "")
    base = shop.repo.head()
    shop.parse()
    shop.repo.commit()
    run = shop.check(*BASE, "--against", base)
    assert (run.status, "is as git has it, and not of this run" in run.out) == (2, True)
    shop.parse()  # dbt parse of this run
    assert shop.check(*BASE, "--against", base).status == 0


@pytest.mark.usefixtures("ci")
def test_a_committed_manifest_that_stays_behind_its_project_is_an_error(shop: Shop) -> None:
    shop.repo.write(".gitignore", "")
    shop.repo.commit()
    base = shop.repo.head()
    shop.repo.write("models/orders.sql", "select 2 as order_id")
    shop.repo.commit()
    run = shop.check("--against", base)
    assert (run.status, "is that of the base, and the project differs" in run.out) == (2, True)


@pytest.mark.parametrize("side", [(), ("--head", "index")], ids=["working tree", "index"])
def test_a_committed_manifest_is_behind_what_is_not_committed(shop: Shop, side: tuple[str, ...]) -> None:
    """An edited file, a new one and a removed one; not what dbt writes beside its manifest."""
    stale = "target/manifest.json is that of the base, and the project differs: run dbt parse"
    shop.repo.write(".gitignore", "")
    shop.repo.commit()
    for folder in ("compiled", "run"):
        shop.repo.write(f"target/{folder}/shop/models/orders.sql", "select 1")
    shop.repo.write("dbt_packages/utils/models/one.yml", "version: 2")
    shop.repo.git("add", "--all")
    assert stale not in shop.check(*side).out
    for edit in (
        lambda: shop.repo.write("models/orders.sql", "select 2 as order_id"),
        lambda: shop.repo.write("models/fees.sql", "select 1 as fee_id"),
        lambda: shop.repo.git("rm", "--quiet", "models/payments.sql"),
    ):
        edit()
        shop.repo.git("add", "--all")
        run = shop.check(*side)
        assert stale in run.out
        shop.repo.git("reset", "--quiet", "--hard")
    shop.repo.write("models/fees.sql", "select 1 as fee_id")  # git does not know it yet
    assert (stale in shop.check(*side).out) == (not side)


def test_a_manifest_that_is_older_than_the_yaml_is_not_compared(shop: Shop) -> None:
    file, later = shop.repo.path / "models/schema.yml", time.time() + 60
    os.utime(file, (later, later))
    run = shop.check(*BASE)
    assert "target/manifest.json is older than models/schema.yml: run dbt parse" in run.out


def test_another_model_in_the_same_file_is_not_the_removed_one(shop: Shop) -> None:
    node = shop.manifest["nodes"].pop("model.shop.payments")
    shop.manifest["nodes"]["model.shop.fees"] = {
        **node, "unique_id": "model.shop.fees", "name": "fees", "alias": "fees"
    }  # fmt: skip
    shop.parse()
    run = shop.check(*BASE)
    assert (run.codes, "sales.fees" in run.out) == (["CT001"], False)


OVERLAY = """\
schemalint: 1
table: sales.orders
extends: dbt
properties: {delta.enableTypeWidening: true}
consumers: [{name: silver, owner: "@bi", stream: {checkpoint: /checkpoints/silver}}]
"""


@pytest.mark.parametrize("rest", [None, "schemalint: 1\n: [", "nothing: 1\n"])
@pytest.mark.usefixtures("ci")
def test_an_overlay_that_goes_away_does_so_audibly(shop: Shop, rest: str | None) -> None:
    shop.repo.write(
        "schemalint.toml", 'contracts = ["contracts/**", {path = "target/manifest.json", format = "dbt"}]\n'
    )
    file = shop.declare(OVERLAY)
    shop.repo.commit()
    base = shop.repo.head()
    file.unlink()
    if rest is not None:
        shop.declare(rest)
    shop.column("orders", "amount")["data_type"] = "decimal(14,2)"
    shop.parse()
    run = shop.check(*BASE, "--against", base)
    assert "delta.enableTypeWidening is no longer declared" in run.out
    assert "silver (@bi, removed in this change)" in run.out
    assert run.status == (0 if rest is None else 2)  # as of a native contract that loses these lines


@pytest.mark.usefixtures("ci")
def test_a_model_with_an_error_is_not_removed(shop: Shop) -> None:
    shop.column("orders", "amount")["data_type"] = "money"
    shop.column("payments", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    run = shop.check(*BASE, "--against", "HEAD")
    assert (run.status, run.codes) == (2, ["TW003", "failure"])
    assert "column amount has no type of Spark" in run.out


def test_a_file_that_is_cut_off_removes_no_model(shop: Shop) -> None:
    shop.repo.write("target/manifest.json", "{")
    run = shop.check(*BASE)
    assert (run.status, run.codes) == (2, ["failure"])


def test_a_model_with_an_error_in_the_base_is_said_to_be_new(shop: Shop) -> None:
    shop.repo.write(".gitignore", "")
    shop.column("orders", "amount")["data_type"] = "money"
    shop.parse()
    shop.repo.commit()
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    assert "sales.orders: its declaration in the base has an error: judged as new" in shop.run("check").out


def test_readers_that_the_change_takes_away_are_named(shop: Shop) -> None:
    shop.manifest.update(child_map={}, exposures={})
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    assert "read by dashboard revenue_board (Finance)" in shop.run("check", *BASE).out
