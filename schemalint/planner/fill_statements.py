"""The statements about the rows of a fill; all are made of one `FillValue`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemalint.model.table_plan import Fill
from schemalint.planner.fill_values import FillValue, fill_value
from schemalint.planner.statements import path_text


def fill_rows(table: str, fill: Fill, *, within: str = "") -> str:
    """Write the value of a fill into the rows that are to be filled; maybe into some of them only."""
    value = fill_value(fill)
    part = f"\n  AND ({within})" if within else ""
    return f"UPDATE {table}\nSET {path_text(fill.column)} = {value.value}\nWHERE {to_fill(fill, value)}{part}"


def to_fill(fill: Fill, value: FillValue) -> str:
    """Return the condition of the rows that an UPDATE fills.

    They have a source with a value, and a value that converts; the column is null, or has another value, and
    the old column is declared to be the truth.
    """
    is_open = f"{path_text(fill.column)} IS NULL"
    if fill.ways_out.differing == "refill":
        is_open = f"NOT ({value.equal})"
    return f"{is_open} AND ({value.counts})\n  AND {value.converts}"


def count_rows(
    table: str, fill: Fill, version: int, more: Sequence[str] = (), *, has_column: bool = True
) -> str:
    """Count the rows of a version; each row with a source that has a value is of one of four kinds.

    The columns of the answer are the fields of `schemalint.spark.fill.Rows`, in that order, and after them
    the other aggregates that are asked for.
    """
    value = fill_value(fill, has_column=has_column)
    columns = {
        "has_source": value.counts,
        "has_new": f"{value.column} IS NOT NULL",
        "converts": value.converts,
        "is_equal": f"NOT ({value.failed}) AND {value.equal}",
        "is_inexact": value.inexact or "false",
        "difference": value.difference or "CAST(NULL AS decimal(38,18))",
        "is_spelled": value.spelled or "false",
    }
    kept = "has_source AND ((NOT has_new AND converts) OR (has_new AND is_equal))"
    counts = (
        "count(*)",
        "count_if(has_source AND NOT has_new AND converts)",
        "count_if(has_source AND NOT has_new AND NOT converts)",
        "count_if(has_source AND has_new AND is_equal)",
        "count_if(has_source AND has_new AND NOT is_equal)",
        "count_if(has_source AND has_new AND NOT is_equal AND converts)",
        f"count_if({kept} AND is_inexact)",
        f"count_if({kept} AND is_spelled)",
        f"CAST(max(if({kept}, difference, NULL)) AS string)",
    )
    # The table's own columns are in the subquery too: the names that are made here must be other ones.
    names = re.compile(rf"\b({'|'.join(columns)})\b")
    made = [names.sub(r"`schemalint.\1`", count) for count in counts]
    inner = ",\n  ".join(f"{text} AS `schemalint.{name}`" for name, text in columns.items())
    rows = f"SELECT *,\n  {inner}\nFROM {table} VERSION AS OF {version}"
    return f"SELECT {', '.join((*made, *more))}\nFROM ({rows})"
