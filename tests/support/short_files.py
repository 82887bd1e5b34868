"""Write the data files that a log names, each with one row of the schema that it was written under."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_ID = "delta.columnMapping.id"
_NAME = "delta.columnMapping.physicalName"
_TYPES = {
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "date": "date32",
}


def write_data_files(table: Path) -> None:
    """Write the files that the commits add, and their sizes into the log; void columns are never stored."""
    import pyarrow as pa  # noqa: PLC0415 - only few tests need it
    from pyarrow import parquet  # noqa: PLC0415

    fields: list[Any] = []
    for commit in sorted((table / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if "metaData" in action:
                fields = json.loads(action["metaData"].get("schemaString", "{}")).get("fields", [])
        for action in actions:
            if "add" in action:
                path = table / action["add"]["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                schema = pa.schema([_field(field) for field in fields if field["type"] != "void"])
                row = {field.name: None if field.nullable else 1 for field in schema}
                parquet.write_table(pa.Table.from_pylist([row], schema=schema), path)
                action["add"]["size"] = path.stat().st_size
        commit.write_text("".join(json.dumps(action) + "\n" for action in actions))


def _field(field: Any) -> Any:  # noqa: ANN401 (JSON in, a field of pyarrow out)
    import pyarrow as pa  # noqa: PLC0415

    metadata = field["metadata"]
    ids = {b"PARQUET:field_id": str(metadata[_ID])} if _ID in metadata else None
    return pa.field(metadata.get(_NAME, field["name"]), _type(field["type"]), field["nullable"], ids)


def _type(written: Any) -> Any:  # noqa: ANN401 (JSON in, a type of pyarrow out)
    import pyarrow as pa  # noqa: PLC0415

    match written:
        case {"type": "struct"}:
            return pa.struct([_field(field) for field in written["fields"]])
        case {"type": "array"}:
            return pa.list_(_type(written["elementType"]))
        case {"type": "map"}:
            return pa.map_(_type(written["keyType"]), _type(written["valueType"]))
        case str() if written.startswith("decimal"):
            return pa.decimal128(*map(int, written[len("decimal(") : -1].split(",")))
        case str() if written.startswith(("char", "varchar")):
            return pa.string()
        case _:
            return getattr(pa, _TYPES[written])()
