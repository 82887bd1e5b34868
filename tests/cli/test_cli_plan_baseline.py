"""`plan` of tables that Delta lets nobody alter: the baseline approves that, as long as nothing is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.project import Project

SETTINGS = 'baseline = "baseline.json"\n[targets.dev]\nroot = "lake"\n'
DECLARED = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"
ICEBERG = {"delta.enableIcebergCompatV2": "true"}  # RD008: it needs column mapping
OF_THE_FUTURE = ("fooBar",)  # PF016


def _adopted(project: Project, features: tuple[str, ...], properties: dict[str, str]) -> None:
    table = project.repo.path / "lake" / "sales" / "orders"
    listed = ["columnMapping", "icebergCompatV2", *features]
    id_column = Field("id", LONG)
    write_log(
        table, [[commit_info(), protocol(2, 7, None, listed), metadata(id_column, properties=properties)]]
    )
    project.declare(DECLARED)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.commit()


@pytest.mark.parametrize(("features", "properties"), [((), ICEBERG), (OF_THE_FUTURE, {})])
def test_a_table_that_needs_nothing_is_planned_if_the_baseline_has_what_delta_refuses(
    features: tuple[str, ...], properties: dict[str, str], project: Project
) -> None:
    _adopted(project, features, properties)
    project.run("check", "--live", "--all", "--write-baseline", "baseline.json")
    project.repo.commit()
    run = project.run("plan", "--exit-code")
    assert run.status == 0, run.out
    assert "sales.orders needs no statement, and would take none: " in run.err
    assert "(in the baseline)" in run.err


def test_a_pending_change_is_refused_all_the_same(project: Project) -> None:
    _adopted(project, (), ICEBERG)
    project.run("check", "--live", "--all", "--write-baseline", "baseline.json")
    project.declare(DECLARED + "  - {name: note, type: string}\n")
    project.repo.commit()
    run = project.run("plan")
    assert run.status == 1
    assert "RD008" in run.out


def test_without_an_entry_the_table_is_refused(project: Project) -> None:
    _adopted(project, (), ICEBERG)
    project.repo.write("schemalint.toml", SETTINGS.removeprefix('baseline = "baseline.json"\n'))
    project.repo.commit()
    run = project.run("plan")
    assert run.status == 1
    assert "RD008" in run.out
