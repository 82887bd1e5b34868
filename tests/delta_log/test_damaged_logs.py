"""Truncated, bit-flipped and random logs are read or refused with a `LiveError`, never another exception.

``damaged/`` keeps some of them with a golden text of the result; ``SCHEMALINT_UPDATE_GOLDEN=1`` rewrites it.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.delta.datatype import LONG, STRING, Array, Field
from schemalint.delta.table import History, LiveTable
from schemalint.tables.delta_log.datafiles import live_files, sidecars
from schemalint.tables.delta_log.footer import FooterError, read_footer
from schemalint.tables.delta_log.log_listing import list_log
from schemalint.tables.delta_log.table_reader import read_table
from schemalint.tables.delta_log.told_values import told_rows
from schemalint.tables.storage.kinds.local import open_store
from support.golden import assert_golden
from support.logs import (
    add,
    checkpoint_metadata,
    clustering,
    commit_info,
    metadata,
    protocol,
    remove,
    write_checkpoint,
    write_checksum,
    write_file,
    write_lines,
    write_log,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = Path(__file__).parent / "damaged"
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
STATE = [
    protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint", "clustering", "domainMetadata"]),
    metadata(
        Field("id", LONG), Field("list", Array(STRING), comment="some words"), properties={"team": "sales"}
    ),
    clustering(["id"]),
]
FILES = [commit_info("WRITE", userName="ada"), add(), add(), remove()]

fuzz_settings = settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def write_whole_log(table: Path) -> list[Path]:
    """Write a log with a file of every kind, and return its files; most of them agree."""
    shutil.rmtree(table, ignore_errors=True)
    write_log(table, [[commit_info("CREATE TABLE"), *STATE], FILES, FILES, FILES, FILES, FILES, FILES])
    write_checkpoint(table, 1, STATE)
    for part in (1, 2):
        name = f"checkpoint.{part:010}.{2:010}.parquet"
        write_checkpoint(table, 2, STATE[part - 1 : 2 * part - 1], name=name)
    write_lines(table, f"{3:020}.checkpoint.{UUID}.json", [*checkpoint_metadata(3), *STATE])
    write_checkpoint(table, 4, STATE, name=f"checkpoint.{UUID}.parquet")
    write_lines(table, f"{5:020}.{6:020}.compacted.json", FILES)
    write_checkpoint(table, 0, [add("in-a-sidecar.parquet")], name="parquet")
    write_file(table, "_sidecars/x.parquet", table.joinpath("_delta_log", f"{0:020}.parquet").read_bytes())
    table.joinpath("_delta_log", f"{0:020}.parquet").unlink()
    write_checksum(table, 6, *STATE)
    write_file(table, "_last_checkpoint", json.dumps({"version": 4, "size": 9}).encode())
    return sorted(path for path in table.joinpath("_delta_log").rglob("*") if path.is_file())


def description_of(table: Path) -> str:
    """Return everything that schemalint reports about the table, as text.

    Whatever is damaged, the newest files tell what all files tell of the newest version.
    """
    lines: list[str] = []
    found: list[LiveTable | str] = []
    for history in (True, False):
        lines.append(f"# {'with' if history else 'without'} history")
        try:
            live = read_table(open_store(str(table)), history=history)
        except LiveError as error:
            lines.append(f"error: {error.message.replace(str(table), '…')}")
            found.append(error.message)
            continue
        found.append(without_its_history(live) if history else replace(live, history=History(), warnings=()))
        columns = ", ".join(field.name for field in live.state.columns.fields)
        lines.append(f"version {live.version}, history from {live.history.known_from}: {columns}")
        lines += [f"defect: {defect.file}:{defect.line or ''}: {defect.message}" for defect in live.defects]
        lines += [f"warning: {text}" for text in live.warnings]
    assert found[0] == found[1]
    # The messages of Python and pyarrow differ between versions.
    return re.sub(r"(cannot be read|is not JSON): (?!the ).*", r"\1", "\n".join(lines)) + "\n"


def without_its_history(live: LiveTable) -> LiveTable:
    """Return what a table's newest files tell."""
    defects = tuple(defect for defect in live.defects if not defect.only_history)
    return replace(live, history=History(), defects=defects, warnings=(), older=None)


def files_of(table: Path, version: int) -> list[str]:
    """Return the data files of a version, or none if the log cannot be read."""
    try:
        return list(live_files(open_store(str(table)), version))
    except LiveError:
        return []


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) or 1)]


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 5, 50)) if data else 0):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def insert_bytes(data: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(data) or 1)
    return data[:position] + rng.randbytes(rng.choice((1, 8, 200))) + data[position:]


