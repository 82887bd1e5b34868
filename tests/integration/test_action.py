"""The GitHub Action's steps, run as GitHub's runner runs a composite action."""

from __future__ import annotations

import html
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from schemalint.delta.datatype import INTEGER, Field
from support.action import ACTION, ROOT, Outcome, Runner
from support.ci_jobs import Machines
from support.github_server import TOKEN, GitHubServer
from support.gitlab_pipelines import GitLab
from support.logs import metadata, protocol, write_log
from support.pull_request import BIGINT, DATE, DESCRIBED, ORDERS, Event, PullRequest

# One worker of pytest-xdist, because the Action is installed once for all tests.
pytestmark = [pytest.mark.xdist_group("action"), pytest.mark.wide]

FILE = "contracts/orders.yml"


@pytest.fixture
def pull(tmp_path: Path) -> PullRequest:
    return PullRequest(tmp_path, {FILE: ORDERS})


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with GitHubServer().serving() as server:
        yield server


@pytest.fixture
def use(runner: Runner, pull: PullRequest, github: GitHubServer) -> Callable[..., Outcome]:
    """Use the Action in a job that an event starts."""

    def in_a_job(event: Event, **inputs: str) -> Outcome:
        # The names of a workflow's own variables are any.
        env = {"GITHUB_EVENT_NAME": event.name, "FOLDER": "dist", "STEP": "x", **github.env}
        return runner.use(pull.workspace(event), event.payload, env, inputs={"github_token": TOKEN} | inputs)

    return in_a_job


def test_a_pull_request_from_its_first_break_to_green(
    use: Callable[..., Outcome], pull: PullRequest, github: GitHubServer
) -> None:
    broken = pull.push({FILE: DATE})
    github.head = pull.head
    github.comment("LGTM", author=7)
    first = use(broken)
    assert first.status == 1, first.log
    assert f"::error file={FILE},line=4" in first.log
    assert "TW002" in first.log
    _, comment = github.comments
    assert "TW002" in comment["body"]
    assert "https://github.example.com/acme/contracts/actions/runs/4711" in comment["body"]
    assert first.summary.startswith("### schemalint\n\n1 error in 1 table")
    counts = {"exit-status": "1", "findings": "1", "errors": "1", "warnings": "0", "plan-hash": ""}
    files = {name: first.outputs[name] for name in ("report", "sarif")}
    assert first.outputs == {**counts, **files, "comment-url": comment["html_url"]}
    assert "TW002" in Path(files["report"]).read_text()
    assert json.loads(Path(files["sarif"]).read_text())["runs"][0]["results"]

    pull.push({FILE: None})
    github.head = pull.head
    second = use(pull.event())
    assert second.outputs["comment-url"] == comment["html_url"]
    assert len(github.comments) == 2
    assert "CT001" in comment["body"]
    assert "TW002" not in comment["body"]

    # The first run again, which a person starts by hand: its head is no longer that of the pull request.
    outdated = use(broken)
    assert (outdated.status, outdated.outputs["comment-url"]) == (1, "")
    assert "No comment: the pull request has a newer commit" in outdated.log
    assert "CT001" in comment["body"]

    mended = pull.push({FILE: DESCRIBED})
    github.head = pull.head
    green = use(mended)
    assert (green.status, green.outputs["findings"]) == (0, "0")
    assert green.outputs["comment-url"] == comment["html_url"]
    assert "Nothing to report any more" in comment["body"]
    assert "error" not in comment["body"]
    assert TOKEN not in "".join(run.log + run.summary for run in (first, second, outdated, green))


