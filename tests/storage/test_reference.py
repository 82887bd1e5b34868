"""Table references: a table, optionally with a version or a time."""

from __future__ import annotations

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.storage import TableReference, parse_reference

MIDNIGHT = 1_793_491_200_000  # 2026-11-01T00:00:00Z


@pytest.mark.parametrize(
    "table", ["/data/orders", "main.sales.orders", "abfss://raw@acme.dfs.core.windows.net/o", "a@b"]
)
@pytest.mark.parametrize(
    ("ending", "version", "at"),
    [
        ("", None, None),
        ("@v0", 0, None),
        ("@V12", 12, None),
        ("@2026-11-01", None, MIDNIGHT),
        ("@2026-11-01T10:00:00Z", None, MIDNIGHT + 36_000_000),
        ("@2026-11-01T10:00:00", None, MIDNIGHT + 36_000_000),
        ("@2026-11-01 10:00:00.250+02:00", None, MIDNIGHT + 28_800_250),
        ("@20261101100000250", None, MIDNIGHT + 36_000_250),
    ],
)
def test_a_version_or_time_after_the_table_is_parsed(
    table: str, ending: str, version: int | None, at: int | None
) -> None:
    assert parse_reference(table + ending) == TableReference(table, version, at)


@pytest.mark.parametrize(
    "reference",
    ["@v1", "orders@v", "orders@v1/day=1", "orders@1", "orders@2026", "orders@v" + "1" * 20, "o@latest"],
)
def test_a_reference_without_a_known_ending_is_a_table(reference: str) -> None:
    assert parse_reference(reference) == TableReference(reference)


def test_an_existing_table_with_that_name_wins_over_a_version() -> None:
    assert parse_reference("/data/o@v1", lambda table: table == "/data/o@v1") == TableReference("/data/o@v1")
    assert parse_reference("/data/o@v1", lambda table: table == "/data/o") == TableReference("/data/o", 1)


@pytest.mark.parametrize("ending", ["2026-13-01", "2026-02-30", "2026-11-01T25:00:00Z", "20261301000000000"])
def test_an_invalid_date_or_time_is_refused(ending: str) -> None:
    with pytest.raises(LiveError, match=f"{ending}' is not a valid date or time"):
        parse_reference(f"orders@{ending}")
