"""The GitHub Action's steps, run as GitHub's runner runs a composite action."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.action import ACTION, CHECK, ROOT, Outcome, Runner
from support.repo import Repo

# One worker of pytest-xdist, because the Action is installed once for all tests.
pytestmark = pytest.mark.xdist_group("action")

INT = """\
schemalint: 1
table: sales.orders
columns:
  - {name: order_id, type: int}
"""
BIGINT = INT.replace("type: int", "type: bigint")


def _field(name: str, type_: str) -> dict[str, object]:
    return {"name": name, "type": type_, "nullable": True, "metadata": {}}


@pytest.fixture
def check(runner: Runner, tmp_path: Path) -> Callable[..., Outcome]:
    """Run the Action on a pull request that changes the contract, in a shallow clone."""
    origin = Repo(tmp_path / "origin")
    origin.write("contracts/orders.yml", INT)
    origin.commit()

    def check_pull_request(contract: str | None, configuration: str = "", **inputs: str) -> Outcome:
        origin.write("schemalint.toml", configuration)
        base = origin.commit()
        origin.git("switch", "--quiet", "--create", "feature")
        if contract is None:
            origin.git("rm", "--quiet", "contracts/orders.yml")
        else:
            origin.write("contracts/orders.yml", contract)
        head = origin.commit()
        origin.git("switch", "--quiet", "main")
        origin.git("merge", "--quiet", "--no-ff", "--message=as GitHub merges", "feature")
        merged = origin.head()
        origin.git("update-ref", "refs/pull/1/merge", merged)
        origin.git("reset", "--quiet", "--hard", base)
        workspace = Repo(tmp_path / "workspace")
        workspace.git("remote", "add", "origin", origin.path.as_uri())
        workspace.git("fetch", "--quiet", "--depth=1", "origin", "refs/pull/1/merge")
        workspace.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
        runner.inputs(**inputs)
        pull_request = {"base": {"ref": "main", "sha": base}, "head": {"ref": "feature", "sha": head}}
        return runner.run(CHECK, workspace.path, {"number": 1, "pull_request": pull_request})

    return check_pull_request


def test_a_forbidden_change_fails_the_step_with_an_annotation(check: Callable[..., Outcome]) -> None:
    outcome = check(INT.replace("type: int", "type: date"))
    assert (outcome.status, outcome.outputs) == (1, {"exit-status": "1"})
    assert "::error file=contracts/orders.yml,line=4" in outcome.log
    assert "TW002" in outcome.log
    assert outcome.summary.startswith("### schemalint\n\n    error[TW002")
    assert "1 error in 1 table" in outcome.summary


def test_a_deleted_contract_fails_the_step(check: Callable[..., Outcome]) -> None:
    outcome = check(None)
    assert outcome.outputs == {"exit-status": "1"}
    assert "CT001" in outcome.log


def test_a_harmless_change_passes(check: Callable[..., Outcome]) -> None:
    outcome = check(INT + "description: One row per order.\n")
    assert (outcome.status, outcome.outputs) == (0, {"exit-status": "0"})
    assert "no findings in 1 table" in outcome.summary


def test_an_unreadable_contract_fails_the_step(check: Callable[..., Outcome]) -> None:
    outcome = check(INT.replace("type: int", "type: integer4"))
    assert (outcome.status, outcome.outputs) == (2, {"exit-status": "2"})


def test_inputs_reach_the_command(check: Callable[..., Outcome]) -> None:
    assert check(BIGINT, fail_on="never").status == 0


def test_trusted_refs_are_a_list(check: Callable[..., Outcome]) -> None:
    outcome = check(INT + "description: One row.\n", live="true", trusted_refs="main, release\nno:branch")
    assert outcome.status == 2
    assert "not a revision: 'no:branch'" in outcome.log


def test_the_input_live_compares_with_the_live_table(check: Callable[..., Outcome], tmp_path: Path) -> None:
    log = tmp_path / "lake/sales/orders/_delta_log/00000000000000000000.json"
    log.parent.mkdir(parents=True)
    schema = {"type": "struct", "fields": [_field("order_id", "integer"), _field("left_over", "string")]}
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps(schema),
                "partitionColumns": [],
                "configuration": {},
            }
        },
    ]
    log.write_text("".join(json.dumps(action) + "\n" for action in actions))
    targets = f"[targets.prod]\nroot = '{tmp_path}/lake'\n"
    upgrade = "properties: {delta.enableTypeWidening: true}\n"
    inputs = {"live": "true", "target": "prod", "fail_on": "never"}
    outcome = check(INT + upgrade, configuration=targets, **inputs)
    assert outcome.status == 0, outcome.log
    assert "1 finding that the base has too" in outcome.log
    assert "target prod" in outcome.summary
    assert re.search(
        r"^    The plan:\n(    .*\n)*      \"2:[0-9a-f]{64}\",  # sales.orders in prod: upgrade$",
        outcome.summary,
        re.MULTILINE,
    )


@pytest.mark.parametrize("name", ["against", "live", "target", "fail-on", "trusted-refs"])
def test_an_input_is_never_executed(check: Callable[..., Outcome], name: str, tmp_path: Path) -> None:
    evil = f"$(touch {tmp_path}/run); touch {tmp_path}/run #"
    check(INT, **{name.replace("-", "_"): evil})
    assert not (tmp_path / "run").exists()


def test_contract_text_stays_inside_the_summary_s_code_block(check: Callable[..., Outcome]) -> None:
    name = "`\\n```\\n<img src=x>"
    outcome = check(INT + f'  - {{name: "{name}", type: int, nullable: false}}\n')
    lines = outcome.summary.splitlines()
    assert "<img src=x>" in outcome.summary
    assert all(line.startswith("    ") for line in lines[2:])


def test_scripts_contain_no_expressions() -> None:
    assert not [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]]


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
