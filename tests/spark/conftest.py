"""Fixtures of the tests of `apply`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.faulty_sessions import counting_commits
from support.lakehouse import Lakehouse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _counting_commits() -> Iterator[None]:
    """Let interrupted sessions write markers as own sessions do."""
    with counting_commits():
        yield


@pytest.fixture
def lakehouse(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Lakehouse:
    """Return an empty lakehouse; git ignores the user's own settings."""
    created = Lakehouse.make(tmp_path / "repository", spark)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, created.repo.env[name])
    return created
