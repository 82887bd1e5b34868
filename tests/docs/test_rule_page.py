"""The rule of ``docs/how-to/rule.md`` runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from support.repo import Repo

PAGE = (Path(__file__).parents[2] / "docs/how-to/rule.md").read_text(encoding="utf-8")


def test_the_example_rule_runs(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    packages = tmp_path / "packages"
    information = packages / "acme-1.dist-info"
    information.mkdir(parents=True)
    (packages / "acme_rules.py").write_text(text)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[schemalint.rules]\nacme = acme_rules\n")
    repo = Repo(tmp_path / "lakehouse")
    repo.write("t.yml", "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int}]\n")
    repo.commit()
    repo.write(
        "t.yml", "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int}, {name: totalB, type: int}]\n"
    )
    process = subprocess.run(
        ["schemalint", "check", "--output-format=concise"],
        cwd=repo.path,
        env={**repo.env, "PATH": _path(), "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ACME001 warning totalB has capital letters" in process.stdout, process.stdout + process.stderr


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
