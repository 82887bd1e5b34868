"""`schemalint audit` of the live tables of a dbt project."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.shop import Shop

CONFIGURATION = (
    'contracts = ["contracts/**", {path = "target/manifest.json", format = "dbt"}]\n'
    '[targets.prod]\nroot = "lake"\n'
)
NATIVE = "schemalint: 1\ntable: sales.by_hand\ncolumns: [{name: id, type: bigint}]\n"


@pytest.fixture
def lake(shop: Shop) -> Shop:
    """The shop beside a lake, in which a model that is built anew has a table that allows appends only."""
    shop.repo.write(".gitignore", "target/\nlake/\n")
    shop.repo.write("schemalint.toml", CONFIGURATION)
    shop.declare(NATIVE, "contracts/by_hand.yml")
    shop.repo.commit()
    properties = {"delta.appendOnly": "true"}
    for table in ("orders", "orders_replaced", "by_hand"):
        created = [protocol(), metadata(Field("id", LONG), properties=properties)]
        write_log(shop.repo.path / "lake/sales" / table, [[commit_info("CREATE TABLE"), *created]])
    return shop


def audit(lake: Shop, *arguments: str) -> Any:  # noqa: ANN401 (a report, as JSON has it)
    """Return the report of an audit."""
    return json.loads(lake.run("audit", "--target", "prod", "--output-format", "json", *arguments).out)


def test_a_table_that_dbt_builds_anew_is_judged_as_one(lake: Shop) -> None:
    report = audit(lake, "sales.orders", "sales.orders_replaced", "sales.by_hand")
    (finding,) = (finding for finding in report["findings"] if finding["code"] == "RB009")
    assert (finding["table"], finding["location"]["file"]) == ("sales.orders_replaced", "models/schema.yml")
    assert report["errors"] == []
    assert (
        "or approve: in a new file exceptions.yaml"
        in lake.run("audit", "--target", "prod", "--root", "lake").out
    )


def test_all_tables_of_the_manifest_are_audited_and_missing_ones_are_errors(lake: Shop) -> None:
    run = lake.run("audit", "--target", "prod", "--root", "lake")
    assert (run.status, "RB009" in run.out, run.out.count("RB008")) == (1, True, 0)
    assert "not compared: 1 ephemeral, 1 model in parquet, 1 seed, 1 view" in run.err
    assert "judged with the columns of their live tables: 3 models without an enforced contract" in run.err
    run = lake.run("audit", "--target", "prod", "--all")
    assert (run.status, "lake/sales/payments" in run.out) == (2, True)


def test_contracts_add_to_the_tables_of_a_manifest(lake: Shop) -> None:
    allow = "{rule: RB009, property: delta.appendOnly, via: rewrite, reason: altered by hand}"
    lake.declare(f"schemalint: 1\ntable: sales.orders_replaced\nextends: dbt\nallow: [{allow}]\n")
    report = audit(lake, "--root", "lake")
    assert (report["findings"], report["errors"]) == ([], [])


def test_a_table_that_two_declare_is_an_error(lake: Shop) -> None:
    lake.declare(NATIVE.replace("by_hand", "orders"))
    errors = audit(lake, "--root", "lake")["errors"]
    assert [error["message"] for error in errors] == ["sales.orders is declared twice"]


def test_a_manifest_that_is_not_there_is_an_error(lake: Shop) -> None:
    (lake.repo.path / "target/manifest.json").unlink()
    errors = audit(lake, "--root", "lake")["errors"]
    assert [error["message"] for error in errors] == ["target/manifest.json does not exist"]
