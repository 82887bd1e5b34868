"""The version of a table at a timestamp."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import LONG, Field
from schemalint.tables.delta_log.store import DamagedFile, FileEntry
from schemalint.tables.delta_log.table_reader import read_table
from schemalint.tables.storage.kinds.local import PathStore, open_store
from support.logs import add, commit_info, metadata, protocol, write_checkpoint, write_commit, write_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from support.logs import Action

ID = Field("id", LONG)


def version_at(table: Path, instant: int) -> int:
    live = read_table(open_store(str(table)), at=instant)
    assert live == read_table(open_store(str(table)), version=live.version)
    return live.version


def write_log_with_file_times(table: Path, times: Sequence[int]) -> Path:
    write_log(table, [[protocol(), metadata(ID)], *[[commit_info("WRITE", 5)]] * (len(times) - 1)])
    return with_file_times(table, dict(enumerate(times)))


def with_file_times(table: Path, times: Mapping[int, int]) -> Path:
    for version, time in times.items():
        nanoseconds = time * 1_000_000
        os.utime(table / "_delta_log" / f"{version:020}.json", ns=(nanoseconds, nanoseconds))
    return table


def timed_commit(instant: int, *actions: Action) -> list[Action]:
    return [commit_info("WRITE", 1, inCommitTimestamp=instant), *actions, add()]


def with_in_commit_timestamps(since: int | None) -> Action:
    properties = {"delta.enableInCommitTimestamps": "true"}
    if since is not None:
        properties["delta.inCommitTimestampEnablementVersion"] = str(since)
    return metadata(ID, properties=properties)


@pytest.mark.parametrize(("instant", "version"), [(1000, 0), (1999, 0), (2000, 1), (2001, 1), (9999, 2)])
def test_the_version_is_the_newest_one_at_that_time(tmp_path: Path, instant: int, version: int) -> None:
    assert version_at(write_log_with_file_times(tmp_path, [1000, 2000, 3000]), instant) == version


@pytest.mark.parametrize(("instant", "version"), [(5000, 0), (5001, 1), (5002, 2), (5999, 2), (6000, 3)])
def test_file_times_out_of_order_are_adjusted(tmp_path: Path, instant: int, version: int) -> None:
    assert version_at(write_log_with_file_times(tmp_path, [5000, 5000, 1000, 6000]), instant) == version


def test_a_timestamp_before_the_first_commit_is_refused(tmp_path: Path) -> None:
    table = write_log_with_file_times(tmp_path, [1000, 2000])
    with pytest.raises(LiveError, match=r"no commit is as old as 1970-01-01T00:00:00\.999000"):
        version_at(table, 999)
    with pytest.raises(LiveError, match="no commit is as old as"):
        version_at(table, -(10**30))


@pytest.mark.parametrize(("instant", "version"), [(100, 0), (199, 0), (200, 1), (300, 2), (10**15, 2)])
def test_in_commit_timestamps_override_file_times(tmp_path: Path, instant: int, version: int) -> None:
    created = timed_commit(100, protocol(), with_in_commit_timestamps(None))
    table = write_log(tmp_path, [created, timed_commit(200), timed_commit(300)])
    assert version_at(with_file_times(table, {0: 9000, 1: 9000, 2: 9000}), instant) == version


@pytest.mark.parametrize(("instant", "version"), [(1000, 0), (2000, 1), (5999, 1), (6000, 2), (7000, 3)])
def test_before_in_commit_timestamps_were_enabled_file_times_count(
    tmp_path: Path, instant: int, version: int
) -> None:
    enabling = timed_commit(6000, with_in_commit_timestamps(2))
    table = write_log(tmp_path, [[protocol(), metadata(ID)], [add()], enabling, timed_commit(7000)])
    assert version_at(with_file_times(table, {0: 1000, 1: 2000, 2: 1, 3: 1}), instant) == version


def test_a_timestamp_before_the_oldest_remaining_commit_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, 4, [protocol(), with_in_commit_timestamps(0)])
    table = write_log(tmp_path, [timed_commit(100), timed_commit(200)], first=4)
    assert version_at(table, 150) == 4
    with pytest.raises(LiveError, match="the log's first commit is 4"):
        version_at(table, 99)


@pytest.mark.parametrize("content", [b"", b'{"commitInfo":{"timestamp":5}}\n', b'{"commitInfo":rubbish}\n'])
def test_a_commit_without_its_in_commit_timestamp_is_refused(tmp_path: Path, content: bytes) -> None:
    table = write_log(
        tmp_path, [timed_commit(100, protocol(), with_in_commit_timestamps(0)), timed_commit(200)]
    )
    write_commit(table, 1, content)
    with pytest.raises(DamagedFile, match=f"{1:020}.json"):
        version_at(table, 150)


def test_a_store_without_file_times_is_an_error(tmp_path: Path) -> None:
    class Timeless(PathStore):
        def list(self, folder: str = "", *, first: str = "") -> Iterator[FileEntry]:
            return (FileEntry(entry.name, entry.size) for entry in super().list(folder, first=first))

    write_log_with_file_times(tmp_path, [1000])
    with pytest.raises(LiveError, match=f"the time of _delta_log/{0:020}.json is unknown"):
        read_table(Timeless(tmp_path), at=5)
