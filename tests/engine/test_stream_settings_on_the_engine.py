"""Delta finds the metadata path, and accepts the settings, that schemalint computes for a checkpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.stream_settings import java_hash, metadata_paths, reader_options, settings
from schemalint.delta.streams import Blocking

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCKED = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"
CHECKPOINTS = ("a//./b/../c é%20𝄞/", "d%2Fe")


@pytest.mark.spark
def test_delta_spells_and_hashes_checkpoints_as_schemalint_does(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415 (only with Spark)

    table = tmp_path / "t"

    def run(checkpoint: str, **options: str) -> str:
        """Read what is there, and return the error's text, empty without an error."""
        reader = spark.readStream.format("delta").option("schemaTrackingLocation", f"{checkpoint}/schema")
        for key, value in options.items():
            reader = reader.option(key, value)
        written = reader.load(str(table)).writeStream.format("noop")
        try:
            query = written.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
            query.awaitTermination()
        except StreamingQueryException as error:
            return str(error)
        return ""

    spark.sql(
        f"CREATE TABLE delta.`{table}` (a INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode'='name')"
    )
    spark.sql(f"INSERT INTO delta.`{table}` VALUES (1)")
    first, second = f"{tmp_path}/{CHECKPOINTS[0]}", f"file://{tmp_path}/{CHECKPOINTS[1]}"
    assert [run(checkpoint) for checkpoint in (first, second)] == ["", ""]
    logged = {
        json.loads(file.read_text("utf-8").split("\n")[1])["sourceMetadataPath"]
        for file in tmp_path.rglob("_schema_log_*/0")
    }
    assert logged == {*metadata_paths(first), *metadata_paths(second)}

    spark.sql(f"ALTER TABLE delta.`{table}` RENAME COLUMN a TO b")
    for checkpoint in (first, second):
        assert "DELTA_STREAMING_METADATA_EVOLUTION" in run(checkpoint)
    refused = run(first)
    (path,) = metadata_paths(first)
    assert BLOCKED in refused
    assert set(re.findall(r"ckpt_(-?\d+)", refused)) == {str(java_hash(path))}
    (of_this_version,) = settings(first, [Blocking.RENAME], 2)
    for key, value in of_this_version.conf.items():
        spark.conf.set(key, value)
    try:
        assert run(first) == ""
        assert BLOCKED in run(second)  # the setting is for the other stream alone
    finally:
        for key in of_this_version.conf:
            spark.conf.unset(key)
    assert run(second, **reader_options([Blocking.RENAME], 2)) == ""