def repeat_bytes(data: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(data) or 1)
    return data[:position] + data[position // 2 :]


def empty(_data: bytes, _rng: random.Random) -> bytes:
    return b""


def replace_token(data: bytes, rng: random.Random) -> bytes:
    """Replace a token of JSON by another kind of value."""
    tokens = [b'"', b"1", b"{", b"}", b"[", b"null", b"true", b"id", b"type"]
    replacements = [
        b"{}",
        b"[]",
        b"null",
        b"-1e999",
        b"1" * 5000,
        b'"\\ud800"',
        b"[" * 2000,
        b"\xff",
        b"\r\n",
    ]
    return data.replace(rng.choice(tokens), rng.choice(replacements), rng.choice((1, -1)))


@pytest.mark.wide
@fuzz_settings
@given(
    st.lists(
        st.tuples(
            st.integers(0, 15),
            st.sampled_from((truncate, flip_bits, insert_bytes, repeat_bytes, empty, replace_token)),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, 2**32),
)
def test_a_damaged_log_is_read_or_refused(
    tmp_path: Path, damages: list[tuple[int, Callable[[bytes, random.Random], bytes]]], seed: int
) -> None:
    files = write_whole_log(tmp_path / "table")
    rng = random.Random(seed)  # noqa: S311 - it only chooses the damage
    for number, damage in damages:
        path = files[number % len(files)]
        path.write_bytes(damage(path.read_bytes(), rng))
    assert description_of(tmp_path / "table")
    for version in range(7):
        files_of(tmp_path / "table", version)


@pytest.mark.wide
@fuzz_settings
@given(st.sets(st.integers(0, 15), max_size=12), st.integers(-1, 9))
def test_a_log_with_missing_files_is_read_or_refused(tmp_path: Path, missing: set[int], pointed: int) -> None:
    files = write_whole_log(tmp_path / "table")
    write_file(tmp_path / "table", "_last_checkpoint", json.dumps({"version": pointed}).encode())
    for number in missing & set(range(len(files))):
        files[number].unlink()
    assert description_of(tmp_path / "table")


def test_the_footer_of_a_damaged_data_file_is_read_or_refused() -> None:
    content = io.BytesIO()
    parquet.write_table(pa.table({"id": [1], "list": [["a"]]}), content)
    rng = random.Random(1)  # noqa: S311 - it only chooses the damage
    for damage in (truncate, flip_bits, insert_bytes, repeat_bytes, empty):
        for _ in range(200):
            with suppress(FooterError):
                read_footer(io.BytesIO(damage(content.getvalue(), rng)))


def test_an_undamaged_log_lists_its_data_files(tmp_path: Path) -> None:
    write_whole_log(tmp_path)
    assert "in-a-sidecar.parquet" in files_of(tmp_path, 3)


def test_an_undamaged_log_has_no_defects(tmp_path: Path) -> None:
    write_whole_log(tmp_path)
    first, second = "version 6, history from 0: id, list", "version 6, history from 6: id, list"
    assert description_of(tmp_path) == f"# with history\n{first}\n# without history\n{second}\n"


@pytest.mark.parametrize("case", sorted(path.name for path in KEPT.iterdir() if path.is_dir()))
def test_a_kept_damaged_log_gives_its_golden_text(case: str) -> None:
    assert_golden(description_of(KEPT / case), KEPT / case / "expected.txt")


TEXTS = pa.map_(pa.string(), pa.string())
NO_TEXTS = pa.map_(pa.string(), pa.binary())
NO_NAMES = pa.map_(pa.struct([("x", pa.int64())]), pa.string())


def with_configuration(entries: pa.Array) -> dict[str, Any]:
    body = metadata(Field("id", LONG))["metaData"]
    values = [pa.array([None, body["id"]]), pa.array([None, body["schemaString"]]), entries]
    return {"metaData": pa.StructArray.from_arrays(values, ["id", "schemaString", "configuration"])}


DELTA_COLUMNS = {
    "protocol": pa.array([{"minReaderVersion": 1, "minWriterVersion": 2}, None]),
    **with_configuration(pa.array([None, [("a", "b")]], TEXTS)),
}


@pytest.mark.parametrize(
    "columns",
    [
        {"protocol.minReaderVersion": pa.array(["x", "y"])},
        {"sidecar.path": pa.array(["a", "b"])},
        {"add.path": pa.array(["a", "b"])},
        {"txn": pa.array([{"appId": 1, "version": 2}, None])},
        {"txn": pa.array([{"appId": b"x", "version": 2}, None])},
        {"add": pa.array([{"path": 1}, None])},
        {"add": pa.array([{"path": ["a"]}, None])},
        {"sidecar": pa.array([{"path": 1}, None])},
        with_configuration(pa.array([None, [("a", b"b")]], NO_TEXTS)),
        with_configuration(pa.array([None, [({"x": 1}, "b")]], NO_NAMES)),
        with_configuration(pa.array([None, {"x": b"b"}])),
    ],
    ids=lambda columns: next(f"{name} {array.type}" for name, array in columns.items()),
)
def test_a_checkpoint_with_other_columns_than_those_of_delta(tmp_path: Path, columns: dict[str, Any]) -> None:
    table = write_log(tmp_path, [[commit_info(), protocol(1, 2), metadata(Field("id", LONG))], FILES])
    parquet.write_table(
        pa.table({**DELTA_COLUMNS, **columns}), table / "_delta_log" / f"{1:020}.checkpoint.parquet"
    )
    store = open_store(str(table))
    assert [field.name for field in read_table(store).state.columns.fields] == ["id"]
    with suppress(LiveError):
        assert all(live_files(store, 1))
    with suppress(LiveError):
        told_rows(store, 1)
    for checkpoint in list_log(store).checkpoints[1]:
        with suppress(LiveError):
            assert all(sidecars(store, checkpoint))
