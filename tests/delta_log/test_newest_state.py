"""Reading the newest state from the newest files, and older commits when something asks for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.base.values import replace
from schemalint.delta.datatype import LONG, Field
from schemalint.delta.history import history_from, without_history
from schemalint.delta.table import History
from schemalint.tables.delta_log import table_reader
from schemalint.tables.storage import read_table
from schemalint.tables.storage.kinds.local import PathStore
from support.logs import clustering, metadata, protocol, write_file
from support.long_logs import COLUMNS, LongLog, write_files

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import LiveTable

EDITS = {
    7: [metadata(*COLUMNS, Field("more", LONG))],
    12: [clustering(["id"])],
    21: [protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint", "appendOnly", "clustering", "domainMetadata"])],
    33: [metadata(*COLUMNS, properties={"team": "sales"})],
    44: [metadata(*COLUMNS)],
}
POINTERS = {
    "newest": b'{"version": 40}',
    "stale": b'{"version": 20}',
    "stale, of a version without a checkpoint": b'{"version": 23}',
    "lost": b'{"version": 43}',
    "ahead": b'{"version": 99}',
    "damaged": b'{"version": 4',
    "no number": b'{"version": "40"}',
    "too large": b'{"version": 99999999999999999999999}',
    "empty": b"",
}


def snapshot(table: LiveTable) -> LiveTable:
    """Return a table without its history, and what only the history tells."""
    return replace(table, history=History(), warnings=(), older=None)


@pytest.mark.parametrize("kind", ["classic", "parts", "v2 parquet", "v2 json"])
def test_the_newest_state_is_that_of_the_whole_log(tmp_path: Path, kind: str) -> None:
    table = write_files(tmp_path / "t", LongLog(45, kind=kind, edits=EDITS).files(tmp_path / "parts"))
    whole = snapshot(read_table(str(table)))
    for pointer, content in POINTERS.items():
        write_file(table, "_last_checkpoint", content)
        assert snapshot(read_table(str(table), history=False)) == whole, pointer
    table.joinpath("_delta_log/_last_checkpoint").unlink()
    assert snapshot(read_table(str(table), history=False)) == whole


def test_older_files_replace_a_damaged_checkpoint(tmp_path: Path) -> None:
    table = write_files(tmp_path / "t", LongLog(45, edits=EDITS).files(tmp_path / "parts"))
    write_file(table, f"{40:020}.checkpoint.parquet", b"PAR1")
    live = read_table(str(table), history=False)
    assert [defect.file for defect in live.defects] == [f"{40:020}.checkpoint.parquet"]
    assert live.metadata == read_table(str(table)).metadata


@pytest.mark.parametrize("lost", [40, 41, 44])
def test_a_missing_commit_since_the_checkpoint_is_found(tmp_path: Path, lost: int) -> None:
    table = write_files(tmp_path / "t", LongLog(46, edits=EDITS).files(tmp_path / "parts"))
    table.joinpath("_delta_log", f"{lost:020}.json").unlink()
    found = read_table(str(table), history=False).defects
    assert [defect.delta_error is not None for defect in found] == [True] * (lost > 40)


def test_a_damaged_commit_is_found_although_newer_ones_say_everything(tmp_path: Path) -> None:
    edits = {44: [protocol(), metadata(*COLUMNS)]}
    table = write_files(tmp_path / "t", LongLog(45, edits=edits).files(tmp_path / "parts"))
    write_file(table, f"{42:020}.json", b'{"commitInfo": {}}\n{"protocol"')
    (defect,) = read_table(str(table), history=False).defects
    assert (defect.file, defect.delta_error) == (f"{42:020}.json", "FAILED_READ_FILE.NO_HINT")


def test_metadata_that_a_newer_commit_replaces_is_looked_into_for_the_history_alone(tmp_path: Path) -> None:
    """Delta 4.4.0 opens the table: it parses the schema of the newest metadata."""
    files = LongLog(45, edits={44: [metadata(*COLUMNS)]}).files(tmp_path / "parts")
    table = write_files(tmp_path / "t", files)
    damaged = table / f"_delta_log/{42:020}.json"
    replaced = metadata(*COLUMNS, schemaString="no schema")
    damaged.write_text(f"{damaged.read_text()}\n{json.dumps(replaced)}\n")
    live = read_table(str(table), history=False)
    assert live.defects == ()
    assert live.state.columns.fields == COLUMNS
    assert [entry.version for entry in live.history_since(42).entries] == [42, 44]
    (defect,) = read_table(str(table)).defects
    assert (defect.file, defect.delta_error) == (damaged.name, None)


def test_metadata_that_was_left_out_is_read_when_the_history_is_asked_for(tmp_path: Path) -> None:
    edits = {at: [metadata(*COLUMNS, Field(f"c{at}", LONG))] for at in (42, 43, 44)}
    table = write_files(tmp_path / "t", LongLog(45, edits=edits).files(tmp_path / "parts"))
    whole = read_table(str(table)).history
    since = read_table(str(table), history=False).history_since(41)
    assert since.entries[1:] == tuple(entry for entry in whole.entries if entry.version > 41)


def test_a_damaged_commit_before_the_checkpoint_is_a_defect_of_the_history(tmp_path: Path) -> None:
    table = write_files(tmp_path / "t", LongLog(45, edits=EDITS).files(tmp_path / "parts"))
    write_file(table, f"{22:020}.json", b"{")
    assert not read_table(str(table), history=False).defects
    whole = read_table(str(table))
    assert [(defect.file, defect.only_history) for defect in whole.defects] == [(f"{22:020}.json", True)]
    assert without_history(whole).defects == ()


@pytest.mark.parametrize("kind", ["classic", None])
@pytest.mark.parametrize("checksums", [False, True])
def test_the_history_since_a_version_is_the_end_of_the_whole_one(
    tmp_path: Path, kind: str | None, *, checksums: bool
) -> None:
    log = LongLog(45, interval=10 if kind else None, checksums=checksums, edits=EDITS)
    table = write_files(tmp_path / "t", log.files(tmp_path / "parts"))
    whole = read_table(str(table))
    for version in range(46):
        live = read_table(str(table), history=False)
        found = live.history_since(version)
        if version < live.version:
            assert found == replace(history_from(whole.history, version), file_versions=None), version
            assert without_history(whole).history_since(version) == history_from(whole.history, version)
        else:
            assert found == History(known_from=live.version)
    assert whole.history_since(20) == whole.history


def test_a_history_starts_where_the_log_has_all_later_commits(tmp_path: Path) -> None:
    table = write_files(tmp_path / "t", LongLog(45, edits=EDITS).files(tmp_path / "parts"))
    for version in range(15):
        table.joinpath("_delta_log", f"{version:020}.json").unlink()
    live = read_table(str(table), history=False)
    assert live.history_since(3) == replace(read_table(str(table)).history, file_versions=None)
    assert live.history_since(3).known_from == 20
    assert live.history_since(17).known_from == 17


def test_a_table_keeps_no_store_open(tmp_path: Path) -> None:
    path = write_files(tmp_path / "t", LongLog(45, edits=EDITS).files(tmp_path / "parts"))
    opened: list[PathStore] = []

    def reopen() -> PathStore:
        opened.append(PathStore(path))
        return opened[-1]

    live = table_reader.read_table(PathStore(path), history=False, reopen=reopen)
    live.history_since(40)
    assert not opened
    live.history_since(12)
    live.history_since(3)
    assert len(opened) == 2
