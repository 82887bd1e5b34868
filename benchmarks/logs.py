"""Logs of Delta tables as writers leave them, made without Spark: the same actions each time.

    python -m benchmarks.logs FOLDER [--files 1000000]

Only the logs are made: no reader of a table's state opens a data file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet

COMMITS: Final = 100
"""Of a small table; the checkpoint of a large one is of this version."""

COLUMNS: Final = 50
FILES_PER_COMMIT: Final = 10
ROWS_PER_GROUP: Final = 250_000
SIDECARS: Final = 10

_TABLE_ID: Final = "7c2b1f7e-5a53-4c6e-9d43-2f8d8f5f0a11"
TYPES: Final = ("long", "string", "decimal(10,2)", "timestamp", "double")

_MAP: Final = pa.map_(pa.string(), pa.string())
_ADD: Final = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", _MAP),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("tags", _MAP),
    ]
)
_SIDECAR: Final = pa.struct(
    [("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64()), ("tags", _MAP)]
)
# PROTOCOL.md, "Checkpoint Schema"
_ACTIONS: Final = {
    "txn": pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())]),
    "add": _ADD,
    "remove": pa.struct(
        [("path", pa.string()), ("deletionTimestamp", pa.int64()), ("dataChange", pa.bool_())]
    ),
    "metaData": pa.struct(
        [
            ("id", pa.string()),
            ("name", pa.string()),
            ("description", pa.string()),
            ("format", pa.struct([("provider", pa.string()), ("options", _MAP)])),
            ("schemaString", pa.string()),
            ("partitionColumns", pa.list_(pa.string())),
            ("configuration", _MAP),
            ("createdTime", pa.int64()),
        ]
    ),
    "protocol": pa.struct(
        [
            ("minReaderVersion", pa.int32()),
            ("minWriterVersion", pa.int32()),
            ("readerFeatures", pa.list_(pa.string())),
            ("writerFeatures", pa.list_(pa.string())),
        ]
    ),
    "domainMetadata": pa.struct(
        [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
    ),
}
_V2_ACTIONS: Final = {
    "checkpointMetadata": pa.struct([("version", pa.int64()), ("tags", _MAP)]),
    "sidecar": _SIDECAR,
}


def main() -> None:
    """Make the tables of the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=1_000_000)
    options = parser.parse_args()
    folder: Path = options.folder
    for name in ("plain", "checkpointed"):
        write_commits(folder / name, 0, COMMITS - 1)
    write_checkpoint(folder / "checkpointed", COMMITS - 10, (COMMITS - 9) * FILES_PER_COMMIT)
    for name in ("classic", "v2"):
        write_commits(folder / name, COMMITS, COMMITS + 5)
    write_checkpoint(folder / "classic", COMMITS, options.files)
    write_v2_checkpoint(folder / "v2", COMMITS, options.files)


def write_commits(table: Path, first: int, last: int) -> None:
    """Commits of so many versions; version 0 makes the table, all others add files."""
    for version in range(first, last + 1):
        actions: list[dict[str, object]] = [_info(version)]
        if version == 0:
            actions += [{"protocol": _protocol()}, {"metaData": _metadata()}]
        start = version * FILES_PER_COMMIT
        actions += [{"add": _json_add(number)} for number in range(start, start + FILES_PER_COMMIT)]
        text = "".join(f"{json.dumps(action, separators=(',', ':'))}\n" for action in actions)
        (_log(table) / f"{version:020}.json").write_text(text)


def write_checkpoint(table: Path, version: int, files: int) -> None:
    """A classic checkpoint: so many files, then protocol and metadata in the last row group."""
    path = _log(table) / f"{version:020}.checkpoint.parquet"
    schema = pa.schema(_ACTIONS.items())
    with parquet.ParquetWriter(path, schema, compression="snappy") as writer:
        for start, end in _ranges(files, ROWS_PER_GROUP):
            rows = pa.Table.from_batches([_batch(schema, "add", _adds(start, end))])
            if end == files:
                rows = pa.concat_tables([rows, _rows(schema, _state())])
            writer.write_table(rows, row_group_size=len(rows))
    _point(table, {"version": version, "size": files + 2})


