"""Contracts that extend a declaration of dbt: both are one contract, with positions in two files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.shop import Shop

BASE = ("--base-from", "dbt:../state/manifest.json")
OVERLAY = """\
schemalint: 1
table: sales.orders
extends: dbt
"""
RENAME = OVERLAY + "properties: {delta.columnMapping.mode: name}\nprotocol: {allow_upgrade: true}\n"


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """The shop, whose configuration has native contracts too."""
    shop.repo.write(
        "schemalint.toml", 'contracts = ["contracts/**", {path = "target/manifest.json", format = "dbt"}]\n'
    )
    shop.declare(RENAME)
    shop.repo.commit()
    return shop


def test_an_overlay_alone_changes_nothing(shop: Shop) -> None:
    assert shop.check(*BASE, "--all").codes == []
    assert shop.check(*BASE).codes == []


def test_it_names_the_old_name_of_a_column(shop: Shop) -> None:
    """Without it the column is dropped, and another one is new."""
    columns = shop.model("orders")["columns"]
    columns["customer"]["name"] = "buyer"
    shop.parse()
    assert "CM003" in shop.check(*BASE).codes
    shop.declare(RENAME + "renamed_from: {buyer: customer}\n")
    assert "CM003" not in shop.check(*BASE).codes
    assert "CM016" in shop.check(*BASE).codes


def test_its_exceptions_count_and_its_drops(shop: Shop) -> None:
    del shop.model("orders")["columns"]["customer"]
    shop.parse()
    shop.declare(RENAME + "dropped: [customer]\n")
    assert "CM003" not in shop.check(*BASE).codes


def test_its_consumers_are_asked(shop: Shop) -> None:
    shop.declare(RENAME + 'consumers: [{name: board, owner: "@bi"}]\n')
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    assert "board (@bi)" in shop.run("check", *BASE).out


def test_an_exception_of_it_approves_a_finding(shop: Shop) -> None:
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    shop.declare(
        RENAME + 'allow: [{rule: TW003, column: amount, from: "decimal(12,2)", to: "decimal(5,2)", '
        "via: rewrite, reason: all fit}]\n"
    )
    run = shop.check(*BASE)
    assert (run.status, "TW003 error" in run.out) == (0, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OVERLAY.replace("orders", "orderz"), "no file of dbt declares sales.orderz"),
        (OVERLAY.replace("dbt", "odcs"), "no file of odcs declares sales.orders"),
        (OVERLAY + "renamed_from: {buyer: customer}\n", "dbt declares no column buyer in sales.orders"),
        (OVERLAY.replace("orders", "baskets_replaced") + "properties: {delta.enableChangeDataFeed: false}\n",
         "delta.enableChangeDataFeed is false here, and true in the declaration of dbt"),
        (OVERLAY + "columns: []\n", 'unknown key "columns" in a contract that extends another one'),
        (OVERLAY.replace("extends: dbt\n", ""), '"columns" is missing in a contract'),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_error(shop: Shop, text: str, message: str) -> None:
    shop.declare(text)
    run = shop.check(*BASE)
    assert (run.status, message in run.out) == (2, True)


def test_an_overlay_without_the_file_of_another_tool_is_an_error(shop: Shop) -> None:
    shop.repo.write("schemalint.toml", 'contracts = ["contracts/**"]\n')
    shop.declare(RENAME + "owner: someone\n")
    assert "no file of dbt declares sales.orders" in shop.check().out


def test_a_contract_that_declares_the_table_again_is_a_duplicate(shop: Shop) -> None:
    shop.declare(
        "schemalint: 1\ntable: sales.payments\ncolumns: [{name: payment_id, type: bigint}]\n",
        "contracts/p.yml",
    )
    run = shop.check(*BASE)
    assert "CT002" in run.codes
    assert run.status == 1


def test_an_exception_that_approves_nothing_is_removed_from_the_overlay(shop: Shop) -> None:
    """Its document is that of the overlay, whichever model of the manifest it extends."""
    unused = '{rule: TW003, column: amount, from: "decimal(12,2)", to: "decimal(5,2)", reason: all fit}'
    for table in ("orders", "payments", "baskets_replaced"):
        shop.declare(OVERLAY.replace("orders", table) + f"allow:\n  - {unused}\n", f"contracts/{table}.yml")
    shop.repo.commit()
    run = shop.run("check", *BASE, "--all", "--fix")
    assert run.status == 0
    for table in ("orders", "payments", "baskets_replaced"):
        assert "allow" not in (shop.repo.path / f"contracts/{table}.yml").read_text()


def test_the_exception_that_is_needed_stays(shop: Shop) -> None:
    """The second round of fixes reads the overlay that the first one has left."""
    shop.column("orders", "amount")["data_type"] = "decimal(5,2)"
    shop.parse()
    unused = "{rule: TW002, column: customer, from: string, to: int, via: rewrite, reason: all fit}"
    narrowed = 'from: "decimal(12,2)", to: "decimal(5,2)"'
    needed = f"{{rule: TW003, column: amount, {narrowed}, via: rewrite, reason: all fit}}"
    shop.declare(RENAME + f"allow:\n  - {unused}\n  - {needed}\n")
    run = shop.run("check", *BASE, "--fix")
    text = (shop.repo.path / "contracts/orders.yml").read_text()
    assert ("TW002" in text, "TW003" in text, run.status) == (False, True, 0)
