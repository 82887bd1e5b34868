"""Who wrote before the newest checkpoint: the commits are there until the log is cleaned up."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from schemalint.tables.delta_log import log_limits
from schemalint.tables.storage import read_table
from schemalint.tables.storage.kinds.local import PathStore
from support.long_logs import LongLog, write_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from schemalint.delta.table import LiveTable

DAY = 24 * 60 * 60 * 1000
FIRST = 1_700_000_000_000
COMMITS = 45
NEWEST = FIRST + (COMMITS - 1) * DAY
CHECKPOINT = 40


def write_daily(folder: Path, engines: Mapping[int, str]) -> LiveTable:
    """Write a log with a commit each day and its newest checkpoint at 40, and read its newest state."""
    files = LongLog(COMMITS).files(folder / "parts")
    for version in range(COMMITS):
        name = f"{version:020}.json"
        info, *actions = [json.loads(line) for line in files[name].splitlines()]
        info["commitInfo"] |= {
            "timestamp": FIRST + version * DAY,
            "engineInfo": engines.get(version, "daily"),
        }
        files[name] = b"".join(json.dumps(line).encode() + b"\n" for line in (info, *actions))
    table = write_files(folder / "t", files)
    for version in range(COMMITS):
        at = FIRST / 1000 + version * DAY / 1000
        os.utime(table / f"_delta_log/{version:020}.json", (at, at))
    return read_table(str(table), history=False)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which commits of local logs are opened."""
    names: list[str] = []
    open_file = PathStore.open

    def noted(self: PathStore, name: str) -> object:
        names.append(name)
        return open_file(self, name)

    monkeypatch.setattr(PathStore, "open", noted)
    return names


def test_writers_before_the_newest_checkpoint_are_read_when_something_asks(
    tmp_path: Path, opened: list[str]
) -> None:
    table = write_daily(tmp_path, {5: "too old", 20: "nightly", CHECKPOINT + 1: "since the checkpoint"})
    assert table.writers == {"since the checkpoint": FIRST + 41 * DAY, "daily": NEWEST}
    opened.clear()
    found = table.writers_since(NEWEST - 30 * DAY)
    assert found == {**table.writers, "nightly": FIRST + 20 * DAY}
    versions = sorted(int(name.removesuffix(".json")) for name in opened)
    assert versions == [*range(14, CHECKPOINT + 1)], "not those of 30 days"


def test_a_log_without_a_pointer_to_its_checkpoint_has_the_same_writers(tmp_path: Path) -> None:
    table = write_daily(tmp_path, {20: "nightly"})
    (tmp_path / "t/_delta_log/_last_checkpoint").unlink()
    without = read_table(str(tmp_path / "t"), history=False)
    since = NEWEST - 30 * DAY
    assert without.writers_since(since) == table.writers_since(since) != without.writers


def test_no_more_commits_are_read_than_the_limit(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_limits, "MAX_OLDER_COMMITS", 4)
    table = write_daily(tmp_path, {20: "nightly", 38: "hourly"})
    opened.clear()
    assert table.writers_since(NEWEST - 30 * DAY).keys() == {"daily", "hourly"}
    assert len(opened) == 4


def test_a_commit_that_is_gone_or_damaged_leaves_the_others(tmp_path: Path) -> None:
    table = write_daily(tmp_path, {36: "hourly", 38: "damaged"})
    log = tmp_path / "t/_delta_log"
    (log / f"{38:020}.json").write_text("{")
    (log / f"{37:020}.json").unlink()
    assert table.writers_since(NEWEST - 30 * DAY).keys() == {"daily", "hourly"}


def test_a_table_whose_whole_history_was_read_asks_for_nothing(tmp_path: Path, opened: list[str]) -> None:
    write_daily(tmp_path, {20: "nightly"})
    whole = read_table(str(tmp_path / "t"))
    opened.clear()
    assert whole.writers_since(0) == whole.writers
    assert whole.writers.keys() == {"daily", "nightly"}
    assert not opened
