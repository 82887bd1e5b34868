"""Every kind of checkpoint, and what replaces a damaged one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.table import LogDefectKind
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.checkpoint import _not_null
from schemalint.tables.delta_log.store import DamagedFile
from schemalint.tables.storage import read_table
from support.logs import (
    add,
    checkpoint_metadata,
    clustering,
    commit_info,
    metadata,
    protocol,
    write_checkpoint,
    write_checksum,
    write_file,
    write_lines,
    write_log,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from support.logs import Action

ID = Field("id", LONG)
LATER = Field("later", LONG)
STATE = (
    protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint", "clustering", "domainMetadata"]),
    metadata(ID, properties={"team": "a"}, partitioned_by=["id"], description="d"),
    clustering(["id"]),
)
WRITTEN = [commit_info("WRITE"), add()]
ALTERED = [commit_info("ADD COLUMNS"), metadata(ID, LATER)]
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
SIDECAR = "_sidecars/x.parquet"
OTHER_UUID = "11111111-7026-4e79-81be-64bd76c43a11"


def classic(table: Path, version: int, actions: Sequence[Action] = STATE) -> str:
    return write_checkpoint(table, version, actions).name


def multi_part(table: Path, version: int, actions: Sequence[Action] = STATE) -> str:
    parts = [actions[:1], actions[1:2], actions[2:]]
    names = [f"checkpoint.{part:010}.{len(parts):010}.parquet" for part in (1, 2, 3)]
    paths = [
        write_checkpoint(table, version, part, name=name) for part, name in zip(parts, names, strict=True)
    ]
    return paths[0].name


def v2_json(table: Path, version: int, actions: Sequence[Action] = STATE) -> str:
    write_file(table, SIDECAR)
    lines = [*checkpoint_metadata(version), *actions, add()]
    return write_lines(table, f"{version:020}.checkpoint.{UUID}.json", lines).name


def v2_parquet(table: Path, version: int, actions: Sequence[Action] = STATE) -> str:
    write_file(table, SIDECAR)
    rows = [*checkpoint_metadata(version), *actions]
    return write_checkpoint(table, version, rows, data_files=0, name=f"checkpoint.{UUID}.parquet").name


def v2_classic(table: Path, version: int, actions: Sequence[Action] = STATE) -> str:
    write_file(table, SIDECAR)
    return write_checkpoint(table, version, [*checkpoint_metadata(version), *actions]).name


KINDS = (classic, multi_part, v2_json, v2_parquet, v2_classic)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
with_and_without_history = pytest.mark.parametrize("history", [True, False])


@every_kind
@with_and_without_history
def test_a_checkpoint_without_earlier_commits_gives_the_table(
    tmp_path: Path, kind: Callable[..., str], *, history: bool
) -> None:
    kind(tmp_path / "checkpoint", 4)
    write_log(tmp_path / "checkpoint", [WRITTEN], first=4)
    write_log(tmp_path / "commits", [[commit_info(), *STATE]])
    live = read_table(str(tmp_path / "checkpoint"), history=history)
    expected = read_table(str(tmp_path / "commits"))
    assert (live.metadata, live.protocol) == (expected.metadata, expected.protocol)
    assert live.state.clustered_by == (("id",),)
    assert (live.version, live.defects, live.warnings) == (4, (), ())


@pytest.mark.parametrize("kind", [v2_json, v2_parquet, v2_classic])
@with_and_without_history
def test_a_missing_sidecar_of_the_newest_checkpoint_is_a_defect_although_the_commits_suffice(
    tmp_path: Path, kind: Callable[..., str], *, history: bool
) -> None:
    write_log(tmp_path, [[commit_info(), *STATE], WRITTEN, ALTERED])
    name = kind(tmp_path, 1)
    assert read_table(str(tmp_path), history=history).defects == ()
    (tmp_path / "_delta_log" / SIDECAR).unlink()
    (defect,) = read_table(str(tmp_path), history=history).defects
    assert (defect.kind, defect.file) == (LogDefectKind.SIDECAR_MISSING, SIDECAR)
    assert name in defect.message
    assert read_table(str(tmp_path), version=0).defects == (), "version 0 does not need the checkpoint"
    (tmp_path / "_delta_log/_sidecars").rmdir()
    assert read_table(str(tmp_path), history=history).defects == (defect,)


def test_an_incomplete_checkpoint_is_named_where_its_commits_are_missing(tmp_path: Path) -> None:
    write_log(tmp_path, [[commit_info(), *STATE], WRITTEN, WRITTEN])
    first_part = tmp_path / "_delta_log" / multi_part(tmp_path, 1)
    write_lines(tmp_path, "_last_checkpoint", [{"version": 1, "size": 3, "parts": 3}])
    write_checksum(tmp_path, 2, *STATE)
    first_part.unlink()
    assert read_table(str(tmp_path)).defects == (), "the commits replace it"
    (tmp_path / "_delta_log" / f"{0:020}.json").unlink()
    (defect,) = read_table(str(tmp_path)).defects
    assert defect.delta_error == "DELTA_MISSING_PART_FILES"
    fault = "the checkpoint of version 1, which _last_checkpoint names, lacks 1 of its 3 parts"
    assert fault in defect.message
    (tmp_path / "_delta_log" / f"{2:020}.crc").unlink()
    with pytest.raises(LiveError, match=f"{fault} .DELTA_MISSING_PART_FILES."):
        read_table(str(tmp_path))


@every_kind
def test_commits_after_a_checkpoint_are_applied(tmp_path: Path, kind: Callable[..., str]) -> None:
    kind(tmp_path, 4)
    live = read_table(str(write_log(tmp_path, [WRITTEN, ALTERED], first=5)))
    assert live.state.columns == Struct((ID, LATER))
    assert (live.version, live.history.known_from) == (6, 4)
    assert [entry.version for entry in live.history.entries] == [4, 6]


@every_kind
def test_the_newest_checkpoint_is_compared_with_the_commits(tmp_path: Path, kind: Callable[..., str]) -> None:
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN, WRITTEN])
    kind(table, 0, [STATE[0], metadata(ID, LATER), clustering()])
    kind(table, 1)
    assert read_table(str(table)).defects == ()
    name = kind(table, 1, [STATE[0], metadata(ID, LATER), clustering()])
    live = read_table(str(table))
    (defect,) = live.defects
    assert (defect.kind, defect.file) == (LogDefectKind.CHECKPOINT_DIFFERS, name)
    parts = "clustering, schemaString, description, partitionColumns, configuration"
    assert defect.message == f"the checkpoint contradicts the commits up to it: {parts}"
    assert read_table(str(table), history=False).defects == ()
    # Spark trusts the checkpoint (measured on Delta 4.4.0), so schemalint does too.
    assert live.state.columns == Struct((ID, LATER))
    assert read_table(str(table), history=False).metadata == live.metadata


@every_kind
@with_and_without_history
def test_a_damaged_checkpoint_is_replaced_by_the_commits(
    tmp_path: Path, kind: Callable[..., str], *, history: bool
) -> None:
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN, WRITTEN])
    name = kind(table, 1)
    write_file(table, name, b"rubbish")
    live = read_table(str(table), history=history)
    (defect,) = live.defects
    assert (defect.kind, defect.file, defect.delta_error) == (LogDefectKind.FILE_UNREADABLE, name, None)
    assert (live.version, live.state.columns) == (2, Struct((ID,)))


@every_kind
@with_and_without_history
def test_a_damaged_checkpoint_is_replaced_by_an_older_one(
    tmp_path: Path, kind: Callable[..., str], *, history: bool
) -> None:
    classic(tmp_path, 2)
    table = write_log(tmp_path, [WRITTEN, ALTERED, WRITTEN], first=3)
    write_file(table, kind(table, 4), b"rubbish")
    live = read_table(str(table), history=history)
    assert [defect.kind for defect in live.defects] == [LogDefectKind.FILE_UNREADABLE]
    assert live.state.columns == Struct((ID, LATER))
    assert live.history.known_from == (2 if history else 5)


@every_kind
@with_and_without_history
def test_a_damaged_checkpoint_that_nothing_replaces_is_an_error(
    tmp_path: Path, kind: Callable[..., str], *, history: bool
) -> None:
    table = write_log(tmp_path, [WRITTEN, WRITTEN], first=4)
    name = kind(table, 4)
    write_file(table, name, b"rubbish")
    with pytest.raises(DamagedFile, match=name):
        read_table(str(table), history=history)
    write_checksum(table, 5, *STATE)
    assert read_table(str(table), history=history).state.columns == Struct((ID,))


def test_a_checkpoint_without_metadata_is_a_defect_that_stops_only_spark(tmp_path: Path) -> None:
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN])
    classic(table, 1, [protocol()])
    (defect,) = read_table(str(table)).defects
    assert defect.delta_error == "DELTA_STATE_RECOVER_ERROR"


def test_one_readable_checkpoint_of_a_version_is_enough(tmp_path: Path) -> None:
    for name in (multi_part(tmp_path, 3), v2_json(tmp_path, 3)):
        write_file(tmp_path, name, b"rubbish")
    write_file(tmp_path, f"{3:020}.checkpoint.{OTHER_UUID}.json", b"")
    classic(tmp_path, 3)
    live = read_table(str(write_log(tmp_path, [WRITTEN], first=3)))
    assert live.state.columns == Struct((ID,))
    assert len(live.defects) == 3


def test_an_incomplete_multi_part_checkpoint_is_ignored(tmp_path: Path) -> None:
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN])
    name = multi_part(table, 1)
    table.joinpath("_delta_log", name).unlink()
    assert read_table(str(table)).defects == ()


def test_the_error_for_a_damaged_json_checkpoint_names_the_line(tmp_path: Path) -> None:
    name = v2_json(tmp_path, 3, [STATE[0], metadata(schemaString="{")])
    with pytest.raises(DamagedFile, match=rf"{name}, line 4: schemaString cannot be read"):
        read_table(str(tmp_path))


def test_a_large_json_checkpoint_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_limits, "BLOCK", 1000)
    files = [add(f"part-{number}.parquet") for number in range(200)]
    name = v2_json(tmp_path, 3, [*files, *STATE, *files])
    assert tmp_path.joinpath("_delta_log", name).stat().st_size > 50_000
    assert read_table(str(tmp_path)).state.columns == Struct((ID,))


CHECKS = {
    f"check.{number}": f"amount >= {number} AND currency IN ('EUR', 'USD', 'CHF', 'GBP')" * 30
    for number in range(12)
}
MANY = {f"property.{number}": f"{number:0200}" for number in range(3_000)}
WRITERS: tuple[dict[str, Any], ...] = (
    {},
    {"data_page_version": "2.0", "compression": "zstd"},
    {"use_dictionary": False, "compression": "gzip"},
)


@pytest.mark.parametrize("properties", [CHECKS, MANY], ids=["checks", "many"])
@pytest.mark.parametrize("options", WRITERS, ids=["v1", "v2", "plain"])
def test_properties_among_many_files_are_read(
    tmp_path: Path, properties: dict[str, str], options: dict[str, Any]
) -> None:
    actions = [STATE[0], metadata(ID, properties=properties)]
    file = write_checkpoint(tmp_path, 3, actions, data_files=0)
    adds = [{"path": f"part-{number:010}.parquet", "size": 1} for number in range(150_000)]
    files = pa.table({"add": adds})
    rows = pa.concat_tables([files, parquet.read_table(file), files], promote_options="default")
    parquet.write_table(rows, file, row_group_size=len(rows), **options)
    live = read_table(str(tmp_path))
    assert live.state.properties == properties


def test_a_checkpoint_beyond_the_limits_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = classic(tmp_path, 3)
    monkeypatch.setattr(log_limits, "MAX_PAGES", 10)
    with pytest.raises(DamagedFile, match=f"{name}: limit of schemalint exceeded: its pages take") as caught:
        read_table(str(tmp_path))
    assert "may be healthy" in caught.value.help


def test_a_commit_beyond_the_limits_is_a_defect_without_a_delta_error(tmp_path: Path) -> None:
    long = metadata(ID, description="x" * log_limits.MAX_ACTION)
    table = write_log(tmp_path, [[commit_info(), *STATE], [commit_info(), long]])
    write_checksum(table, 1, *STATE)
    (defect,) = read_table(str(table), history=False).defects
    assert defect.message == "limit of schemalint exceeded: the action is larger than 16 MiB"
    assert defect.delta_error is None


@pytest.mark.parametrize("nulls", ["", "0", "01", "1111111", "00000001", "000000001000000001", "1" * 9 + "0"])
@pytest.mark.parametrize("first", [0, 3, 9])
def test_rows_that_are_not_null_are_found(nulls: str, first: int) -> None:
    rows = [None if bit == "0" else {"a": number} for number, bit in enumerate(f"{nulls}1{nulls}" * 3)]
    column = pa.array(rows, pa.struct([("a", pa.int32())])).slice(first)
    assert [rows[first + row] for row in _not_null(column)] == [row for row in rows[first:] if row]


def test_a_checkpoint_needs_little_of_pyarrow(tmp_path: Path) -> None:
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN])
    classic(table, 1, [*STATE, add()])
    table.joinpath("_delta_log", f"{0:020}.json").unlink()
    code = (
        "import sys; from schemalint.tables.storage import read_table; read_table(sys.argv[1]); "
        "print(*[name for name in ('pyarrow.parquet', 'pyarrow.compute') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code, table], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == ["pyarrow.parquet"]


def test_without_pyarrow_commits_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN])
    write_file(table, f"{1:020}.checkpoint.parquet", b"never opened")
    assert read_table(str(table)).defects == ()
    table.joinpath("_delta_log", f"{0:020}.json").unlink()
    with pytest.raises(LiveError, match="pyarrow is not installed"):
        read_table(str(table))


@pytest.mark.parametrize(
    ("pointer", "warning"),
    [
        ({"version": 1, "size": 3}, ""),
        ({"version": 0}, "points to a checkpoint of version 0, which does not exist"),
        ({"version": 99}, "points to a checkpoint of version 99, which does not exist"),
        ({"version": "1"}, "has no version"),
        ([1], "cannot be read: it is not a JSON object"),
        (None, "cannot be read: it is not a JSON object"),
    ],
)
def test_a_wrong_pointer_to_the_last_checkpoint_is_only_a_warning(
    tmp_path: Path, pointer: object, warning: str
) -> None:
    table = write_log(tmp_path, [[commit_info(), *STATE], WRITTEN])
    classic(table, 1)
    write_file(table, "_last_checkpoint", json.dumps(pointer).encode())
    live = read_table(str(table))
    assert live.defects == ()
    assert [warning in text for text in live.warnings] == ([True] if warning else [])
    assert read_table(str(table), history=False).warnings == ()
