"""Read the footer of a data file: its columns and their stored types.

Parquet's LogicalTypes.md defines the types; Spark's ``ParquetToSparkSchemaConverter`` maps them to Delta's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from schemalint.delta.datatype import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Decimal,
    Unknown,
)
from schemalint.delta.footer_summary import StoredLeaf
from schemalint.delta.path import Part, Path
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.parquet import open_parquet
from schemalint.tables.delta_log.parquet_headers import LimitError

_FIELD_ID: Final = b"PARQUET:field_id"
_PLAIN: Final = {
    "BOOLEAN": BOOLEAN,
    "INT32": INTEGER,
    "INT64": LONG,
    "INT96": TIMESTAMP,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "BYTE_ARRAY": BINARY,
    "FIXED_LEN_BYTE_ARRAY": BINARY,
}
_SIGNED: Final = {8: BYTE, 16: SHORT, 32: INTEGER, 64: LONG}
_TEXT: Final = frozenset({"STRING", "ENUM", "JSON"})


class FooterError(ValueError):
    """A data file does not exist, or is not a readable Parquet file."""


def read_footer(content: BinaryIO) -> frozenset[StoredLeaf]:
    """Return the leaves of a Parquet file, from its footer alone.

    Raises:
        FooterError: The file is damaged, or not a Parquet file.
    """
    import pyarrow as pa  # noqa: PLC0415 - 190 ms, only spent when data files are read

    try:
        file = open_parquet(content)
        schema = file.schema
        leaves = [leaf for field in file.schema_arrow for leaf in _leaves(field)]
    except LimitError as error:
        raise FooterError(f"{log_limits.BEYOND}: {error}") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise FooterError(f"it is not a readable Parquet file: {_first_line(error)}") from None
    if len(leaves) != len(schema):
        raise FooterError("its columns cannot be understood")
    # Arrow's schema has the field ids, and Parquet's schema has the stored types; both have the same order.
    return frozenset(
        StoredLeaf(path, ids, _type(schema.column(index))) for index, (path, ids) in enumerate(leaves)
    )


def _leaves(field: Any) -> Iterator[tuple[Path, tuple[int | None, ...]]]:  # noqa: ANN401 - pyarrow has no types
    number = (field.metadata or {}).get(_FIELD_ID)
    field_id = int(number) if number is not None else None
    for path, ids in _inside(field.type):
        yield (field.name, *path), (field_id, *ids)


def _inside(type_: Any) -> Iterator[tuple[Path, tuple[int | None, ...]]]:  # noqa: ANN401
    from pyarrow import types  # noqa: PLC0415 (the caller has already loaded pyarrow)

    type_ = getattr(type_, "storage_type", type_)  # of an extension type
    if types.is_struct(type_):
        for index in range(type_.num_fields):
            yield from _leaves(type_.field(index))
    elif types.is_map(type_):
        yield from _part(Part.KEY, type_.key_type)
        yield from _part(Part.VALUE, type_.item_type)
    elif types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        yield from _part(Part.ELEMENT, type_.value_type)
    else:
        yield (), ()


def _part(part: Part, type_: Any) -> Iterator[tuple[Path, tuple[int | None, ...]]]:  # noqa: ANN401
    for path, ids in _inside(type_):
        yield (part, *path), (None, *ids)


def _type(column: Any) -> DataType:  # noqa: ANN401 - pyarrow.parquet.ColumnSchema
    logical = column.logical_type.type
    if logical == "NONE":
        return _PLAIN.get(column.physical_type, Unknown(column.physical_type))
    if logical == "DECIMAL":
        return Decimal(column.precision, column.scale)
    if logical == "DATE":
        return DATE
    if logical in _TEXT:
        return STRING
    details = json.loads(column.logical_type.to_json())
    if logical == "INT" and details.get("isSigned"):
        return _SIGNED[details["bitWidth"]]
    if logical == "TIMESTAMP" and details.get("timeUnit") != "nanoseconds":
        if details.get("isAdjustedToUTC"):
            return TIMESTAMP
        return TIMESTAMP_NTZ
    return Unknown(f"{column.physical_type} ({logical})")


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
