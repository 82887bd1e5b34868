"""``docs/how-to/ci.md``: the files to copy are valid, and its hooks are those of the manifest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/ci.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("file", "checker"),
    [
        (".pre-commit-config.yaml", ["-m", "pre_commit", "validate-config"]),
        (
            ".github/workflows/schemalint.yml",
            ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"],
        ),
    ],
)
def test_files_to_copy_are_valid(tmp_path: Path, file: str, checker: list[str]) -> None:
    (text,) = (text for text in FILES if text.startswith(f"# {file}\n"))
    (tmp_path / "copied.yml").write_text(text)
    process = subprocess.run(
        [sys.executable, *checker, tmp_path / "copied.yml"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_hooks_match_their_manifest() -> None:
    manifest: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    hooks = {hook["id"] for hook in manifest}
    assert set(re.findall(r"schemalint-(?:check|fix|live)\b", PAGE)) == hooks
