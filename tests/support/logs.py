"""Builders for small Delta logs: actions, commits, checksums and checkpoints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemalint import contract as contracts
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.schema_json import print_schema
from schemalint.delta.table import LiveTable
from schemalint.model.marker import Marker, declaration_hash
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

Action = dict[str, Any]


def write_log(table: Path, commits: Iterable[Sequence[Action]], *, first: int = 0) -> Path:
    """Write one commit for each list of actions, from version ``first`` on, and return the table's folder."""
    for version, actions in enumerate(commits, start=first):
        write_commit(table, version, "".join(json.dumps(action) + "\n" for action in actions))
    return table


def write_commit(table: Path, version: int, content: str | bytes) -> Path:
    """Write a commit with exactly this content, well-formed or not."""
    data = content if isinstance(content, bytes) else content.encode()
    return write_file(table, f"{version:020}.json", data)


def write_file(table: Path, name: str, data: bytes = b"") -> Path:
    """Write any file into the ``_delta_log`` folder."""
    path = table / "_delta_log" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def write_lines(table: Path, name: str, actions: Sequence[Action]) -> Path:
    """Write actions as JSON lines into any log file, e.g. a log compaction or a V2 checkpoint."""
    return write_file(table, name, "".join(json.dumps(action) + "\n" for action in actions).encode())


def write_checksum(table: Path, version: int, *actions: Action, **body: object) -> Path:
    """Write a version checksum with the protocol, metadata and clustering of these actions."""
    checksum: dict[str, object] = {"tableSizeBytes": 1, "numFiles": 1, "numMetadata": 1, "numProtocol": 1}
    for action in actions:
        match action:
            case {"protocol": content}:
                checksum["protocol"] = content
            case {"metaData": content}:
                checksum["metadata"] = content
            case {"domainMetadata": content}:
                checksum["domainMetadata"] = [content]
    return write_file(table, f"{version:020}.crc", json.dumps({**checksum, **body}).encode())


def write_checkpoint(
    table: Path,
    version: int,
    actions: Sequence[Action],
    *,
    data_files: int = 3,
    row_group_size: int = 1_000,
    name: str = "checkpoint.parquet",
) -> Path:
    """Write a checkpoint, by default a classic one; data files surround the actions."""
    import pyarrow as pa  # noqa: PLC0415 - only checkpoint tests need it
    from pyarrow import parquet  # noqa: PLC0415

    text, number = pa.string(), pa.int32()
    names, options = pa.list_(text), pa.map_(text, text)
    schema = pa.schema(
        {
            "add": pa.struct({"path": text, "size": pa.int64()}),
            "protocol": pa.struct(
                {
                    "minReaderVersion": number,
                    "minWriterVersion": number,
                    "readerFeatures": names,
                    "writerFeatures": names,
                }
            ),
            "metaData": pa.struct(
                {
                    "id": text,
                    "name": text,
                    "description": text,
                    "format": pa.struct({"provider": text, "options": options}),
                    "schemaString": text,
                    "partitionColumns": names,
                    "configuration": options,
                    "createdTime": pa.int64(),
                }
            ),
            "domainMetadata": pa.struct({"domain": text, "configuration": text, "removed": pa.bool_()}),
            "txn": pa.struct({"appId": text, "version": pa.int64(), "lastUpdated": pa.int64()}),
            "checkpointMetadata": pa.struct({"version": pa.int64(), "tags": options}),
            "sidecar": pa.struct({"path": text, "sizeInBytes": pa.int64()}),
        }
    )
    adds = [{"add": {"path": f"part-{number}.parquet", "size": number}} for number in range(data_files)]
    path = write_file(table, f"{version:020}.{name}")
    rows = pa.Table.from_pylist([*adds, *actions, *adds], schema=schema)
    parquet.write_table(rows, path, row_group_size=row_group_size)
    return path


def protocol(
    reader: int = 1,
    writer: int = 2,
    reader_features: Iterable[str] | None = None,
    writer_features: Iterable[str] | None = None,
) -> Action:
    """Return a ``protocol`` action."""
    body: Action = {"minReaderVersion": reader, "minWriterVersion": writer}
    if reader_features is not None:
        body["readerFeatures"] = list(reader_features)
    if writer_features is not None:
        body["writerFeatures"] = list(writer_features)
    return {"protocol": body}


def metadata(
    *fields: Field,
    properties: Mapping[str, str] | None = None,
    partitioned_by: Sequence[str] = (),
    table_id: str = "t-1",
    **body: object,
) -> Action:
    """Return a ``metaData`` action; further keywords are further keys, e.g. ``description``."""
    return {
        "metaData": {
            "id": table_id,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": print_schema(Struct(fields)),
            "partitionColumns": list(partitioned_by),
            "configuration": dict(properties or {}),
            "createdTime": 1_700_000_000_000,
            **body,
        }
    }


def commit_info(operation: str = "WRITE", timestamp: int = 1_700_000_000_000, **body: object) -> Action:
    """Return a ``commitInfo`` action."""
    return {"commitInfo": {"timestamp": timestamp, "operation": operation, **body}}


def clustering(*paths: Sequence[str], removed: bool = False) -> Action:
    """Return the ``domainMetadata`` action that clusters a table by columns (physical names)."""
    columns = [path if isinstance(path, str) else list(path) for path in paths]
    configuration = {"clusteringColumns": columns, "domainName": "delta.clustering"}
    return {
        "domainMetadata": {
            "domain": "delta.clustering",
            "configuration": json.dumps(configuration),
            "removed": removed,
        }
    }


def transaction(app_id: str, version: int) -> Action:
    """Return a ``txn`` action."""
    return {"txn": {"appId": app_id, "version": version, "lastUpdated": 1_700_000_000_000}}


def marker(declared: str, revision: str | None, version: int = 1) -> Action:
    """Return the marker of a contract's text."""
    (contract,) = contracts.read("c.yml", declared).contracts
    return transaction(Marker(declaration_hash(contract), revision).app_id, version)


def add(path: str = "part-0.parquet") -> Action:
    """Return an ``add`` action whose statistics contain the names of other actions."""
    stats = json.dumps({"numRecords": 1, "minValues": {"metaData": '"protocol"'}})
    return {"add": {"path": path, "partitionValues": {}, "size": 1, "dataChange": True, "stats": stats}}


def remove(path: str = "part-0.parquet") -> Action:
    """Return a ``remove`` action."""
    return {"remove": {"path": path, "dataChange": True, "deletionTimestamp": 1_700_000_000_000}}


def checkpoint_metadata(version: int) -> Sequence[Action]:
    """Return the actions that only V2 checkpoints have; ``_sidecars/x.parquet`` is not written."""
    return [
        {"checkpointMetadata": {"version": version}},
        {"sidecar": {"path": "x.parquet", "sizeInBytes": 9}},
    ]


def read_live(uri: str) -> LiveTable | None:
    """Read the latest version of the table at a location; return None if there is no table."""
    try:
        return read_table(uri, history=False)
    except NoTable:
        return None
