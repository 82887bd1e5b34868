"""What schemalint reads in real checkpoints, and predicts from there, is what the queries do."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.base.values import replace
from schemalint.delta.stream_progress import StreamProgress, commits_to_meet, effect_from
from schemalint.delta.streams import Blocking, StreamEffect, StreamVerdict, effect_on_stream
from schemalint.model.consumer import Stream
from schemalint.tables.storage import open_folder, read_table
from schemalint.tables.streaming.stream_checkpoint import read_stream
from support.checkpoints import entry, offset, offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALLOWED = {f"allowSource{kind}": "always" for kind in ("ColumnRename", "ColumnDrop", "ColumnTypeChange")}
EVOLVED = "DELTA_STREAMING_METADATA_EVOLUTION"


class Queries:
    """Queries that read one table, each for what is there, and then end."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.table = f"{folder}/t"
        self.sql(
            "CREATE TABLE {} (id BIGINT, a INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode'='name')"
        )
        self.sql("INSERT INTO {} VALUES (1, 2)")

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.replace("{}", f"delta.`{self.table}`"))

    def read(self, location: str | None, **options: str) -> DataFrame:
        reader = self.spark.readStream.format("delta")
        for key, value in {**({"schemaTrackingLocation": location} if location else {}), **options}.items():
            reader = reader.option(key, value)
        return reader.load(self.table).select("id")

    def run(self, name: str, frame: Callable[[], DataFrame]) -> str:
        """Return the first error class, ``no class`` for an error without one, or nothing."""
        try:
            started = frame().writeStream.format("noop").option("checkpointLocation", f"{self.folder}/{name}")
            started.trigger(availableNow=True).start().awaitTermination()
        except Exception as error:  # noqa: BLE001 (py4j has a family of its own)
            classes = re.findall(r"\[([A-Z][A-Z_.]{5,})\]", str(error))
            return next((found for found in classes if found != "STREAM_FAILED"), "no class")
        return ""

    def tracked(self, name: str, **options: str) -> str:
        return self.run(name, lambda: self.read(f"{self.folder}/{name}/s", **options))

    def untracked(self, name: str) -> str:
        return self.run(name, lambda: self.read(None))

    def progress(self, name: str, location: str | None = "s", source: int = 0) -> StreamProgress:
        checkpoint = f"{self.folder}/{name}"
        stream = Stream(checkpoint, None if location is None else f"{checkpoint}/{location}", source)
        store = open_folder(checkpoint, [str(self.folder)])
        assert store is not None
        return read_stream(store, stream, read_table(self.table).metadata.table_id)

    def effect(self, name: str) -> StreamEffect:
        progress = self.progress(name)
        progress = replace(progress, to_meet=commits_to_meet(progress, read_table(self.table)))
        return effect_from(progress, tracked=True)

    def effect_on_untracked(self, name: str) -> StreamEffect:
        """Return what an untracked query meets that starts again only now."""
        commits = commits_to_meet(self.progress(name, None), read_table(self.table))
        assert commits is not None
        return effect_on_stream(commits, tracked=False, running=False)


