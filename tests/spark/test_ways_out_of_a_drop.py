"""A refused drop names what helps against the rows that stand in its way, and nothing else."""

from __future__ import annotations

import pytest

from schemalint.base.values import replace
from schemalint.delta.datatype import INTEGER
from schemalint.model.table_plan import Fill
from schemalint.spark.fills.fill import Rows
from schemalint.spark.fills.guard import ways_out

FILL = Fill(("number",), INTEGER, ("code",), "cast(code as int)")
EQUAL = Rows(0, 3, to_fill=0, not_converted=0, equal=3, differing=0, refillable=0, inexact=0, spelled=0)


@pytest.mark.parametrize(
    ("rows", "said", "unsaid"),
    [
        (replace(EQUAL, to_fill=1), ("--allow data",), ("keep_",)),
        (replace(EQUAL, not_converted=2), ("keep_null",), ("--allow data", "keep_converted", "keep_new")),
        (replace(EQUAL, inexact=1), ("keep_converted",), ("--allow data", "keep_null")),
        (replace(EQUAL, differing=1), ("keep_new", "refill"), ("--allow data", "keep_null")),
        (replace(EQUAL, to_fill=1, inexact=1), ("--allow data", "keep_converted"), ("keep_null",)),
    ],
    ids=lambda value: value.text() if isinstance(value, Rows) else "",
)
def test_help_fits_the_rows(rows: Rows, said: tuple[str, ...], unsaid: tuple[str, ...]) -> None:
    found = ways_out([(FILL, rows)])
    assert [word for word in said if word not in found] == []
    assert [word for word in unsaid if word in found] == []
