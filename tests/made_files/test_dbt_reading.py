"""Manifests of dbt as contracts: what is read, what is counted, and one clear error for each fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.contract.made_files import MadeReading, Source, read_made
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.type_text import print_type
from schemalint.project.config.contracts_entry import ContractsEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schemalint.model.contract import Contract

HERE = Path(__file__).parent
Manifest = dict[str, Any]


def read(
    manifest: Manifest | bytes, files: Mapping[str, bytes] | None = None, models: tuple[str, ...] = ()
) -> MadeReading:
    """Read a manifest, with the YAML of the project beside it."""
    data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()

    def beside(path: str) -> bytes | None:
        file = HERE / "shop" / path
        return (files or {}).get(path) or (file.read_bytes() if file.is_file() else None)

    return read_made(
        Source(
            "target/manifest.json", data, ContractsEntry("target/manifest.json", "dbt", models=models), beside
        )
    )


def table(reading: MadeReading, name: str) -> Contract:
    """Return the contract of a table."""
    return next(contract for contract in reading.contracts if contract.table == name)


@pytest.mark.parametrize("version", ["v10", "v11", "v12", "v12-of-dbt-1.12"])
def test_models_with_an_enforced_contract_are_read_and_the_rest_is_counted(
    manifest: Callable[[str], Manifest], version: str
) -> None:
    found = read(manifest(version))
    assert found.errors == ()
    assert [contract.table for contract in found.contracts if contract.managed_how == "alter"] == [
        "sales.orders", "sales.payments", "sales.customers", "sales.events", "sales.baskets",
    ]  # fmt: skip
    assert len(found.contracts) == 14
    assert found.left_out == (
        "1 ephemeral", "1 model in parquet", "1 seed", "1 view",
    )  # fmt: skip
    assert found.without_contract == (
        "3 models without an enforced contract and not named in `models`",
        "1 snapshot without an enforced contract and not named in `models`",
    )


@pytest.mark.parametrize("version", ["v10", "v11", "v12-of-dbt-1.12"])
def test_other_versions_of_dbt_say_the_same(manifest: Callable[[str], Manifest], version: str) -> None:
    """Those of dbt 1.6.19, 1.7.20, 1.11.16 and 1.12.6, each of the same project."""
    assert read(manifest(version)).contracts == read(manifest("v12")).contracts


def test_keys_that_nobody_knows_yet_are_tolerated(manifest: Callable[[str], Manifest]) -> None:
    made, known = manifest("v12"), read(manifest("v12")).contracts
    for section in (made, made["metadata"], *made["nodes"].values()):
        section["of_tomorrow"] = {"a": [1, None]}
    for node in made["nodes"].values():
        for described in (node["config"], *node.get("columns", {}).values()):
            described["of_tomorrow"] = [{}]
    assert read(made).contracts == known


def test_what_a_model_declares(manifest: Callable[[str], Manifest]) -> None:
    found = read(manifest("v12"))
    customers = table(found, "sales.customers").state.columns.fields
    assert [(field.name, print_type(field.type), field.nullable) for field in customers] == [
        ("customer_id", "int", False),
        ("name", "string", True),
        ("address", "struct<street: string, balance: decimal(10,2), zip: int>", True),
    ]
    assert table(found, "sales.events_replaced").state.partitioned_by == ("day",)
    assert table(found, "sales.baskets_replaced").state.properties == {"delta.enableChangeDataFeed": "true"}
    assert table(found, "sales_marts.sales_by_day").owner == "@finance"
    assert [print_type(field.type) for field in table(found, "sales.prices_v2").state.columns.fields] == [
        "bigint", "decimal(12,2)",
    ]  # fmt: skip
    notes = table(found, "sales.notes")
    assert (notes.state.description, notes.state.columns.fields[0].comment) == (
        "Notes of agents",
        "Number of the note",
    )
    assert table(found, "sales.orders").state.description is UNMANAGED  # persist_docs is off


def test_checks_of_columns_count_where_the_adapter_makes_them(manifest: Callable[[str], Manifest]) -> None:
    """dbt-spark makes CHECK constraints of models only, dbt-databricks those of columns too."""
    made = manifest("v12")
    assert table(read(made), "sales.payments").state.constraints == {}
    made["metadata"]["adapter_type"] = "databricks"
    assert table(read(made), "sales.payments").state.constraints == {"positive": "amount > 0"}


def test_clustering_is_unmanaged_where_the_adapter_cannot_say_it(manifest: Callable[[str], Manifest]) -> None:
    made = manifest("v12")
    assert table(read(made), "sales.orders").state.clustered_by is UNMANAGED
    made["metadata"]["adapter_type"] = "databricks"
    made["nodes"]["model.shop.orders"]["config"]["liquid_clustered_by"] = "order_id"
    assert table(read(made), "sales.orders").state.clustered_by == (("order_id",),)
    assert table(read(made), "sales.payments").state.clustered_by == ()
    made["nodes"]["model.shop.payments"]["config"]["auto_liquid_cluster"] = True
    assert table(read(made), "sales.payments").state.clustered_by is UNMANAGED


def test_what_dbt_does_when_columns_differ(manifest: Callable[[str], Manifest]) -> None:
    """A snapshot gets new columns, whatever is configured (`spark__create_columns` and its neighbours)."""
    made = manifest("v12")
    del made["nodes"]["model.shop.events"]["config"]["on_schema_change"]
    found = read(made, models=("snapshots",))
    says = {contract.table: contract.on_column_change for contract in found.contracts}
    assert (says["sales.orders"], says["sales.events"]) == ("append", "ignore")
    assert (says["sales.orders_replaced"], says["snapshots.orders_snapshot"]) == (None, "append")


def test_readers_are_models_and_dashboards_through_views(manifest: Callable[[str], Manifest]) -> None:
    made = manifest("v12")
    made["child_map"]["model.shop.recent_orders"] = ["model.shop.notes", "test.shop.unique_orders"]
    readers = table(read(made), "sales.orders").consumers
    assert [reader.described for reader in readers] == [
        "dashboard revenue_board (Finance)", "model orders_replaced", "model recent_orders",
        "snapshot orders_snapshot", "model notes",
    ]  # fmt: skip


CATALOG = {
    "nodes": {
        "model.shop.no_types": {
            "columns": {
                "AMOUNT": {"name": "amount", "type": "decimal(12,2)", "index": 2},
                "ID": {"name": "id", "type": "bigint", "index": 1},
                "seen": {"name": "seen", "type": "timestamp", "index": 3},
            }
        }
    }
}


def test_types_that_no_model_declares_are_observed(manifest: Callable[[str], Manifest]) -> None:
    models = ("path:models/no_types.sql",)
    found = read(manifest("v12"), {"target/catalog.json": json.dumps(CATALOG).encode()}, models=models)
    fields = table(found, "sales.no_types").state.columns.fields
    assert [(field.name, print_type(field.type)) for field in fields] == [
        ("id", "bigint"), ("amount", "decimal(12,2)"), ("seen", "timestamp"),
    ]  # fmt: skip
    assert found.observed["sales.no_types"] == {"id", "amount", "seen"}
    without = read(manifest("v12"), models=models)
    assert "2 columns without a type of sales.no_types" in without.left_out


def test_positions_lead_into_the_yaml_of_the_project(manifest: Callable[[str], Manifest]) -> None:
    found = read(manifest("v12"))
    lines = (HERE / "shop/models/schema.yml").read_text("utf-8").splitlines()
    place = table(found, "sales.orders").anchors[("type", ("amount",))]
    assert lines[place.line - 1].strip() == 'data_type: "decimal(12,2)"'
    place = table(found, "sales.prices_v2").anchors[("type", ("price",))]
    assert lines[place.line - 1].strip() == "data_type: decimal(12,2)"


@pytest.mark.parametrize("text", [b"a: &x 1\nmodels: [*x]\n", b"models: {{ jinja }}\n", b"\xff"])
def test_yaml_that_is_not_read_costs_only_the_position(
    manifest: Callable[[str], Manifest], text: bytes
) -> None:
    found = read(manifest("v12"), {"models/schema.yml": text})
    assert found.errors == ()
    assert table(found, "sales.orders").anchors.get(("type", ("amount",))) is None


def _edited(manifest: Manifest, edit: Callable[[Manifest], object]) -> Manifest:
    edit(manifest)
    return manifest


def _set(*path: str, value: object) -> Callable[[Manifest], object]:
    def edit(manifest: Manifest) -> None:
        node: Any = manifest
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return edit


AMOUNT = ("nodes", "model.shop.orders", "columns", "amount", "data_type")


@pytest.mark.parametrize(
    ("edit", "message", "others"),
    [
        (_set("metadata", "dbt_schema_version", value="https://schemas.getdbt.com/dbt/manifest/v9.json"),
         "this manifest has version 9, and schemalint reads 10 to 12", 0),
        (_set("metadata", "dbt_schema_version", value="https://schemas.getdbt.com/dbt/manifest/v13.json"),
         "this manifest has version 13, and schemalint reads 10 to 12", 0),
        (_set("metadata", value={}), "this file is no manifest of dbt", 0),
        (_set(*AMOUNT, value=None), "model orders: column amount has no data_type", 13),
        (_set(*AMOUNT, value="money"), "model orders: column amount has no type of Spark: 'money'", 13),
        (_set("nodes", "model.shop.payments", "alias", value="orders"),
         "sales.orders is the table of two models: model.shop.orders and model.shop.payments", 13),
        (_set("nodes", "model.shop.orders", "alias", value=None), "model orders: its table has no name", 13),
        (_set("nodes", "model.shop.orders", "config", "liquid_clustered_by", value=["order_id", "a..b"]),
         "model orders: liquid_clustered_by names no column: 'a..b'", 13),
    ],
)  # fmt: skip
def test_a_fault_is_one_error_and_the_other_models_go_on(
    manifest: Callable[[str], Manifest], edit: Callable[[Manifest], object], message: str, others: int
) -> None:
    found = read(_edited(manifest("v12"), edit))
    assert [error.message.startswith(message) for error in found.errors] == [True]
    assert len(found.contracts) == others


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b"\xff", b'{"a": ' * 100_000, b"[" * 100_000, b"", b'{"metadata": 3}', b"null"]
)
def test_a_file_that_is_no_manifest_is_one_error(data: bytes) -> None:
    found = read(data)
    assert (len(found.errors), found.contracts) == (1, ())


def test_a_manifest_that_is_cut_off_is_one_error() -> None:
    data = (HERE / "manifests/v12.json").read_bytes()
    for length in range(0, len(data), len(data) // 40):
        found = read(data[:length])
        assert (len(found.errors), found.contracts) == (1, ())


def test_values_of_other_kinds_than_dbt_writes_never_end_the_run(manifest: Callable[[str], Manifest]) -> None:
    """Every value of a model, replaced by one of each kind: an error or a contract, and no exception."""
    original = manifest("v12")
    for path in _paths(original["nodes"]["model.shop.orders"], ("nodes", "model.shop.orders")):
        values: tuple[object, ...] = (None, 3, "x", [], {}, [[]], [{}], {"x": 1})
        for value in values:
            made = json.loads(json.dumps(original))
            _set(*path, value=value)(made)
            read(made)


def _paths(node: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:  # noqa: ANN401 (any JSON)
    items: Any = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(found for key, value in items for found in _paths(value, (*path, key)))]


def test_a_name_that_needs_quoting_is_quoted(manifest: Callable[[str], Manifest]) -> None:
    made = _edited(manifest("v12"), _set("nodes", "model.shop.orders", "alias", value="orders of 2026"))
    assert "sales.`orders of 2026`" in [contract.table for contract in read(made).contracts]