def test_a_lake_is_adopted_in_green_and_its_first_break_is_red(
    runner: Runner, github: GitHubServer, tmp_path: Path
) -> None:
    """What `schemalint init` writes for tables with errors of the past, as a pull request."""
    adoption = PullRequest(tmp_path, {"README.md": "Nothing of schemalint yet.\n"})
    command = ("-C", adoption.clone.path, "init", "--root", ROOT / "tests/delta_log/logs", "--ci", "github")
    subprocess.run([sys.executable, "-m", "schemalint", *command], env=adoption.clone.env, check=True)

    def use(event: Event) -> Outcome:
        github.head = adoption.head
        return runner.use(
            adoption.workspace(event), event.payload, {"GITHUB_EVENT_NAME": event.name, **github.env}
        )

    adopted = use(adoption.push({}))
    assert (adopted.status, adopted.outputs["errors"]) == (0, "0"), adopted.log
    assert "approved in this change: TW012 collated" in adopted.log
    file = "contracts/chars.yml"
    text = (adoption.clone.path / file).read_text(encoding="utf-8")
    assert use(adoption.push({file: text.replace("varchar(9)", "varchar(8)")})).status == 0
    adoption.clone.git("push", "--quiet", "origin", "feature~1:main")
    adoption.base = adoption.clone.git("rev-parse", "feature~1")
    broken = use(adoption.event())
    assert (broken.status, broken.outputs["errors"]) == (1, "1"), broken.log
    assert f"::error file={file}" in broken.log


def test_a_fork_without_a_token_gets_the_summary(
    use: Callable[..., Outcome], pull: PullRequest, github: GitHubServer
) -> None:
    pull.push({FILE: DATE})
    outcome = use(pull.event(head_repository=2), github_token="", live="required")
    assert outcome.status == 1, outcome.log
    assert github.requests == []
    assert "TW002" in outcome.summary
    lines = outcome.summary.splitlines()
    assert len([line for line in lines if line.startswith("The live tables were not read")]) == 1
    assert len([line for line in lines if line.startswith("No comment")]) == 1


@pytest.mark.parametrize("name", ["merge_group", "push", "workflow_dispatch"])
def test_events_of_no_pull_request_write_the_summary_only(
    use: Callable[..., Outcome], pull: PullRequest, github: GitHubServer, name: str
) -> None:
    pull.push({FILE: DATE})
    outcome = use(pull.other_event(name))
    assert outcome.status == 1, outcome.log
    assert outcome.summary.startswith("### schemalint")
    assert "TW002" in outcome.summary
    assert "omment" not in outcome.log + outcome.summary
    assert github.requests == []


def test_two_uses_in_one_job_have_their_own_files_and_comments(
    use: Callable[..., Outcome], pull: PullRequest, github: GitHubServer
) -> None:
    contracts = {"crm/c.yml": ORDERS.replace("sales.orders", "crm.customers"), "sales/o.yml": ORDERS}
    pull.push({**contracts, FILE: None})
    pull.base = pull.head
    event = pull.push({name: text.replace("type: int", "type: date") for name, text in contracts.items()})
    github.head = pull.head
    for _ in range(2):
        crm, sales = (use(event, working_directory=folder) for folder in ("crm", "sales"))
        assert crm.outputs["findings"] == sales.outputs["findings"] == "2"
        assert not crm.outputs.items() & sales.outputs.items() - {
            (name, sales.outputs[name])
            for name in ("exit-status", "findings", "errors", "warnings", "plan-hash")
        }
    of_crm, of_sales = (comment["body"] for comment in github.comments)
    assert "Contracts of <code>crm</code>" in of_crm
    assert "<code>sales</code>" in of_sales


