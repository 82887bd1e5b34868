"""`export`: the contracts of a target for jobs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from schemalint.contract import read
from schemalint.guard.contracts import contracts_of
from schemalint.model.effective import Environment, effective
from schemalint.model.marker import declaration_hash
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = """\
schemalint: 1
table: sales.orders
owner: sales@example.org
description: all orders
open: {widening: true}
columns:
  - {name: id, type: bigint, nullable: false, comment: the key}
  - {name: lines, type: 'array<struct<qty: int>>'}
targets:
  dev: {properties: {team: shop}}
"""
SETTINGS = '[targets.dev]\nroot = "lake"\n\n[targets.main]\ncatalog = "main"\n'


def test_the_contracts_of_a_target_are_what_counts_there_without_what_jobs_do_not_need(
    project: Project, tmp_path: Path
) -> None:
    project.declare(CONTRACT)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()
    file = tmp_path / "contracts.json"
    run = project.run("export", "--target", "dev", "--out", str(file))
    assert (run.status, run.out) == (0, "")
    assert run.err == f"1 contracts of target dev in {file}\n"
    text = file.read_text()
    schema = json.loads(project.run("schema", "guard").out)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(text))
    assert not Draft202012Validator(schema).is_valid(_with_another_key(json.loads(text)))
    assert not any(word in text for word in ("the key", "all orders", "sales@example.org"))
    packed = contracts_of(file).tables["sales.orders"]
    assert packed.location == f"{project.repo.path}/lake/sales/orders"
    assert packed.contract.open.widening
    assert packed.contract.state.properties == {"team": "shop"}
    assert [field.name for field in packed.contract.state.columns.fields] == ["id", "lines"]


def _with_another_key(contracts: dict[str, Any]) -> dict[str, Any]:
    contracts["tables"][0]["owner"] = "sales@example.org"
    return contracts


def test_a_name_in_another_catalog_is_another_table(project: Project) -> None:
    project.declare(CONTRACT)
    project.declare(ORDERS.replace("sales.orders", "main.sales.items"), "contracts/items.yml")
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()
    of_catalog = contracts_of(json.loads(project.run("export", "--target", "main").out))
    names = ("sales.orders", "MAIN.`sales`.orders", "sales.items", "main.sales.items")
    assert [found and found.contract.table for found in map(of_catalog.find, names)] == [
        "sales.orders", "sales.orders", "main.sales.items", "main.sales.items",
    ]  # fmt: skip
    others = ("dev.sales.orders", "dev.sales.items", "spark_catalog.sales.orders", "other.orders", "orders")
    assert [of_catalog.find(name) for name in others] == [None] * 5


def test_a_target_without_a_catalog_has_the_tables_of_sparks_own(project: Project) -> None:
    project.declare(CONTRACT)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()
    contracts = contracts_of(json.loads(project.run("export", "--target", "dev").out))
    assert contracts.find("spark_catalog.sales.orders") is contracts.find("sales.orders") is not None
    assert contracts.find("main.sales.orders") is None


def test_the_hash_is_that_of_the_marker_that_apply_leaves(project: Project) -> None:
    project.declare(CONTRACT)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()
    (entry,) = json.loads(project.run("export", "--target", "main").out)["tables"]
    (contract,) = read("orders.yml", CONTRACT).contracts
    assert entry["hash"] == declaration_hash(effective(contract, Environment("main")))
    assert entry["location"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no target given"),
        (("--target", "prod"), "there is no target 'prod'"),
        (("--target", "dev", "--out", "nowhere/contracts.json"), "nowhere/contracts.json"),
    ],
)
def test_what_cannot_be_exported_is_one_error(
    project: Project, arguments: tuple[str, ...], message: str
) -> None:
    project.declare(ORDERS)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()
    run = project.run("export", *arguments)
    assert run.status == 2
    assert message in run.err


def test_a_contract_that_cannot_be_read_is_not_left_out(project: Project) -> None:
    project.declare(ORDERS)
    project.declare("schemalint: 1\ntable: sales.items\ncolumns: 7\n", "contracts/items.yml")
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()
    run = project.run("export", "--target", "dev")
    assert (run.status, run.out) == (2, "")
    assert "contracts/items.yml" in run.err
