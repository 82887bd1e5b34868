"""The hook and the jobs that `init` writes: valid for their readers, and like those of this project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from schemalint.author.adopt.file_changes import FileChange, UnchangedFile
from schemalint.author.adopt.pipelines import Service, Source, hook_change, job_change, service_of
from schemalint.project.git import open_repository
from support.repo import Repo

ROOT: Final = Path(__file__).parents[2]
FROM_INDEX: Final = Source("schemalint==1.2.3")
AT_HOME: Final = Source("schemalint==1.2.3", "https://github.com/acme/schemalint", "v1.2.3")
FROM_GIT: Final = Source("schemalint @ git+https://host/x@abc", "https://host/x", "abc")


def text_of(change: FileChange | UnchangedFile | None) -> str:
    assert isinstance(change, FileChange)
    return change.after


def write(folder: Path, change: FileChange | UnchangedFile | None) -> Path:
    assert isinstance(change, FileChange)
    change.path.parent.mkdir(parents=True, exist_ok=True)
    change.path.write_text(change.after, encoding="utf-8", newline="")
    assert change.path.is_relative_to(folder)
    return change.path


def accepts(*command: str | Path) -> bool:
    process = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    return True


@pytest.mark.parametrize("source", [FROM_INDEX, AT_HOME, FROM_GIT])
def test_pre_commit_accepts_the_hook(tmp_path: Path, source: Source) -> None:
    assert accepts("pre_commit", "validate-config", write(tmp_path, hook_change(tmp_path, source)))
    assert isinstance(hook_change(tmp_path, source), UnchangedFile)


def test_the_hook_without_a_repository_is_that_of_the_repository(tmp_path: Path) -> None:
    (entry,) = yaml.safe_load(text_of(hook_change(tmp_path, FROM_INDEX)))["repos"]
    (hook,) = entry["hooks"]
    ours, *_others = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook == {
        **{key: value for key, value in ours.items() if key != "description"},
        "additional_dependencies": ["schemalint==1.2.3"],
    }


def test_a_hook_of_a_repository_names_its_tag(tmp_path: Path) -> None:
    (entry,) = yaml.safe_load(text_of(hook_change(tmp_path, AT_HOME)))["repos"]
    assert (entry["repo"], entry["rev"]) == (AT_HOME.repository, "v1.2.3")


@pytest.mark.parametrize("source", [FROM_INDEX, AT_HOME, FROM_GIT])
def test_the_workflow_is_valid_and_as_safe_as_our_own(tmp_path: Path, source: Source) -> None:
    file = write(tmp_path, job_change(tmp_path, Service.GITHUB, source))
    assert accepts("check_jsonschema", "--builtin-schema", "vendor.github-workflows", file)
    zizmor = Path(sys.executable).with_name("zizmor")
    process = subprocess.run(
        [zizmor, "--offline", "--quiet", "--persona=pedantic", file],
        capture_output=True,
        text=True,
        check=False,
    )
    # A tag of the Action is what pre-commit names too; who wants more pins the commit.
    findings = process.stdout.count("error[") - process.stdout.count("error[unpinned-uses]")
    assert findings == 0, process.stdout
    assert "warning[" not in process.stdout, process.stdout


def test_the_workflow_uses_the_actions_that_our_own_use(tmp_path: Path) -> None:
    own = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    text = text_of(job_change(tmp_path, Service.GITHUB, FROM_INDEX))
    used = [line.strip(" -") for line in text.splitlines() if "uses:" in line]
    assert len(used) == 2
    assert all(line in own for line in used)


def test_the_action_is_used_where_it_is_on_github(tmp_path: Path) -> None:
    assert "uses: acme/schemalint@v1.2.3" in text_of(job_change(tmp_path, Service.GITHUB, AT_HOME))
    assert "run: pip install 'schemalint @ git+https://host/x@abc'" in text_of(
        job_change(tmp_path, Service.GITHUB, FROM_GIT)
    )


@pytest.mark.parametrize("source", [FROM_INDEX, FROM_GIT])
@pytest.mark.parametrize(
    "before", ["", "stages: [build, deploy]\n\nbuild:\n  stage: build\n  script: make\n\n"]
)
def test_the_job_for_gitlab_is_valid(tmp_path: Path, source: Source, before: str) -> None:
    file = tmp_path / ".gitlab-ci.yml"
    if before:
        file.write_text(before)
    change = job_change(tmp_path, Service.GITLAB, source)
    assert change is not None
    file.write_text(before + (change.snippet if isinstance(change, UnchangedFile) else change.after))
    assert isinstance(change, UnchangedFile) == bool(before)
    assert accepts("check_jsonschema", "--builtin-schema", "vendor.gitlab-ci", file)
    assert yaml.safe_load(file.read_text())["schemalint"].get("stage") == ("build" if before else None)
    again = job_change(tmp_path, Service.GITLAB, source)
    assert isinstance(again, UnchangedFile)
    assert again.snippet == ""


def test_a_hook_for_a_configuration_that_is_there_is_printed(tmp_path: Path) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n")
    change = hook_change(tmp_path, AT_HOME)
    assert isinstance(change, UnchangedFile)
    ((entry,),) = (yaml.safe_load(change.snippet),)
    assert entry["repo"] == AT_HOME.repository


@pytest.mark.parametrize(
    ("files", "remote", "service"),
    [
        ((), None, Service.NONE),
        ((), "https://example.com/github-mirror.git", Service.NONE),
        ((".github/CODEOWNERS",), None, Service.GITHUB),
        ((".gitlab-ci.yml",), "git@github.com:a/b.git", Service.GITLAB),
        ((".gitlab-ci.yml", ".github/x"), "git@gitlab.com:a/b.git", Service.GITLAB),
        ((".gitlab-ci.yml", ".github/x"), None, Service.GITHUB),
        ((), "git@github.com:a/b.git", Service.GITHUB),
        ((), "https://github.acme.com/a/b", Service.GITHUB),
        ((), "ssh://git@gitlab.acme.com/a/b", Service.GITLAB),
    ],
)
def test_the_service_is_the_one_of_the_repository(
    tmp_path: Path, files: tuple[str, ...], remote: str | None, service: Service
) -> None:
    repo = Repo(tmp_path / "repo")
    for file in files:
        repo.write(file, "")
    if remote:
        repo.git("remote", "add", "origin", remote)
    assert service_of(open_repository(repo.path, repo.env)) == service
