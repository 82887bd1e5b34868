"""Write the tables of a probe: Parquet files and JSON commits, without Spark.

pyarrow writes the data files; Delta's log and deletion vectors are written here, as PROTOCOL.md describes.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import uuid
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemalint.base.errors import UsageError
from schemalint.base.files import write_bytes
from schemalint.base.values import frozen

if TYPE_CHECKING:
    from probe.tables import ProbeTable

_Action = dict[str, Any]

_LOG: Final = "_delta_log"
_TABLE_FEATURES_WRITER: Final = 7
_TABLE_FEATURES_READER: Final = 3


def write_table(table: ProbeTable, folder: Path) -> None:
    """Write a table into a new folder.

    Raises:
        UsageError: A file cannot be written, or pyarrow is not installed.
    """
    columns = _columns(table)
    commits: list[list[_Action]] = [[_protocol(table), _metadata(table, columns)]]
    for number, rows in enumerate(table.files):
        path = f"part-{number:05}.parquet"
        content = _parquet_rows(columns, table.types[number], rows)
        write_bytes(folder / path, content, parents=True)
        added = _added(path, len(content), len(rows))
        if table.deletes and not number:
            added["deletionVector"] = _delete_first_row(folder)
        if number:
            commits.append([])
        commits[-1].append({"add": added})
    for version, actions in enumerate(commits):
        if table.checkpoint and not version:
            _write_checkpoint(folder, actions)
        else:
            _write_lines(folder / _LOG / f"{version:020}.json", actions)


@frozen
class _Column:
    """A column of a table, as its log and its data files have it."""

    name: str
    json_type: str
    metadata: Mapping[str, object]
    stored_name: str
    stored_id: int | None


def _columns(table: ProbeTable) -> list[_Column]:
    """Return the columns ``id`` and ``value``."""
    found = []
    for number, name in enumerate(("id", "value"), start=1):
        metadata: dict[str, object] = {}
        stored_name, stored_id = name, None
        if table.mapping != "none":
            # A column of before the mapping keeps its name in the files, which have no ids.
            stored_name = f"old_{name}" if table.renamed else f"col-{_uuid(table.name, name)}"
            stored_id = None if table.renamed else number
            metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": stored_name}
        if name == "value" and table.tracked:
            pairs = list(zip(table.types, table.types[1:], strict=False))
            changes = [{"fromType": _json_type(a), "toType": _json_type(b)} for a, b in pairs if a != b]
            metadata |= {"delta.typeChanges": changes} if changes else {}
        json_type = "long" if name == "id" else _json_type(table.types[-1])
        found.append(_Column(name, json_type, metadata, stored_name, stored_id))
    return found


_JSON_NAMES: Final = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
"""The names of types in a schema, where SQL has others."""


def _json_type(sql_type: str) -> str:
    return _JSON_NAMES.get(sql_type, sql_type)


def _uuid(*names: str) -> uuid.UUID:
    """Return a UUID that is the same in every run."""
    return uuid.uuid5(uuid.NAMESPACE_URL, "/".join(("schemalint", *names)))


def _protocol(table: ProbeTable) -> _Action:
    protocol: dict[str, object] = {"minReaderVersion": table.reader, "minWriterVersion": table.writer}
    if table.reader == _TABLE_FEATURES_READER:
        protocol["readerFeatures"] = list(table.reader_features)
    if table.writer == _TABLE_FEATURES_WRITER:
        protocol["writerFeatures"] = list(table.features)
    return {"protocol": protocol}


def _metadata(table: ProbeTable, columns: Sequence[_Column]) -> _Action:
    fields = [
        {"name": column.name, "type": column.json_type, "nullable": True, "metadata": column.metadata}
        for column in columns
    ]
    mode = "delta.columnMapping.mode"
    mapping = {mode: table.mapping, "delta.columnMapping.maxColumnId": str(len(columns))}
    metadata = {
        "id": str(_uuid(table.name)),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {**table.properties, **(mapping if table.mapping != "none" else {})},
        "createdTime": 0,
    }
    return {"metaData": metadata}


def _added(path: str, size: int, rows: int) -> _Action:
    return {
        "path": path,
        "partitionValues": {},
        "size": size,
        "modificationTime": 0,
        "dataChange": True,
        "stats": json.dumps({"numRecords": rows}),
    }


def _write_lines(file: Path, actions: Iterable[_Action]) -> None:
    write_bytes(file, "".join(json.dumps(action) + "\n" for action in actions).encode(), parents=True)


def _write_checkpoint(folder: Path, actions: Sequence[_Action]) -> None:
    """Write a V2 checkpoint of version 0, with the added files in a sidecar."""
    pa = _pyarrow()
    text, big = pa.string(), pa.int64()
    added = pa.struct(
        [
            *(("path", text), ("partitionValues", pa.map_(text, text)), ("size", big)),
            *(("modificationTime", big), ("dataChange", pa.bool_()), ("stats", text)),
        ]
    )
    files = [action["add"] for action in actions if "add" in action]
    content = _parquet(pa.table({"add": pa.array(files, added)}))
    name = f"{_uuid('sidecar')}.parquet"
    write_bytes(folder / _LOG / "_sidecars" / name, content, parents=True)
    sidecar = {"path": name, "sizeInBytes": len(content), "modificationTime": 0}
    rest = [action for action in actions if "add" not in action]
    lines = [{"checkpointMetadata": {"version": 0}}, *rest, {"sidecar": sidecar}]
    _write_lines(folder / _LOG / f"{0:020}.checkpoint.{_uuid('checkpoint')}.json", lines)


_BITMAP_MAGIC: Final = 1681511377  # of the portable format of a 64-bit bitmap
_ROARING_COOKIE: Final = 12346  # of a 32-bit bitmap without run containers
_ONE_ROW: Final = struct.pack("<iqiIIHHIH", _BITMAP_MAGIC, 1, 0, _ROARING_COOKIE, 1, 0, 0, 16, 0)
"""The bitmap that contains row 0: magic, one bitmap with key 0, with one array container of one value."""


def _delete_first_row(folder: Path) -> dict[str, object]:
    """Write a deletion vector of one row, and return its descriptor."""
    identifier = _uuid("deletion vector")
    size, checksum = struct.pack(">I", len(_ONE_ROW)), struct.pack(">I", zlib.crc32(_ONE_ROW))
    file = folder / f"deletion_vector_{identifier}.bin"
    write_bytes(file, b"\x01" + size + _ONE_ROW + checksum, parents=True)
    return {
        "storageType": "u",
        "pathOrInlineDv": base64.b85encode(identifier.bytes).translate(_Z85).decode(),
        "offset": 1,
        "sizeInBytes": len(_ONE_ROW),
        "cardinality": 1,
    }


_UPPER: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER: Final = _UPPER.lower()
_Z85: Final = bytes.maketrans(
    _UPPER + _LOWER + b"!#$%&()*+-;<=>?@^_`{|}~",
    _LOWER + _UPPER + b".-:+=^!/*?&<>()[]{}@%$#",
)
"""Python's base 85 in the alphabet of Z85, which deletion vectors use."""


