"""The leaves of Parquet files, with their types in Delta's words."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from schemalint.delta import datatype as dt
from schemalint.delta.footer_summary import Files, FooterSummary, StoredLeaf
from schemalint.delta.path import Part
from schemalint.delta_log.footer import FooterError, read_footer
from schemalint.table_json.footers import summary_from_json, summary_to_json

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


def written(*fields: pa.Field, **options: Any) -> frozenset[StoredLeaf]:  # noqa: ANN401 - pyarrow's own
    content = io.BytesIO()
    parquet.write_table(pa.schema(fields).empty_table(), content, **options)
    return read_footer(io.BytesIO(content.getvalue()))


@pytest.mark.parametrize(("stored", "expected"), TYPES, ids=str)
def test_types(stored: pa.DataType, expected: dt.DataType) -> None:
    assert {leaf.type for leaf in written(pa.field("c", stored))} == {expected}


def test_spark_writes_instants_as_int96() -> None:
    field = pa.field("c", pa.timestamp("us", "UTC"))
    assert {leaf.type for leaf in written(field, use_deprecated_int96_timestamps=True)} == {dt.TIMESTAMP}


def test_leaves_have_their_paths_and_field_ids() -> None:
    def field(name: str, type_: pa.DataType, number: int) -> pa.Field:
        return pa.field(name, type_, metadata={"PARQUET:field_id": str(number)})

    inner = pa.struct([field("a.b", pa.int32(), 3), pa.field("element", pa.string())])
    leaves = written(
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
def test_what_is_no_parquet_file_is_told(content: bytes) -> None:
    with pytest.raises(FooterError):
        read_footer(io.BytesIO(content))


def test_a_tally_survives_the_way_there_and_back() -> None:
    files = Files(7, ("a", "b"))
    leaves = (StoredLeaf(("c", Part.ELEMENT, "x y"), (1, None, None), type_) for _arrow, type_ in TYPES)
    tally = FooterSummary(7, dict.fromkeys(leaves, files), {"it is gone": files})
    assert summary_from_json(summary_to_json(tally)) == tally
