"""``docs/reports.md``: its commands run, its workflows are valid, and it lists every format."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from schemalint.report import findings as report
from support.project import Project
from support.repo import Repo

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reports.md").read_text(encoding="utf-8")
FILES = {".github/workflows/schemalint-sarif.yml": "github-workflows", ".gitlab-ci.yml": "gitlab-ci"}


def blocks(language: str) -> list[str]:
    """Return the fenced code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def narrowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """Return the example's repository with a column that becomes narrower."""
    repo = Repo(tmp_path / "lakehouse")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(ROOT / "examples/lakehouse", repo.path, dirs_exist_ok=True)
    repo.commit()
    repo.git("apply", str(ROOT / "examples/changes/narrow.patch"))
    monkeypatch.chdir(repo.path)
    return Project(repo, capsys)


def test_every_format_is_listed() -> None:
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == list(report.names())


def test_the_commands_print_what_the_page_shows(narrowed: Project) -> None:
    shown = [_example(text) for text in blocks("console")]
    assert len(shown) >= 3
    for command, output in shown:
        run = narrowed.run(*shlex.split(command))
        printed = re.sub(r"base [0-9a-f]{7}", "base 0000000", run.out + run.err)
        assert printed.endswith(output.removeprefix("...\n")), command
        assert output.startswith("...\n") or printed == output, command


def _example(text: str) -> tuple[str, str]:
    command, _, output = text.partition("\n")
    return command.removeprefix("$ schemalint "), output


@pytest.mark.parametrize("file", FILES)
def test_files_to_copy_are_valid_and_their_commands_run(tmp_path: Path, narrowed: Project, file: str) -> None:
    (text,) = (text for text in blocks("yaml") if text.startswith(f"# {file}\n"))
    copied = tmp_path / "copied.yml"
    copied.write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        f"vendor.{FILES[file]}",
        str(copied),
    ]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    _runs(narrowed, _scripts(yaml.safe_load(text)))


def test_the_step_for_jenkins_runs(narrowed: Project) -> None:
    (step,) = blocks("groovy")
    _runs(narrowed, re.findall(r"sh '(.*)'", step))


def _scripts(document: object) -> list[str]:
    if isinstance(document, dict):
        found = [text for key in ("run", "script") for text in _texts(document.get(key))]
        return found + [text for value in document.values() for text in _scripts(value)]
    return [text for value in document for text in _scripts(value)] if isinstance(document, list) else []


def _texts(value: object) -> list[str]:
    return (
        [value]
        if isinstance(value, str)
        else [str(each) for each in value]
        if isinstance(value, list)
        else []
    )


def _runs(project: Project, scripts: list[str]) -> None:
    (command,) = (script for script in scripts if script.startswith("schemalint "))
    run = project.run(*shlex.split(command)[1:])
    assert run.status == 1
    for file in re.findall(r"--output-format \w+:(\S+)", command):
        assert (project.repo.path / file).stat().st_size > 0