def _parquet_rows(columns: Sequence[_Column], type_: str, rows: Sequence[tuple[int, object]]) -> bytes:
    pa = _pyarrow()
    types = (pa.int64(), _arrow_type(pa, type_))
    fields = [
        pa.field(
            column.stored_name,
            stored_type,
            metadata=None if column.stored_id is None else {"PARQUET:field_id": str(column.stored_id)},
        )
        for column, stored_type in zip(columns, types, strict=True)
    ]
    values = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(values, fields, strict=True)]
    return _parquet(pa.table(arrays, pa.schema(fields)))


def _parquet(table: Any) -> bytes:  # noqa: ANN401 (pyarrow has no types)
    from pyarrow import parquet  # noqa: PLC0415 (as in `_pyarrow`)

    buffer = io.BytesIO()
    parquet.write_table(table, buffer, store_schema=False)
    return buffer.getvalue()


def _arrow_type(pa: Any, sql_type: str) -> Any:  # noqa: ANN401 (as above)
    name, _, parameters = sql_type.rstrip(")").partition("(")
    if name == "decimal":
        precision, scale = map(int, parameters.split(","))
        return pa.decimal128(precision, scale)
    return {
        "tinyint": pa.int8(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "timestamp_ntz": pa.timestamp("us"),
    }[name]


def _pyarrow() -> Any:  # noqa: ANN401 (as above)
    try:
        import pyarrow as pa  # noqa: PLC0415 (190 ms, only to write tables)
    except ImportError as error:
        raise UsageError(
            "the tables cannot be written: pyarrow is not installed",
            help="Install it: pip install 'schemalint[live]'",
        ) from error
    return pa
