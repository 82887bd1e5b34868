"""The log reader compared with Spark, whose snapshot is read through the JVM, and with delta-rs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pytest

from schemalint.delta.datatype import LONG, Field
from schemalint.delta.schema_json import parse_schema
from schemalint.delta.table import LogDefectKind
from schemalint.tables.delta_log.actions import read_metadata, read_protocol
from schemalint.tables.delta_log.table_reader import read_table
from schemalint.tables.storage.kinds.local import open_store
from support.logs import (
    Action,
    add,
    commit_info,
    metadata,
    protocol,
    write_checkpoint,
    write_checksum,
    write_commit,
    write_file,
    write_lines,
    write_log,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from schemalint.delta.table import LiveTable

LOGS = Path(__file__).parent / "logs"
WRITTEN_BY_SPARK = sorted(folder.name for folder in LOGS.iterdir() if folder.is_dir())

# delta-rs reads the sidecars of V2 checkpoints, which are stored empty.
WITHOUT_SIDECARS = {"v2_checkpoint", "v2_json", "v2_parquet"}

ID = Field("id", LONG)
CREATED = [commit_info("CREATE TABLE"), protocol(), metadata(ID)]
WRITTEN = [commit_info("WRITE"), add()]


class TestSpark:
    """The reader agrees with Delta's own snapshot."""

    pytestmark = pytest.mark.spark

    @pytest.mark.each_time("v2_parquet")
    @pytest.mark.parametrize("name", WRITTEN_BY_SPARK)
    def test_protocol_metadata_and_version_are_equal(
        self, spark: SparkSession, tmp_path: Path, name: str
    ) -> None:
        shutil.copytree(LOGS / name, tmp_path / name)
        latest = read(tmp_path / name)
        assert latest.defects == ()
        for version in range(latest.history.known_from, latest.version + 1):
            assert_equals_spark(spark, tmp_path / name, version)
        assert delta_log(spark, tmp_path / name).unsafeVolatileSnapshot().version() == latest.version

    @pytest.mark.each_time("timed")
    @pytest.mark.parametrize("name", ["timed", "mapped", "checkpointed"])
    def test_a_timestamp_gives_the_same_version_as_in_spark(
        self, spark: SparkSession, tmp_path: Path, name: str
    ) -> None:
        table = shutil.copytree(LOGS / name, tmp_path / name)
        for number, path in enumerate(sorted(table.joinpath("_delta_log").glob("*.json"))):
            os.utime(path, (1_700_000_000 + number // 2, 1_700_000_000 + number // 2))
        rows = spark.sql(f"DESCRIBE HISTORY delta.`{table}`").selectExpr("version", "unix_millis(timestamp)")
        times = {row[0]: row[1] for row in rows.collect()}
        assert len(times) > 2
        for version, time in times.items():
            assert read_table(open_store(str(table)), at=time).version == version
            if version - 1 in times:
                assert read_table(open_store(str(table)), at=time - 1).version == version - 1

    @pytest.mark.each_time
    def test_unusual_logs_are_read_as_spark_reads_them(self, spark: SparkSession, tmp_path: Path) -> None:
        for name, write in UNUSUAL.items():
            write(tmp_path / name)
            assert_equals_spark(spark, tmp_path / name, read(tmp_path / name).version)

    @pytest.mark.each_time
    def test_a_log_that_spark_refuses_has_a_defect_with_its_error(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        for name, write in REFUSED.items():
            write(tmp_path / name)
            defects = read(tmp_path / name).defects
            assert [bool(defect.delta_error) for defect in defects] == [True], name
            with pytest.raises(Exception, match=str(defects[0].delta_error)):
                delta_log(spark, tmp_path / name)

    def test_spark_trusts_a_wrong_checksum_and_schemalint_reports_a_defect(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        write_checksum(
            write_log(tmp_path, [CREATED, WRITTEN]), 1, protocol(1, 4), metadata(Field("other", LONG))
        )
        snapshot = delta_log(spark, tmp_path).unsafeVolatileSnapshot()
        assert parse_schema(snapshot.metadata().schemaString()).fields[0].name == "other"
        assert [defect.kind for defect in read(tmp_path).defects] == [LogDefectKind.CHECKSUM_DIFFERS]


@pytest.mark.parametrize("name", [name for name in WRITTEN_BY_SPARK if name not in WITHOUT_SIDECARS])
def test_delta_rs_reads_the_same_table(name: str) -> None:
    theirs = deltalake.DeltaTable(str(LOGS / name))
    live = read(LOGS / name)
    assert theirs.version() == live.version
    assert theirs.metadata().configuration == configuration_of(live)
    assert str(theirs.metadata().id) == live.metadata.table_id
    assert tuple(theirs.metadata().partition_columns) == live.state.partitioned_by
    their_protocol = theirs.protocol()
    assert (their_protocol.min_reader_version, their_protocol.min_writer_version) == (
        live.protocol.min_reader,
        live.protocol.min_writer,
    )
    assert frozenset(their_protocol.reader_features or ()) == live.protocol.reader_features
    assert frozenset(their_protocol.writer_features or ()) == live.protocol.writer_features


def read(table: Path, version: int | None = None) -> LiveTable:
    return read_table(open_store(str(table)), version=version)


def configuration_of(live: LiveTable) -> dict[str, str]:
    constraints = {
        f"delta.constraints.{name}": text for name, text in live.state.constraints.items() if text is not None
    }
    return {**live.state.set_properties, **constraints}


def delta_log(spark: SparkSession, table: Path) -> Any:  # noqa: ANN401 - a Java object
    java: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to the snapshot
    return java.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(table))  # noqa: SLF001


def assert_equals_spark(spark: SparkSession, table: Path, version: int) -> None:
    log = delta_log(spark, table)
    defaults = [getattr(log, f"getSnapshotAt$default${number}")() for number in (2, 3, 4)]
    snapshot = log.getSnapshotAt(version, *defaults)
    live = read(table, version)
    assert snapshot.version() == version
    assert read_protocol(json.loads(snapshot.protocol().json())["protocol"]) == live.protocol
    expected = read_metadata(json.loads(snapshot.metadata().json())["metaData"])
    assert expected.table_id == live.metadata.table_id
    assert expected.schema == live.state.columns or (
        expected.schema is None and not live.state.columns.fields
    )
    assert expected.description == live.state.description
    assert expected.partition_columns == live.state.partitioned_by
    assert {key.lower(): value for key, value in expected.configuration.items()} == {
        key.lower(): value for key, value in configuration_of(live).items()
    }


def _with_commit(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    def write(table: Path) -> None:
        content = "".join(json.dumps(action) + "\n" for action in CREATED).encode()
        write_commit(table, 0, change(content))

    return write


def _dropped(table: Path, version: int) -> Path:
    table.joinpath("_delta_log", f"{version:020}.json").unlink()
    return table


def _gap(table: Path) -> None:
    _dropped(write_log(table, [CREATED, WRITTEN, WRITTEN, CREATED]), 2)


def _gap_after_checkpoint(table: Path) -> None:
    write_checkpoint(table, 4, CREATED[1:])
    write_log(table, [WRITTEN], first=6)


def _compacted_gap(table: Path) -> None:
    _dropped(write_log(table, [CREATED, WRITTEN, WRITTEN, WRITTEN]), 2)
    write_lines(table, f"{1:020}.{2:020}.compacted.json", [add()])


def _checkpoint_without_commit(table: Path) -> None:
    write_checkpoint(table, 5, CREATED[1:])


def _damaged_commit(table: Path) -> None:
    write_commit(write_log(table, [CREATED, WRITTEN, CREATED]), 1, b'{"metaData":{"id":')


def _checkpoint_without_metadata(table: Path) -> None:
    write_checkpoint(write_log(table, [CREATED, WRITTEN]), 1, [protocol()])


def _damaged_checkpoint(table: Path) -> None:
    write_file(write_log(table, [CREATED, WRITTEN]), f"{1:020}.checkpoint.parquet", b"rubbish")


def _damaged_pointer(table: Path) -> None:
    write_file(write_log(table, [CREATED, WRITTEN]), "_last_checkpoint", b"rubbish")


def _dangling_pointer(table: Path) -> None:
    write_file(write_log(table, [CREATED, WRITTEN]), "_last_checkpoint", b'{"version":9,"size":1}')


def _checkpoint_against_commits(table: Path) -> None:
    write_checkpoint(write_log(table, [CREATED, WRITTEN]), 1, [protocol(), metadata(Field("other", LONG))])


def _without_schema(table: Path) -> None:
    body: Action = metadata()
    del body["metaData"]["schemaString"]
    write_log(table, [[protocol(), body]])


UNUSUAL: dict[str, Callable[[Path], object]] = {
    "crlf": _with_commit(lambda content: content.replace(b"\n", b"\r\n")),
    "byte_order_mark": _with_commit(lambda content: b"\xef\xbb\xbf" + content),
    "blank_lines": _with_commit(lambda content: content.replace(b"\n", b"\n\n")),
    "no_final_newline": _with_commit(bytes.rstrip),
    "empty_commit": lambda table: write_log(table, [CREATED, [], WRITTEN, []]),
    "unknown_action": lambda table: write_log(table, [[*CREATED, {"someday": {"metaData": {}}}]]),
    "two_metadata": lambda table: write_log(table, [[protocol(1, 3), metadata(), metadata(ID), protocol()]]),
    "replaced_metadata_without_a_readable_schema": lambda table: write_log(
        table, [CREATED, [metadata(schemaString="no schema")], [metadata(ID)]]
    ),
    "without_schema": _without_schema,
    "damaged_checkpoint": _damaged_checkpoint,
    "damaged_pointer": _damaged_pointer,
    "dangling_pointer": _dangling_pointer,
    "checkpoint_against_commits": _checkpoint_against_commits,
}
REFUSED: dict[str, Callable[[Path], object]] = {
    "gap": _gap,
    "gap_after_checkpoint": _gap_after_checkpoint,
    "compacted_gap": _compacted_gap,
    "no_beginning": lambda table: write_log(table, [CREATED, WRITTEN], first=5),
    "checkpoint_without_commit": _checkpoint_without_commit,
    "damaged_commit": _damaged_commit,
    "checkpoint_without_metadata": _checkpoint_without_metadata,
}