def test_the_example_s_step_shows_the_plan(
    use: Callable[..., Outcome], pull: PullRequest, github: GitHubServer, tmp_path: Path
) -> None:
    (job,) = yaml.safe_load((ROOT / "examples/pull-request/github.yml").read_text())["jobs"].values()
    (step,) = [step for step in job["steps"] if step["uses"].startswith("OWNER/schemalint@")]
    (upload,) = [step for step in job["steps"] if "upload-sarif" in step["uses"]]
    assert upload["with"]["sarif_file"] == f"${{{{ steps.{step['id']}.outputs.sarif }}}}"
    write_log(tmp_path / "lake/sales/orders", [[protocol(1, 2), metadata(Field("order_id", INTEGER))]])
    configured = {"schemalint.toml": f"[targets.prod]\nroot = '{tmp_path}/lake'\n"}
    pull.push(configured)
    pull.base = pull.head
    event = pull.push({FILE: DESCRIBED})
    github.head = pull.head
    outcome = use(event, **step["with"])
    assert outcome.status == 0, outcome.log
    body = html.unescape(github.comments[0]["body"])
    assert outcome.outputs["plan-hash"] in body
    assert "ADD COLUMNS" in body


def test_the_example_for_gitlab_shows_the_findings(pull: PullRequest, tmp_path: Path) -> None:
    pull.push({FILE: DATE})
    machines = Machines(tmp_path / "machines", {})
    gitlab = GitLab(pull.remote, machines, {"*": {}})
    file = ROOT / "examples/pull-request/gitlab-ci.yml"
    (run,) = gitlab.run(file, gitlab.merge_request(1, "feature")).values()
    assert run.status == 1
    assert "TW002" in run.log
    (finding,) = json.loads(machines.artifacts["codequality.json"])
    assert finding["location"]["path"] == FILE
    assert b"TW002" in machines.artifacts["junit.xml"]
    assert b"TW002" in machines.artifacts["schemalint.html"]


def test_an_unreadable_contract_fails_the_step(use: Callable[..., Outcome], pull: PullRequest) -> None:
    outcome = use(pull.push({FILE: ORDERS.replace("type: int", "type: integer4")}))
    assert (outcome.status, outcome.outputs["exit-status"]) == (2, "2")
    assert "integer4" in outcome.summary


def test_inputs_reach_the_command(use: Callable[..., Outcome], pull: PullRequest) -> None:
    assert use(pull.push({FILE: BIGINT}), fail_on="never").status == 0


def test_a_python_that_cannot_start_is_no_finding(
    runner: Runner, use: Callable[..., Outcome], pull: PullRequest
) -> None:
    python = runner.contexts["steps.install.outputs.python"]
    try:
        runner.contexts["steps.install.outputs.python"] = "false"
        assert use(pull.event()).status == 3
    finally:
        runner.contexts["steps.install.outputs.python"] = python


def test_an_input_that_is_not_valid_is_named(use: Callable[..., Outcome], pull: PullRequest) -> None:
    outcome = use(pull.event(), live="true")
    assert (outcome.status, outcome.outputs["exit-status"]) == (2, "2")
    assert "::error title=schemalint::The input live must be one of off, auto, required" in outcome.log


@pytest.mark.parametrize(
    "name",
    ["against", "live", "target", "fail-on", "trusted-refs", "comment", "comment-id", "working-directory"],
)
def test_an_input_is_never_executed(
    use: Callable[..., Outcome], pull: PullRequest, name: str, tmp_path: Path
) -> None:
    evil = f"$(touch {tmp_path}/run); touch {tmp_path}/run #"
    use(pull.event(), **{name.replace("-", "_"): evil})
    assert not (tmp_path / "run").exists()


def test_the_token_reaches_the_step_that_comments_alone() -> None:
    with_token = [step["id"] for step in ACTION["runs"]["steps"] if "token" in str(step["env"])]
    assert with_token == ["comment"]


def test_scripts_contain_no_expressions() -> None:
    for step in ACTION["runs"]["steps"]:
        file, _, argument = step["run"].removeprefix('bash "$GITHUB_ACTION_PATH/').partition('"')
        assert (ROOT / file).is_file(), step["run"]
        assert "${{" not in argument


def test_action_yml_is_valid() -> None:
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "check_jsonschema",
            "--builtin-schema",
            "vendor.github-actions",
            ROOT / "action.yml",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout
