"""The command line of `apply`: plan files, approvals and the deploy log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator
from pyspark.errors import AnalysisException

from schemalint.cli import main
from schemalint.cli.schema import schema_of
from schemalint.model.marker import read_marker
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

BASE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
  - {name: b, type: int}
properties: {delta.columnMapping.mode: name}
"""
WITHOUT_B = BASE.replace("  - {name: b, type: int}\n", "") + "dropped: [b]\n"


Run = "Callable[..., int]"


@pytest.fixture
def run(lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function that runs a command in the repository, with the running session."""
    monkeypatch.chdir(lakehouse.repo.path)
    return lambda *arguments: main([str(argument) for argument in arguments])


@pytest.fixture
def deployed(lakehouse: Lakehouse, run: Callable[..., int]) -> Lakehouse:
    """Return a lakehouse with the table of `BASE`."""
    lakehouse.declare(BASE)
    assert run("apply", "--yes") == 0
    return lakehouse


@pytest.mark.each_time
def test_deploy_log_is_valid_against_its_schema(
    lakehouse: Lakehouse, run: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("good", "bad", "worse"):
        lakehouse.declare(BASE.replace("sales.orders", f"sales.{name}"), name)
    broken = lakehouse.root / "sales/bad/_delta_log"
    broken.mkdir(parents=True)
    (broken / f"{0:020}.json").write_text("{broken")
    text = BASE.replace("sales.orders", "sales.worse") + "constraints: {odd: 1 / 0 > a}\n"
    lakehouse.declare(text, "worse")

    lines_file = tmp_path / "deploy.jsonl"
    lines_file.write_text("an older log\n")
    status = run("apply", "--yes", "--output-format", "json", "--log", lines_file)
    log = json.loads(capsys.readouterr().out)
    assert run("schema", "apply") == 0
    schema = json.loads(capsys.readouterr().out)
    assert run("schema", "deploy-log") == 0
    schema_of_lines = json.loads(capsys.readouterr().out)

    assert status == log["exit_status"] == 2
    assert list(Draft202012Validator(schema).iter_errors(log)) == []
    tables = {table["table"]: table for table in log["tables"]}
    assert {name: table["outcome"] for name, table in tables.items()} == {
        "sales.good": "applied",
        "sales.bad": "unplanned",
        "sales.worse": "failed",
    }
    good = tables["sales.good"]
    assert (good["version_before"], good["version_after"]) == (None, 1)
    assert [(step["kind"], step["version"]) for step in good["steps"]] == [("create", 0)]
    assert "DIVIDE_BY_ZERO" in tables["sales.worse"]["error"]["message"]
    assert log["revision"] == lakehouse.repo.head()
    assert list(Draft202012Validator(schema).iter_errors(log | {"tables": [good | {"more": 1}]})) != []

    lines = [json.loads(line) for line in lines_file.read_text().splitlines()]
    validator = Draft202012Validator(schema_of_lines, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert [error for line in lines for error in validator.iter_errors(line)] == []
    assert [line for line in lines if validator.is_valid(line | {"more": 1})] == []
    started, *between, summary = lines
    of_tables = {line["table"]: line for line in between if line["type"] == "table"}
    assert {name: {key: line[key] for key in good} for name, line in of_tables.items()} == tables
    order = [(line["type"], line["table"]) for line in between]
    assert order.index(("step", "sales.good")) < order.index(("table", "sales.good"))
    assert {line["revision"] for line in (started, *of_tables.values())} == {log["revision"]}
    assert {line["target"] for line in (started, *of_tables.values())} == {"dev"}
    assert (started["type"], started["plan"], started["tables"]) == ("started", log["plan"], 3)
    assert (summary["type"], summary["exit_status"], summary["error"]) == ("summary", 2, None)
    assert summary["outcomes"] == {"unplanned": 1, "failed": 1, "applied": 1}
    marker = read_marker(read_table(str(lakehouse.root / "sales/good")))
    assert marker is not None
    assert (good["declaration"], log["revision"]) == (marker.hash, marker.revision)


@pytest.mark.each_time
def test_apply_without_a_terminal_and_without_yes_changes_nothing(
    lakehouse: Lakehouse, run: Callable[..., int]
) -> None:
    lakehouse.declare(BASE)

    assert run("apply") == 4
    assert not (lakehouse.root / "sales").exists()


@pytest.mark.each_time
def test_approved_plan_needs_no_allow_option_and_approves_no_other_plan(
    deployed: Lakehouse, run: Callable[..., int], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    deployed.declare(WITHOUT_B)
    assert run("plan", "--out", plan, "--allow", "upgrade") == 0
    approved = json.loads(plan.read_text())["hash"]
    unapproved = run("apply", "--yes")
    has_b_without_approval = deployed.table().state.columns.get("b") is not None
    configuration = deployed.repo.write(
        "schemalint.toml", f'approved-plans = ["1:0", "{approved}"]\n[targets.dev]\nroot = "lake"\n'
    )
    deployed.repo.commit()

    with_approval = run("apply", "--yes")
    has_b_with_approval = deployed.table().state.columns.get("b") is not None
    deployed.declare(
        WITHOUT_B.replace("  - {name: a,", "  - {name: b, type: string}\n  - {name: a,").replace("[b]", "[]")
    )
    run("apply", "--yes")
    deployed.declare(WITHOUT_B)
    other_plan = run("apply", "--yes")

    assert (unapproved, has_b_without_approval) == (4, True)
    assert (with_approval, has_b_with_approval) == (0, False)
    assert other_plan == 4
    assert configuration.exists()


@pytest.mark.each_time("_delta_log/a.txt")
@pytest.mark.parametrize(
    "entry", ["a.txt", "_SUCCESS", ".hidden", "a.crc", "folder/a.txt", "_delta_log/a.txt", ".a.crc", None]
)
def test_location_counts_as_empty_exactly_if_spark_creates_a_table_there(
    entry: str | None, lakehouse: Lakehouse, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    location = Path(lakehouse.uri)
    location.mkdir(parents=True)
    if entry is not None:
        (location / entry).parent.mkdir(exist_ok=True)
        (location / entry).write_bytes(b"")
    lakehouse.declare(BASE)
    status = run("plan")
    is_refused = f"there are files but no Delta log at {location}" in capsys.readouterr().out
    statement = f"CREATE TABLE delta.`{location}` (a INT) USING delta"
    if is_refused:
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
            lakehouse.session.sql(statement)
    else:
        lakehouse.session.sql(statement)
    assert (status, is_refused) == ((0, False) if entry in (".a.crc", None) else (2, True))


FILLED = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: string}
  - {name: b, type: int, backfill: {from: a, with: "cast(a as int)"}}
"""


@pytest.mark.each_time
def test_a_plan_proves_what_its_fills_would_find(
    lakehouse: Lakehouse,
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lakehouse.declare("schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: string}]\n")
    assert run("apply", "--yes") == 0
    lakehouse.insert("('1'), ('02'), ('x'), (NULL)")
    lakehouse.declare(FILLED)
    version = lakehouse.table().version
    assert run("plan", "--prove") == 2
    capsys.readouterr()
    prove = ("plan", "--via", "spark", "--prove", "--output-format", "json")
    assert run(*prove) == 0
    output = capsys.readouterr()
    plan = json.loads(output.out)
    Draft202012Validator(schema_of("plan")).validate(plan)
    counts = {"to_fill": 2, "equal": 0, "not_converted": 1, "inexact": 0, "differing": 0, "problem": None}
    assert plan["tables"][0]["proofs"] == [{"column": "b", "from": "a"} | counts]
    assert "sales.orders: b from a: 0 equal, 2 to fill, 1 not converted" in output.err
    assert "'x'" not in output.out + output.err
    assert lakehouse.table().version == version
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("BITBUCKET_BUILD_NUMBER", "1")
    monkeypatch.setenv("BITBUCKET_PR_ID", "1")
    assert run(*prove, "--all") == 2
    assert "'x'" not in capsys.readouterr().out


def test_samples_in_ci_go_to_their_file_and_nowhere_else(
    lakehouse: Lakehouse,
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    text = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: string}]\n"
    lakehouse.declare(text)
    assert run("apply", "--yes") == 0
    lakehouse.insert("('7'), ('value of somebody')")
    filled = 'name: b, type: int, backfill: {from: a, with: "cast(a as int)"}'
    lakehouse.declare(text.replace("}]", f"}}, {{{filled}}}]"))
    # The configuration counts in CI, since the default branch has it.
    lakehouse.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    lakehouse.repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    monkeypatch.setenv("CI", "true")
    version = lakehouse.table().version
    capsys.readouterr()

    assert run("apply", "--yes", "--allow", "data", "--samples") == 2
    assert "--samples-to FILE" in capsys.readouterr().err
    assert lakehouse.table().version == version

    samples, lines = tmp_path / "samples.txt", tmp_path / "deploy.jsonl"
    options = ("--samples-to", samples, "--log", lines, "--output-format", "json")
    assert run("apply", "--yes", "--allow", "data", *options) == 0
    printed = capsys.readouterr()
    for counts in (printed.out, lines.read_text()):
        assert "1 not converted" in counts
    assert "value of somebody" not in printed.out + printed.err + lines.read_text()
    expected = "sales.orders: a: some values that do not convert: 'value of somebody'\n"
    assert samples.read_text() == expected
