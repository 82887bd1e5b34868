"""Checkpoints of streams, as Spark 4.2.0 with Delta 4.4.0 writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

TABLE_ID = "84e62771-d03a-41b5-a4d5-caffc1cd1a40"
MAPPED = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
PROTOCOL = {"minReaderVersion": 2, "minWriterVersion": 5}


def offset(version: int, index: int = -1, table_id: str = TABLE_ID, *, initial: bool = False) -> str:
    """Return the offset of a Delta source."""
    kind = 3 if index < -1 else 1
    return json.dumps(
        {
            "sourceVersion": kind,
            "reservoirId": table_id,
            "reservoirVersion": version,
            "index": index,
            "isStartingVersion": initial,
        }
    )


def offsets(*sources: str) -> str:
    """Return a file of offsets with the sources."""
    return "\n".join(("v1", '{"batchWatermarkMs":0,"batchTimestampMs":1795380786895,"conf":{}}', *sources))


def entry(
    version: int,
    columns: Sequence[tuple[str, str]] = (("id", "long"), ("a", "integer")),
    *,
    path: str,
    table_id: str = TABLE_ID,
    replaces: int | None = None,
    configuration: Mapping[str, str] = MAPPED,
) -> str:
    """Return an entry of a schema log; the physical names of the columns are ``col-0`` and so on."""
    fields = [
        {
            "name": name,
            "type": type_,
            "nullable": True,
            "metadata": {"delta.columnMapping.id": n + 1, "delta.columnMapping.physicalName": f"col-{n}"},
        }
        for n, (name, type_) in enumerate(columns)
    ]
    body = {
        "tableId": table_id,
        "deltaCommitVersion": version,
        "dataSchemaJson": json.dumps({"type": "struct", "fields": fields}),
        "partitionSchemaJson": '{"type":"struct","fields":[]}',
        "sourceMetadataPath": path,
        "tableConfigurations": dict(configuration),
        "protocolJson": json.dumps({"protocol": PROTOCOL}),
        **({} if replaces is None else {"previousMetadataSeqNum": replaces}),
    }
    return f"v1\n{json.dumps(body)}"


def write_checkpoint(
    folder: Path, batches: Sequence[str] = (), committed: int | None = None, files: Mapping[str, str] = {}
) -> Path:
    """Write a checkpoint.

    Args:
        folder: Its folder.
        batches: The files of offsets, from 0.
        committed: How many of them were committed, by default all.
        files: Further files, by their path.
    """
    number = len(batches) if committed is None else committed
    written = {
        "metadata": '{"id":"2af4f75b-8622-4cdd-9585-daa050093167"}',
        **{f"offsets/{n}": text for n, text in enumerate(batches)},
        **{f"commits/{n}": 'v1\n{"nextBatchWatermarkMs":0}' for n in range(number)},
        **files,
    }
    for name, text in written.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder
