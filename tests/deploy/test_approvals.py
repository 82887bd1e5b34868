"""What approves the steps of a plan: their kind, the hash of a table, or the hash of a whole plan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import UsageError
from schemalint.delta.datatype import LONG, STRING, Field
from schemalint.deploy.approvals import (
    is_approved_by_hash,
    missing_approvals,
    require_hashes,
    unused_hashes,
    without_unapproved,
)
from schemalint.deploy.deploy_input import DeployInput, Deployment, DeployOptions
from schemalint.deploy.prepare import prepare
from schemalint.deploy.results import unfilled_error
from schemalint.model.table_plan import Approval
from schemalint.project import git
from schemalint.project.config.trust import find_trusted
from schemalint.review.rulebook import rules_for_apply
from schemalint.tables.catalog.table_location import choose_target
from support.logs import commit_info, metadata, protocol, write_log
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

UPGRADE, DESTRUCTIVE = frozenset({Approval.UPGRADE}), frozenset({Approval.DESTRUCTIVE})
MAPPED = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}


class Lake:
    """Contracts and their live tables, each with the columns ``id`` and ``old``."""

    def __init__(self, repo: Repo, lake: Path) -> None:
        self.repo, self.lake = repo, lake
        self.configure()

    def configure(self, settings: str = "") -> None:
        self.repo.write("schemalint.toml", f'{settings}\n[targets.dev]\nroot = "{self.lake}"\n')

    def declare(self, name: str, columns: str, more: str = "") -> None:
        self.repo.write(
            f"contracts/{name}.yml", f"schemalint: 1\ntable: sales.{name}\ncolumns:\n{columns}{more}"
        )

    def create(self, *names: str) -> None:
        for name in names:
            self.declare(name, f"{ID}{OLD}", PROPERTIES)
            columns = (
                Field("id", LONG, column_id=1, physical_name="id"),
                Field("old", STRING, column_id=2, physical_name="old"),
            )
            write_log(
                self.lake / f"sales/{name}",
                [
                    [
                        commit_info("CREATE TABLE"),
                        protocol(2, 5),
                        metadata(*columns, properties=MAPPED, table_id=f"id-of-{name}"),
                    ]
                ],
            )
        self.base = self.repo.commit()

    def drop_column(self, name: str) -> None:
        self.declare(name, ID, f"{PROPERTIES}dropped: [old]\n")
        self.repo.commit()

    def prepare(self, *tables: str, **options: frozenset[str]) -> Deployment:
        repository = git.open_repository(self.repo.path, os.environ)
        settings = find_trusted(repository, os.environ)
        head = git.find_head(repository, "HEAD", os.environ)
        rules = rules_for_apply(settings.config)
        return prepare(
            DeployInput(
                repository,
                settings,
                choose_target(settings, None),
                head,
                rules,
                DeployOptions(
                    tables=tables,
                    allow=sorted(options.get("allow", ())),
                    approved=sorted(options.get("approved", ())),
                ),
                applies=True,
                base=self.base,
            )
        )


ID = "  - {name: id, type: bigint}\n"
OLD = "  - {name: old, type: string}\n"
REWRITTEN = "  - {name: old, type: int, rewrite: {from: string, with: cast(old as int)}}\n"
FILLED = "  - {name: more, type: bigint, backfill: {from: id, with: id}}\n"
PROPERTIES = "properties: {delta.columnMapping.mode: name}\n"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    repo = Repo(tmp_path / "repository")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    return Lake(repo, tmp_path / "lake")


def missing(deployment: Deployment) -> Mapping[str, frozenset[Approval]]:
    return {plan.table: missing_approvals(deployment, plan) for plan in deployment.plan.tables}


def refused(deployment: Deployment) -> set[str]:
    return {plan.table for plan in without_unapproved(deployment).plan.tables if plan.refusals}


def test_kind_of_step_approves_it_in_every_table(lake: Lake) -> None:
    lake.create("orders", "items")
    lake.drop_column("orders")
    lake.declare("items", f"{ID}{OLD}", "properties: {delta.enableTypeWidening: true}\n")
    lake.repo.commit()

    assert missing(lake.prepare()) == {"sales.items": UPGRADE, "sales.orders": DESTRUCTIVE}
    assert refused(lake.prepare()) == {"sales.items", "sales.orders"}
    assert refused(lake.prepare(allow=frozenset({"upgrade"}))) == {"sales.orders"}
    assert refused(lake.prepare(allow=frozenset({"upgrade", "destructive"}))) == set()
    assert without_unapproved(lake.prepare()).exit_status == 4


def test_upgrade_that_the_contract_allows_needs_no_approval(lake: Lake) -> None:
    lake.create("orders")
    upgrade = "properties: {delta.enableTypeWidening: true}\n"
    lake.declare("orders", f"{ID}{OLD}", upgrade)
    lake.repo.commit()
    gated = lake.prepare()
    lake.declare("orders", f"{ID}{OLD}", f"{upgrade}protocol: {{allow_upgrade: true}}\n")
    lake.repo.commit()
    allowed = lake.prepare()

    assert (missing(gated), missing(allowed)) == ({"sales.orders": UPGRADE}, {"sales.orders": frozenset()})
    assert gated.plan_hash == allowed.plan_hash


def test_upgrade_beyond_the_contracts_limit_stays_refused_by_the_rule(lake: Lake) -> None:
    lake.create("orders")
    limited = "properties: {delta.enableTypeWidening: true}\nprotocol: {max_reader: 2}\n"
    lake.declare("orders", f"{ID}{OLD}", limited)
    lake.repo.commit()

    deployment = lake.prepare(allow=frozenset({"upgrade"}))
    (plan,) = deployment.plan.tables
    assert ([refusal.code for refusal in plan.refusals], plan.steps) == (["PF004"], ())
    (plan,) = lake.prepare(approved=frozenset({plan.hash, deployment.plan_hash})).plan.tables
    assert [refusal.code for refusal in plan.refusals] == ["PF004"]


def test_hash_of_a_table_approves_it_in_whatever_run_it_is_planned(lake: Lake) -> None:
    lake.create("orders", "items")
    lake.drop_column("orders")
    (orders,) = lake.prepare("sales.orders").plan.tables
    approved = frozenset({orders.hash})
    lake.drop_column("items")

    assert refused(lake.prepare("sales.orders", approved=approved)) == set()
    assert is_approved_by_hash(lake.prepare("sales.orders", approved=approved))
    assert refused(lake.prepare(approved=approved)) == {"sales.items"}
    assert not is_approved_by_hash(lake.prepare(approved=approved))


def test_hash_of_a_plan_approves_a_run_over_exactly_its_tables(lake: Lake) -> None:
    lake.create("orders", "items")
    lake.drop_column("orders")
    lake.drop_column("items")
    approved = frozenset({lake.prepare().plan_hash})

    assert refused(lake.prepare(approved=approved)) == set()
    assert is_approved_by_hash(lake.prepare(approved=approved))
    assert refused(lake.prepare("sales.orders", approved=approved)) == {"sales.orders"}


@pytest.mark.parametrize("changed", ["the declaration", "the live column", "nothing but data"])
def test_approval_holds_until_what_it_was_given_for_changes(lake: Lake, changed: str) -> None:
    lake.create("orders")
    lake.drop_column("orders")
    approved = frozenset({lake.prepare().plan.tables[0].hash})
    log = lake.lake / "sales/orders"
    match changed:
        case "the declaration":
            lake.declare("orders", f"{ID}  - {{name: new, type: int}}\n", f"{PROPERTIES}dropped: [old]\n")
            lake.repo.commit()
        case "the live column":
            columns = (
                Field("id", LONG, column_id=1, physical_name="id"),
                Field("old", LONG, column_id=2, physical_name="old"),
            )
            write_log(
                log,
                [[commit_info("X"), metadata(*columns, properties=MAPPED, table_id="id-of-orders")]],
                first=1,
            )
        case _:
            write_log(log, [[commit_info("WRITE")]], first=1)

    assert refused(lake.prepare(approved=approved)) == (
        set() if changed == "nothing but data" else {"sales.orders"}
    )


def test_configuration_approves_tables_and_plans(lake: Lake) -> None:
    lake.create("orders", "items")
    lake.drop_column("orders")
    lake.drop_column("items")
    plan = lake.prepare().plan
    for hashes, expected in (
        ([plan.hash], set()),
        ([table.hash for table in plan.tables], set()),
        ([plan.tables[0].hash], {plan.tables[1].table}),
    ):
        lake.configure(f"approved-plans = {hashes}")
        lake.repo.commit()
        assert refused(lake.prepare()) == expected


def test_refused_tables_leave_the_name_of_the_plan_as_it_is(lake: Lake) -> None:
    lake.create("orders", "items")
    lake.drop_column("orders")
    lake.declare("items", f"{ID}{OLD}", f"{PROPERTIES}description: Items.\n")
    lake.repo.commit()
    deployment = lake.prepare()
    decided = without_unapproved(deployment)

    assert refused(deployment) == {"sales.orders"}
    assert decided.plan.hash != deployment.plan_hash
    assert decided.plan_hash == deployment.plan_hash


def test_hash_that_approves_nothing_is_named(lake: Lake) -> None:
    lake.create("orders")
    lake.drop_column("orders")
    deployment = lake.prepare()
    hashes = frozenset({deployment.plan_hash, deployment.plan.tables[0].hash, f"2:{'0' * 64}"})
    assert unused_hashes(lake.prepare(approved=hashes)) == [f"2:{'0' * 64}"]


def test_what_waits_names_all_approvals_of_the_steps_left_out(lake: Lake) -> None:
    lake.create("orders")
    lake.declare("orders", f"{ID}{REWRITTEN}{FILLED}", PROPERTIES)
    lake.repo.commit()
    (plan,) = without_unapproved(lake.prepare()).plan.tables
    error = unfilled_error(plan)

    assert error is not None
    assert error.help == "--allow destructive --allow data --allow rewrite"


@pytest.mark.parametrize("text", ["", "2:0f3a", f"2:{'0' * 63}…", "0" * 64, f"1:{'0' * 64}"])
def test_text_that_is_no_hash_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(UsageError):
        require_hashes([text])
