"""The project's own workflows are valid; zizmor judges their security in `make lint`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from support.skipping import skip_or_fail

ROOT = Path(__file__).parents[2]
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


def test_actionlint_finds_nothing() -> None:
    if not shutil.which("go"):
        skip_or_fail("actionlint needs Go: https://go.dev/doc/install")
    workflows = sorted(str(path) for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert workflows
    run = subprocess.run(
        ["go", "run", ACTIONLINT, *workflows], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.returncode) == ("", 0), run.stderr
