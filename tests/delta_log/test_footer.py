"""The leaves of Parquet files, with their types as Delta types."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from schemalint.delta import datatype as dt
from schemalint.delta.footer_summary import Files, FooterSummary, StoredLeaf
from schemalint.delta.path import Part
from schemalint.tables.delta_log.footer import FooterError, read_footer
from schemalint.tables.table_json.footers import summary_from_json, summary_to_json

TYPES: list[tuple[pa.DataType, dt.DataType]] = [
    (pa.bool_(), dt.BOOLEAN),
    (pa.int8(), dt.BYTE),
    (pa.int16(), dt.SHORT),
    (pa.int32(), dt.INTEGER),
    (pa.int64(), dt.LONG),
    (pa.float32(), dt.FLOAT),
    (pa.float64(), dt.DOUBLE),
    (pa.string(), dt.STRING),
    (pa.large_string(), dt.STRING),
    (pa.dictionary(pa.int32(), pa.string()), dt.STRING),
    (pa.binary(), dt.BINARY),
    (pa.binary(4), dt.BINARY),
    (pa.date32(), dt.DATE),
    (pa.timestamp("us", "UTC"), dt.TIMESTAMP),
    (pa.timestamp("ms"), dt.TIMESTAMP_NTZ),
    (pa.decimal128(9, 2), dt.Decimal(9, 2)),
    (pa.decimal128(38, 10), dt.Decimal(38, 10)),
    (pa.uint32(), dt.Unknown("INT32 (INT)")),
    (pa.time64("us"), dt.Unknown("INT64 (TIME)")),
    (pa.timestamp("ns"), dt.Unknown("INT64 (TIMESTAMP)")),
]


def leaves_of(*fields: pa.Field, **options: Any) -> frozenset[StoredLeaf]:  # noqa: ANN401 - pyarrow's own
    content = io.BytesIO()
    parquet.write_table(pa.schema(fields).empty_table(), content, **options)
    return read_footer(io.BytesIO(content.getvalue()))


@pytest.mark.parametrize(("stored", "expected"), TYPES, ids=str)
def test_a_parquet_type_is_read_as_a_delta_type(stored: pa.DataType, expected: dt.DataType) -> None:
    assert {leaf.type for leaf in leaves_of(pa.field("c", stored))} == {expected}


def test_int96_is_read_as_timestamp_as_spark_writes_it() -> None:
    field = pa.field("c", pa.timestamp("us", "UTC"))
    assert {leaf.type for leaf in leaves_of(field, use_deprecated_int96_timestamps=True)} == {dt.TIMESTAMP}


def test_leaves_have_paths_and_field_ids() -> None:
    def field(name: str, type_: pa.DataType, number: int) -> pa.Field:
        return pa.field(name, type_, metadata={"PARQUET:field_id": str(number)})

    inner = pa.struct([field("a.b", pa.int32(), 3), pa.field("element", pa.string())])
    leaves = leaves_of(
        field("lines", pa.list_(inner), 1), field("m", pa.map_(pa.int32(), pa.list_(pa.int64())), 2)
    )
    assert {(leaf.path, leaf.ids, leaf.type) for leaf in leaves} == {
        (("lines", Part.ELEMENT, "a.b"), (1, None, 3), dt.INTEGER),
        (("lines", Part.ELEMENT, "element"), (1, None, None), dt.STRING),
        (("m", Part.KEY), (2, None), dt.INTEGER),
        (("m", Part.VALUE, Part.ELEMENT), (2, None, None), dt.LONG),
    }


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"{}" * 100, b"PAR1" + b"\0" * 50 + b"\xff\xff\xff\x7fPAR1"]
)
def test_a_file_that_is_no_parquet_is_an_error(content: bytes) -> None:
    with pytest.raises(FooterError):
        read_footer(io.BytesIO(content))


def test_a_footer_summary_survives_the_round_trip_through_json() -> None:
    files = Files(7, ("a", "b"))
    leaves = (StoredLeaf(("c", Part.ELEMENT, "x y"), (1, None, None), type_) for _arrow, type_ in TYPES)
    summary = FooterSummary(7, dict.fromkeys(leaves, files), {"it is gone": files})
    assert summary_from_json(summary_to_json(summary)) == summary
