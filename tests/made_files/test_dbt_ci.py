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
PYTHON = f"#!{sys.executable}\nimport pathlib, shutil, sys, zipfile\nargs = sys.argv[1:]\n"
STAND_INS = {
    "dbt": '#!/bin/sh\nexec "$SCHEMALINT_DBT" "$@"\n',
    "schemalint": f'#!/bin/sh\nexec "{sys.executable}" -m schemalint "$@"\n',
    "pip": "#!/bin/sh\n",
    "gh": PYTHON
    + "if args[:2] == ['run', 'list']: sys.exit(print(42))\n"
    + "assert args[:2] == ['run', 'download'] and args[-1] == '42', args\n"
    + "folder = pathlib.Path(args[args.index('--dir') + 1])\n"
    + "folder.mkdir()\n"
    + "shutil.copy('../production/manifest.json', folder)\n",
    "curl": PYTHON
    + "assert args[-1].startswith('https://gitlab.example/api/v4/projects/7/jobs/artifacts/main/'), args\n"
    + "with zipfile.ZipFile(args[args.index('--output') + 1], 'w') as archive:\n"
    + "    archive.write('../production/manifest.json', 'target/manifest.json')\n",
}


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
        self.repo.write(".gitignore", "target/\nlogs/\nstate/\nstate.zip\n*.json\n")
        self.event, self.folder = tmp_path / "event.json", ""

    def production(self) -> None:
        """Commit to the main branch, and let its job make the manifest."""
        self.base = self.repo.commit()
        project = self.repo.path / self.folder
        subprocess.run([self.dbt, "parse"], cwd=project, check=True, capture_output=True)
        (self.repo.path.parent / "production").mkdir()
        shutil.move(project / "target/manifest.json", self.repo.path.parent / "production")
        shutil.rmtree(project / "target")

    def run(self, service: str, lines: list[str]) -> tuple[int, str]:
        """Run the lines as the service does; return the status and the output."""
        head = self.repo.commit()
        pull_request = {"base": {"ref": "main", "sha": self.base}, "head": {"sha": head}}
        self.event.write_text(json.dumps({"pull_request": pull_request}), encoding="utf-8")
        of_service = {
            "github": {
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": str(self.event),
            },
            "gitlab": {
                "CI_JOB_TOKEN": "secret",
                "CI_API_V4_URL": "https://gitlab.example/api/v4",
                "CI_PROJECT_ID": "7",
                "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
            },
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
def test_the_lines_of_the_guide_block_a_change(pipeline: Pipeline, service: str) -> None:
    section = GUIDE.partition("## 3. In CI")[2].partition("## 4.")[0]
    snippets = re.findall(r"^```yaml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    lines = lines_of(service, snippets[SERVICES.index(service)])
    assert len(lines) == 3
    configuration = 'contracts = [{path = "target/manifest.json", format = "dbt"}]\n'
    pipeline.repo.write("schemalint.toml", configuration)
    pipeline.production()
    status, output = pipeline.run(service, lines)
    assert (status, "no table was compared" in output) == (0, True), output
    shutil.rmtree(pipeline.repo.path / "state")
    edit(pipeline.repo.path, "decimal(12,2) to decimal(5,2)")
    status, output = pipeline.run(service, lines)
    assert (status, "TW003" in output, "RB002" in output) == (1, True, True), output


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("folder", ["", "data team"])
def test_the_job_of_init_blocks_a_change(
    pipeline: Pipeline, project: Project, service: str, folder: str
) -> None:
    """Its comment says what is missing: the manifest of the production run in ``state/``."""
    for entry in [*pipeline.repo.path.glob("[!.]*")] if folder else []:
        (pipeline.repo.path / folder).mkdir(exist_ok=True)
        shutil.move(entry, pipeline.repo.path / folder)
    pipeline.repo.commit()
    assert project.run("init", "--ci", service, "--source", "schemalint==1.2.3").status == 0
    file = ".github/workflows/schemalint.yml" if service == "github" else ".gitlab-ci.yml"
    lines = lines_of(service, (pipeline.repo.path / file).read_text("utf-8"))
    pipeline.folder = folder
    pipeline.production()
    shutil.copytree(pipeline.repo.path.parent / "production", pipeline.repo.path / "state")
    edit(pipeline.repo.path / folder, "decimal(12,2) to decimal(5,2)")
    status, output = pipeline.run(service, lines)
    if service == "github":
        assert "::error file=" in output
    assert (status, "TW003" in output, "RB002" in output) == (1, True, True), output
