"""Commands that edit contracts keep their consumers; commands that deploy refuse faulty ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from support.project import Project

CONSUMERS = """\
consumers:   # who reads it
  - dashboards
  - {name: etl, client: trino, version: "476", owner: "@etl", cdf: true}
targets:
  dev: {consumers: [nightly]}
"""
CONFIG = '[targets.dev]\nroot = "lake"\n[consumers.dashboards]\n[consumers.nightly]\n'
WIDER = "type: decimal(12,2)"


@pytest.fixture
def table(project: Project) -> Project:
    """A committed contract with consumers, and its table."""
    fields = (Field("id", LONG), Field("amount", Decimal(10, 2)))
    action = metadata(*fields, properties={"delta.enableTypeWidening": "true"})
    features = ["typeWidening"]
    write_log(
        project.repo.path / "lake/sales/orders",
        [
            [
                commit_info("CREATE TABLE"),
                protocol(3, 7, features, [*features, "appendOnly", "invariants"]),
                action,
            ]
        ],
    )
    project.repo.write("schemalint.toml", CONFIG)
    project.declare(ORDERS + "properties: {delta.enableTypeWidening: true}\n" + CONSUMERS)
    project.repo.commit()
    return project


def text(project: Project) -> str:
    return (project.repo.path / "contracts/orders.yml").read_text()


def test_fixes_pulls_and_reverts_keep_the_consumers(table: Project) -> None:
    before = text(table)
    file = table.declare(before.replace("type: decimal(10,2)", WIDER))
    table.run("check", "--fix")
    assert "type_changes" in file.read_text()
    assert CONSUMERS in file.read_text()
    table.repo.commit()

    table.run("pull", "sales.orders")
    assert WIDER not in file.read_text()
    assert CONSUMERS in file.read_text()

    file.write_text(file.read_text().replace(CONSUMERS, CONSUMERS.replace("dashboards", "nightly")))
    table.repo.commit()
    run = table.run("revert", "sales.orders")
    assert run.status == 0, run.out + run.err
    assert WIDER in file.read_text()
    assert "  - nightly\n" in file.read_text()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("  - dashboards\n", "  - dashbords\n", "CT008"),
        ("name: etl", "name: nightly", "CT009"),
        ("client: trino", "client: trinoo", "CT010"),
        ("[nightly]", "[nigtly]", "CT008"),
    ],
)
def test_a_plan_refuses_consumers_that_are_not_known(table: Project, old: str, new: str, code: str) -> None:
    table.declare(text(table).replace(old, new))
    table.repo.commit()
    assert table.run("plan").status == 1
    assert code in table.run("plan").out


def test_a_configuration_with_an_unknown_client_plans_nothing(table: Project) -> None:
    table.repo.write(
        "schemalint.toml", CONFIG.replace("[consumers.nightly]", '[consumers.nightly]\nclient = "trinoo"')
    )
    table.repo.commit()
    run = table.run("plan")
    assert run.status == 2
    assert "schemalint.toml:5:1" in run.err
    assert "did you mean 'trino'?" in run.err
