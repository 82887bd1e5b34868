"""Rewrites of tables of many shapes on three Deltas, as `apply` made them: all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.answers import record_path
from engine.record_overwrites import (
    CHANGES,
    QUESTIONS,
    REFUSED,
    REWRITTEN,
    SHAPES,
    outcomes,
    read_record,
)
from schemalint.spark.session_settings import assigned
from support.lakehouse import FOR_FEW_ROWS, Lakehouse
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

VERSIONS: Final = ("3.3.2", "4.0.1", "4.4.0")


def expected(shape: str, change: str) -> str:
    """Return what must become of a table: it is rewritten, or refused beforehand with the reason."""
    refused = REFUSED.get(shape) or REFUSED.get(change) if shape != "timestampNtz" else None
    if refused is not None:
        return f"refused: the table cannot be rewritten: {refused}"
    clusters = "clustered_by" in SHAPES[shape].more or "clustered_by" in CHANGES[change].layout
    return f"{REWRITTEN}: {2 if clusters else 1} commits"


@pytest.mark.parametrize("version", VERSIONS)
def test_each_table_is_as_declared_and_nothing_else_changed_or_it_was_refused(version: str) -> None:
    recorded = read_record(record_path("overwrites", version))
    assert recorded == {question: expected(*question) for question in QUESTIONS}


@pytest.mark.spark
def test_the_engine_still_answers_as_recorded(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakehouse = Lakehouse.make(tmp_path / "repository", spark)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, lakehouse.repo.env[name])
    recorded = read_record()
    questions = some_of_each(recorded, lambda question: REFUSED.get(question[0], ""), 2)
    with assigned(spark, FOR_FEW_ROWS):
        answers = outcomes(lakehouse, questions)
    assert answers == {question: recorded[question] for question in questions}
