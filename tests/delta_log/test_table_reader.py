"""Reading tables from commits and classic checkpoints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import INTEGER, LONG, Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import History
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import read_table
from support.logs import (
    add,
    clustering,
    commit_info,
    metadata,
    protocol,
    write_checkpoint,
    write_commit,
    write_file,
    write_log,
)

if TYPE_CHECKING:
    from pathlib import Path

ID = Field("id", LONG)
CREATED = [commit_info("CREATE TABLE"), protocol(), metadata(ID)]
WRITTEN = [commit_info("WRITE"), add()]
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


def file_name(version: int, rest: str) -> str:
    return f"{version:020}.{rest}"


def drop_commits(table: Path, *versions: int) -> None:
    for version in versions:
        table.joinpath("_delta_log", file_name(version, "json")).unlink()


def test_the_newest_metadata_and_protocol_apply(tmp_path: Path) -> None:
    widened = [commit_info("CHANGE COLUMN", 9, userMetadata="why"), metadata(ID, description="new")]
    table = write_log(tmp_path, [CREATED, WRITTEN, widened, [protocol(1, 3)], WRITTEN])
    live = read_table(str(table))
    assert (live.version, live.protocol, live.state.description) == (4, Protocol(1, 3), "new")
    assert live.uri == str(table)
    entries = live.history.entries
    assert [entry.version for entry in entries] == [0, 2, 3]
    assert (entries[1].operation, entries[1].timestamp, entries[1].user_metadata) == (
        "CHANGE COLUMN",
        9,
        "why",
    )
    assert (entries[1].protocol, entries[2].metadata) == (None, None)
    assert entries[1].metadata == read_table(str(table), version=2).metadata


def test_without_commit_info_the_file_time_is_the_timestamp(tmp_path: Path) -> None:
    table = write_log(tmp_path, [[protocol(), metadata(ID)]])
    modified = table.joinpath("_delta_log", file_name(0, "json")).stat().st_mtime_ns // 1_000_000
    assert read_table(str(table)).history.entries[0].timestamp == modified


def test_without_history_old_commits_are_not_read(tmp_path: Path) -> None:
    table = write_log(tmp_path, [CREATED, WRITTEN, [*CREATED, clustering()], WRITTEN])
    write_commit(table, 0, b'{"metaData": rubbish}')
    live = read_table(str(table), history=False)
    assert live.history == History(known_from=3)
    assert live.state.columns == Struct((ID,))
    assert read_table(str(table)).history.known_from == 2


def test_clustering_is_found_with_and_without_history(tmp_path: Path) -> None:
    clustered = protocol(1, 7, None, ["clustering", "domainMetadata"])
    table = write_log(tmp_path, [[protocol(), metadata(ID), clustering(["id"])], [clustered, metadata(ID)]])
    live = read_table(str(table), history=False)
    assert live.state.clustered_by == (("id",),)
    assert live.state.clustered_by == read_table(str(table)).state.clustered_by


def test_a_clustering_column_missing_in_the_schema_keeps_its_physical_name(tmp_path: Path) -> None:
    table = write_log(tmp_path, [[*CREATED, clustering(["id"], ["col-1", "col-2"], ["id", "x"])]])
    assert read_table(str(table)).state.clustered_by == (("id",), ("col-1", "col-2"), ("id", "x"))


def test_constraints_are_found_in_any_case(tmp_path: Path) -> None:
    properties = {"Delta.Constraints.Positive": "id > 0", "team": "a"}
    state = read_table(str(write_log(tmp_path, [[protocol(), metadata(ID, properties=properties)]]))).state
    assert (state.constraints, state.properties) == ({"positive": "id > 0"}, {"team": "a"})


@pytest.mark.parametrize("last", [b"", b"rubbish", b'{"version": 999}', b'{"version": 0}', b"\xff\xfe"])
def test_a_pointer_to_the_last_checkpoint_is_never_trusted(tmp_path: Path, last: bytes) -> None:
    write_file(tmp_path, "_last_checkpoint", last)
    assert read_table(str(write_log(tmp_path, [CREATED, WRITTEN]))).version == 1


def test_hidden_and_foreign_files_are_ignored(tmp_path: Path) -> None:
    for name in (
        f".{file_name(0, 'json.crc')}",
        file_name(7, "json.tmp"),
        "README",
        "_commits/x",
        "_sidecars/y.parquet",
    ):
        write_file(tmp_path, name, b"\x00")
    tmp_path.joinpath("_delta_log", file_name(9, "json")).mkdir()
    assert read_table(str(write_log(tmp_path, [CREATED, WRITTEN]))).version == 1


def test_unknown_reader_features_and_catalog_management_are_warnings(tmp_path: Path) -> None:
    features = ["catalogManaged", "someday"]
    live = read_table(str(write_log(tmp_path, [[protocol(3, 7, features, features), metadata(ID)]])))
    assert ["someday" in warning for warning in live.warnings] == [True, False]
    assert "catalog" in live.warnings[1]


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize(("lacking", "actions"), [("protocol", [metadata(ID)]), ("metaData", [protocol()])])
def test_a_log_without_protocol_or_metadata_is_refused(
    tmp_path: Path, lacking: str, actions: list[dict[str, object]], *, history: bool
) -> None:
    with pytest.raises(LiveError, match=f"no {lacking} action") as caught:
        read_table(str(write_log(tmp_path, [actions])), history=history)
    assert caught.value.help


@pytest.mark.parametrize(
    "name", [None, "README", file_name(0, "crc"), file_name(0, "checkpoint.0000000001.0000000002.parquet")]
)
def test_a_log_without_commits_and_checkpoints_is_no_table(tmp_path: Path, name: str | None) -> None:
    tmp_path.joinpath("_delta_log").mkdir()
    if name:
        write_file(tmp_path, name)
    with pytest.raises(NoTable):
        read_table(str(tmp_path))


def test_a_folder_without_a_log_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(NoTable, match="no folder _delta_log"):
        read_table(str(tmp_path))
    with pytest.raises(NoTable):
        read_table(str(tmp_path / "missing"))


@pytest.mark.parametrize("version", [-1, 2])
def test_a_version_that_does_not_exist_is_refused(tmp_path: Path, version: int) -> None:
    with pytest.raises(LiveError, match="the latest is 1"):
        read_table(str(write_log(tmp_path, [CREATED, WRITTEN])), version=version)


class TestCheckpoints:
    """Classic checkpoints; `test_checkpoints.py` tests all kinds."""

    STATE = (protocol(1, 7, None, ["clustering", "domainMetadata"]), metadata(ID), clustering(["id"]))

    def test_commits_missing_before_a_checkpoint_are_normal(self, tmp_path: Path) -> None:
        write_checkpoint(tmp_path, 4, self.STATE)
        live = read_table(str(write_log(tmp_path, [WRITTEN, [metadata(ID, description="new")]], first=5)))
        assert (live.version, live.history.known_from) == (6, 4)
        assert live.state.clustered_by == (("id",),)
        assert [entry.version for entry in live.history.entries] == [4, 6]
        assert live.history.entries[0].timestamp is None

    def test_a_gap_before_the_newest_checkpoint_does_not_matter(self, tmp_path: Path) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, WRITTEN, WRITTEN])
        drop_commits(table, 1)
        write_checkpoint(table, 3, self.STATE)
        assert read_table(str(table)).history.known_from == 3
        with pytest.raises(LiveError, match="version 1 is missing"):
            read_table(str(table), version=2)

    def test_the_history_starts_at_the_oldest_checkpoint_with_all_later_commits(self, tmp_path: Path) -> None:
        for version in (2, 4, 6):
            write_checkpoint(tmp_path, version, self.STATE)
        table = write_log(tmp_path, [WRITTEN] * 5, first=4)
        assert read_table(str(table)).history.known_from == 4
        assert read_table(str(write_log(table, [WRITTEN], first=3))).history.known_from == 2

    @pytest.mark.parametrize("history", [True, False])
    def test_a_checkpoint_without_its_own_commit_is_a_version(self, tmp_path: Path, *, history: bool) -> None:
        write_checkpoint(write_log(tmp_path, [CREATED]), 5, self.STATE)
        live = read_table(str(tmp_path), history=history)
        assert (live.version, live.history.known_from) == (5, 5)

    @pytest.mark.parametrize("group", [1, 2, 1_000])
    def test_actions_are_found_in_any_row_group(self, tmp_path: Path, group: int) -> None:
        write_checkpoint(tmp_path, 0, self.STATE, data_files=50, row_group_size=group)
        live = read_table(str(tmp_path))
        assert (live.state.columns, live.state.clustered_by) == (Struct((ID,)), (("id",),))

    def test_a_checkpoint_and_a_commit_with_the_same_actions_give_the_same_table(
        self, tmp_path: Path
    ) -> None:
        properties = {"team": "a", "delta.constraints.known": "id IS NOT NULL"}
        metadata_action = metadata(
            ID, properties=properties, partitioned_by=["id"], description="d", name="n"
        )
        actions = [protocol(3, 7, ["typeWidening"], ["typeWidening"]), metadata_action]
        write_checkpoint(tmp_path / "checkpoint", 0, actions)
        write_log(tmp_path / "commit", [actions])
        live = read_table(str(tmp_path / "checkpoint"))
        assert live.state.constraints == {"known": "id IS NOT NULL"}
        assert live.metadata == read_table(str(tmp_path / "commit")).metadata
        assert live.protocol == read_table(str(tmp_path / "commit")).protocol

    @pytest.mark.parametrize("actions", [[protocol()], [metadata(ID)], []])
    def test_a_checkpoint_that_lacks_an_action_is_refused(
        self, tmp_path: Path, actions: list[dict[str, object]]
    ) -> None:
        write_checkpoint(tmp_path, 0, actions)
        with pytest.raises(LiveError, match=r"0\.checkpoint\.parquet: the checkpoint lacks"):
            read_table(str(tmp_path))

    def test_a_schema_that_cannot_be_read_is_refused(self, tmp_path: Path) -> None:
        write_checkpoint(tmp_path, 0, [protocol(), metadata(schemaString="{")])
        with pytest.raises(LiveError, match="schemaString cannot be read"):
            read_table(str(tmp_path))

    def test_text_that_is_no_utf8_is_refused(self, tmp_path: Path) -> None:
        path = write_checkpoint(tmp_path, 0, [protocol(), metadata(ID, description="some words")])
        data = path.read_bytes()
        path.write_bytes(data.replace(b"some words", b"\xff" * len("some words")))
        assert path.read_bytes() != data
        with pytest.raises(LiveError, match="the checkpoint cannot be read"):
            read_table(str(tmp_path))

    @pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"{}" * 50])
    def test_a_checkpoint_that_is_no_parquet_is_refused(self, tmp_path: Path, data: bytes) -> None:
        write_file(tmp_path, file_name(3, "checkpoint.parquet"), data)
        with pytest.raises(LiveError, match=r"3\.checkpoint\.parquet: the checkpoint cannot be read"):
            read_table(str(tmp_path))

    def test_the_error_without_pyarrow_names_the_extra(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        without_checkpoint = write_log(tmp_path / "commits", [CREATED])
        assert read_table(str(without_checkpoint)).version == 0
        write_file(tmp_path, file_name(3, "checkpoint.parquet"), b"PAR1")
        with pytest.raises(LiveError) as caught:
            read_table(str(tmp_path))
        assert "schemalint[live]" in caught.value.help

    def test_an_incomplete_multi_part_checkpoint_is_ignored(self, tmp_path: Path) -> None:
        write_file(write_log(tmp_path, [CREATED]), file_name(5, "checkpoint.0000000001.0000000002.parquet"))
        assert read_table(str(tmp_path)).version == 0

    @settings(
        derandomize=True,
        deadline=None,
        max_examples=60,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.data())
    def test_a_damaged_checkpoint_is_read_or_refused(self, tmp_path: Path, data: st.DataObject) -> None:
        path = write_checkpoint(tmp_path, 0, self.STATE)
        damaged = bytearray(path.read_bytes())
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(damaged[: data.draw(st.sampled_from((len(damaged), len(damaged) // 2)))])
        refused = None
        try:
            read_table(str(tmp_path))
        except LiveError as error:
            refused = error
        assert refused is None or file_name(0, "checkpoint.parquet") in refused.message


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rubbish=st.binary(max_size=80), version=st.integers(0, 2), cut=st.integers(0, 500))
def test_a_damaged_commit_is_read_or_refused(tmp_path: Path, rubbish: bytes, version: int, cut: int) -> None:
    table = write_log(tmp_path, [CREATED, WRITTEN, [metadata(Field("id", INTEGER))]])
    path = table / "_delta_log" / file_name(version, "json")
    path.write_bytes(path.read_bytes()[:cut] + rubbish)
    refused = None
    try:
        read_table(str(table))
    except LiveError as error:
        refused = error
    assert refused is None or str(table) in refused.message
