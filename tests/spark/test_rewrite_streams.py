"""Streams at each way to another type: what the plan says of them is what the engine does.

Asked of Delta 4.4.0, 4.0.1 and 3.3.2.
"""

from __future__ import annotations

import importlib.metadata
import os
from typing import TYPE_CHECKING, Final

import pytest

from engine.record_rewrites import stop
from schemalint.delta.engine import release_of
from schemalint.delta.streams import StreamVerdict
from schemalint.deploy.prepare import prepare_requested
from schemalint.deploy.results import Outcome
from schemalint.project import git
from schemalint.project.config.trust import find_trusted
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.session_catalog import SessionCatalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ALLOW: Final = ("rewrite", "destructive", "upgrade", "data")
MORE: Final = "protocol: {allow_upgrade: true}\nproperties: {delta.enableTypeWidening: true}\n"
MORE_PARTITIONED: Final = f"{MORE}partitioned_by: [p]\n"
COLUMNS: Final = (
    "{name: id, type: int}, {name: c, type: string}, {name: p, type: int}, {name: w, type: tinyint}"
)
DECIMAL: Final = '"decimal(12,2)", rewrite: {from: string, with: "cast(c as decimal(12,2))"}'
WAYS: Final = {
    "rewrite of a type": (MORE, COLUMNS.replace("c, type: string", f"c, type: {DECIMAL}"), MORE),
    "rewrite of the layout": (
        MORE_PARTITIONED,
        COLUMNS,
        f"{MORE}partitioned_by: []\nrewrite: {{from: {{partitioned_by: [p]}}}}\n",
    ),
    "a new column": (
        MORE,
        f"{COLUMNS}, {{name: d, type: int, backfill: {{from: c, with: cast(c as int)}}}}",
        MORE,
    ),
    "a widening": (MORE, COLUMNS.replace("tinyint", "int"), MORE),
}
ROWS: Final = {"a new column": "(3, '3', 3, 3, 3)", "rewrite of a type": "(3, 3, 3, 3)"}
"""What comes after the way."""

KINDS: Final = ("plain", "tracked", "tracked-and-skips")
DELTA: Final = importlib.metadata.version("delta-spark")
SETTINGS: Final = f"""\
[[tables]]
match = "*"
ignore = ["RD009", "RD010"]
[targets.dev]
root = "lake"
apply_with = "delta-spark {DELTA}"
"""


class Streams:
    """A stream of each kind, declared and real."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self.lakehouse = lakehouse
        lakehouse.repo.write("schemalint.toml", SETTINGS)

    def folder(self, kind: str) -> str:
        return str(self.lakehouse.root / "checkpoints" / kind)

    def declare(self, columns: str, more: str) -> None:
        text = f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n{more}consumers:\n"
        for kind in KINDS:
            folder = self.folder(kind)
            tracking = f", schema_tracking_location: {folder}/schema" if "tracked" in kind else ""
            text += f"  - {{name: {kind}, stream: {{checkpoint: {folder}{tracking}}}}}\n"
        self.lakehouse.declare(text)

    def said(self) -> dict[str, StreamVerdict]:
        """Return what the plan says of each stream."""
        repository = git.open_repository(self.lakehouse.repo.path, os.environ)
        via = SessionCatalog(lambda: self.lakehouse.session)
        settings = find_trusted(repository, os.environ)
        options = ApplyOptions(allow=ALLOW)
        deployment = prepare_requested(repository, settings, options, via=via, applies=True)
        assert [plan.refusals for plan in deployment.plan.tables] == [()]
        return {report.consumer.name: report.effect.verdict for report in deployment.streams}

    def start(self, kind: str) -> str:
        """Start a stream until it has read everything; return the error class if it fails."""
        spark: SparkSession = self.lakehouse.session
        source, folder = spark.readStream.format("delta"), self.folder(kind)
        if "tracked" in kind:
            source = source.option("schemaTrackingLocation", f"{folder}/schema")
        if "skips" in kind:
            source = source.option("skipChangeCommits", "true")
        sink = source.load(self.lakehouse.uri).writeStream.format("noop").trigger(availableNow=True)
        return stop(lambda: sink.option("checkpointLocation", folder).start().awaitTermination()) or ""


_CHANGED: Final = "DELTA_SCHEMA_CHANGED_WITH_VERSION"
_IGNORED: Final = "DELTA_SOURCE_TABLE_IGNORE_CHANGES"
_BLOCKED: Final = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"
_WITHOUT_LOG: Final = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
EXPECTED: Final = {
    "rewrite of a type": (_CHANGED, _IGNORED, _CHANGED),
    # What skips changes is told by no declaration: here it goes on, without the rows that were written again.
    "rewrite of the layout": (_CHANGED, _IGNORED, ""),
    # A fill stops each stream that skips no changes, as the plan says beside the verdict.
    "a new column": (_IGNORED, _IGNORED, ""),
    "a widening": ("", _BLOCKED, _BLOCKED),
}
"""How the third start of a stream of each kind ends."""
SAID: Final = {
    "rewrite of a type": 3 * (StreamVerdict.NEW_CHECKPOINT,),
    "rewrite of the layout": 3 * (StreamVerdict.NEW_CHECKPOINT,),
    # A running query stops once; those of this test start afterwards.
    "a new column": 3 * (StreamVerdict.RESTARTS,),
    "a widening": (StreamVerdict.RESTARTS, StreamVerdict.BLOCKED, StreamVerdict.BLOCKED),
}
if release_of(DELTA) < (4, 1):
    EXPECTED["a widening"] = (_WITHOUT_LOG, _BLOCKED, _BLOCKED)
    SAID["a widening"] = (StreamVerdict.NEW_CHECKPOINT, StreamVerdict.BLOCKED, StreamVerdict.BLOCKED)
if release_of(DELTA) < (4,):
    # One that skips changes goes on after a rewrite of a type too, without the rows that were written again.
    EXPECTED["rewrite of a type"] = (_CHANGED, _IGNORED, "")
    EXPECTED["a widening"] = (_CHANGED, "", "")
    SAID["a widening"] = (StreamVerdict.NEW_CHECKPOINT, StreamVerdict.RESTARTS, StreamVerdict.RESTARTS)


@pytest.mark.each_time("rewrite of the layout")
@pytest.mark.parametrize("way", WAYS)
def test_streams_end_or_go_on_as_the_plan_says(lakehouse: Lakehouse, way: str) -> None:
    before, columns, after = WAYS[way]
    streams = Streams(lakehouse)
    streams.declare(COLUMNS, before)
    assert lakehouse.apply(allow=ALLOW).outcome is Outcome.APPLIED
    lakehouse.insert("(1, '1', 1, 1), (2, '2', 2, 2)")
    assert {streams.start(kind) for kind in KINDS} == {""}
    streams.declare(columns, after)
    said = streams.said()
    assert tuple(said[kind] for kind in KINDS) == SAID[way]
    applied = lakehouse.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    lakehouse.insert(ROWS.get(way, "(3, '3', 3, 3)"))
    ends = {kind: [streams.start(kind) for _start in range(3)][-1] for kind in KINDS}
    assert tuple(ends[kind] for kind in KINDS) == EXPECTED[way]
    # What is read again, from the beginning and with a new checkpoint, is everything.
    if SAID[way][0] is StreamVerdict.NEW_CHECKPOINT:
        streams.folder = lambda kind: str(lakehouse.root / "new" / kind)  # type: ignore[method-assign]
        assert {streams.start(kind) for kind in KINDS} == {""}
