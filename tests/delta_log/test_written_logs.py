"""Logs written by Spark; ``write_logs.py`` has the statements."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from schemalint.delta.datatype import (
    INTEGER,
    LONG,
    SHORT,
    STRING,
    Array,
    Atomic,
    Char,
    Decimal,
    Field,
    Identity,
    Map,
    RecordedChange,
    String,
    Struct,
    Varchar,
    field_at,
)
from schemalint.delta.path import Part
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, LogDefectKind
from schemalint.tables.storage import read_table

LOGS = Path(__file__).parent / "logs"
TABLES = sorted(folder.name for folder in LOGS.iterdir() if folder.is_dir())


def table(name: str, version: int | None = None) -> LiveTable:
    return read_table(str(LOGS / name), version=version)


def column(live: LiveTable, *path: str | Part) -> Field:
    field = field_at(live.state.columns, path)
    assert field is not None
    return field


@pytest.mark.parametrize("name", TABLES)
def test_reading_without_history_gives_the_same_snapshot_at_every_version(name: str) -> None:
    live = table(name)
    assert (live.warnings, live.defects) == ((), ())
    for version in range(live.history.known_from, live.version + 1):
        full, quick = table(name, version), read_table(str(LOGS / name), version=version, history=False)
        assert quick.metadata == full.metadata
        assert quick.protocol == full.protocol
        assert quick.history.entries == ()


def test_type_changes_are_found_at_every_depth() -> None:
    live = table("widened")
    assert column(live, "id").type_changes == (
        RecordedChange(Atomic("byte"), SHORT),
        RecordedChange(SHORT, INTEGER),
    )
    assert column(live, "deep").type_changes == (
        RecordedChange(Atomic("byte"), SHORT, (Part.KEY,)),
        RecordedChange(INTEGER, LONG, (Part.VALUE, Part.ELEMENT)),
        RecordedChange(SHORT, INTEGER, (Part.KEY,)),
    )
    assert column(live, "line", Part.ELEMENT, "a.b").type_changes == (
        RecordedChange(INTEGER, Decimal(12, 2)),
    )
    assert column(live, "line").type_changes == ()
    assert live.protocol.features >= {"typeWidening", "timestampNtz"}


def test_history_has_an_entry_for_each_commit_that_changed_the_table() -> None:
    history = table("mapped").history
    assert history.known_from == 0
    assert [(entry.version, entry.operation) for entry in history.entries] == [
        (0, "CREATE TABLE"),
        (2, "SET TBLPROPERTIES"),
        (3, "RENAME COLUMN"),
        (4, "DROP COLUMNS"),
        (5, "ADD COLUMNS"),
    ]
    assert [entry.version for entry in history.entries if entry.protocol] == [0, 2]
    assert all(entry.timestamp for entry in history.entries)


def test_column_mapping_gives_ids_and_physical_names() -> None:
    live = table("mapped")
    renamed = column(live, "customer_ref")
    assert (renamed.column_id, renamed.physical_name) == (2, "cust")
    assert column(live, "note").comment == "added"
    assert [field.name for field in table("mapped", 2).state.columns.fields] == ["id", "cust", "ship"]


def test_char_and_varchar_lengths_are_read_at_every_depth() -> None:
    created = table("chars", 0)
    assert column(created, "code").type == Char(3)
    assert column(created, "keys").type == Map(Char(2), Varchar(9))
    inner = column(created, "deep", Part.ELEMENT, "code")
    assert (inner.type, inner.comment, inner.column_id) == (Varchar(5), "it's", 5)
    assert column(created, "deep", Part.ELEMENT, "list").type == Array(Char(4))
    assert all(not field.extra for field in created.state.columns.fields)


def test_char_and_varchar_lengths_that_delta_loses_are_lost() -> None:
    """ADD COLUMN of a field with a length loses its siblings' lengths, and DROP COLUMN those that follow."""
    assert column(table("chars", 1), "ship", "city").type == Varchar(7)
    assert column(table("chars", 2), "ship", "city").type == STRING
    latest = table("chars")
    assert column(latest, "ship").type == Struct(
        (column(latest, "ship", "town"), column(latest, "ship", "qty"), column(latest, "ship", "street"))
    )
    assert column(table("chars", 3), "ship", "street").type == Varchar(11)
    assert column(latest, "ship", "street").type == STRING
    assert column(latest, "code").type == STRING


def test_collations_are_read_at_every_depth() -> None:
    live = table("collated")
    assert column(live, "lower").type == String("UTF8_LCASE")
    assert column(live, "deep").type == Map(STRING, Array(String("UNICODE_CI")))


def test_generated_identity_and_default_columns_are_read() -> None:
    live = table("computed")
    sequence = column(live, "seq")
    assert sequence.identity == Identity(5, 10, allow_explicit_insert=True)
    assert sequence.extra == (("delta.identity.highWaterMark", "15"),)
    assert column(live, "total").generated == "CAST(amount * 2 AS BIGINT)"
    assert column(live, "state").default == "'new'"


def test_clustering_columns_have_logical_names() -> None:
    assert table("clustered", 0).state.clustered_by == (("day",), ("ship", "city"))
    renamed = table("clustered", 1)
    assert renamed.state.clustered_by == (("order_date",), ("ship", "city"))
    live = table("clustered")
    assert live.state.clustered_by == (("order_date",), ("id",))
    assert live.history.entries[-1].operation == "CLUSTER BY"
    assert live.history.entries[-1].metadata == live.metadata


