"""The statements about the rows of a fill; all are made of one `FillValue`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from schemalint.base.phrases import affixed
from schemalint.model.table_plan import Fill
from schemalint.planner.fills.values import FillValue, fill_value
from schemalint.planner.statements import path_text

RowKind: TypeAlias = Literal["not converted", "inexact", "differing"]

_KEPT: Final = "has_source AND ((NOT has_new AND converts) OR (has_new AND is_equal))"
_KINDS: Final[Mapping[str, str]] = {
    "not converted": "has_source AND NOT has_new AND NOT converts",
    "inexact": f"{_KEPT} AND is_inexact",
    "differing": "has_source AND has_new AND NOT is_equal",
}
"""The conditions of the rows that keep a source from being dropped, without those to fill."""

_NAMES: Final = re.compile(r"\b(has_source|has_new|converts|is_equal|is_inexact|difference|is_spelled)\b")


def fill_rows(table: str, fill: Fill, *, within: str = "") -> str:
    """Write the value of a fill into the rows that are to be filled; maybe into some of them only."""
    value = fill_value(fill)
    part = affixed("\n  AND (", within, ")")
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

    The columns of the answer are the fields of `schemalint.spark.fills.fill.Rows`, in that order, and after
    them the other aggregates that are asked for.
    """
    counts = (
        "count(*)",
        "count_if(has_source AND NOT has_new AND converts)",
        f"count_if({_KINDS['not converted']})",
        "count_if(has_source AND has_new AND is_equal)",
        f"count_if({_KINDS['differing']})",
        f"count_if({_KINDS['differing']} AND converts)",
        f"count_if({_KINDS['inexact']})",
        f"count_if({_KEPT} AND is_spelled)",
        f"CAST(max(if({_KEPT}, difference, NULL)) AS string)",
    )
    rows = _rows(table, fill, version, has_column=has_column)
    return f"SELECT {', '.join((*map(_made, counts), *more))}\nFROM ({rows})"


def sample_rows(table: str, fill: Fill, version: int, kind: RowKind, most: int) -> str:
    """Return some values of the source, beside the value that the column has, or would have if it is null."""
    value = fill_value(fill)
    source = f"CAST({path_text(fill.source)} AS string)"
    new = f"CAST(coalesce({value.column}, {value.value}) AS string)"
    rows = _rows(table, fill, version, has_column=True)
    return f"SELECT DISTINCT {source}, {new}\nFROM ({rows})\nWHERE {_made(_KINDS[kind])} LIMIT {most}"


def _rows(table: str, fill: Fill, version: int, *, has_column: bool) -> str:
    """Return the rows of a version, with what `_KINDS` needs of each."""
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
    inner = ",\n  ".join(f"{text} AS {_made(name)}" for name, text in columns.items())
    return f"SELECT *,\n  {inner}\nFROM {table} VERSION AS OF {version}"


def _made(text: str) -> str:
    """Return a text whose names are other ones than those of the table's own columns."""
    return _NAMES.sub(r"`schemalint.\1`", text)
