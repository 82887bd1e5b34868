"""The engine of a target decides about properties that only Databricks knows: check and plan agree."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import INTEGER, LONG, Field, String
from support.logs import metadata, protocol, write_log
from support.project import Project
from support.review import CONTRACT as CONTRACT_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from support.review import Review

CONTRACT = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: bigint}]\n"
SIZED = CONTRACT + "properties: {delta.targetFileSize: 128mb, team: sales}\n"


def configure(project: Project, *engines: str) -> Path:
    """Configure a target for each engine, in the same folder; return the folder of the table."""
    lake = project.repo.path.parent / "lake"
    lake.mkdir(exist_ok=True)
    texts = [
        f'[targets.t{number}]\nroot = "{lake}"\n' + (f'engine = "{engine}"\n' if engine else "")
        for number, engine in enumerate(engines)
    ]
    project.repo.write("schemalint.toml", "\n".join(texts))
    return lake / "sales/orders"


def write_table(table: Path, **properties: str) -> None:
    configuration = {f"delta.{key}": value for key, value in properties.items()}
    write_log(table, [[protocol(), metadata(Field("id", LONG), properties=configuration)]])


def found(project: Project, *arguments: str) -> list[str]:
    run = project.run("check", "--output-format", "json", *arguments)
    return [f"{finding['code']} {finding['severity']}" for finding in json.loads(run.out)["findings"]]


@pytest.mark.parametrize(
    ("engines", "verdict"),
    [
        ([""], ["TP008 info"]),
        (["databricks 16.4"], []),
        (["delta-spark 4.4.0"], ["TP008 warning"]),
        (["databricks 16.4", "delta-spark 4.4.0"], ["TP008 warning"]),
        (["databricks 16.4", ""], ["TP008 info"]),
    ],
)
def test_check_without_live_tables_judges_for_all_engines(
    project: Project, engines: list[str], verdict: list[str]
) -> None:
    configure(project, *engines)
    project.declare(CONTRACT)
    project.repo.commit()
    project.declare(SIZED)
    assert found(project) == verdict


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize(
    ("engine", "verdict", "sets_it"),
    [
        ("", "TP008 info", True),
        ("databricks 16.4", None, True),
        ("delta-spark 4.4.0", "TP008 warning", False),
    ],
)
def test_check_and_plan_agree_for_each_engine(
    project: Project, engine: str, verdict: str | None, *, exists: bool, sets_it: bool
) -> None:
    table = configure(project, engine)
    project.declare(CONTRACT)
    project.repo.commit()
    project.declare(SIZED)
    if exists:
        write_table(table)
    judged = found(project, "--live")
    assert [finding for finding in judged if finding.startswith("TP")] == ([verdict] if verdict else [])
    project.repo.commit()
    plan = project.run("plan")
    assert plan.status == 0
    assert "'team' = 'sales'" in plan.out
    assert ("delta.targetFileSize' = '128mb'" in plan.out) == sets_it
    assert ("property delta.targetFileSize belongs to databricks" in plan.out) == sets_it


def test_a_version_newer_than_all_known_ones_is_judged_as_the_newest_and_said_once(project: Project) -> None:
    table = configure(project, "delta-spark 5.1.0", "delta-spark 5.1.0")
    project.declare(CONTRACT)
    project.repo.commit()
    write_table(table)
    project.declare(CONTRACT + "properties: {delta.parquet.format.version: 2.12.0}\n")
    text = "delta-spark 5.1.0 is newer than what schemalint knows: judged as delta-spark 4.4.0\n"
    run = project.run("check")
    assert run.status == 0
    assert run.err.count(text) == 1
    project.repo.commit()
    assert project.run("plan", "--target", "t0").err.count(f"warning: {text}") == 1


def test_a_statement_that_one_target_refuses_is_refused_there_alone(project: Project) -> None:
    widening = "properties: {delta.enableTypeWidening: true}\n"
    table = configure(project, "delta-spark 3.3.2", "delta-spark 4.4.0")
    project.declare(CONTRACT.replace("bigint", "int") + widening)
    project.repo.commit()
    recorded = "type: bigint, type_changes: [{from: int, to: bigint}]"
    project.declare(CONTRACT.replace("type: bigint", recorded) + widening)
    run = project.run("check", "--output-format", "json")
    refused, *others = [
        finding for finding in json.loads(run.out)["findings"] if finding["severity"] == "error"
    ]
    assert (refused["code"], others) == ("EN001", [])
    assert refused["message"] == (
        "delta-spark 3.3.2 (target t0) cannot widen id from int to bigint; Delta can from 4.0 on"
    )
    project.repo.commit()
    write_log(
        table,
        [
            [
                protocol(3, 7, ["typeWidening"], ["typeWidening"]),
                metadata(Field("id", INTEGER), properties={"delta.enableTypeWidening": "true"}),
            ]
        ],
    )
    old, new = (project.run("plan", "--target", name) for name in ("t0", "t1"))
    assert (old.status, new.status) == (1, 0)
    assert "ALTER COLUMN" in new.out.upper()
    assert "cannot widen id from int to bigint" in old.out


def test_property_that_the_engine_refuses_is_not_compared_with_the_live_table(project: Project) -> None:
    """Neither its absence nor another value is drift; its removal is planned."""
    table = configure(project, "delta-spark 4.4.0")
    project.declare(CONTRACT + "properties: {delta.targetFileSize: 128mb}\n")
    project.repo.commit()
    for live, verdict in (({}, ["TP008 warning"]), ({"targetFileSize": "1gb"}, ["TP008 warning"])):
        write_table(table, **live)
        assert found(project, "--live", "--all") == verdict
        assert "SET TBLPROPERTIES" not in project.run("plan").out
    write_table(table, targetFileSize="128mb")
    assert found(project, "--live", "--all") == []
    project.declare(CONTRACT + "properties: {delta.targetFileSize: null}\n")
    project.repo.commit()
    assert "UNSET TBLPROPERTIES ('delta.targetFileSize')" in project.run("plan").out


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("spark 4.0", "there is no engine 'spark'; known are delta-spark, databricks and fabric"),
        ("databricks16.4", "there is no engine 'databricks16.4'"),
        ("Databricks 16.4", "there is no engine 'Databricks'"),
        ("delta-spark", "'' is no version of delta-spark; write one such as 4.4.0"),
        ("delta-spark 4.4 ", "'4.4 ' is no version of delta-spark"),
        ("delta-spark 2.3.0", "delta-spark has no version 2.3.0; known are 2.4, 3.0, 3.1, 3.2, 3.3, 4.0"),
        ("delta-spark 3.4.0", "delta-spark has no version 3.4.0"),
        ("databricks 7.3", "databricks has no version 7.3; known are 9.1 to 18.2 and newer ones"),
        ("fabric 1.1", "fabric has no version 1.1; known are 1.3 and newer ones"),
    ],
)
def test_malformed_engine_is_an_error_with_its_place(project: Project, engine: str, message: str) -> None:
    configure(project, "databricks 16.4", engine)
    project.declare(CONTRACT)
    project.repo.commit()
    run = project.check()
    assert run.status == 2
    assert f"schemalint.toml:7:11: failure targets.t1.engine is wrong: {message}" in run.out + run.err


TWO_WRITERS = 'writers = ["databricks 16.4", "delta-spark 3.3.2"]\napply_with = "databricks 16.4"\n'
WIDE = "type: bigint, type_changes: [{from: int, to: bigint}]"
WIDENING = "properties: {delta.enableTypeWidening: true}\n"


def declare_widening(project: Project, configuration: str) -> Path:
    """Declare a change of type under review; return the folder of the table."""
    table = configure(project, "")
    project.repo.write("schemalint.toml", f'[targets.prod]\nroot = "{table.parents[1]}"\n{configuration}')
    project.declare(CONTRACT.replace("bigint", "int") + WIDENING)
    project.repo.commit()
    project.declare(CONTRACT.replace("type: bigint", WIDE) + WIDENING)
    return table


def errors(project: Project, *arguments: str) -> list[str]:
    run = project.run("check", "--output-format", "json", *arguments)
    return [
        f"{finding['code']} {finding['message']}"
        for finding in json.loads(run.out)["findings"]
        if finding["severity"] != "info"
    ]


NOT_READ = "EN006 id changes from int to bigint: then delta-spark 3.3.2 cannot read the table"


@pytest.mark.parametrize(
    ("configuration", "verdict"),
    [
        (TWO_WRITERS, [NOT_READ]),
        (TWO_WRITERS.replace("3.3.2", "4.4.0"), []),
        # Nothing says what runs the statements: the newest Delta, which can.
        ('writers = ["databricks 16.4", "delta-spark 3.3.2"]\n', [NOT_READ]),
        ('writers = ["delta-spark 3.3.2"]\n', ["EN001 delta-spark 3.3.2 (target prod) cannot widen id from"]),
        (
            'writers = ["databricks 16.4", "delta-spark 3.3.0"]\napply_with = "delta-spark 3.3.2"\n',
            ["EN001 delta-spark 3.3.2 (target prod) cannot widen id from int to bigint; Delta can from"],
        ),
        (
            '[[tables]]\nmatch = "sales.*"\nwriters = ["delta-spark 3.3.2"]\n',
            [NOT_READ],
        ),
        ('[[tables]]\nmatch = "hr.*"\nwriters = ["delta-spark 3.3.2"]\n', []),
    ],
)
def test_what_one_writer_makes_must_suit_the_others(
    project: Project, configuration: str, verdict: list[str]
) -> None:
    """One finding for the edit, whichever engines refuse it; check and plan agree."""
    table = declare_widening(project, configuration)
    found = errors(project)
    assert [message[: len(start)] for message, start in zip(found, verdict, strict=True)] == verdict
    state = metadata(Field("id", INTEGER), properties={"delta.enableTypeWidening": "true"})
    write_log(table, [[protocol(3, 7, ["typeWidening"], ["typeWidening"]), state]])
    live = errors(project, "--live")
    assert [message[: len(start)] for message, start in zip(live, verdict, strict=True)] == verdict
    project.repo.commit()
    plan = project.run("plan")
    assert (plan.status, "ALTER COLUMN" in plan.out) == ((1, False) if verdict else (0, True))


def test_new_table_is_judged_by_the_engine_of_its_target(project: Project) -> None:
    configure(project, "delta-spark 3.3.2")
    project.declare(CONTRACT.replace("}]", "}, {name: half, type: double, generated: id / 2}]"))
    project.repo.commit()
    (refused,) = errors(project, "--live", "--all")
    assert refused.startswith("EN005 delta-spark 3.3.2 (target t0) cannot create a table with generated")
    plan = project.run("plan")
    assert (plan.status, "EN005" in plan.out) == (1, True)


def test_exception_lets_a_change_pass_that_shuts_a_writer_out(project: Project) -> None:
    table = declare_widening(project, TWO_WRITERS)
    approval = "allow: [{rule: EN006, column: id, reason: that job ends this week}]\n"
    project.declare(CONTRACT.replace("type: bigint", WIDE) + WIDENING + approval)
    assert errors(project) == []
    state = metadata(Field("id", INTEGER), properties={"delta.enableTypeWidening": "true"})
    write_log(table, [[protocol(3, 7, ["typeWidening"], ["typeWidening"]), state]])
    project.repo.commit()
    plan = project.run("plan")
    assert (plan.status, "ALTER COLUMN" in plan.out) == (0, True)


@pytest.mark.parametrize(
    ("engines", "status"),
    [
        ('engine = "databricks 16.4"\n', 0),
        (TWO_WRITERS, 0),
        ('engine = "delta-spark 4.4.0"\n', 1),
        ("", 1),
    ],
)
def test_feature_that_another_engine_lacks_refuses_no_plan(
    project: Project, engines: str, status: int
) -> None:
    table = configure(project, "")
    project.repo.write("schemalint.toml", f'[targets.prod]\nroot = "{table.parents[1]}"\n{engines}')
    text = CONTRACT.replace("[{name: id, type: bigint}]", "[{name: id, type: string collate UTF8_LCASE}]")
    project.declare(text)
    project.repo.commit()
    column = Field("id", String("UTF8_LCASE"))
    write_log(table, [[protocol(1, 7, None, ["collations"]), metadata(column)]])
    project.declare(text + "properties: {team: sales}\n")
    project.repo.commit()
    plan = project.run("plan")
    assert (plan.status, "'team' = 'sales'" in plan.out) == (status, status == 0)


def test_engine_of_the_command_line_replaces_the_declared_ones(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare_widening(project, TWO_WRITERS)
    monkeypatch.delenv("CI", raising=False)
    assert errors(project, "--engine", "delta-spark 4.4.0") == []
    (refused,) = errors(project, "--engine", "delta-spark 3.2.1")
    assert refused.startswith("EN001 delta-spark 3.2.1 (target prod) cannot widen id")
    run = project.run("check", "--engine", "delta-spark 4.4.0")
    assert run.out.splitlines()[-1].endswith(", as delta-spark 4.4.0)")


def test_engine_of_the_command_line_counts_beside_the_declared_ones_in_ci(review: Review) -> None:
    """A change must not choose what judges it."""
    narrow = CONTRACT.replace("bigint", "int") + WIDENING
    wide = CONTRACT.replace("type: bigint", WIDE) + WIDENING
    config = f'[targets.prod]\nroot = "/lake"\n{TWO_WRITERS}'
    run = review.check(
        {CONTRACT_FILE: narrow, "schemalint.toml": config},
        {CONTRACT_FILE: wide},
        "--engine",
        "delta-spark 3.2.1",
    )
    assert "EN006 error id changes from int to bigint: then delta-spark 3.3.2 cannot read" in run.out
    assert "EN001 error delta-spark 3.2.1 (target prod) cannot widen id" in run.out
    last = run.out.splitlines()[-1]
    assert last.endswith(", as databricks 16.4 and delta-spark 3.3.2 and delta-spark 3.2.1)")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('writers = ["spark 4.0"]', "targets.prod.writers is wrong: there is no engine 'spark'"),
        (
            'apply_with = "delta-spark 2.3"',
            "targets.prod.apply_with is wrong: delta-spark has no",
        ),
        (
            'engine = "fabric 1.3"\nwriters = ["fabric 1.3"]',
            "targets.prod has engine and writers: engine is short for both writers and apply_with",
        ),
        (
            '[[tables]]\nmatch = "*"\nwriters = ["databricks x"]',
            "tables.writers is wrong: 'x' is no version of databricks",
        ),
    ],
)
def test_malformed_writer_is_an_error_with_its_place(project: Project, keys: str, message: str) -> None:
    project.repo.write("schemalint.toml", f"[targets.prod]\n{keys}\n")
    project.declare(CONTRACT)
    project.repo.commit()
    run = project.check()
    assert run.status == 2
    assert re.search(rf"schemalint\.toml:[24]:\d+: failure {re.escape(message)}", run.out + run.err)


def test_malformed_engine_of_the_command_line_is_one_error(project: Project) -> None:
    project.declare(CONTRACT)
    project.repo.commit()
    run = project.run("check", "--engine", "delta-spark 9")
    assert (run.status, "9 is newer" in run.err) == (0, True)
    run = project.run("check", "--engine", "emr 7")
    assert run.status == 2
    assert "there is no engine 'emr'; known are delta-spark, databricks and fabric" in run.err


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("delta-spark 3.3.2", "the engine of target t0 is delta-spark 3.3.2"),
        ("", "the engine of target t0 is not named"),
    ],
)
def test_a_plan_file_of_another_engine_than_the_target_names_is_refused(
    project: Project, tmp_path: Path, engine: str, said: str
) -> None:
    configure(project, "delta-spark 4.0.1")
    project.declare(CONTRACT)
    project.repo.commit()
    file = str(tmp_path / "plan.json")
    assert project.run("plan", "--out", file).status == 0
    assert json.loads((tmp_path / "plan.json").read_text("utf-8"))["engine"] == "delta-spark 4.0.1"
    configure(project, engine)
    project.repo.commit()
    run = project.run("apply", "--plan", file)
    assert (run.status, run.out) == (2, "")
    assert f"{file} is a plan for delta-spark 4.0.1, and {said}" in run.err


def test_plan_for_an_engine_of_the_command_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """It replaces all that are declared, also the writers of tables."""
    monkeypatch.delenv("CI", raising=False)
    table = declare_widening(
        project, TWO_WRITERS + '[[tables]]\nmatch = "*"\nwriters = ["delta-spark 3.2.1"]\n'
    )
    state = metadata(Field("id", INTEGER), properties={"delta.enableTypeWidening": "true"})
    write_log(table, [[protocol(3, 7, ["typeWidening"], ["typeWidening"]), state]])
    project.repo.commit()
    newest = project.run("plan", "--engine", "delta-spark 4.4.0")
    assert (newest.status, "ALTER COLUMN" in newest.out) == (0, True)
    refused = project.run("plan", "--engine", "delta-spark 3.3.2")
    assert refused.status == 1
    assert "EN001: delta-spark 3.3.2 (target prod) cannot widen id" in refused.out
    assert "EN006" not in refused.out


def test_in_ci_plan_refuses_what_the_engine_of_the_command_line_refuses_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements stay those of the declared engine."""
    monkeypatch.setenv("CI", "true")
    table = configure(project, "")
    project.repo.write(
        "schemalint.toml", f'[targets.prod]\nroot = "{table.parents[1]}"\nengine = "delta-spark 4.4.0"\n'
    )
    project.declare(CONTRACT.replace("type: bigint", WIDE) + WIDENING)
    project.repo.commit()
    project.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    project.repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    state = metadata(Field("id", INTEGER), properties={"delta.enableTypeWidening": "true"})
    write_log(table, [[protocol(3, 7, ["typeWidening"], ["typeWidening"]), state]])
    declared = project.run("plan")
    assert project.run("plan", "--engine", "delta-spark 4.0.1").out == declared.out
    assert (declared.status, "ALTER COLUMN" in declared.out) == (0, True), declared.err
    both = project.run("plan", "--engine", "delta-spark 3.3.2")
    assert (both.status, "ALTER COLUMN" in both.out) == (1, False)
    assert both.out.count("EN001: delta-spark 3.3.2 (target prod) cannot widen id") == 1


def test_apply_takes_no_engine(project: Project) -> None:
    """The session is one."""
    project.declare(CONTRACT)
    project.repo.commit()
    run = project.run("apply", "--engine", "delta-spark 4.4.0")
    assert (run.status, "--engine" in run.err) == (2, True)
