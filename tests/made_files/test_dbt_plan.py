"""`schemalint plan` beside dbt: the tables of its files are skipped, and that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from made_files.conftest import CONFIGURATION

if TYPE_CHECKING:
    from support.shop import Shop

TARGET = '[targets.dev]\nroot = "lake"\n'
MANAGED = "dbt alters the tables of target/manifest.json itself"
SKIPPED = "target/manifest.json: skipped, managed by dbt, which alters the tables of this file itself"


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """The shop with a target, and a place for contracts."""
    (shop.repo.path / "lake").mkdir()
    shop.repo.write("schemalint.toml", CONFIGURATION.replace("[{", '["contracts/**", {') + TARGET)
    return shop


def test_a_plan_of_dbt_alone_says_who_alters_the_tables(shop: Shop) -> None:
    shop.repo.write("schemalint.toml", CONFIGURATION + TARGET)
    shop.repo.commit()
    run = shop.run("plan", "--target", "dev", "--base", "HEAD")
    assert (run.status, MANAGED in run.err, "schemalint check --live" in run.err) == (2, True, True)


def test_a_plan_beside_dbt_names_the_file_that_it_skips(shop: Shop) -> None:
    shop.declare("schemalint: 1\ntable: sales.extra\ncolumns: [{name: id, type: bigint}]\n")
    shop.repo.commit()
    run = shop.run("plan", "--target", "dev", "--base", "HEAD")
    assert (SKIPPED in run.out, "sales.orders" in run.out) == (True, False)
    of_one = shop.run("plan", "sales.extra", "--target", "dev", "--base", "HEAD")
    assert (SKIPPED in of_one.out, "sales.extra" in of_one.out) == (False, True)
