"""Transaction identifiers in commits, checkpoints, checksums and log compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field
from schemalint.tables.delta_log import log_limits
from schemalint.tables.storage import read_table
from support.logs import (
    add,
    checkpoint_metadata,
    commit_info,
    metadata,
    protocol,
    transaction,
    write_checkpoint,
    write_checksum,
    write_lines,
    write_log,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STATE = (protocol(), metadata(Field("id", LONG)))
CREATED = [commit_info("CREATE TABLE"), *STATE]
WRITTEN = [commit_info(), add()]
OURS, OTHERS = "schemalint:1:ab:-", "6c5f1a9e-stream"
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"

with_and_without_history = pytest.mark.parametrize("history", [True, False])


def transactions(table: Path, *, history: bool = True) -> Mapping[str, int]:
    return read_table(str(table), history=history).transactions


@with_and_without_history
def test_the_newest_version_of_each_identifier_counts(tmp_path: Path, *, history: bool) -> None:
    again = [transaction(OURS, 3), commit_info(), transaction("schemalint:1:cd:-", 2), transaction(OTHERS, 9)]
    first = [commit_info(), transaction(OURS, 1)]
    table = write_log(tmp_path, [CREATED, first, again, WRITTEN])
    assert transactions(table, history=history) == {OURS: 3, "schemalint:1:cd:-": 2}
    assert [entry.version for entry in read_table(str(table)).history.entries] == [0]


@with_and_without_history
def test_commits_before_the_newest_metadata_count(tmp_path: Path, *, history: bool) -> None:
    table = write_log(tmp_path, [CREATED, [commit_info(), transaction(OURS, 1)], [commit_info(), *STATE]])
    assert transactions(table, history=history) == {OURS: 1}


@pytest.mark.parametrize("kind", ["classic", "multi_part", "v2_parquet", "v2_json"])
@with_and_without_history
def test_a_checkpoint_and_its_tail_suffice(tmp_path: Path, kind: str, *, history: bool) -> None:
    """A checkpoint lists each identifier once, those of streams among them, in any of its row groups."""
    actions = [
        *STATE,
        *(transaction(f"stream-{number}", 1) for number in range(50)),
        transaction(OURS, 1),
        transaction("schemalint:1:cd:-", 2),
    ]
    match kind:
        case "classic":
            write_checkpoint(tmp_path, 4, actions, row_group_size=10)
        case "multi_part":
            for number, part in enumerate((actions[:20], actions[20:]), 1):
                write_checkpoint(tmp_path, 4, part, name=f"checkpoint.{number:010}.{2:010}.parquet")
        case "v2_parquet":
            rows = [*checkpoint_metadata(4), *actions]
            write_checkpoint(tmp_path, 4, rows, data_files=0, name=f"checkpoint.{UUID}.parquet")
        case _:
            write_lines(
                tmp_path, f"{4:020}.checkpoint.{UUID}.json", [*checkpoint_metadata(4), *actions, add()]
            )
    write_log(tmp_path, [WRITTEN, [commit_info(), transaction(OURS, 7)], WRITTEN], first=4)
    assert transactions(tmp_path, history=history) == {OURS: 7, "schemalint:1:cd:-": 2}


def test_a_log_compaction_and_a_checksum_replace_missing_commits(tmp_path: Path) -> None:
    table = write_log(tmp_path, [CREATED])
    write_log(table, [WRITTEN, [commit_info(), *STATE]], first=3)
    assert transactions(table) == {}, "the older commits are unknown"
    write_checksum(table, 3, *STATE)
    assert transactions(table) == {}, "a checksum without setTransactions says nothing"
    write_checksum(table, 3, *STATE, setTransactions=[transaction(OURS, 4)["txn"], {"appId": OURS}, "x"])
    assert transactions(table) == {OURS: 4}
    write_lines(table, f"{1:020}.{2:020}.compacted.json", [transaction(OURS, 5), add()])
    assert transactions(table) == {OURS: 5}


@pytest.mark.parametrize("listed", [[], [{"appId": "schemalint:1:ab:-", "version": 9}]])
def test_a_checksum_that_contradicts_the_log_does_not_count(tmp_path: Path, listed: list[object]) -> None:
    table = write_log(tmp_path, [CREATED, [commit_info(), transaction(OURS, 1)]])
    write_checksum(table, 1, *STATE, setTransactions=listed)
    assert transactions(table) == {OURS: 1}
    assert read_table(str(table)).defects == ()


def test_malformed_identifiers_are_ignored(tmp_path: Path) -> None:
    bodies: list[object] = [
        None,
        [],
        {},
        {"appId": OURS},
        {"version": 1},
        {"appId": 1, "version": 1},
        {"appId": OURS, "version": "1"},
        {"appId": OURS, "version": True},
    ]
    table = write_log(tmp_path, [CREATED, *([{"txn": body}] for body in bodies)])
    assert transactions(table) == {}


def test_of_many_identifiers_those_with_the_highest_versions_are_kept(tmp_path: Path) -> None:
    most = log_limits.MAX_TRANSACTIONS
    many = [transaction(f"schemalint:1:{number:x}:-", number) for number in range(most + 10)]
    in_one, in_many = tmp_path / "one", tmp_path / "many"
    write_log(in_one, [CREATED, [commit_info(), *many]])
    write_log(in_many, [CREATED, *([commit_info(), action] for action in many)])
    for table in (in_one, in_many):
        assert sorted(transactions(table).values()) == list(range(10, most + 10))
