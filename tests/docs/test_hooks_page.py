"""``docs/how-to/hooks.md``: the configuration to copy is valid, and the page names every hook."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/hooks.md").read_text(encoding="utf-8")
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}


def test_the_configuration_to_copy_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    file = tmp_path / "copied.yaml"
    file.write_text(text)
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(file)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    (repository,) = yaml.safe_load(text)["repos"]
    assert {hook["id"] for hook in repository["hooks"]} <= set(HOOKS)


def test_the_table_lists_each_hook_with_its_stages() -> None:
    rows = re.findall(r"^\| `(schemalint-\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE)
    stages = {"pre-commit": "commit", "pre-push": "push"}
    assert dict(rows) == {
        name: ", ".join(stages[stage] for stage in hook["stages"]) for name, hook in HOOKS.items()
    }


def test_no_hook_depends_on_the_names_of_files() -> None:
    """pre-commit never passes deleted files, and skips a hook that gets none."""
    for hook in HOOKS.values():
        assert hook["always_run"]
        assert not hook["pass_filenames"]
        assert not {"files", "exclude", "types", "types_or"} & set(hook)
        assert hook["entry"].startswith("schemalint check ")
        assert "--head index --allow-none" in hook["entry"]
