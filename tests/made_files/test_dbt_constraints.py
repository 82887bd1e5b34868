"""CHECK constraints of dbt without a name: dbt makes one up, and they are compared by what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.datatype import LONG, STRING, TIMESTAMP, Decimal, Field
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.shop import Shop

BASE = ("--base-from", "dbt:../state/manifest.json")
ORDERS = (
    Field("order_id", LONG, nullable=False),
    Field("amount", Decimal(12, 2)),
    Field("customer", STRING),
    Field("placed_at", TIMESTAMP),
)


@pytest.fixture
def checked(shop: Shop) -> Shop:
    """The shop; the base has a check without a name in the table model of orders."""
    _declare(shop, {"type": "check", "expression": "amount > 0"})
    shop.parse("../state/manifest.json")
    return shop


def _declare(shop: Shop, *checks: dict[str, Any]) -> None:
    shop.model("orders_replaced")["constraints"] = list(checks)
    shop.parse()


def _messages(shop: Shop, *arguments: str) -> list[str]:
    return [f"{finding['code']} {finding['message']}" for finding in shop.compare(*arguments)["findings"]]


@pytest.mark.parametrize(
    "check",
    [
        {"type": "check", "expression": "amount > 0"},
        {"type": "check", "expression": "`AMOUNT`>0"},
        {"type": "check", "expression": "amount > 0", "name": "positive"},
    ],
)
def test_the_same_check_is_no_change(checked: Shop, check: dict[str, Any]) -> None:
    _declare(checked, check)
    assert _messages(checked) == []


def test_a_changed_check_is_named_by_what_it_says(checked: Shop) -> None:
    _declare(checked, {"type": "check", "expression": "amount >= 0"})
    gone, added = _messages(checked)
    assert gone.startswith("RB003 the constraint CHECK (amount > 0) is gone after the next build")
    assert added.startswith("RB003 the next build adds the constraint CHECK (amount >= 0)")


def test_the_live_table_has_it_under_the_name_that_dbt_made_up(checked: Shop) -> None:
    checked.repo.write(".gitignore", "target/\nlake/\n")
    with (checked.repo.path / "schemalint.toml").open("a") as file:
        file.write('[targets.prod]\nroot = "lake"\n')
    checked.repo.commit()
    properties = {"delta.constraints.chk_1a2b3c4d": "amount > 0", "delta.constraints.by_hand": "order_id > 0"}
    write_log(
        checked.repo.path / "lake/sales/orders_replaced",
        [[commit_info("CREATE TABLE"), protocol(1, 3), metadata(*ORDERS, properties=properties)]],
    )
    found = [message for message in _messages(checked, "--all", "--live") if "DR003" not in message]
    assert len(found) == 1, found
    assert "the constraint by_hand, which the next build of dbt takes away" in found[0]
    _declare(checked, {"type": "check", "expression": "amount >= 0"})
    assert any("CHECK (amount >= 0)" in message for message in _messages(checked, "--live"))


@pytest.mark.parametrize(
    ("adapter", "config", "is_found"),
    [
        ("spark", {}, True),
        ("databricks", {}, False),
        ("databricks", {"incremental_apply_config_changes": False}, True),
    ],
)
def test_a_check_of_an_incremental_model_reaches_only_a_new_table(
    shop: Shop, adapter: str, config: dict[str, Any], *, is_found: bool
) -> None:
    shop.manifest["metadata"]["adapter_type"] = adapter
    shop.model("orders")["config"] |= config
    shop.parse("../state/manifest.json")
    shop.model("orders")["constraints"] = [{"type": "check", "expression": "amount > 0", "name": "positive"}]
    shop.parse()
    found = [message for message in _messages(shop) if message.startswith("RB011")]
    assert len(found) == is_found, _messages(shop)
