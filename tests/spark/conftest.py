"""What the tests of `apply` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.lakehouse import Lakehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def lakehouse(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Lakehouse:
    """An empty lakehouse; git is kept from the user's own settings."""
    made = Lakehouse.make(tmp_path / "repository", spark)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, made.repo.env[name])
    return made