def write_v2_checkpoint(table: Path, version: int, files: int) -> None:
    """A V2 checkpoint: a Parquet manifest, and the files in sidecars (PROTOCOL.md, "V2 Spec")."""
    folder = _log(table) / "_sidecars"
    folder.mkdir()
    schema = pa.schema([("add", _ADD)])
    sidecars: list[dict[str, object]] = []
    for number, (start, end) in enumerate(_ranges(files, -(-files // SIDECARS))):
        path = folder / f"{number:08}-5a53-4c6e-9d43-2f8d8f5f0a11.parquet"
        parquet.write_table(
            pa.Table.from_batches([_batch(schema, "add", _adds(start, end))]), path, compression="snappy"
        )
        size = path.stat().st_size
        sidecars.append({"sidecar": {"path": path.name, "sizeInBytes": size, "modificationTime": 0}})
    manifest = pa.schema({**_ACTIONS, **_V2_ACTIONS}.items())
    actions: list[dict[str, object]] = [{"checkpointMetadata": {"version": version}}, *sidecars]
    actions += _state("v2Checkpoint")
    name = f"{version:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"
    parquet.write_table(_rows(manifest, actions), _log(table) / name, compression="snappy")
    _point(table, {"version": version, "size": files + len(actions)})


def _log(table: Path) -> Path:
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    return log


def _point(table: Path, content: dict[str, int]) -> None:
    (_log(table) / "_last_checkpoint").write_text(json.dumps(content))


def _ranges(files: int, step: int) -> Iterator[tuple[int, int]]:
    yield from ((start, min(start + step, files)) for start in range(0, files, step))


def _rows(schema: pa.Schema, actions: list[dict[str, object]]) -> Any:  # noqa: ANN401 - pyarrow has no types
    return pa.Table.from_pylist(actions, schema=schema)


def _batch(schema: pa.Schema, name: str, actions: Any) -> Any:  # noqa: ANN401
    """Rows of one action: nulls in all other columns."""
    columns = [actions if field.name == name else pa.nulls(len(actions), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _adds(start: int, end: int) -> Any:  # noqa: ANN401
    numbers = range(start, end)
    fields = {
        "path": pa.array([_path(number) for number in numbers]),
        "partitionValues": pa.array([[("day", _day(number))] for number in numbers], _MAP),
        "size": pa.array([_size(number) for number in numbers], pa.int64()),
        "modificationTime": pa.array([_time(number) for number in numbers], pa.int64()),
        "dataChange": pa.array([False] * len(numbers)),
        "stats": pa.array([_stats(number) for number in numbers]),
        "tags": pa.nulls(len(numbers), _MAP),
    }
    return pa.StructArray.from_arrays(list(fields.values()), fields=list(_ADD))


def _json_add(number: int) -> dict[str, object]:
    return {
        "path": _path(number),
        "partitionValues": {"day": _day(number)},
        "size": _size(number),
        "modificationTime": _time(number),
        "dataChange": True,
        "stats": _stats(number),
    }


def _path(number: int) -> str:
    spread = number * 2_654_435_761 % 2**32
    name = f"part-{number % 200:05}-{spread:08x}-4c6e-9d43-2f8d-{number:012}.c000.snappy.parquet"
    return f"day={_day(number)}/{name}"


def _day(number: int) -> str:
    return f"2026-{number // 100 % 12 + 1:02}-{number % 28 + 1:02}"


def _size(number: int) -> int:
    return 50_000_000 + number * 7_919 % 80_000_000


def _time(number: int) -> int:
    return 1_780_000_000_000 + number * 1_000


def _stats(number: int) -> str:
    """Of a few columns, as with ``delta.dataSkippingStatsColumns``; by default a writer gives 32."""
    low, high = number * 1_000, number * 1_000 + 999
    return (
        f'{{"numRecords":1000,"minValues":{{"column_0":{low},"column_1":"customer-{low:010}","column_4":{low}.5}},'
        f'"maxValues":{{"column_0":{high},"column_1":"customer-{high:010}","column_4":{high}.5}},'
        '"nullCount":{"column_0":0,"column_1":0,"column_4":0}}'
    )


def _state(*features: str) -> list[dict[str, object]]:
    return [
        {"protocol": _protocol(*features)},
        {"metaData": {**_metadata(), "configuration": [], "name": None}},
    ]


def _protocol(*features: str) -> dict[str, object]:
    reader = ["timestampNtz", *features]
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": reader,
        "writerFeatures": ["appendOnly", "invariants", *reader],
    }


def _metadata() -> dict[str, object]:
    columns: list[dict[str, object]] = [
        {"name": f"column_{index}", "type": TYPES[index % len(TYPES)], "nullable": True, "metadata": {}}
        for index in range(COLUMNS)
    ]
    columns.append({"name": "day", "type": "date", "nullable": True, "metadata": {}})
    return {
        "id": _TABLE_ID,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": columns}),
        "partitionColumns": ["day"],
        "configuration": {},
        "createdTime": _time(0),
    }


def _info(version: int) -> dict[str, object]:
    return {
        "commitInfo": {
            "timestamp": _time(version * FILES_PER_COMMIT),
            "operation": "WRITE" if version else "CREATE TABLE",
            "operationParameters": {"mode": "Append", "partitionBy": "[]"},
            "isolationLevel": "Serializable",
            "isBlindAppend": True,
            "engineInfo": "Apache-Spark/4.2.0 Delta-Lake/4.4.0",
        }
    }


if __name__ == "__main__":
    main()
