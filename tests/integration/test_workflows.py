"""The project's own workflows and those of the examples are valid; `make lint` judges their security."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


def test_actionlint_finds_nothing() -> None:
    if not shutil.which("go"):
        skip_or_fail("actionlint needs Go: https://go.dev/doc/install")
    folders = (ROOT / ".github/workflows", EXAMPLES / "deploy/github", EXAMPLES / "pull-request")
    files = [str(path) for folder in folders for path in sorted(folder.glob("*.yml"))]
    workflows = [file for file in files if not file.endswith("gitlab-ci.yml")]
    assert len(workflows) > 4
    run = subprocess.run(
        ["go", "run", ACTIONLINT, *workflows], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.returncode) == ("", 0), run.stderr


def test_the_examples_for_gitlab_are_valid_by_their_schema() -> None:
    files = sorted(EXAMPLES.glob("*/gitlab-ci.yml"))
    assert len(files) == 2
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.gitlab-ci"]
    process = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_example_does_not_say_that_nothing_else_writes() -> None:
    settings = tomllib.loads((EXAMPLES / "deploy/schemalint.toml").read_text("utf-8"))
    assert [target.keys() for target in settings["targets"].values()] == [{"root"}, {"root"}]


def test_jobs_that_apply_run_one_at_a_time_and_are_never_cancelled() -> None:
    github = [job for job in _jobs() if "schemalint apply" in str(job.get("steps"))]
    assert len(github) == 2
    for job in github:
        assert job["concurrency"] == {
            "group": f"schemalint-{job['environment']}",
            "cancel-in-progress": False,
        }
    gitlab = [job for job in _jobs() if "schemalint apply" in str(job.get("script"))]
    assert len(gitlab) == 2
    for job in gitlab:
        assert (job["resource_group"], job["interruptible"]) == (f"schemalint-{job['environment']}", False)


def test_every_example_workflow_says_what_may_run_side_by_side() -> None:
    for file in EXAMPLES.glob("**/git[!l]*/*.yml"):
        assert "concurrency:" in file.read_text(encoding="utf-8")


def _jobs() -> Iterator[dict[str, Any]]:
    for file in EXAMPLES.rglob("*.yml"):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        yield from (job for job in content.get("jobs", content).values() if isinstance(job, dict))
