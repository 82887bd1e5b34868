"""The live data files, from commits and from checkpoints of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import deltalake
import pyarrow as pa
import pytest
from deltalake.exceptions import DeltaError
from pyarrow import parquet

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import LONG, Field
from schemalint.tables.delta_log.datafiles import is_absolute, live_files
from schemalint.tables.storage import open_store, read_table
from support.logs import add, metadata, protocol, remove, write_checkpoint, write_file, write_lines, write_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from support.logs import Action

TABLE = [protocol(), metadata(Field("id", LONG))]
LOGS = Path(__file__).with_name("logs")


def live_paths(table: Path, version: int) -> list[str]:
    return sorted(live_files(open_store(str(table)), version))


def adds(*names: str) -> Sequence[Action]:
    return [add(name) for name in names]


def test_added_and_not_removed_files_are_live(tmp_path: Path) -> None:
    write_log(tmp_path, [TABLE, adds("a", "b"), [remove("a"), add("c")], [remove("c")], adds("a")])
    assert live_paths(tmp_path, 4) == ["a", "b"]
    assert live_paths(tmp_path, 3) == ["b"]
    assert live_paths(tmp_path, 0) == []


def test_a_file_that_gets_a_deletion_vector_stays_live_and_is_listed_once(tmp_path: Path) -> None:
    write_log(tmp_path, [TABLE, adds("a"), [remove("a"), add("a")], [add("a"), remove("a")]])
    assert live_paths(tmp_path, 3) == ["a"]


def test_a_file_added_again_for_its_statistics_is_listed_once(tmp_path: Path) -> None:
    write_log(tmp_path, [TABLE, adds("a"), adds("a")])
    assert live_paths(tmp_path, 2) == ["a"]


def test_encoded_paths_are_decoded_and_compared(tmp_path: Path) -> None:
    write_log(tmp_path, [TABLE, adds("p=a%20b%2525/x", "s3://b/o%20ne", "%C3%BC"), [remove("ü")]])
    assert live_paths(tmp_path, 1) == ["p=a b%25/x", "s3://b/o ne", "ü"]
    assert live_paths(tmp_path, 2) == ["p=a b%25/x", "s3://b/o ne"]
    assert [is_absolute(path) for path in ("p=a b/x", "s3://b/o", "file:/t/x", "/t/x", "p=s3:/x")] == [
        False,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "name", ["checkpoint.parquet", f"checkpoint.{'0' * 8}-0000-0000-0000-{'0' * 12}.parquet"]
)
def test_a_checkpoint_replaces_the_commits_before_it(tmp_path: Path, name: str) -> None:
    write_log(tmp_path, [[remove("part-1.parquet")], adds("late")], first=6)
    write_checkpoint(tmp_path, 5, TABLE, data_files=3, name=name)
    assert sorted(set(live_paths(tmp_path, 7))) == ["late", "part-0.parquet", "part-2.parquet"]


def test_all_parts_of_a_checkpoint_are_read(tmp_path: Path) -> None:
    write_log(tmp_path, [[remove("part-0.parquet")]], first=6)
    for part, count in ((1, 2), (2, 4)):
        write_checkpoint(tmp_path, 5, TABLE, data_files=count, name=f"checkpoint.{part:010}.{2:010}.parquet")
    assert sorted(set(live_paths(tmp_path, 6))) == ["part-1.parquet", "part-2.parquet", "part-3.parquet"]


def test_sidecars_are_opened_by_file_name(tmp_path: Path) -> None:
    for name in ("one", "a two"):
        rows = [{"add": {"path": f"in%20{number}-{name}"}} for number in range(2)] + [{"add": None}]
        path = write_file(tmp_path, f"_sidecars/{name}.parquet")
        parquet.write_table(pa.Table.from_pylist(rows), path)
    sidecars = [
        {"sidecar": {"path": path}}
        for path in ("one.parquet", "s3://b/t/_delta_log/_sidecars/a%20two.parquet")
    ]
    name = f"{5:020}.checkpoint.00000000-0000-0000-0000-000000000000.json"
    write_lines(tmp_path, name, [{"checkpointMetadata": {"version": 5}}, *TABLE, *sidecars, add("beside")])
    write_log(tmp_path, [[remove("in 0-one")]], first=6)
    assert live_paths(tmp_path, 6) == ["beside", "in 0-a two", "in 1-a two", "in 1-one"]


def test_a_log_compaction_replaces_missing_commits(tmp_path: Path) -> None:
    write_log(tmp_path, [TABLE, adds("a")])
    write_lines(tmp_path, f"{2:020}.{3:020}.compacted.json", [remove("a"), add("b")])
    write_log(tmp_path, [adds("c")], first=4)
    assert live_paths(tmp_path, 4) == ["b", "c"]


def test_a_missing_commit_is_an_error(tmp_path: Path) -> None:
    write_log(tmp_path, [TABLE])
    write_log(tmp_path, [adds("c")], first=2)
    with pytest.raises(LiveError, match="the commit of version 1 is missing"):
        live_paths(tmp_path, 2)


@pytest.mark.parametrize("line", ['{"add": {"size": 1}}', '{"add": {"path": 1}}', '{"add"'])
def test_the_error_for_a_damaged_action_names_file_and_line(tmp_path: Path, line: str) -> None:
    write_log(tmp_path, [TABLE])
    write_file(tmp_path, f"{1:020}.json", f'{{"commitInfo": {{}}}}\n{line}\n'.encode())
    with pytest.raises(LiveError, match=r"00000000000000000001\.json, line 2"):
        live_paths(tmp_path, 1)


def test_a_damaged_checkpoint_is_an_error(tmp_path: Path) -> None:
    write_log(tmp_path, [adds("a")], first=6)
    write_file(tmp_path, f"{5:020}.checkpoint.parquet", b"PAR1")
    with pytest.raises(LiveError, match="the checkpoint cannot be read"):
        live_paths(tmp_path, 6)


@pytest.mark.parametrize(
    "log", sorted(path for path in LOGS.iterdir() if path.is_dir()), ids=lambda path: path.name
)
def test_delta_rs_finds_the_same_files(log: Path) -> None:
    version = read_table(str(log), history=False).version
    try:
        table = deltalake.DeltaTable(log)
    except DeltaError as error:  # it opens fewer tables, for many reasons
        pytest.skip(f"delta-rs does not open it: {type(error).__name__}")
    theirs = [unquote(str(path)) for path in table.get_add_actions(flatten=True).column("path").to_pylist()]
    assert live_paths(log, version) == sorted(theirs)