def test_constraints_are_separated_from_properties() -> None:
    live = table("checked")
    assert live.state.constraints == {"amount_not_negative": "amount >= 0"}
    assert live.state.properties == {"team": "sales", "delta.logRetentionDuration": "interval 7 days"}
    assert live.state.description == "One row per order."
    assert live.state.partitioned_by == ("order_date",)
    assert column(live, "amount") == Field("amount", Decimal(10, 2), nullable=False, comment="in euro")
    assert column(live, "deep", "q").comment == "ünïcode"
    assert live.protocol == Protocol(1, 3)
    assert live.state.features == {"appendOnly", "invariants", "checkConstraints"}


def test_a_checkpoint_replaces_the_commits_before_it() -> None:
    live = table("checkpointed")
    assert live.version == 12
    assert live.history.known_from == 10
    assert [(entry.version, entry.operation) for entry in live.history.entries] == [
        (10, None),
        (12, "ADD COLUMNS"),
    ]
    start = live.history.entries[0].metadata
    assert start is not None
    assert start.state == table("checkpointed", 10).state
    assert start.state.clustered_by == (("id",), ("ship", "city"))
    assert column(live, "id").type_changes == (RecordedChange(INTEGER, LONG),)
    assert live.state.enabled("delta.enableInCommitTimestamps")
    assert live.metadata.created_time is not None
    assert live.metadata.table_id == start.table_id


@pytest.mark.parametrize("name", ["multi_part", "v2_json", "v2_parquet"])
def test_checkpoints_of_other_kinds_replace_the_commits_before_them(name: str) -> None:
    live = table(name)
    start = live.history.known_from
    assert [(entry.version, entry.operation) for entry in live.history.entries] == [
        (start, None),
        (live.version, "ADD COLUMNS"),
    ]
    assert [field.name for field in live.state.columns.fields][-1] == "later"
    assert live.state.clustered_by == ((("id",),) if name == "multi_part" else (("ship", "city"),))
    assert live.protocol.lists == (name != "multi_part", True)


def test_a_compaction_gives_the_same_table_as_its_commits(tmp_path: Path) -> None:
    kept = shutil.copytree(LOGS / "compacted", tmp_path / "table")
    expected = table("compacted")
    for version in (1, 2, 3):
        kept.joinpath("_delta_log", f"{version:020}.json").unlink()
    for checksum in kept.joinpath("_delta_log").glob("*.crc"):
        checksum.unlink()
    live = read_table(str(kept))
    assert (live.version, live.metadata) == (expected.version, expected.metadata)
    assert live.protocol == expected.protocol
    assert [defect.kind for defect in live.defects] == [LogDefectKind.COMMIT_MISSING]


def test_history_entries_have_the_in_commit_timestamps() -> None:
    in_commit = [entry.timestamp for entry in table("timed").history.entries]
    content = LOGS.joinpath("timed", "_delta_log", f"{4:020}.json").read_text()
    assert json.loads(content.partition("\n")[0])["commitInfo"]["inCommitTimestamp"] == in_commit[-1]
    assert in_commit == sorted(in_commit, key=lambda time: time or 0)


def test_history_entries_have_engine_and_parameters() -> None:
    engines = {entry.engine for name in TABLES for entry in table(name).history.entries if entry.operation}
    assert engines == {"Apache-Spark/4.2.0 Delta-Lake/4.4.0"}
    created = table("timed").history.entries[0]
    assert created.parameters["properties"] == '{"delta.enableInCommitTimestamps":"false"}'


def test_operations_that_may_lose_type_changes_are_recognizable() -> None:
    """The valid ways to lose recorded type changes, with their operations and removed files."""
    changed = (RecordedChange(Atomic("short"), INTEGER),)
    restored = (RecordedChange(INTEGER, LONG),)
    operations: dict[str, list[tuple[str, bool, object]]] = {
        "replaced": [
            ("CREATE TABLE", False, ()),
            ("CHANGE COLUMN", False, changed),
            ("CREATE OR REPLACE TABLE", True, ()),
            ("WRITE", True, ()),
            ("CREATE OR REPLACE TABLE AS SELECT", True, ()),
        ],
        "restored": [("CREATE TABLE", False, ()), ("CHANGE COLUMN", False, restored), ("RESTORE", True, ())],
        "feature_dropped": [
            ("CREATE TABLE", False, ()),
            ("CHANGE COLUMN", False, changed),
            ("UNSET TBLPROPERTIES", False, changed),
            ("DROP FEATURE", False, ()),
            ("DROP FEATURE", False, ()),
        ],
    }
    for name, expected in operations.items():
        entries = [
            (entry.operation, entry.removes_files, entry.metadata.state.columns.fields[0].type_changes)
            for entry in table(name).history.entries
            if entry.metadata
        ]
        assert entries == expected
    overwritten = table("replaced").history.entries[3]
    assert overwritten.parameters["canOverwriteSchema"] == "true"


def test_a_clone_starts_with_the_state_of_its_source() -> None:
    (entry,) = table("cloned").history.entries
    assert entry.operation == "CLONE"
    assert column(table("cloned"), "id").type_changes == (RecordedChange(INTEGER, LONG),)
    assert column(table("cloned"), "note").type == Varchar(5)
    assert table("cloned").state.clustered_by == (("id",),)


def test_dropping_a_feature_adds_checkpoint_protection() -> None:
    assert table("feature_dropped").protocol.features == {"appendOnly", "invariants", "checkpointProtection"}


def test_removed_clustering_is_recognized() -> None:
    live = table("unclustered")
    assert (table("unclustered", 0).state.clustered_by, live.state.clustered_by) == ((("id",),), ())
    assert [entry.operation for entry in live.history.entries] == ["CREATE TABLE", "CLUSTER BY"]
