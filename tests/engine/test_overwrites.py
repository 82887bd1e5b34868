"""Rewrites of tables of many shapes on three Deltas, as `apply` made them: all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.answers import record_path
from engine.record_overwrites import QUESTIONS, REWRITTEN, outcome, read_record
from support.lakehouse import Lakehouse
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

VERSIONS: Final = ("3.3.2", "4.0.1", "4.4.0")
ASKED_AGAIN: Final = some_of_each(QUESTIONS, lambda question: question[1], 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_table_is_as_declared_and_nothing_else_changed(version: str) -> None:
    recorded = read_record(record_path("overwrites", version))
    assert recorded.keys() == set(QUESTIONS)
    for (shape, _change), answer in recorded.items():
        commits = 2 if shape == "clustered" else 1
        assert answer == f"{REWRITTEN}: {commits} commits"


@pytest.mark.spark
@pytest.mark.parametrize(("shape", "change"), ASKED_AGAIN, ids=lambda name: name)
def test_the_engine_still_answers_as_recorded(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str, change: str
) -> None:
    lakehouse = Lakehouse.make(tmp_path / "repository", spark)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, lakehouse.repo.env[name])
    assert outcome(lakehouse, shape, change) == read_record()[shape, change]
