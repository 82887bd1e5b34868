"""The schema of Arrow data as the columns that delta-rs makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from schemalint.guard.session import NotSeen

_LEAVES: Final[Mapping[str, DataType]] = {
    "bool": BOOLEAN, "int8": BYTE, "int16": SHORT, "int32": INTEGER, "int64": LONG, "float": FLOAT,
    "double": DOUBLE, "string": STRING, "large_string": STRING, "string_view": STRING, "binary": BINARY,
    "large_binary": BINARY, "date32[day]": DATE, "timestamp[us]": TIMESTAMP_NTZ,
}  # fmt: skip


def arrow_columns(schema: Any) -> Struct:  # noqa: ANN401 (a schema of any Arrow)
    """Return the columns of an Arrow schema.

    Raises:
        NotSeen: It is none, or has a type of which nobody has asked what delta-rs makes.
    """
    import pyarrow as pa  # noqa: PLC0415 (only for Arrow data)

    try:
        fields = list(schema if isinstance(schema, pa.Schema) else pa.schema(schema))
    except Exception:  # noqa: BLE001 (pyarrow raises various errors)
        raise NotSeen(f"a {type(schema).__name__} is no schema of Arrow") from None
    return Struct(tuple(_field(field) for field in fields))


def _field(field: Any) -> Field:  # noqa: ANN401 (pyarrow's types load only with it)
    return Field(field.name, _type(field.type), nullable=field.nullable)


def _type(type_: Any) -> DataType:  # noqa: ANN401 (as above)
    from pyarrow import types  # noqa: PLC0415 (as above)

    if (leaf := _LEAVES.get(str(type_))) is not None:
        return leaf
    if types.is_decimal(type_):
        return Decimal(type_.precision, type_.scale)
    if types.is_timestamp(type_) and type_.unit == "us":
        return TIMESTAMP
    if types.is_struct(type_):
        return Struct(tuple(_field(type_.field(number)) for number in range(type_.num_fields)))
    if types.is_map(type_):
        return Map(_type(type_.key_type), _type(type_.item_type))
    if types.is_list(type_) or types.is_large_list(type_):
        return Array(_type(type_.value_type))
    raise NotSeen(f"nobody has asked what delta-rs makes of Arrow's {type_}")
