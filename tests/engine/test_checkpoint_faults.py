"""Checkpoints that lack a file: Spark refuses a table where a finding or an error names its reason."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from engine.record_types import refusal
from schemalint.base.errors import LiveError
from schemalint.tables.storage import read_table
from support.judging import judge_table
from support.rule_judging import built_in
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

V2 = "TBLPROPERTIES (delta.checkpointPolicy = 'v2', delta.checkpointInterval = 2)"
CLASSIC = "TBLPROPERTIES (delta.checkpointInterval = 2)"
LAST = 5  # the newest version; the newest checkpoint is of version 4
SIDECAR = ("_sidecars/*04.checkpoint.0000000001*",)
PART = ("*04.checkpoint.0000000001*",)
EARLY = tuple(f"{version:020}.json" for version in range(4))
OLD = ("*02.checkpoint*",)
POINTER = ("_last_checkpoint",)
CHECKSUMS = ("*.crc",)
NO_SIDECAR, NO_PARTS = "FAILED_READ_FILE.FILE_NOT_EXIST", "DELTA_MISSING_PART_FILES"
TRUNCATED = "DELTA_TRUNCATED_TRANSACTION_LOG"

# By layout, deleted files and version (None for the latest): the class of Spark's refusal, if there is one.
FAULTS = [
    (V2, SIDECAR, None, NO_SIDECAR),
    (V2, SIDECAR, LAST, NO_SIDECAR),
    (V2, SIDECAR, 3, None),
    (V2, (*SIDECAR, *CHECKSUMS, *EARLY), None, NO_SIDECAR),
    (CLASSIC, PART, None, None),
    (CLASSIC, PART, LAST, None),
    (CLASSIC, (*PART, *POINTER), None, None),
    (CLASSIC, (*PART, *EARLY[:2]), None, None),
    (CLASSIC, (*PART, *EARLY), None, NO_PARTS),
    (CLASSIC, (*PART, *EARLY, *OLD), None, NO_PARTS),
    (CLASSIC, (*PART, *EARLY, *OLD, *CHECKSUMS), None, NO_PARTS),
    (CLASSIC, (*PART, *EARLY, *OLD, *POINTER), None, TRUNCATED),
    (CLASSIC, ("*04.checkpoint*", *EARLY, *OLD), None, NO_PARTS),
    (V2, ("*04.checkpoint*", *EARLY, *OLD), None, NO_PARTS),
]

# By file: another content, and the class of Spark's refusal of the classic table.
WRITTEN = [
    ("_last_checkpoint", b'{"version":2,"size":4}', None),
    ("_last_checkpoint", b'{"version":3,"size":4}', None),
    ("_last_checkpoint", b'{"version":9,"size":4}', None),
    ("_last_checkpoint", b'{"version":', None),
    (f"{1:020}.json", b'{"commitInfo":{}}\n{"metaData"', None),
    (f"{LAST:020}.json", b'{"commitInfo":{}}\n{"metaData"', "FAILED_READ_FILE.NO_HINT"),
]


@pytest.mark.spark
def test_a_checkpoint_that_lacks_a_file_is_judged_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    tables = {
        layout: _written(spark, tmp_path / name, layout) for name, layout in (("v2", V2), ("c", CLASSIC))
    }
    for number, (layout, deleted, version, expected) in enumerate(
        some_of_each(FAULTS, lambda fault: (fault[0], fault[-1]), 1)
    ):
        table = tmp_path / f"damaged{number}"
        shutil.copytree(tables[layout], table, ignore=shutil.ignore_patterns(".*.crc"))
        for pattern in deleted:
            files = list((table / "_delta_log").glob(pattern))
            assert files, pattern
            for file in files:
                file.unlink()
        at = "" if version is None else f" VERSION AS OF {version}"
        answer = refusal(lambda: spark.sql(f"SELECT sum(a) FROM delta.`{table}`{at}").collect())  # noqa: B023
        case = deleted, version
        assert (case, answer) == (case, expected)
        for history in (True, False):
            assert (case, _reported(table, version, history=history)) == (case, expected)
    for number, (name, content, expected) in enumerate(some_of_each(WRITTEN, lambda file: file[-1], 1)):
        table = tmp_path / f"written{number}"
        shutil.copytree(tables[CLASSIC], table, ignore=shutil.ignore_patterns(".*.crc"))
        (table / "_delta_log" / name).write_bytes(content)
        answer = refusal(lambda: spark.sql(f"SELECT sum(a) FROM delta.`{table}`").collect())  # noqa: B023
        assert (name, content, answer) == (name, content, expected)
        assert (name, content, _reported(table, None, history=False)) == (name, content, expected)


@pytest.mark.spark
def test_a_checkpoint_without_protocol_or_metadata_is_judged_as_spark_does(
    spark: SparkSession, tmp_path: Path
) -> None:
    from pyarrow import compute, parquet  # noqa: PLC0415 (only for this test)

    spark.sql(f"CREATE TABLE delta.`{tmp_path / 'c'}` (a INT) USING delta {CLASSIC}")
    for value in range(2):
        spark.sql(f"INSERT INTO delta.`{tmp_path / 'c'}` VALUES ({value})")
    for action in ("protocol", "metaData"):
        table = tmp_path / action
        shutil.copytree(tmp_path / "c", table, ignore=shutil.ignore_patterns("*.crc"))
        (checkpoint,) = (table / "_delta_log").glob("*.checkpoint*.parquet")
        rows = parquet.read_table(checkpoint)
        parquet.write_table(rows.filter(compute.is_null(rows.column(action))), checkpoint)
        answer = refusal(lambda: spark.sql(f"SELECT sum(a) FROM delta.`{table}`").collect())  # noqa: B023
        assert (action, answer) == (action, "DELTA_STATE_RECOVER_ERROR")
        assert (action, _reported(table, None, history=False)) == (action, answer)


def _written(spark: SparkSession, table: Path, layout: str) -> Path:
    part_size = "spark.databricks.delta.checkpoint.partSize"
    spark.conf.set(part_size, 1)
    try:
        spark.sql(f"CREATE TABLE delta.`{table}` (a INT) USING delta {layout}")
        for value in range(LAST):
            spark.sql(f"INSERT INTO delta.`{table}` VALUES ({value})")
    finally:
        spark.conf.unset(part_size)
    return table


def _reported(table: Path, version: int | None, *, history: bool) -> str | None:
    """Return the class that schemalint names: as a finding, or in the error if no state is known."""
    try:
        live = read_table(str(table), version=version, history=history)
    except LiveError as error:
        return next((name for name in (NO_PARTS, TRUNCATED) if name in error.message), error.message)
    classes = {finding.delta_error for finding in judge_table(live, tuple(built_in().values()))} - {None}
    assert len(classes) <= 1
    return next(iter(classes), None)
