"""``apply --plan``: what is left of an approved plan runs, without contracts and git, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.cli import main
from schemalint.deploy.results import AppliedTable, Outcome
from schemalint.model.marker import read_marker
from support.faulty_sessions import Interrupted, Killed, killed_after

if TYPE_CHECKING:
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
DECLARED = BASE.replace("{name: a, type: int}", "{name: total, type: int, renamed_from: a, comment: one}") + (
    "constraints: {positive: total > 0}\n"
)
ROWS = [{"total": 1, "b": 2}]


@pytest.fixture
def planned(lakehouse: Lakehouse) -> Path:
    """Return the plan of `DECLARED` for a table of `BASE` with a row."""
    lakehouse.declare(BASE)
    lakehouse.apply()
    lakehouse.insert("(1, 2)")
    lakehouse.declare(DECLARED)
    return lakehouse.plan("upgrade")


@pytest.fixture
def deploy_machine(
    lakehouse: Lakehouse,
    planned: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Work in CI in a folder with the plan and a configuration; there is neither git nor a contract."""
    folder = tmp_path_factory.mktemp("deploy")
    hash_ = json.loads(planned.read_text())["hash"]
    (folder / "deploy.toml").write_text(
        f'approved-plans = ["{hash_}"]\n[targets.dev]\nroot = "{lakehouse.root}"\n'
    )
    planned.rename(folder / "plan.json")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CI", "true")
    (folder / "bin").mkdir()
    (folder / "bin/java").symlink_to(shutil.which("java") or "java")
    monkeypatch.setenv("PATH", str(folder / "bin"))
    return folder


def _apply(*options: str) -> int:
    return main(["apply", "--plan", "plan.json", "--config", "deploy.toml", *options])