@pytest.mark.spark
def test_where_queries_are_and_what_they_meet_next(spark: SparkSession, tmp_path: Path) -> None:
    queries = Queries(spark, tmp_path)

    def both() -> DataFrame:
        location = f"{tmp_path}/both/s"
        first, second = (queries.read(location, streamingSourceTrackingId=name) for name in "xy")
        return first.union(second)

    assert queries.run("both", both) == ""
    assert [queries.progress("both", source=source).last_version for source in (0, 1)] == [1, 1]
    assert queries.tracked("t") == queries.untracked("u") == queries.untracked("late") == ""
    assert queries.progress("u", None).next_version == queries.progress("t").next_version == 2
    assert queries.effect("t") == StreamEffect(StreamVerdict.CONTINUES)

    queries.sql(
        "ALTER TABLE {} ADD COLUMN c INT",
        "ALTER TABLE {} ALTER COLUMN a COMMENT 'x'",
        "INSERT INTO {} VALUES (1, 2, 3)",
    )
    assert queries.effect_on_untracked("u").verdict is StreamVerdict.CONTINUES
    assert queries.effect("t") == StreamEffect(StreamVerdict.RESTARTS, 1)
    assert queries.tracked("t") == EVOLVED
    stopped = queries.progress("t")
    assert (stopped.planned, stopped.last_version) == (True, 1)
    assert queries.effect("t") == StreamEffect(StreamVerdict.CONTINUES)
    assert queries.tracked("t") == queries.untracked("u") == ""
    assert [queries.progress(name, None).last_version for name in "tu"] == [4, 4]
    assert queries.effect("t") == StreamEffect(StreamVerdict.CONTINUES)

    queries.sql("ALTER TABLE {} RENAME COLUMN a TO b", "INSERT INTO {} VALUES (1, 2, 3)")
    assert queries.effect_on_untracked("u").verdict is StreamVerdict.NEW_CHECKPOINT
    assert queries.untracked("u") == "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
    assert (effect := queries.effect("t")).unblock == (Blocking.RENAME,)
    assert effect.stops == 1
    assert queries.tracked("t") == EVOLVED
    waiting = queries.effect("t")
    assert (waiting.verdict, waiting.stops) == (StreamVerdict.BLOCKED, 0)
    assert queries.tracked("t", allowSourceColumnRename=str(waiting.blocks[0].version)) == ""
    assert queries.effect("t") == waiting, "each start needs the option until the next change"
    assert queries.tracked("t").startswith("DELTA_STREAMING_CANNOT_CONTINUE")

    # tracking that is added after the change
    late = queries.progress("late")
    assert [defect.stops for defect in late.defects] == [False]
    stops = queries.effect("late").stops
    assert [queries.tracked("late", **ALLOWED) for _ in range(3)].count(EVOLVED) == stops


@pytest.mark.spark
def test_files_that_stop_a_query_are_faulty_and_others_are_not(spark: SparkSession, tmp_path: Path) -> None:
    queries = Queries(spark, tmp_path)
    assert queries.tracked("c") == ""
    queries.sql("INSERT INTO {} VALUES (1, 2)")
    assert queries.tracked("c") == ""
    checkpoint, path = tmp_path / "c", f"file:{tmp_path}/c/sources/0"
    table = read_table(queries.table).metadata.table_id
    log = f"s/_schema_log_{table}"
    good = offsets(offset(3, table_id=table))
    shutil.copytree(checkpoint, tmp_path / "kept")
    faulty = {
        f"{log}/0": [
            "",
            "v1\n[]",
            entry(1, path=path),
            entry(1, path="file:/x/sources/0", table_id=table),
            entry(1, path=path, table_id=table).replace('{\\"type\\": \\"struct\\"', "{", 1),
        ],
        "offsets/1": [
            "",
            good.replace("v1", "v3", 1),
            offsets("{"),
            offsets(offset(3)),
        ],
        "commits/1": [""],
        "commits/7": ["v1\n{}"],
        "offsets/7": [good],
    }
    accepted = {
        f"{log}/0": [entry(1, (("id", "long"), ("a", "integer")), path=path, table_id=table) + "\n"],
        "offsets/1": [good.replace("\n", "\r\n").replace(": 3", ': "3"', 1) + "\n"],
        "commits/0": [""],
    }
    for name, text, stops in (
        *((name, text, True) for name, texts in faulty.items() for text in texts),
        *((name, text, False) for name, texts in accepted.items() for text in texts),
    ):
        shutil.rmtree(checkpoint)
        shutil.copytree(tmp_path / "kept", checkpoint)
        file = checkpoint / name
        file.write_text(text)
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
        progress, error = queries.progress("c"), queries.tracked("c")
        assert (progress.is_known, error == "") == (not stops, not stops), (name, text, error)
        expected = [defect.delta_error for defect in progress.defects if defect.delta_error]
        assert not expected or error == expected[0], (name, text)
