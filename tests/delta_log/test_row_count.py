"""The rows of a version by its log: from commits and checkpoints, with deletion vectors, or unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from schemalint.tables.delta_log.store import DamagedFile
from schemalint.tables.delta_log.told_values import told_bytes, told_rows
from schemalint.tables.storage import open_store


def rows(table: Path, version: int) -> int | None:
    told = told_rows(open_store(str(table)), version)
    return None if told is None else told.rows


def size(table: Path, version: int) -> int | None:
    return told_bytes(open_store(str(table)), version)


def append(table: Path, number: int) -> None:
    write_deltalake(str(table), pa.table({"id": list(range(number))}), mode="append")


def commit(table: Path, version: int, *actions: dict[str, object]) -> None:
    file = table / "_delta_log" / f"{version:020}.json"
    file.write_text("".join(f"{json.dumps(action)}\n" for action in actions))


def test_rows_of_each_version_are_those_that_delta_rs_counts(tmp_path: Path) -> None:
    append(tmp_path, 3)
    append(tmp_path, 4)
    DeltaTable(str(tmp_path)).delete("id = 0")
    DeltaTable(str(tmp_path)).create_checkpoint()
    append(tmp_path, 5)
    counted = [rows(tmp_path, version) for version in range(4)]
    assert counted == [
        DeltaTable(str(tmp_path), version=number).to_pyarrow_table().num_rows for number in range(4)
    ]
    assert counted == [3, 7, 5, 10]


def test_bytes_of_each_version_are_those_of_its_files(tmp_path: Path) -> None:
    append(tmp_path, 3)
    append(tmp_path, 4)
    DeltaTable(str(tmp_path)).delete("id = 0")
    DeltaTable(str(tmp_path)).create_checkpoint()
    append(tmp_path, 5)
    for version in range(4):
        files = DeltaTable(str(tmp_path), version=version).file_uris()
        assert size(tmp_path, version) == sum(Path(file).stat().st_size for file in files)


@pytest.mark.parametrize("told", [-1, True, "9", None])
def test_a_file_without_a_size_leaves_the_bytes_unknown(tmp_path: Path, told: object) -> None:
    append(tmp_path, 3)
    commit(tmp_path, 1, {"add": {"path": "x.parquet", "size": told}})
    assert size(tmp_path, 1) is None


def test_a_damaged_log_leaves_the_bytes_unknown(tmp_path: Path) -> None:
    append(tmp_path, 3)
    append(tmp_path, 3)
    (tmp_path / "_delta_log" / f"{0:020}.json").unlink()
    assert size(tmp_path, 1) is None


def test_a_deletion_vector_takes_its_rows_from_its_file(tmp_path: Path) -> None:
    append(tmp_path, 3)
    added = next(
        action["add"]
        for line in (tmp_path / "_delta_log" / f"{0:020}.json").read_text().splitlines()
        if "add" in (action := json.loads(line))
    )
    vector = {"storageType": "i", "pathOrInlineDv": "x", "sizeInBytes": 1, "cardinality": 2}
    commit(
        tmp_path,
        1,
        {"remove": {"path": added["path"], "dataChange": True}},
        {"add": {**added, "deletionVector": vector}},
    )
    assert rows(tmp_path, 1) == 1
    commit(tmp_path, 2, {"remove": {"path": added["path"], "dataChange": True, "deletionVector": vector}})
    assert rows(tmp_path, 2) == 0


@pytest.mark.parametrize("stats", [None, "", "{}", '{"numRecords": "many"}', "[1]"])
def test_a_file_without_statistics_makes_the_number_unknown(tmp_path: Path, stats: str | None) -> None:
    append(tmp_path, 3)
    commit(tmp_path, 1, {"add": {"path": "other.parquet", "size": 1, "dataChange": True, "stats": stats}})
    assert rows(tmp_path, 1) is None


def test_a_damaged_commit_is_an_error_that_names_it(tmp_path: Path) -> None:
    append(tmp_path, 3)
    commit(tmp_path, 1, {"add": {"size": 1}})
    with pytest.raises(DamagedFile, match="00000000000000000001"):
        rows(tmp_path, 1)
