"""The command line of `apply`: plan files, approvals, the deploy log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator
from pyspark.errors import AnalysisException

from schemalint.cli import main

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
    """Runs a command in the repository, by the session that is there."""
    monkeypatch.chdir(lakehouse.repo.path)
    return lambda *arguments: main([str(one) for one in arguments])


@pytest.fixture
def begun(lakehouse: Lakehouse, run: Callable[..., int]) -> Lakehouse:
    lakehouse.declare(BASE)
    assert run("apply", "--yes") == 0
    return lakehouse


def test_deploy_log_is_as_its_schema_says(
    lakehouse: Lakehouse, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("good", "bad", "worse"):
        lakehouse.declare(BASE.replace("sales.orders", f"sales.{name}"), name)
    broken = lakehouse.root / "sales/bad/_delta_log"
    broken.mkdir(parents=True)
    (broken / f"{0:020}.json").write_text("{broken")
    text = BASE.replace("sales.orders", "sales.worse") + "constraints: {odd: 1 / 0 > a}\n"
    lakehouse.declare(text, "worse")

    status = run("apply", "--yes", "--output-format", "json")
    log = json.loads(capsys.readouterr().out)
    assert run("schema", "apply") == 0
    schema = json.loads(capsys.readouterr().out)

    assert status == log["exit_status"] == 2
    assert list(Draft202012Validator(schema).iter_errors(log)) == []
    tables = {one["table"]: one for one in log["tables"]}
    assert {name: one["outcome"] for name, one in tables.items()} == {
        "sales.good": "applied",
        "sales.bad": "unplanned",
        "sales.worse": "failed",
    }
    good = tables["sales.good"]
    assert (good["version_before"], good["version_after"]) == (None, 1)
    assert [(one["kind"], one["version"]) for one in good["steps"]] == [("create", 0)]
    assert "DIVIDE_BY_ZERO" in tables["sales.worse"]["error"]["message"]
    assert log["revision"] == lakehouse.repo.head()


def test_nothing_is_changed_without_a_terminal_and_without_yes(
    lakehouse: Lakehouse, run: Callable[..., int]
) -> None:
    lakehouse.declare(BASE)

    assert run("apply") == 4
    assert not (lakehouse.root / "sales").exists()


def test_plan_file_is_carried_out_and_a_second_time_there_is_nothing_to_do(
    begun: Lakehouse, run: Callable[..., int], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    begun.declare(BASE.replace("name: a,", "name: a, comment: one,"))
    begun.declare(BASE.replace("sales.orders", "sales.other"), "other")
    assert run("plan", "sales.orders", "--out", plan) == 0

    first = run("apply", "--plan", plan, "--yes")
    version = begun.table().version
    second = run("apply", "--plan", plan, "--yes")

    assert (first, second) == (0, 0)
    assert begun.table().state.columns.fields[0].comment == "one"
    assert begun.table().version == version
    assert not (begun.root / "sales/other").exists()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("ALTER COLUMN a COMMENT 'theirs'", "now the comment of a is 'theirs'"),
        ("SET TBLPROPERTIES ('delta.feature.timestampNtz' = 'supported')", "timestampNtz"),
    ],
)
def test_plan_file_of_a_table_that_moved_is_refused(
    statement: str,
    said: str,
    begun: Lakehouse,
    run: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = tmp_path / "plan.json"
    begun.declare(BASE.replace("name: a,", "name: a, comment: one,"))
    assert run("plan", "--out", plan) == 0
    begun.sql(statement)
    version = begun.table().version

    status = run("apply", "--plan", plan, "--yes", "--repair-drift")

    assert status == 2
    assert said in capsys.readouterr().out
    assert begun.table().version == version


def test_plan_file_of_another_declaration_is_refused(
    begun: Lakehouse, run: Callable[..., int], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    begun.declare(BASE.replace("name: a,", "name: a, comment: one,"))
    assert run("plan", "--out", plan) == 0
    begun.declare(BASE.replace("name: a,", "name: a, comment: another,"))

    assert run("apply", "--plan", plan, "--yes") == 2
    assert begun.table().state.columns.fields[0].comment != "another"


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 1}', '{"version": 99, "target": "dev", "tables": []}']
)
def test_file_that_is_no_plan(
    content: str, begun: Lakehouse, run: Callable[..., int], tmp_path: Path
) -> None:
    begun.declare(BASE.replace("name: a,", "name: a, comment: one,"))
    plan = tmp_path / "plan.json"
    plan.write_text(content)

    assert run("apply", "--plan", plan, "--yes") == 2


def test_approved_plan_needs_no_flag_and_approves_no_other_plan(
    begun: Lakehouse, run: Callable[..., int], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    begun.declare(WITHOUT_B)
    assert run("plan", "--out", plan, "--allow", "upgrade") == 0
    approved = json.loads(plan.read_text())["hash"]
    unapproved = run("apply", "--yes")
    there = begun.table().state.columns.get("b") is not None
    configuration = begun.repo.write(
        "schemalint.toml", f'approved-plans = ["1:0", "{approved}"]\n[targets.dev]\nroot = "lake"\n'
    )
    begun.repo.commit()

    with_approval = run("apply", "--yes")
    gone = begun.table().state.columns.get("b") is None
    begun.declare(
        WITHOUT_B.replace("  - {name: a,", "  - {name: b, type: string}\n  - {name: a,").replace("[b]", "[]")
    )
    run("apply", "--yes")
    begun.declare(WITHOUT_B)
    another = run("apply", "--yes")

    assert (unapproved, there) == (4, True)
    assert (with_approval, gone) == (0, True)
    assert another == 4
    assert configuration.exists()


@pytest.mark.parametrize(
    "entry", ["a.txt", "_SUCCESS", ".hidden", "a.crc", "folder/a.txt", "_delta_log/a.txt", ".a.crc", None]
)
def test_place_counts_as_empty_where_the_engine_makes_a_table(
    entry: str | None, lakehouse: Lakehouse, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    place = Path(lakehouse.uri)
    place.mkdir(parents=True)
    if entry is not None:
        (place / entry).parent.mkdir(exist_ok=True)
        (place / entry).write_bytes(b"")
    lakehouse.declare(BASE)
    status = run("plan")
    said = f"there are files and no Delta log at {place}" in capsys.readouterr().out
    statement = f"CREATE TABLE delta.`{place}` (a INT) USING delta"
    if said:
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
            lakehouse.session.sql(statement)
    else:
        lakehouse.session.sql(statement)
    assert (status, said) == ((0, False) if entry in (".a.crc", None) else (2, True))
