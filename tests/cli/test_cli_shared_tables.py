"""One table, two contracts, and one contract with a new table name: what `check` and `plan` say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import commit_info, marker, metadata, protocol, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = "schemalint: 1\ntable: crm.people\ncolumns:\n  - {name: id, type: bigint}\n"
COPY = ORDERS.replace("sales.orders", "sales.purchases")
CONFIG = '[targets.dev]\nroot = "{root}"\nallowed_locations = ["{root}"]\n'


class Lake(NamedTuple):
    """A project with a target whose tables are below a folder."""

    project: Project
    root: Path

    def declare(self, orders: str, people: str = "") -> None:
        """Write one or two contracts."""
        self.project.declare(orders)
        if people:
            self.project.declare(people, "contracts/people.yml")

    def commit(self, orders: str, people: str = "") -> str:
        """Write one or two contracts, and commit them."""
        self.declare(orders, people)
        return self.project.repo.commit()

    def table(self, path: str, applied: str = "", revision: str | None = None) -> None:
        """Write the table of `ORDERS`, with the marker of a contract."""
        marked = [[commit_info(), marker(applied, revision)]] if applied else []
        fields = (Field("id", LONG), Field("amount", Decimal(10, 2)))
        write_log(
            self.root / path,
            [[commit_info("CREATE TABLE"), protocol(), metadata(*fields)], *marked],
        )

    def refusals(self, *arguments: str) -> dict[str, list[str]]:
        """Return the refusals of each planned table; a table without any is in the answer too."""
        run = self.project.run("plan", "--output-format", "json", "--head", "worktree", *arguments)
        tables = json.loads(run.out)["tables"]
        return {table["table"]: [refusal["reason"] for refusal in table["refusals"]] for table in tables}


@pytest.fixture
def lake(project: Project) -> Lake:
    root = project.repo.path.parent / "lake"
    root.mkdir()
    project.repo.write("schemalint.toml", CONFIG.format(root=root))
    project.repo.commit()
    return Lake(project, root)


@pytest.mark.parametrize(
    ("old", "new", "config"),
    [
        ("", "location: sales/orders\n", CONFIG),
        ("", "location: {root}/sales/orders\n", CONFIG),
        ("", "location: 'file://{root}/sales/orders/'\n", CONFIG),
        ("", "location: 'file:{root}/sales/./orders'\n", CONFIG),
        ("", "location: {root}/link/orders\n", CONFIG),
        ("", "targets: {{dev: {{location: sales/orders}}}}\n", CONFIG),
        ("targets: {{dev: {{location: x}}}}\n", "location: x\n", CONFIG),
        ("location: s3://lake/orders\n", "location: s3a://lake/orders/\n", ""),
        ("location: s3://lake/orders\n", "location: s3a://lake/x/../orders\n", ""),
        ("location: gs://lake/orders\n", "location: gcs://lake/./orders\n", ""),
        (
            "location: abfss://c@acc.dfs.core.windows.net/orders\n",
            "location: abfs://C@ACC.blob.core.windows.net/orders\n",
            "",
        ),
        (
            "location: abfss://c@acc.dfs.core.windows.net/orders\n",
            "location: az://c/orders\n",
            '[targets.dev]\nroot = "az://c"\nstorage = {{account_name = "acc"}}\n',
        ),
        ("", "location: s3a://lake/sales/orders\n", '[targets.dev]\nroot = "s3://lake"\n'),
    ],
)
def test_new_contract_for_the_table_of_another_is_reported(
    lake: Lake, old: str, new: str, config: str
) -> None:
    (lake.root / "sales").mkdir()
    (lake.root / "link").symlink_to(lake.root / "sales")
    lake.project.repo.write("schemalint.toml", config.format(root=lake.root))
    lake.commit(ORDERS + old.format(root=lake.root))
    # A file name before that of the old contract: its order does not decide.
    lake.project.declare(PEOPLE + new.format(root=lake.root), "contracts/a.yml")
    run = lake.project.check()
    assert (run.status, run.codes) == (1, ["CT002"]), run.out + run.err
    assert "contracts/a.yml:" in run.out.splitlines()[0]
    assert "contracts/orders.yml:2:8" in run.out


@pytest.mark.parametrize(
    ("old", "new", "config"),
    [
        ("location: s3://lake/orders\n", "location: gs://lake/orders\n", ""),
        ("location: s3://lake/orders\n", "location: s3://lake/Orders\n", ""),
        (
            "location: abfss://c@acc.dfs.core.windows.net/orders\n",
            "location: abfss://c@other.dfs.core.windows.net/orders\n",
            "",
        ),
        ("", "location: sales/orders\ntargets: {{dev: {{location: people}}}}\n", CONFIG),
        ("targets: {{dev: {{absent: true}}}}\n", "location: sales/orders\n", CONFIG),
        ("", "location: s3://lake/sales/orders\n", '[targets.dev]\ncatalog = "main"\n'),
    ],
)
def test_contracts_with_tables_of_their_own_are_not_reported(
    lake: Lake, old: str, new: str, config: str
) -> None:
    lake.project.repo.write("schemalint.toml", config.format(root=lake.root))
    lake.commit(ORDERS + old)
    lake.project.declare(PEOPLE + new.replace("{{", "{").replace("}}", "}"), "contracts/a.yml")
    run = lake.project.check()
    assert (run.status, run.codes) == (0, []), run.out + run.err


def test_copy_of_a_contract_is_reported_and_not_the_original(lake: Lake) -> None:
    lake.commit(ORDERS)
    lake.project.declare(ORDERS, "contracts/a.yml")
    (line, *_) = lake.project.check().out.splitlines()
    assert line.startswith("contracts/a.yml:2:8: CT002 error")


def test_two_contracts_that_the_base_has_too_do_not_fail_the_check(lake: Lake) -> None:
    lake.commit(ORDERS, PEOPLE + "location: sales/orders\n")
    lake.declare(ORDERS + "owner: me\n")
    assert lake.project.check().status == 0
    assert lake.project.check("--all").codes == ["CT002"]


def test_new_contract_does_not_block_the_one_that_was_applied(lake: Lake) -> None:
    revision = lake.commit(ORDERS)
    lake.table("sales/orders", ORDERS, revision)
    claim = PEOPLE + f"location: {lake.root}/sales/orders\n"
    reason = "the table at this location belongs to sales.orders"
    for commit in (lake.declare, lake.commit):
        commit(ORDERS, claim)
        refusals = lake.refusals()
        assert refusals["sales.orders"] == []
        assert reason in refusals["crm.people"]
        assert reason in lake.refusals("crm.people")["crm.people"]
        assert lake.refusals("sales.orders") == {"sales.orders": []}


def test_table_belongs_to_the_contract_that_its_marker_names(lake: Lake) -> None:
    """The contract with the older place was never applied there."""
    lake.commit(PEOPLE + "location: sales/orders\n")
    revision = lake.commit(PEOPLE + "location: sales/orders\n", ORDERS)
    lake.table("sales/orders", ORDERS, revision)
    refusals = lake.refusals()
    assert refusals["sales.orders"] == []
    assert "the table at this location belongs to sales.orders" in refusals["crm.people"]


def test_without_a_marker_a_table_belongs_to_the_contract_with_the_older_place(lake: Lake) -> None:
    lake.commit(ORDERS)
    lake.commit(ORDERS, COPY)
    lake.commit(ORDERS, COPY + "location: sales/orders\n")
    lake.table("sales/orders")
    assert lake.refusals() == {
        "sales.orders": [],
        "sales.purchases": ["the table at this location belongs to sales.orders"],
    }


@pytest.mark.parametrize("applied", ["", ORDERS, ORDERS + "properties: {delta.appendOnly: true}\n"])
def test_two_contracts_of_one_commit_are_both_refused(lake: Lake, applied: str) -> None:
    revision = lake.commit(ORDERS, COPY + "location: sales/orders\n")
    lake.table("sales/orders", applied, revision)
    refusals = lake.refusals()
    assert "sales.purchases is declared at the same location" in refusals["sales.orders"]
    assert "sales.orders is declared at the same location" in refusals["sales.purchases"]


def test_new_name_in_the_same_file_is_told_as_a_rename(lake: Lake) -> None:
    lake.commit(ORDERS)
    lake.table("sales/orders")
    lake.declare(COPY)
    run = lake.project.check()
    assert (run.status, run.codes) == (1, ["CT001"])
    assert "the contract declares sales.purchases now, at another location" in run.out
    (reason,) = lake.refusals()["sales.purchases"]
    assert f"the contract declared sales.orders before, and that table is still at {lake.root}" in reason
    lake.project.repo.commit()
    lake.commit(COPY + "owner: me\n")
    assert len(lake.refusals()["sales.purchases"]) == 1


def test_new_name_with_the_old_location_keeps_the_table(lake: Lake) -> None:
    revision = lake.commit(ORDERS)
    lake.table("sales/orders", ORDERS, revision)
    lake.declare(COPY + "location: sales/orders\n")
    run = lake.project.check()
    assert (run.status, run.codes) == (1, ["CT001"])
    assert "the table keeps its location sales/orders" in run.out
    assert lake.refusals() == {"sales.purchases": []}


def test_new_name_at_the_same_location_in_another_file_is_told_as_a_rename(lake: Lake) -> None:
    lake.commit(ORDERS)
    (lake.project.repo.path / "contracts/orders.yml").unlink()
    lake.project.declare(COPY + "location: ./sales/orders/\n", "contracts/purchases.yml")
    assert "the contract declares sales.purchases now" in lake.project.check().out


@pytest.mark.parametrize("why", ["approved", "another file", "no old table", "later"])
def test_new_table_is_created_if_it_is_no_rename(lake: Lake, why: str) -> None:
    lake.commit(ORDERS)
    if why != "no old table":
        lake.table("sales/orders")
    if why == "later":
        lake.commit(PEOPLE)
    if why == "approved":
        entry = "{table: sales.orders, rule: CT001, object: table, reason: replaced}"
        lake.project.repo.write("exceptions.yaml", f"schemalint_exceptions: 1\nexceptions:\n  - {entry}\n")
    lake.project.repo.write("schemalint.toml", CONFIG.format(root=lake.root))
    if why == "another file":
        (lake.project.repo.path / "contracts/orders.yml").unlink()
        lake.project.declare(COPY, "contracts/purchases.yml")
    else:
        lake.declare(COPY)
    assert lake.refusals("sales.purchases") == {"sales.purchases": []}
