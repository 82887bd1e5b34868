"""Matching the leaves of Parquet files to columns by field id or physical name."""

from __future__ import annotations

import pytest

from schemalint.delta.datatype import INTEGER, LONG, Array, Field, Struct
from schemalint.delta.footer_summary import Files, FooterSummary, Standing, StoredLeaf, physical_types
from schemalint.delta.path import Part, Path
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata, TableState

COLUMNS = Struct(
    (
        Field("id", LONG, column_id=1, physical_name="col-1"),
        Field(
            "lines",
            Array(Struct((Field("qty", LONG, column_id=3, physical_name="col-3"),))),
            column_id=2,
            physical_name="col-2",
        ),
    )
)


def stored(mode: str, *leaves: StoredLeaf) -> list[tuple[Path, Standing]]:
    state = TableState(COLUMNS, properties={"delta.columnMapping.mode": mode})
    table = LiveTable("/t", 0, Protocol(2, 5), Metadata("id", state))
    summary = FooterSummary(1, dict.fromkeys(leaves, Files(1, ("a",))))
    return [(type_.path, type_.standing) for type_ in physical_types(table, summary).types]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("id", [(("id",), Standing.CURRENT), (("lines", Part.ELEMENT, "qty"), Standing.UNRECORDED)]),
        ("name", [(("lines", Part.ELEMENT, "qty"), Standing.CURRENT)]),
    ],
)
def test_columns_are_matched_by_id_or_by_physical_name(
    mode: str, expected: list[tuple[Path, Standing]]
) -> None:
    by_id = StoredLeaf(("old",), (1,), LONG)
    by_id_within = StoredLeaf(("l", Part.ELEMENT, "q"), (2, None, 3), INTEGER)
    by_name = StoredLeaf(("col-2", Part.ELEMENT, "col-3"), (9, None, 9), LONG)
    assert stored(mode, by_id, by_id_within, by_name) == expected


def test_physical_names_are_case_sensitive() -> None:
    assert stored("name", StoredLeaf(("COL-1",), (None,), LONG)) == []


def test_example_files_are_kept_in_order() -> None:
    leaf = StoredLeaf(("id",), (None,), LONG)
    state = TableState(Struct((Field("id", LONG),)))
    table = LiveTable("/t", 0, Protocol(1, 2), Metadata("id", state))
    summary = FooterSummary(5, {leaf: Files(5, ("a", "b", "c"))})
    assert physical_types(table, summary).types[0].files == Files(5, ("a", "b", "c"))
