"""Contracts that add to tables of SQL files (``extends: sql``), and variables of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.contract.contract_files import contract_files
from schemalint.contract.contract_revisions import Revisions
from schemalint.project import git
from schemalint.project.config import parse
from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS: Final = """\
contracts = [
  "contracts/**",
  {path = "ddl/**/*.sql", format = "sql", variables = {catalog = "main", days = "30"}},
]
[targets.dev]
root = "lake"
[targets.dev.variables]
catalog = "dev"
"""
ORDERS: Final = """\
CREATE TABLE ${catalog}.sales.orders (
  id BIGINT NOT NULL,
  customer STRUCT<
    name: STRING,
    zip: STRING
  >,
  tags ARRAY<INT>,
  amount_text STRING,
  amount DECIMAL(10,2)
) USING delta
TBLPROPERTIES ('delta.enableTypeWidening' = true, 'delta.columnMapping.mode' = 'name');
"""
OVERLAY: Final = "schemalint: 1\ntable: main.sales.orders\nextends: sql\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """A repository with a table in SQL and what adds to it."""
    project = Project(Repo(tmp_path / "repository"), capsys)
    for name, value in project.repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.repo.path)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.write("ddl/orders.sql", ORDERS)
    project.repo.write("contracts/orders.yml", OVERLAY + "owner: shop\n")
    project.repo.commit()
    return project


def add(shop: Project, text: str) -> None:
    """Let the overlay say something."""
    shop.repo.write("contracts/orders.yml", OVERLAY + text)


def test_an_overlay_is_no_table_of_its_own(shop: Project) -> None:
    run = shop.check("--all")
    assert (run.status, run.codes) == (0, [])
    assert "in 1 table" in run.out


def test_it_counts_when_only_the_sql_file_changes(shop: Project) -> None:
    add(shop, 'consumers: [{name: board, owner: "@bi"}]\n')
    shop.repo.commit()
    shop.repo.write("ddl/orders.sql", ORDERS.replace("zip: STRING", "zip: INT"))
    run = shop.check()
    assert "ddl/orders.sql:5:10: TW002 error" in run.out
    assert "@bi (board)" in shop.run("check").out


def test_it_counts_when_only_the_overlay_changes(shop: Project) -> None:
    add(shop, "type_changes: {id: [{from: int, to: bigint}]}\n")
    shop.repo.commit()
    add(shop, "type_changes: {id: [{from: smallint, to: bigint}]}\n")
    run = shop.check()
    assert "contracts/orders.yml:4:" in run.out
    assert run.codes[0].startswith("TH")


def test_it_counts_beside_one_path(shop: Project) -> None:
    """A file that is not named belongs to the table too."""
    shop.repo.write("ddl/orders.sql", ORDERS.replace("  amount ", "  total "))
    add(shop, "renamed_from: {total: amount}\n")
    assert "CM016" in shop.check("ddl/orders.sql").codes
    assert "CM003" not in shop.check("ddl/orders.sql").codes


def test_an_old_name_of_a_nested_field(shop: Project) -> None:
    shop.repo.write("ddl/orders.sql", ORDERS.replace("zip: STRING", "postcode: STRING"))
    assert "CM003" in shop.check().codes
    add(shop, "renamed_from: {customer.postcode: zip}\n")
    assert "CM003" not in shop.check().codes


def test_type_changes_of_a_part(shop: Project) -> None:
    add(shop, "type_changes: {tags.element: [{from: smallint, to: int}]}\n")
    shop.repo.commit()
    run = shop.run("check", "--all")
    assert run.status == 0, run.out
    add(shop, "type_changes: {tags.element: [{from: bigint, to: int}]}\n")
    assert "contracts/orders.yml:4" in shop.check().out


def test_a_fill_is_judged_at_its_place(shop: Project) -> None:
    add(shop, "backfill:\n  amount: {from: amount_text, with: cast(amount_text}\n")
    run = shop.check()
    assert "contracts/orders.yml:5:" in run.out
    assert "BF" in run.out


def test_a_fill_is_planned(shop: Project) -> None:
    (shop.repo.path / "lake").mkdir()
    add(shop, 'backfill:\n  amount: {from: amount_text, with: "cast(amount_text as decimal(10,2))"}\n')
    shop.repo.commit()
    run = shop.run("plan", "--output-format", "sql")
    assert run.status == 0, run.err
    assert "lake/dev/sales/orders" in run.out


def test_history_follows_an_old_name_in_the_overlay(shop: Project) -> None:
    """The revisions of a table are those of both files, under the names of a target too."""
    shop.repo.write("ddl/orders.sql", ORDERS.replace("  amount ", "  total "))
    add(shop, "renamed_from: {total: amount}\n")
    shop.repo.commit()
    repository = git.open_repository(shop.repo.path, shop.repo.env)
    config = parse("schemalint.toml", SETTINGS.encode())
    for target, key in ((None, "main.sales.orders"), ("dev", "dev.sales.orders")):
        files = contract_files(config, target)
        revisions = Revisions(repository, files, target, git.Worktree())
        found = [contract for _commit, contract in revisions.newest_first(key)]
        assert [contract.state.columns.fields[-1].renamed_from for contract in found] == ["amount", None]
        assert [contract.owner for contract in found] == [None, "shop"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("properties: {delta.enableTypeWidening: true}\n",
         "delta.enableTypeWidening stands in ddl/orders.sql already"),
        ("properties: {delta.enableTypeWidening: false}\n",
         "delta.enableTypeWidening is false here, and true in the declaration of sql"),
        ("renamed_from: {total: amount}\n", "sql declares no column total in main.sales.orders"),
        ("type_changes: {tags.key: [{from: int, to: bigint}]}\n",
         "sql declares no column tags.key in main.sales.orders"),
        ("backfill: {total: {from: amount_text, with: amount_text}}\n", "sql declares no column total"),
        ("deprecated: {customer.age: {reason: gone}}\n", "sql declares no column customer.age"),
        ("deprecated: {customer: {since: tomorrow}}\n", '"tomorrow" is not a date'),
        ("type_changes: {id: [{from: it, to: bigint}]}\n", "invalid type"),
        ("columns: []\n", 'unknown key "columns" in a contract that extends another one'),
        ("constraints: {positive: amount > 0}\n", 'unknown key "constraints"'),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_an_error_at_its_place(shop: Project, text: str, message: str) -> None:
    add(shop, text)
    run = shop.check()
    assert (run.status, message in run.out) == (2, True), run.out
    assert "contracts/orders.yml:4:" in run.out


def test_a_location_in_both_files_is_an_error(shop: Project) -> None:
    shop.repo.write("ddl/orders.sql", ORDERS.replace("USING delta", "USING delta LOCATION 's3://lake/o'"))
    add(shop, "location: s3://lake/o\n")
    assert "the location stands in ddl/orders.sql already" in shop.check().out


@pytest.mark.parametrize("command", [("check",), ("check", "--all"), ("plan",)])
def test_an_overlay_of_no_table_is_an_error(shop: Project, command: tuple[str, ...]) -> None:
    (shop.repo.path / "lake").mkdir()
    shop.repo.write("contracts/more.yml", OVERLAY.replace("orders", "orderz"))
    shop.repo.commit("more")
    shop.repo.write("contracts/more.yml", OVERLAY.replace("orders", "orderz") + "owner: me\n")
    arguments = (*command, "--head", "worktree") if command == ("plan",) else command
    run = shop.run(*arguments)
    assert "no file of sql declares main.sales.orderz" in run.out + run.err
    assert run.status == 2


def test_an_overlay_of_a_table_in_yaml_is_an_error(shop: Project) -> None:
    shop.repo.write(
        "contracts/items.yml", "schemalint: 1\ntable: s.items\ncolumns: [{name: id, type: int}]\n"
    )
    shop.repo.write("contracts/more.yml", "schemalint: 1\ntable: s.items\nextends: sql\n")
    assert "no file of sql declares s.items" in shop.check().out


def test_two_overlays_of_one_table_are_declared_twice(shop: Project) -> None:
    shop.repo.write("contracts/more.yml", OVERLAY)
    assert "CT002" in shop.check().codes


def test_an_exception_of_it_approves(shop: Project) -> None:
    shop.repo.write("ddl/orders.sql", ORDERS.replace("zip: STRING", "zip: INT"))
    add(
        shop,
        "allow: [{rule: TW002, column: customer.zip, from: string, to: int, via: rewrite, reason: fits}]\n",
    )
    assert shop.check().status == 0


def test_a_variable_of_a_target_is_judged_for_the_target(shop: Project) -> None:
    text = ORDERS.replace("'name');", "'name', 'delta.logRetentionDuration' = '${days}');")
    shop.repo.write("ddl/orders.sql", text)
    shop.repo.write("schemalint.toml", SETTINGS.replace('days = "30"', 'days = "interval 30 days"'))
    shop.repo.commit()
    assert shop.check("--all").codes == []
    shop.repo.write(
        "schemalint.toml",
        SETTINGS.replace('days = "30"', 'days = "interval 30 days"') + 'days = "thirty days"\n',
    )
    run = shop.check("--all")
    assert "TP002" in run.codes
    assert "ddl/orders.sql:11" in run.out


def test_a_constraint_is_the_same_in_all_targets(shop: Project) -> None:
    text = ORDERS.replace("'name');", "'name', 'delta.constraints.c' = 'id > ${days}');")
    shop.repo.write("ddl/orders.sql", text)
    shop.repo.write("schemalint.toml", SETTINGS + 'days = "7"\n')
    assert "the constraint c is another one in target dev" in shop.check("--all").out
