"""Which commits replace all data of a table, judged by their operation."""

from __future__ import annotations

import pytest

from schemalint.delta.table import HistoryEntry
from schemalint.delta.type_history import replaces_all_files


@pytest.mark.parametrize(
    ("operation", "parameters", "replaces"),
    [
        ("WRITE", {"mode": "Overwrite", "partitionBy": "[]", "canOverwriteSchema": "true"}, True),
        ("WRITE", {"mode": "Overwrite", "predicate": "[]"}, True),
        ("WRITE", {"mode": "Append"}, False),
        ("WRITE", {"mode": "Overwrite", "predicate": '["(day = 1)"]'}, False),
        ("WRITE", {"mode": "Overwrite", "isDynamicPartitionOverwrite": "true"}, False),
        ("STREAMING UPDATE", {"outputMode": "Complete"}, True),
        ("STREAMING UPDATE", {"outputMode": "Append"}, False),
        ("CREATE OR REPLACE TABLE AS SELECT", {}, True),
        ("REPLACE TABLE", {}, True),
        ("CLONE", {}, True),
        ("REPLACE COLUMNS", {}, False),
        ("RESTORE", {"version": "1"}, False),
        ("MERGE", {"predicate": "[]"}, False),
        (None, {}, False),
    ],
)
def test_an_operation_replaces_all_files_or_not(
    operation: str | None, parameters: dict[str, str], *, replaces: bool
) -> None:
    entry = HistoryEntry(1, operation=operation, parameters=parameters, removes_files=True)
    assert replaces_all_files(entry) == replaces
