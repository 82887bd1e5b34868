"""The model of streams says of every recorded change what real streams did, and they still do it.

With Delta 3.3.2 and 4.0.1 the changes were asked that these make.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.answers import NEWEST, record_path
from engine.record_streams import STREAMS, ask, questions, read_logs, read_record
from schemalint.delta.engine import release_of
from schemalint.delta.stream_history import commits_since
from schemalint.delta.streams import StreamVerdict, effect_on_stream
from schemalint.delta.table import LogDefectKind
from support.short_logs import logged_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

QUESTIONS = {question.case: question for question in questions()}
RECORD = read_record()
LOGS = read_logs()
TRACKED_RUNNING, TRACKED, UNTRACKED_RUNNING, UNTRACKED = STREAMS
SAMPLE = {
    "a column is added": STREAMS,
    "a column is renamed": (TRACKED_RUNNING, TRACKED, UNTRACKED),
    "a property of others is set": (TRACKED_RUNNING, UNTRACKED_RUNNING),
    "the table is overwritten with another type": (TRACKED,),
}


RECORDS = {NEWEST: RECORD} | {
    version: read_record(record_path("streams", version)) for version in ("3.3.2", "4.0.1")
}


OTHER_OPTION = ("3.3.2", "a column is renamed, and another one dropped")
"""Delta 3.3 asks for allowSourceColumnRenameAndDrop then, in place of the two options."""


@pytest.mark.parametrize(
    ("version", "case"),
    [
        (version, case)
        for version, record in RECORDS.items()
        for case in dict.fromkeys(case for case, _ in record)
        if (version, case) != OTHER_OPTION
    ],
)
def test_the_model_says_what_the_streams_did(version: str, case: str, tmp_path: Path) -> None:
    log, record, delta = LOGS[case], RECORDS[version], release_of(version)
    table = logged_table(json.dumps(log.commits), tmp_path)
    assert table.version == len(log.commits) - 1
    # The record keeps no times of commits.
    assert {defect.kind for defect in table.defects} <= {LogDefectKind.NO_COMMIT_TIMESTAMP}
    commits = commits_since(table, log.seen)
    assert commits is not None
    said, did = {}, {}
    for stream in STREAMS:
        effect = effect_on_stream(commits, tracked=stream.tracked, running=stream.running, delta=delta)
        unblock = tuple(kind.key for kind in effect.unblock)
        versions = tuple(block.version for block in effect.blocks)
        answer = record[case, stream]
        ends = answer.verdict is StreamVerdict.NEW_CHECKPOINT
        asked_for = answer.versions if version != "3.3.2" else versions  # whose message names none
        did[stream] = (*answer[:3], asked_for, answer.errors[-1] if ends else None)
        said[stream] = (effect.verdict, effect.stops, unblock, versions, effect.error)
    assert said == did


def test_every_change_is_recorded_for_every_stream() -> None:
    assert list(RECORD) == [(case, stream) for case in QUESTIONS for stream in STREAMS]
    assert list(LOGS) == list(QUESTIONS)


def test_the_sample_has_every_verdict_and_every_stream() -> None:
    asked = [(case, stream) for case, streams in SAMPLE.items() for stream in streams]
    assert {(RECORD[row].verdict, row[1].tracked) for row in asked} == {
        (answer.verdict, stream.tracked) for (_, stream), answer in RECORD.items()
    }
    assert {stream for _, stream in asked} == set(STREAMS)


@pytest.mark.spark
@pytest.mark.parametrize("case", SAMPLE)
def test_real_streams_still_do_what_is_recorded(spark: SparkSession, tmp_path: Path, case: str) -> None:
    """A stream that is blocked goes on with the settings that schemalint prints, and no other one does."""
    answers, log = ask(spark, tmp_path / "asked", QUESTIONS[case], SAMPLE[case])
    assert answers == {stream: RECORD[case, stream] for stream in SAMPLE[case]}
    assert log == LOGS[case]
