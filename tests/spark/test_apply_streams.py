"""`apply` and real streams: the settings that it prints, ``--require-streams``, and cosmetic steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from jsonschema import Draft202012Validator
from pyspark.errors import StreamingQueryException

from schemalint.cli import main
from schemalint.cli.schema import schema_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ORDERS: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
  - {name: b, type: int}
properties: {delta.columnMapping.mode: name}
consumers:
"""
COMMENTED: Final = ORDERS.replace("a, type: int", "a, type: int, comment: The key.")
RENAMED: Final = COMMENTED.replace("b, type: int", "c, type: int, renamed_from: b")


class Streams:
    """Two tracked streams of the table, and the command line."""

    def __init__(
        self, lakehouse: Lakehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.lakehouse = lakehouse
        self.capsys = capsys
        monkeypatch.chdir(lakehouse.repo.path)
        settings = 'cosmetic = "ride-along"\n[[tables]]\nmatch = "*"\nignore = ["RD009"]\n'
        lakehouse.repo.write("schemalint.toml", settings + '[targets.dev]\nroot = "lake"\n')

    def checkpoint(self, name: str) -> str:
        return str(self.lakehouse.root / "checkpoints" / name)

    def declare(self, text: str) -> None:
        consumers = "".join(
            f"  - {{name: {name}, stream: {{checkpoint: {self.checkpoint(name)}, "
            f"schema_tracking_location: {self.checkpoint(name)}/schema}}}}\n"
            for name in ("silver", "gold")
        )
        self.lakehouse.declare(text + consumers)

    def apply(self, *arguments: str) -> tuple[int, str]:
        status = main(["apply", "--yes", *arguments])
        captured = self.capsys.readouterr()
        return status, captured.out if "json" in arguments else captured.out + captured.err

    def start(self, name: str) -> str:
        """Start a stream until it has read everything; return the error class if it fails."""
        spark: SparkSession = self.lakehouse.session
        source = spark.readStream.format("delta").option(
            "schemaTrackingLocation", f"{self.checkpoint(name)}/schema"
        )
        sink = source.load(self.lakehouse.uri).writeStream.format("noop").trigger(availableNow=True)
        try:
            sink.option("checkpointLocation", self.checkpoint(name)).start().awaitTermination()
        except StreamingQueryException as error:
            return next(
                word for word in str(error).replace("[", " ").replace("]", " ").split() if "DELTA" in word
            )
        return ""


@pytest.mark.each_time
def test_printed_settings_unblock_their_stream_alone_once_all_have_read_the_table(
    lakehouse: Lakehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = Streams(lakehouse, capsys, monkeypatch)
    streams.declare(ORDERS)
    assert streams.apply()[0] == 0
    lakehouse.insert("(1, 1)")
    assert [streams.start(name) for name in ("silver", "gold")] == ["", ""]

    # A comment alone waits.
    before = lakehouse.table().version
    streams.declare(COMMENTED)
    status, text = streams.apply()
    assert (status, "waiting for the next change" in text) == (0, True)
    assert lakehouse.table().version == before

    # A stream that lags holds the table back.
    lakehouse.insert("(2, 2)")
    streams.start("silver")
    streams.declare(RENAMED)
    status, text = streams.apply("--require-streams")
    assert (status, lakehouse.table().version) == (4, before + 1)
    assert f"stream gold must read version {before + 1} first; it has read version {before}" in text
    assert "silver must" not in text
    streams.start("gold")
    status, text = streams.apply("--require-streams", "--output-format", "json")
    log = json.loads(text)
    assert status == 0
    Draft202012Validator(schema_of("apply")).validate(log)
    assert lakehouse.table().state.columns.fields[0].comment == "The key."

    # The settings of a stream let it pass, and no other stream.
    reports = {report["consumer"]: report for report in log["streams"]}
    silver = reports["silver"]
    assert (silver["verdict"], silver["stops"], silver["unblock"]) == ("blocked", 1, ["rename"])
    assert set(silver["settings"].values()) == {str(lakehouse.table().version - 1)}, "before the marker"
    lakehouse.insert("(3, 3)")
    spark: SparkSession = lakehouse.session
    blocked = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"
    assert [streams.start("silver"), streams.start("silver")][1] == blocked
    for key, value in silver["settings"].items():
        spark.conf.set(key, value)
    try:
        assert streams.start("silver") == ""
        assert [streams.start("gold"), streams.start("gold")][1] == blocked
    finally:
        for key in silver["settings"]:
            spark.conf.unset(key)
