"""The Action, installed once for all tests that run it (on one worker of pytest-xdist)."""

from __future__ import annotations

import sys

import pytest

from support.action import INSTALL, Runner


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner on which the first step of the Action has run."""
    folder = tmp_path_factory.mktemp("runner")
    runner = Runner(folder)
    runner.inputs(python=sys.executable)
    outcome = runner.run(INSTALL, folder, {})
    assert outcome.status == 0, outcome.log
    return runner
