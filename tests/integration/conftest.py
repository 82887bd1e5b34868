"""The Action, installed once for all tests that run it (on one worker of pytest-xdist)."""

from __future__ import annotations

import sys

import pytest

from support.action import INSTALL, Runner
from support.hostile import write_installation


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner on which the first step of the Action has run, in a workspace full of traps."""
    folder = tmp_path_factory.mktemp("runner")
    workspace = folder / "workspace"
    write_installation(workspace)
    shim = folder / "python"
    shim.write_text(
        f'#!/bin/sh\nif [ -f .python-version ]; then . ./.python-version; fi\nexec {sys.executable} "$@"\n'
    )
    shim.chmod(0o755)
    runner = Runner(folder)
    runner.inputs(python=str(shim))
    outcome = runner.run(INSTALL, workspace, {}, {"PYTHONPATH": str(workspace)})
    assert outcome.status == 0, outcome.log
    return runner
