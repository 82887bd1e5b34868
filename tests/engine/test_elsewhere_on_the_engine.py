"""The script for notebooks gets the recorded answers from the engine whose answers are recorded."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

import pytest

from engine import answers, elsewhere, elsewhere_runner, record_protocols, record_types
from engine.answers import NEWEST, record_path

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ENGINE: Final = f"delta-spark {NEWEST}"
SAMPLE: Final = 6


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let records be written into a temporary folder."""
    monkeypatch.setattr(answers, "_FOLDER", tmp_path)
    return tmp_path


@pytest.mark.spark
def test_a_sample_of_the_questions_has_the_recorded_answers(
    spark: SparkSession, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types, protocols = ([*of()] for of in (elsewhere.of_types, elsewhere.of_protocols))
    some = random.Random(1)  # noqa: S311 (no secret is made of it)
    table = {**some.choice(types)}
    table["asks"] = some.sample(table["asks"], SAMPLE)
    file = records / "answers.jsonl"
    for name, value in {
        "ENGINE": ENGINE,
        "QUESTIONS": [table, *some.sample(protocols, SAMPLE)],
        "SCHEMA": "some_questions",
        "ANSWERS": str(file),
    }.items():
        monkeypatch.setattr(elsewhere_runner, name, value)
    elsewhere_runner.run(spark)
    assert_recorded([json.loads(line) for line in file.read_text("utf-8").splitlines()], is_whole=False)
    assert not spark.catalog.databaseExists("some_questions")


@pytest.mark.spark
@pytest.mark.engine
def test_the_script_gets_the_recorded_answers(spark: SparkSession, records: Path) -> None:
    file = records / "answers.jsonl"
    text = elsewhere.script()
    for name, value in {"ENGINE": ENGINE, "SCHEMA": "all_questions", "ANSWERS": str(file)}.items():
        own = getattr(elsewhere_runner, name)
        assert text.count(f'{name} = "{own}"') == 1
        text = text.replace(f'{name} = "{own}"', f'{name} = "{value}"')
    exec(compile(text, "script.py", "exec"), {"spark": spark, "__name__": "notebook"})  # noqa: S102 (our own)
    assert_recorded([json.loads(line) for line in file.read_text("utf-8").splitlines()], is_whole=True)


def assert_recorded(lines: list[dict[str, Any]], *, is_whole: bool) -> None:
    """Compare answers with the records of the newest Delta; all of these have one if the script ran whole."""
    types, protocols = elsewhere.records(lines)
    assert types == record_path("types") != record_types.RECORD
    compare(record_types.read_record(types), record_types.read_record(record_types.RECORD), is_whole=is_whole)
    compare(
        record_protocols.read_record(protocols),
        record_protocols.read_record(record_protocols.RECORD),
        is_whole=is_whole,
    )


def compare(answered: Any, recorded: Any, *, is_whole: bool) -> None:  # noqa: ANN401 (of either part)
    """Compare the answers to one part of the questions with a record."""
    assert answered == (recorded if is_whole else {question: recorded[question] for question in answered})
