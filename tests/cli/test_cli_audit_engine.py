"""``audit --engine``: what an engine makes of a lake that another one wrote."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import INTEGER, LONG, VARIANT, Field, RecordedChange
from support.logs import metadata, protocol, write_checkpoint, write_log

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

WIDENING = {"delta.enableTypeWidening": "true"}


def write_lake(project: Project) -> Path:
    """Write three tables, one with a contract that still needs changes; return the lake."""
    lake = project.repo.path.parent / "lake"
    widened = Field("id", LONG, type_changes=(RecordedChange(INTEGER, LONG),))
    features = ["typeWidening"]
    write_log(lake / "sales/widened", [[protocol(3, 7, features, features), metadata(widened)]])
    variant = ["variantType"]
    write_log(lake / "sales/events", [[protocol(3, 7, variant, variant), metadata(Field("id", VARIANT))]])
    of_orders = {**WIDENING, "delta.parquet.format.version": "2.12.0"}
    orders = metadata(Field("id", INTEGER), properties=of_orders)
    write_log(lake / "sales/orders", [[protocol(3, 7, features, features), orders]])
    project.repo.write("schemalint.toml", f'[targets.prod]\nroot = "{lake}"\nengine = "delta-spark 4.4.0"\n')
    project.declare(
        "schemalint: 1\ntable: sales.orders\n"
        "columns: [{name: id, type: bigint, type_changes: [{from: int, to: bigint}]}]\n"
        "properties: {delta.enableTypeWidening: true, delta.checkpointPolicy: v2}\n"
    )
    project.repo.commit()
    return lake


def found(project: Project, *arguments: str) -> set[str]:
    run = project.run("audit", "--output-format", "json", *arguments)
    return {
        f"{finding['table'].rsplit('/', 1)[-1]} {finding['code']} {finding['severity']}"
        for finding in json.loads(run.out)["findings"]
        if finding["code"][:2] in ("EN", "PF")
    }


def test_audit_says_what_an_older_engine_refuses_and_ignores(project: Project) -> None:
    write_lake(project)
    assert found(project, "--all", "--engine", "delta-spark 3.3.2") == {
        "widened EN007 error",
        "events PF016 error",
        "sales.orders EN001 error",
        "sales.orders EN008 info",
    }
    assert found(project, "--all", "--engine", "delta-spark 2.4.0") == {
        "widened PF016 error",
        "events PF016 error",
        "sales.orders PF016 error",
        "sales.orders EN001 error",
        "sales.orders EN002 error",
        "sales.orders EN008 info",
    }
    assert found(project, "--all") == set()


def test_audit_by_path_needs_no_contract(project: Project) -> None:
    lake = write_lake(project)
    assert found(project, "--root", str(lake), "--engine", "delta-spark 3.3.2") == {
        "widened EN007 error",
        "events PF016 error",
        "orders EN008 info",
    }


def test_last_line_says_as_which_engine(project: Project) -> None:
    lake = write_lake(project)
    runs = {
        "as delta-spark 3.2.1)": ("--all", "--engine", "delta-spark 3.2.1"),
        "as delta-spark 4.4.0)": ("--all",),
        "as Delta 4.4)": ("--root", str(lake)),
    }
    for words, arguments in runs.items():
        assert project.run("audit", *arguments).out.splitlines()[-1].endswith(words)


def test_engine_that_does_not_exist_is_one_error(project: Project) -> None:
    lake = write_lake(project)
    run = project.run("audit", "--root", str(lake), "--engine", "delta-spark 3.9")
    assert run.status == 2
    assert "delta-spark has no version 3.9; known are 2.4, 3.0" in run.err


def write_commits(project: Project, *commits: tuple[str, str, int]) -> None:
    """Write a table whose commits are of an operation, an engine and some days ago."""
    lake = project.repo.path.parent / "lake"
    now = int(time.time() * 1000)
    infos = [
        {"commitInfo": {"timestamp": now - days * 86_400_000, "operation": name, "engineInfo": engine}}
        for name, engine, days in commits
    ]
    first, *others = infos
    write_log(
        lake / "sales/orders", [[first, protocol(), metadata(Field("id", LONG))], *([i] for i in others)]
    )
    project.repo.write(
        "schemalint.toml", f'[targets.prod]\nroot = "{lake}"\nwriters = ["delta-spark 4.4.0"]\n'
    )
    project.declare("schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: bigint}]\n")
    project.repo.commit()


COMMITS = (
    ("CREATE TABLE", "Apache-Spark/4.2.0 Delta-Lake/4.4.0", 60),
    ("WRITE", "Databricks-Runtime/16.4.x-scala2.12", 3),
    ("OPTIMIZE", "Apache-Spark/3.5.7 Delta-Lake/3.3.2", 1),
    ("VACUUM END", "Apache-Spark/3.5.7 Delta-Lake/3.3.2", 1),
    ("WRITE", "Apache-Spark/3.5.7 Delta-Lake/3.2.1", 40),
)
WARNING = (
    "warning: databricks 16.4 wrote tables of target prod in the last 30 days, and no writers of it name that"
)


@pytest.mark.parametrize(
    "arguments", [("check", "--live", "--all"), ("plan",), ("audit", "--all"), ("audit", "--all", "--files")]
)
def test_writer_that_nobody_declares_is_a_warning_once(project: Project, arguments: tuple[str, ...]) -> None:
    write_commits(project, *COMMITS)
    run = project.run(*arguments)
    assert (run.status, run.err.count(WARNING)) == (0, 1)


def test_log_decides_nothing(project: Project) -> None:
    """Where nobody names an engine, the log warns of none."""
    write_commits(project, *COMMITS)
    project.repo.write("schemalint.toml", f'[targets.prod]\nroot = "{project.repo.path.parent / "lake"}"\n')
    project.repo.commit()
    run = project.run("check", "--live", "--all")
    assert "wrote tables" not in run.err
    assert run.out.splitlines()[-1].endswith("as Delta 4.4)")


def test_init_and_pull_propose_the_writers(project: Project) -> None:
    write_commits(project, *COMMITS)
    run = project.run("pull", "--all", "--into", "contracts/{table}.yml", "--diff")
    assert run.err.splitlines()[0] == (
        "who wrote in the last 30 days, by the commits since the newest checkpoints: "
        'writers = ["databricks 16.4"]'
    )
    for name in ("schemalint.toml", "contracts/orders.yml"):
        (project.repo.path / name).unlink()
    project.repo.commit()
    project.run("init", "--root", str(project.repo.path.parent / "lake"), "--ci", "none")
    text = (project.repo.path / "schemalint.toml").read_text()
    assert text.splitlines()[-1].startswith('writers = ["databricks 16.4"]  # who wrote')


def test_init_proposes_who_wrote_before_the_newest_checkpoint(project: Project) -> None:
    """A checkpoint after the writes hides them from `pull`, which reads no more than the newest state."""
    write_commits(project, *COMMITS)
    lake = project.repo.path.parent / "lake"
    state = [protocol(), metadata(Field("id", LONG))]
    write_checkpoint(lake / "sales/orders", len(COMMITS) - 1, state)
    project.repo.write("contracts/orders.yml", "")
    assert "who wrote" not in project.run("pull", "sales.orders", "--output", "-").err
    for name in ("schemalint.toml", "contracts/orders.yml"):
        (project.repo.path / name).unlink()
    project.repo.commit()
    project.run("init", "--root", str(lake), "--ci", "none")
    text = (project.repo.path / "schemalint.toml").read_text()
    assert text.splitlines()[-1].startswith('writers = ["databricks 16.4"]  # who wrote')


@pytest.mark.parametrize(("engine", "is_proposed"), [("", True), ('engine = "databricks 16.4"\n', False)])
def test_init_prints_the_writers_where_a_configuration_names_none(
    project: Project, engine: str, *, is_proposed: bool
) -> None:
    write_commits(project, *COMMITS)
    root = project.repo.path.parent / "lake"
    project.repo.write("schemalint.toml", f'baseline = "b.json"\n[targets.prod]\nroot = "{root}"\n{engine}')
    (project.repo.path / "contracts/orders.yml").unlink()
    project.repo.commit()
    run = project.run("init", "--ci", "none")
    assert "schemalint.toml stays: it is there already" in run.err
    assert ('    writers = ["databricks 16.4"]\n' in run.err) == is_proposed
