"""The step that checks: live tables, the summary, and the text of the comment."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schemalint.cli import main as command_line
from schemalint.cli.action import check_step
from schemalint.cli.action.__main__ import main
from schemalint.cli.action.comment_text import MOST_BYTES
from schemalint.delta.datatype import INTEGER, STRING, Field
from support.github_server import LONGEST, GitHubServer
from support.logs import metadata, protocol, write_log
from support.pull_request import BIGINT, DATE, DESCRIBED, ORDERS, Event, PullRequest
from support.sarif import sarif_validator

FILE = "contracts/orders.yml"
ITEMS = "contracts/items.yml"
FIELDS = (Field("order_id", INTEGER), Field("note", STRING))
UPGRADE = ORDERS + "properties: {delta.enableTypeWidening: true}\n"
FORK = "this change counts as a stranger's: it comes from a fork"


@dataclass
class Step:
    """What the step left."""

    status: int
    outputs: dict[str, str]
    log: str
    summary: str
    comment: dict[str, Any]

    @property
    def body(self) -> str:
        """The text of the comment, without character references."""
        return re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), self.comment["body"])


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Step]:
    """Run the step in a job that an event of a pull request starts."""

    def run(pull: PullRequest, event: Event, **inputs: str) -> Step:
        folder = tmp_path / "runner"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        file = tmp_path / "event.json"
        file.write_text(json.dumps(event.payload))
        names = ("AGAINST", "COMMENT_ID", "FAIL_ON", "TARGET", "TRUSTED_REFS")
        env = {
            **{f"INPUT_{name}": "" for name in names},
            "INPUT_COMMENT": "auto",
            "INPUT_LIVE": "off",
            "INPUT_WORKING_DIRECTORY": ".",
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_WORKSPACE": str(pull.workspace(event)),
            **GitHubServer().env,
            **pull.clone.env,
        }
        with monkeypatch.context() as patched:
            patched.chdir(tmp_path)
            for name, value in env.items():
                patched.setenv(name, value)
            status = main("check", folder)
        texts = {name: (folder / f"check.{name}").read_text() for name in ("outputs", "log", "summary")}
        outputs = dict(line.split("=", 1) for line in texts["outputs"].splitlines())
        comment = folder / "comment.json"
        return Step(
            status=status,
            outputs=outputs,
            log=texts["log"],
            summary=texts["summary"],
            comment=json.loads(comment.read_text()) if comment.exists() else {},
        )

    return run


@dataclass(frozen=True)
class Lake:
    """The folder of a target, and the configuration that names it."""

    folder: Path

    @property
    def configuration(self) -> str:
        return f"[targets.prod]\nroot = '{self.folder}'\n"

    def write(self, name: str, *fields: Field) -> None:
        write_log(self.folder / "sales" / name, [[protocol(1, 2), metadata(*fields)]])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    (tmp_path / "lake").mkdir()
    return Lake(tmp_path / "lake")


@pytest.fixture
def pull(tmp_path: Path, lake: Lake) -> PullRequest:
    """A repository whose base has the target."""
    items = ORDERS.replace("sales.orders", "sales.items")
    return PullRequest(tmp_path, {FILE: ORDERS, ITEMS: items, "schemalint.toml": lake.configuration})


def test_a_live_table_adds_the_plan_with_the_hash_that_approves_it(
    check: Callable[..., Step], pull: PullRequest, lake: Lake
) -> None:
    lake.write("orders", *FIELDS)
    step = check(pull, pull.push({FILE: UPGRADE}), live="auto", target="prod", fail_on="never")
    assert step.status == 0, step.log
    assert "target prod" in step.body
    (approval,) = re.findall(
        r'^  "(2:[0-9a-f]{64})",  # sales\.orders in prod: upgrade$', step.body, re.MULTILINE
    )
    assert re.fullmatch("2:[0-9a-f]{64}", step.outputs["plan-hash"])
    assert f'"{approval}"' in step.summary
    assert step.comment["is_worth_a_comment"]


def test_a_plan_without_findings_is_worth_a_comment(
    check: Callable[..., Step], pull: PullRequest, lake: Lake
) -> None:
    lake.write("orders", *FIELDS)
    step = check(pull, pull.push({FILE: DESCRIBED}), live="required")
    assert (step.status, step.outputs["findings"]) == (0, "0")
    assert step.outputs["plan-hash"]
    assert step.comment["is_worth_a_comment"]
    unchanged = check(pull, pull.push({FILE: ORDERS}), live="required")
    assert unchanged.outputs["plan-hash"] == ""
    assert not unchanged.comment["is_worth_a_comment"]


def test_tables_that_cannot_be_read_are_told_or_fail(
    check: Callable[..., Step], pull: PullRequest, lake: Lake
) -> None:
    lake.folder.rmdir()
    event = pull.push({FILE: DATE})
    auto = check(pull, event, live="auto")
    assert (auto.status, auto.outputs["errors"]) == (1, "1")
    reason = f"The live tables were not read: the root of target prod does not exist: {lake.folder}"
    assert reason in auto.body
    assert "TW002" in auto.body
    assert f"::notice title=schemalint::{reason}" in auto.log
    assert Path(auto.outputs["sarif"]).exists()
    required = check(pull, event, live="required")
    assert required.status == 2
    assert "does not exist" in required.body


def test_auto_does_not_hide_that_one_of_two_tables_cannot_be_read(
    check: Callable[..., Step], pull: PullRequest, lake: Lake
) -> None:
    lake.write("orders", *FIELDS)
    damaged = lake.folder / "sales/items/_delta_log/00000000000000000000.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{")
    items = DESCRIBED.replace("sales.orders", "sales.items")
    step = check(pull, pull.push({FILE: DESCRIBED, ITEMS: items}), live="auto")
    assert step.status == 2
    assert "not read" not in step.body
    assert "sales/items" in step.body


@pytest.mark.parametrize("orders", [ORDERS, DESCRIBED])
def test_a_failure_that_is_not_the_tables_is_not_taken_for_theirs(
    check: Callable[..., Step], pull: PullRequest, lake: Lake, orders: str
) -> None:
    lake.write("orders", *FIELDS)
    step = check(pull, pull.push({FILE: orders, ITEMS: "schemalint: 1\ntable: [\n"}), live="auto")
    assert step.status == 2
    assert "not read" not in step.body
    assert "target prod" in step.body


def test_a_plan_that_cannot_be_made_is_told_or_fails(
    check: Callable[..., Step], pull: PullRequest, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.write("orders", *FIELDS)
    event = pull.push({FILE: DESCRIBED})

    def without_plan(arguments: Sequence[str]) -> int:
        return 2 if "plan" in arguments else command_line(arguments)

    monkeypatch.setattr(check_step, "main", without_plan)
    for live, status in (("auto", 0), ("required", 2)):
        step = check(pull, event, live=live)
        assert (step.status, step.outputs["plan-hash"]) == (status, "")
        assert "There is no plan" in step.body


@pytest.mark.parametrize("live", ["auto", "required"])
def test_no_table_is_read_for_a_fork(
    check: Callable[..., Step], pull: PullRequest, lake: Lake, live: str
) -> None:
    lake.folder.rmdir()
    pull.push({FILE: DATE})
    for repository in (2, None):
        step = check(pull, pull.event(head_repository=repository), live=live)
        assert step.status == 1
        assert "The live tables were not read: this change counts as a stranger's" in step.body
    assert FORK in check(pull, pull.event(head_repository=2), live=live).body


def test_what_the_base_has_too_is_no_finding_of_the_change(
    check: Callable[..., Step], tmp_path: Path
) -> None:
    void = ORDERS.replace("type: string", "type: void")
    pull = PullRequest(tmp_path, {FILE: void})
    step = check(pull, pull.push({FILE: f"{void}description: One row per order.\n"}))
    assert (step.status, step.outputs["findings"], step.outputs["warnings"]) == (0, "0", "0")
    assert not step.comment["is_worth_a_comment"]
    assert "that the base has too" in step.body


def test_an_approval_of_the_change_is_worth_a_comment(check: Callable[..., Step], pull: PullRequest) -> None:
    entry = "{rule: TW002, column: order_id, from: int, to: date, via: rewrite, reason: rewritten by hand}"
    step = check(pull, pull.push({FILE: f"{DATE}allow:\n  - {entry}\n"}))
    assert (step.status, step.outputs["findings"]) == (0, "0")
    assert "Approved in this change" in step.body
    assert step.comment["is_worth_a_comment"]


def test_a_bug_has_its_own_status_and_fails_no_comment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    for step, status in (("check", 3), ("comment", 0)):
        assert main(step, tmp_path) == status  # no input is set
        assert "a bug in schemalint" in capsys.readouterr().err
    assert (tmp_path / "check.outputs").read_text() == "exit-status=3\n"


def test_the_targets_of_the_first_configuration_are_not_read(
    check: Callable[..., Step], tmp_path: Path, lake: Lake
) -> None:
    lake.write("orders", *FIELDS)
    pull = PullRequest(tmp_path, {FILE: ORDERS})
    step = check(pull, pull.push({"schemalint.toml": lake.configuration}), live="required")
    assert step.status == 0
    assert "The live tables were not read: the base has no configuration" in step.body


def test_the_sarif_report_is_valid_by_the_official_schema(
    check: Callable[..., Step], pull: PullRequest
) -> None:
    step = check(pull, pull.push({FILE: DATE}))
    document = json.loads(Path(step.outputs["sarif"]).read_text())
    assert document["runs"][0]["results"]
    assert [error.message for error in sarif_validator().iter_errors(document)] == []


def test_the_worst_findings_come_first_and_the_summary_has_all(
    check: Callable[..., Step], pull: PullRequest
) -> None:
    columns = "".join(f"  - {{name: c{number}, type: void}}\n" for number in range(400))
    step = check(pull, pull.push({FILE: DESCRIBED.replace("description:", f"{columns}description:")}))
    number = int(step.outputs["findings"])
    assert number >= 400
    assert len(step.comment["body"]) < LONGEST
    assert re.search(r"^\*\*\d+ more\*\*", step.comment["body"], re.MULTILINE)
    assert len(re.findall(r"^    (?:error|warning|info)\[", step.summary, re.MULTILINE)) == number
    assert len(step.summary.encode()) < MOST_BYTES
    kinds = re.findall(r"^::(error|warning|notice) file=", step.log, re.MULTILINE)
    assert len(kinds) == number
    assert kinds == sorted(kinds, key=("error", "warning", "notice").index)


def test_a_comment_with_a_long_report_has_the_plan_too(
    check: Callable[..., Step], pull: PullRequest, lake: Lake
) -> None:
    lake.write("orders", *FIELDS)
    columns = "".join(f"  - {{name: c{number}, type: bigint, nullable: false}}\n" for number in range(100))
    description = "description: One row per order.\n"
    step = check(pull, pull.push({FILE: ORDERS + columns + description}), live="auto")
    body = step.comment["body"]
    assert 40_000 < len(body) < LONGEST
    assert "### schemalint plan" in body
    assert "1 more section: see the run." in body


def test_the_marker_depends_on_the_folder_the_target_and_the_input(
    check: Callable[..., Step], pull: PullRequest, lake: Lake
) -> None:
    lake.write("orders", *FIELDS)
    event = pull.push({FILE: BIGINT})
    uses: tuple[Mapping[str, str], ...] = (
        {},
        {"working_directory": "contracts"},
        {"target": "prod"},
        {"comment_id": "one"},
        {"comment_id": "--> <b>"},
    )
    markers = [check(pull, event, **inputs).comment["marker"] for inputs in uses]
    assert len(set(markers)) == len(uses)
    assert all(re.fullmatch("<!-- schemalint: [0-9a-f]{32} -->", marker) for marker in markers)
    same = check(pull, event, comment_id="one", working_directory="contracts")
    assert same.comment["marker"] == markers[3]


def test_a_folder_outside_of_the_workspace_is_refused(check: Callable[..., Step], pull: PullRequest) -> None:
    for folder in ("..", "/", "no-such", "contracts/orders.yml"):
        step = check(pull, pull.event(), working_directory=folder)
        assert (step.status, step.outputs) == (2, {"exit-status": "2"})
        assert "must name a folder of the workspace" in step.log


def test_a_check_that_cannot_begin_is_told(check: Callable[..., Step], pull: PullRequest) -> None:
    step = check(pull, pull.event(), fail_on="everything")
    assert (step.status, step.outputs["findings"]) == (2, "0")
    assert (step.outputs["report"], step.outputs["sarif"]) == ("", "")
    assert "could not begin" in step.summary
    assert step.comment["is_worth_a_comment"]
