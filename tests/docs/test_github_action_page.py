"""``docs/github-action.md``: it lists every input and output, and its workflow is valid."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import schemalint
from schemalint.author.adopt.file_changes import FileChange
from schemalint.author.adopt.pipelines import Service, given_source, job_change
from support.action import ACTION, ROOT

PAGE = (ROOT / "docs/github-action.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["input", "output"])
def test_every_input_and_output_is_listed(kind: str) -> None:
    _, _, table = PAGE.partition(f"\n| {kind} |")
    rows = [line for line in table.split("\n\n")[0].splitlines() if line.startswith("| `")]
    listed = [name for row in rows for name in re.findall(r"`([\w-]+)`", row.split(" | ")[0])]
    assert listed == list(ACTION[f"{kind}s"])


def test_the_workflow_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    file = tmp_path / "schemalint.yml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    process = subprocess.run([*command, file], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout


def test_the_workflow_is_the_one_that_init_writes(tmp_path: Path) -> None:
    source = given_source(f"git+https://github.com/OWNER/schemalint@v{schemalint.__version__}")
    change = job_change(tmp_path, Service.GITHUB, source)
    assert isinstance(change, FileChange)
    assert f"```yaml\n# {change.path.relative_to(tmp_path)}\n{change.after}```\n" in PAGE