@pytest.mark.each_time
def test_plan_file_is_applied_without_git_and_contracts_and_then_does_nothing(
    lakehouse: Lakehouse, deploy_machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    revision = "1" * 40
    assert _apply("--revision", revision, "--output-format", "json") == 0
    log = json.loads(capsys.readouterr().out)
    version = lakehouse.table().version
    marker = read_marker(lakehouse.table())

    assert _apply() == 0

    plan = json.loads((deploy_machine / "plan.json").read_text())
    assert (log["plan"], log["revision"]) == (plan["hash"], revision)
    assert lakehouse.rows() == ROWS
    assert lakehouse.table().version == version
    assert marker is not None
    assert (marker.hash, marker.revision) == (plan["tables"][0]["declaration"], revision)
    assert "1 table up to date" in capsys.readouterr().out


def test_marker_of_a_plan_file_names_no_commit_by_itself(lakehouse: Lakehouse, planned: Path) -> None:
    (applied,) = lakehouse.go_on(planned)

    marker = read_marker(lakehouse.table())
    assert applied.outcome is Outcome.APPLIED
    assert marker is not None
    assert marker.revision is None
    assert lakehouse.apply().outcome is Outcome.NOTHING


def test_yes_approves_no_plan_file(
    lakehouse: Lakehouse, deploy_machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = deploy_machine / "deploy.toml"
    config.write_text(config.read_text().replace("approved-plans", "# approved-plans"))
    version = lakehouse.table().version

    assert _apply("--yes") == 4

    (table,) = json.loads((deploy_machine / "plan.json").read_text())["tables"]
    assert f"--approved {table['hash']}" in capsys.readouterr().err
    assert lakehouse.table().version == version


@pytest.mark.each_time
def test_statements_in_a_plan_file_are_never_run(lakehouse: Lakehouse, planned: Path) -> None:
    plan = json.loads(planned.read_text())
    for step in plan["tables"][0]["steps"]:
        step["sql"] = f"DROP TABLE delta.`{lakehouse.uri}`"
    planned.write_text(json.dumps(plan))

    assert lakehouse.go_on(planned)[0].outcome is Outcome.APPLIED
    assert lakehouse.rows() == ROWS


def _declared(plan: dict[str, Any]) -> dict[str, Any]:
    declared: dict[str, Any] = plan["tables"][0]["origin"]["declared"]
    return declared


ALTERATIONS: tuple[Callable[[dict[str, Any]], None], ...] = (
    lambda plan: _declared(plan)["columns"][0].update(comment="another"),
    lambda plan: _declared(plan)["properties"].update({"delta.appendOnly": "true"}),
    lambda plan: _declared(plan)["constraints"].update(positive="total > -1 OR 1 / 0 > 1"),
    lambda plan: _declared(plan)["columns"].append({}),
    lambda plan: plan["tables"][0].update(table_id="another"),
    lambda plan: plan["tables"][0]["origin"]["planned_from"]["columns"][0].update(id=7),
    lambda plan: plan["tables"][0]["origin"]["tracking"].update(live=[2, 1]),
    lambda plan: plan["tables"][0]["origin"]["tracking"].update(live=[1]),
    lambda plan: plan["tables"][0].update(hash="2:0"),
    lambda plan: plan.update(hash="2:0"),
    lambda plan: plan.update(version=1),
    lambda plan: plan.update(target="prod"),
    lambda plan: plan.update(tables={}),
)


@pytest.mark.each_time
def test_altered_plan_file_changes_nothing(lakehouse: Lakehouse, deploy_machine: Path) -> None:
    file = deploy_machine / "plan.json"
    text = file.read_text()
    version = lakehouse.table().version
    statuses = []

    for alter in ALTERATIONS:
        plan = json.loads(text)
        alter(plan)
        file.write_text(json.dumps(plan))
        statuses.append(_apply())

    assert statuses == [2] * len(ALTERATIONS)
    assert lakehouse.table().version == version


@pytest.mark.each_time("RENAME COLUMN a TO theirs-field renamed: theirs")
@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("ALTER COLUMN a COMMENT 'theirs'", "comment changed: a"),
        ("RENAME COLUMN a TO theirs", "field renamed: theirs"),
        ("ADD CONSTRAINT positive CHECK (b > 0)", "constraint changed: positive"),
    ],
)
def test_other_changes_of_the_same_objects_refuse_the_table(
    action: str, message: str, lakehouse: Lakehouse, deploy_machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deploy_machine.is_dir()
    lakehouse.sql(action)
    version = lakehouse.table().version

    assert _apply() == 2
    assert message in capsys.readouterr().out
    assert lakehouse.table().version == version


def test_other_changes_elsewhere_and_steps_that_others_made_do_not_matter(
    lakehouse: Lakehouse, planned: Path
) -> None:
    lakehouse.sql("ADD COLUMNS (theirs int)")
    lakehouse.sql("SET TBLPROPERTIES ('delta.feature.timestampNtz' = 'supported', 'their' = 'property')")
    lakehouse.sql("RENAME COLUMN a TO total")

    (applied,) = lakehouse.go_on(planned)

    assert applied.outcome is Outcome.APPLIED
    assert "rename" not in [done.step.kind.value for done in applied.done]
    assert lakehouse.rows() == [{**ROWS[0], "theirs": None}]


def test_another_table_at_the_location_is_refused(
    lakehouse: Lakehouse, deploy_machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deploy_machine.is_dir()
    lakehouse.session.sql(f"CREATE OR REPLACE TABLE delta.`{lakehouse.uri}` (a int, b int) USING delta")
    (lakehouse.root / "sales/orders").rename(lakehouse.root / "sales/old")
    assert _apply() == 2
    assert "the table is gone" in capsys.readouterr().out
    lakehouse.session.sql(f"CREATE TABLE delta.`{lakehouse.uri}` (a int, b int) USING delta")
    assert _apply() == 2
    assert "another table is at this location" in capsys.readouterr().out


def test_declaration_that_was_applied_meanwhile_refuses_the_plan(lakehouse: Lakehouse, planned: Path) -> None:
    lakehouse.declare(DECLARED.replace("{name: b, type: int}", "{name: b, type: int, comment: later}"))
    assert lakehouse.apply(allow=["upgrade"]).outcome is Outcome.APPLIED
    version = lakehouse.table().version

    (applied,) = lakehouse.go_on(planned)

    assert applied.outcome is Outcome.REFUSED
    assert lakehouse.table().version == version


def test_two_equal_applies_at_once_end_in_the_declared_state_with_one_marker(
    lakehouse: Lakehouse, planned: Path, tmp_path: Path
) -> None:
    """A statement may run twice, if both see that it is the next one: the second time it changes nothing."""
    alone = lakehouse.copy(tmp_path / "alone")
    assert alone.go_on(alone.plan("upgrade"))[0].outcome is Outcome.APPLIED
    barrier = Barrier(2, timeout=600)
    results: list[AppliedTable] = []

    def run() -> None:
        barriers = [barrier]

        def wait_once(_number: int) -> None:
            if barriers:  # a first statement that fails is followed by another first one
                barriers.pop().wait()

        session = Interrupted(lakehouse.another_session(), before=wait_once)
        results.extend(lakehouse.go_on(planned, session))

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [result.error for result in results] == [None, None]
    table, expected = lakehouse.table(), alone.table()
    assert table.state == expected.state
    assert table.transactions == expected.transactions
    commits = [path.read_text() for path in Path(lakehouse.uri, "_delta_log").glob("*.json")]
    assert sum('"txn":' in commit for commit in commits) == 2, "one for the base, one for the plan"
    assert lakehouse.rows() == ROWS


def test_create_killed_before_its_constraints_goes_on(lakehouse: Lakehouse) -> None:
    lakehouse.declare(DECLARED.replace(", renamed_from: a", ""))
    plan = lakehouse.plan("upgrade")
    with pytest.raises(Killed):
        lakehouse.go_on(plan, killed_after(lakehouse.session, 1))
    assert lakehouse.table().state.constraints == {}

    assert lakehouse.go_on(plan)[0].outcome is Outcome.APPLIED

    version = lakehouse.table().version
    assert lakehouse.table().state.constraints == {"positive": "total > 0"}
    assert lakehouse.go_on(plan)[0].outcome is Outcome.NOTHING
    assert lakehouse.table().version == version
