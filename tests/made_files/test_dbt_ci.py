"""The lines for CI, of the guide and of `init`, as a shell runs them: a real dbt, stand-ins for downloads."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from made_files.changes import HERE, edit
from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from support.project import Project

pytestmark = pytest.mark.dbt
GUIDE = (Path(__file__).parents[2] / "docs/how-to/dbt.md").read_text("utf-8")
SERVICES = ("github", "gitlab")
STAND_INS = {
    "dbt": '#!/bin/sh\nexec "$SCHEMALINT_DBT" "$@"\n',
    "schemalint": f'#!/bin/sh\nexec "{sys.executable}" -m schemalint "$@"\n',
    "pip": "#!/bin/sh\n",
}
HARMLESS = "int to integer"
BREAKING = "decimal(12,2) to decimal(5,2)"


class Pipeline:
    """A pull request of the dbt project, and the machine that checks it."""

    def __init__(self, project: Project, tmp_path: Path) -> None:
        self.repo, self.bin = project.repo, tmp_path / "bin"
        self.dbt = os.environ.get("SCHEMALINT_DBT") or skip_or_fail("SCHEMALINT_DBT names no dbt")
        self.bin.mkdir()
        for name, text in STAND_INS.items():
            (self.bin / name).write_text(text, encoding="utf-8")
            (self.bin / name).chmod(0o755)
        shutil.copytree(HERE / "shop", self.repo.path, dirs_exist_ok=True)
        self.repo.write(".gitignore", "target/\nlogs/\n")
        self.event, self.folder = tmp_path / "event.json", ""

    def branch(self, change: str) -> None:
        """Make a change on a branch, and another one on main meanwhile, which no production has run."""
        self.repo.commit()
        self.repo.git("switch", "--quiet", "--create", "change")
        edit(self.repo.path / self.folder, change)
        self.repo.commit()
        self.repo.git("switch", "--quiet", "main")
        edit(self.repo.path / self.folder, "other partitions")
        self.repo.commit()

    def run(self, service: str, lines: list[str]) -> tuple[int, str]:
        """Run the lines as the service does; return the status and the output.

        GitHub checks out the merge of both branches, GitLab the branch of the change.
        """
        main, head = (self.repo.git("rev-parse", name).strip() for name in ("main", "change"))
        fork = self.repo.git("merge-base", main, head).strip()
        self.repo.git("switch", "--quiet", "--detach", main if service == "github" else head)
        if service == "github":
            self.repo.git("merge", "--quiet", "--no-ff", "--message", "merge", head)
        pull_request = {"base": {"ref": "main", "sha": main}, "head": {"sha": head}}
        self.event.write_text(json.dumps({"pull_request": pull_request}), encoding="utf-8")
        of_service = {
            "github": {
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": str(self.event),
                "GITHUB_SHA": self.repo.git("rev-parse", "HEAD").strip(),
            },
            "gitlab": {"CI_MERGE_REQUEST_IID": "1", "CI_MERGE_REQUEST_DIFF_BASE_SHA": fork},
        }[service]
        env = {
            **self.repo.env,
            **of_service,
            "CI": "true",
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "SCHEMALINT_DBT": self.dbt,
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
        }
        # GitHub starts a shell for each line, GitLab one for all.
        scripts = lines if service == "github" else ["\n".join(("set -eo pipefail", *lines))]
        output = ""
        for script in scripts:
            command = ["bash", "-e", "-c", script]
            run = subprocess.run(
                command, cwd=self.repo.path, env=env, check=False, capture_output=True, text=True
            )
            output += run.stdout + run.stderr
            if run.returncode:
                return run.returncode, output
        return 0, output


@pytest.fixture
def pipeline(project: Project, tmp_path: Path) -> Pipeline:
    return Pipeline(project, tmp_path)


def lines_of(service: str, text: str) -> list[str]:
    """Return the lines of a job, or of the steps of one."""
    content = yaml.safe_load(text)
    if service == "gitlab":
        script: list[str] = content.get("schemalint", content)["script"]
        return script
    steps = content["jobs"]["check"]["steps"] if isinstance(content, dict) else content
    return [step["run"] for step in steps if "run" in step]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("change", [HARMLESS, BREAKING])
def test_the_lines_of_the_guide_judge_the_change_alone(pipeline: Pipeline, service: str, change: str) -> None:
    section = GUIDE.partition("## 3. In CI")[2].partition("## 4.")[0]
    lines = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert len(lines) == 1
    configuration = 'contracts = [{path = "target/manifest.json", format = "dbt"}]\n'
    pipeline.repo.write("schemalint.toml", configuration)
    pipeline.branch(change)
    _require(change, *pipeline.run(service, lines))


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("folder", ["", "data team"])
@pytest.mark.parametrize("change", [HARMLESS, BREAKING])
def test_the_job_of_init_judges_the_change_alone(
    pipeline: Pipeline, project: Project, service: str, folder: str, change: str
) -> None:
    """Main has moved on, and nobody has run production since; no manifest comes from elsewhere."""
    for entry in [*pipeline.repo.path.glob("[!.]*")] if folder else []:
        (pipeline.repo.path / folder).mkdir(exist_ok=True)
        shutil.move(entry, pipeline.repo.path / folder)
    pipeline.repo.commit()
    assert project.run("init", "--ci", service, "--source", "schemalint==1.2.3").status == 0
    file = ".github/workflows/schemalint.yml" if service == "github" else ".gitlab-ci.yml"
    lines = lines_of(service, (pipeline.repo.path / file).read_text("utf-8"))
    pipeline.folder = folder
    pipeline.branch(change)
    _require(change, *pipeline.run(service, lines))


def _require(change: str, status: int, output: str) -> None:
    """Require an error for what the change breaks, and nothing about what main changed meanwhile."""
    is_breaking = change == BREAKING
    expected = (int(is_breaking), is_breaking, is_breaking)
    assert (status, "TW003" in output, "RB002" in output) == expected, output
    assert "NC007" not in output, output
    assert "RB004" not in output, output
