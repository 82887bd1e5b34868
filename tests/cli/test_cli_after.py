"""``--after FILE``: which tables a deploy log of an earlier target holds back, and which files are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from schemalint import contract as contracts
from schemalint.delta.datatype import LONG, Decimal, Field
from schemalint.model.effective import Environment, effective
from schemalint.model.marker import declaration_hash
from support.logs import commit_info, marker, metadata, protocol, write_log
from support.project import ORDERS, Run

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

CONFIGURATION = '[targets.staging]\nroot = "{lake}"\n[targets.prod]\nroot = "{lake}"\n'
ITEMS: Final = ORDERS.replace("sales.orders", "sales.items")
NEW: Final = "description: New.\n"
STARTED: Final = {"type": "started", "version": 1, "target": "staging", "revision": "1234567" + "0" * 33}
SUMMARY: Final = {"type": "summary", "exit_status": 0}


class Lake:
    """``sales.orders`` has a change to apply in every target; ``sales.items`` is as its contract declares."""

    def __init__(self, project: Project) -> None:
        self.project = project
        lake = project.repo.path.parent / "lake"
        project.repo.write("schemalint.toml", CONFIGURATION.format(lake=lake))
        created = [
            commit_info("CREATE TABLE"),
            protocol(),
            metadata(Field("id", LONG), Field("amount", Decimal(10, 2))),
        ]
        write_log(lake / "sales/orders", [created])
        write_log(lake / "sales/items", [created, [commit_info(), marker(ITEMS, None)]])
        project.declare(ORDERS + NEW)
        project.repo.commit()

    def plan(self, *lines: object) -> Run:
        file = self.project.repo.path / "staging.jsonl"
        file.write_text("".join(line if isinstance(line, str) else f"{json.dumps(line)}\n" for line in lines))
        return self.project.run("plan", "--target", "prod", "--after", str(file))

    def declare(self, text: str) -> None:
        self.project.declare(text)
        self.project.repo.commit()


@pytest.fixture
def lake(project: Project) -> Lake:
    return Lake(project)


def table(text: str = ORDERS + NEW, outcome: str = "applied", target: str = "staging") -> dict[str, object]:
    (declared,) = contracts.read("orders.yml", text).contracts
    declaration = declaration_hash(effective(declared, Environment(target)))
    return {"type": "table", "table": declared.table, "declaration": declaration, "outcome": outcome}


@pytest.mark.parametrize("outcome", ["applied", "recorded", "nothing"])
def test_a_table_changes_once_the_earlier_target_has_its_declaration(lake: Lake, outcome: str) -> None:
    run = lake.plan(STARTED, table(outcome=outcome), SUMMARY)
    assert (run.status, run.err) == (0, "")
    assert "ALTER TABLE" in run.out


def test_a_log_of_another_commit_counts_for_the_same_declaration(lake: Lake) -> None:
    lake.declare("# Another comment.\n" + ORDERS + NEW)
    assert lake.plan({**STARTED, "revision": None}, table(), SUMMARY).status == 0


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "the deploy to staging at 1234567 did not come to the table"),
        ([table(ORDERS)], "the deploy to staging at 1234567 applied another declaration of the table"),
        ([table(outcome="failed")], "the deploy to staging at 1234567 left the table failed"),
        ([table(outcome="left_alone")], "the deploy to staging at 1234567 left the table left alone"),
        ([table(outcome="waiting")], "the deploy to staging at 1234567 left the table waiting"),
        ([table(outcome="\x1b[2J")], "the deploy to staging at 1234567 left the table \\x1b[2J"),
    ],
)
def test_a_table_waits_for_the_earlier_target(lake: Lake, lines: list[object], reason: str) -> None:
    run = lake.plan(STARTED, *lines, SUMMARY)
    assert run.status == 4
    assert reason in run.out
    assert "apply this commit to staging first, and give the log of that run" in run.out
    assert "ALTER TABLE" not in run.out


def test_the_log_of_a_killed_deploy_counts_for_the_tables_that_it_came_to(lake: Lake) -> None:
    assert lake.plan(STARTED, table()).status == 0
    assert lake.plan(STARTED, '{"type": "ta').status == 4


def test_a_table_without_work_waits_for_nothing(lake: Lake) -> None:
    lake.declare(ITEMS)
    assert lake.plan(STARTED, SUMMARY).status == 0


def test_a_table_that_lacks_only_its_marker_waits_too(lake: Lake) -> None:
    lake.declare(ORDERS)
    assert lake.plan(STARTED, SUMMARY).status == 4


def test_a_table_that_is_absent_in_the_earlier_target_waits_for_nothing(lake: Lake) -> None:
    lake.declare(ORDERS + NEW + "targets: {staging: {absent: true}}\n")
    assert lake.plan(STARTED, SUMMARY).status == 0


def test_the_declaration_counts_as_the_earlier_target_has_it(lake: Lake) -> None:
    text = ORDERS + NEW + "targets: {staging: {properties: {delta.appendOnly: 'true'}}}\n"
    lake.declare(text)
    assert lake.plan(STARTED, table(text), SUMMARY).status == 0
    assert lake.plan(STARTED, table(text, target="prod"), SUMMARY).status == 4


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "its first line does not say that a deploy started"),
        ([SUMMARY], "its first line does not say that a deploy started"),
        (["[1]\n"], "line 1 is not a JSON object"),
        ([STARTED, '{"type": "ta\n'], "line 2 is not a JSON object"),
        ([{**STARTED, "version": 2}], "its format is '2', not 1"),
        ([{**STARTED, "target": None}], "target: expected text, not a NoneType"),
        ([STARTED, {"type": "table"}], "declaration is missing"),
        ([STARTED, STARTED], "it holds several deploys"),
        (["[" * 100_000 + "\n"], "line 1 is not a JSON object"),
    ],
)
def test_other_files_are_no_deploy_logs(lake: Lake, lines: list[object], reason: str) -> None:
    run = lake.plan(*lines)
    assert (run.status, run.out) == (2, "")
    assert "staging.jsonl is not a deploy log: " + reason in run.err


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("prod", "is the deploy log of prod, the target of this run"),
        ("test", "is the deploy log of test, which is no target of the configuration"),
    ],
)
def test_the_log_is_of_another_target_of_the_configuration(lake: Lake, target: str, reason: str) -> None:
    run = lake.plan({**STARTED, "target": target})
    assert (run.status, run.out) == (2, "")
    assert reason in run.err


def test_a_missing_file_is_told(lake: Lake, tmp_path: Path) -> None:
    run = lake.project.run("plan", "--target", "prod", "--after", str(tmp_path / "none"))
    assert run.status == 2
    assert "none cannot be read: No such file" in run.err


def test_apply_has_the_option_and_a_plan_file_excludes_it(lake: Lake) -> None:
    run = lake.project.run("apply", "--target", "prod", "--after", "none", "--yes")
    assert "none cannot be read" in run.err
    run = lake.project.run("apply", "--plan", "plan.json", "--after", "none")
    assert "--after has no effect with --plan" in run.err
