"""The texts of a fill, asked of the engine: the value, where it fails, and whether it is the same value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import Field, Struct
from schemalint.delta.type_text import parse_type
from schemalint.model.table_plan import Fill
from schemalint.planner.fills.values import fill_value
from schemalint.spark.session_settings import required_settings
from spark.fill_value_cases import CASES, FAILS

if TYPE_CHECKING:
    from schemalint.spark.statements import SqlSession

pytestmark = pytest.mark.spark


def marks(session: SqlSession, old: str, expression: str, new: str, values: list[str]) -> list[str]:
    """Return what becomes of values, as `fill_value_cases` writes it; the column has the value already."""
    fill = Fill(("new",), parse_type(new), ("a",), expression, Struct((Field("a", parse_type(old)),)))
    texts = fill_value(fill)
    rows = " UNION ALL ".join(
        f"SELECT {number} AS id, CAST({value} AS {old}) AS a" for number, value in enumerate(values)
    )
    answers = session.sql(
        f"SELECT id, CAST(new AS string), {texts.converts}, {texts.failed}, {texts.equal}, "
        f"{texts.inexact or 'NULL'} FROM (SELECT id, a, {texts.value} AS new FROM ({rows})) ORDER BY id"
    ).collect()
    found = []
    for _id, value, converts, failed, is_equal, inexact in answers:
        assert converts in (True, False)
        assert failed in (True, False)
        if not converts:
            found.append(FAILS)
            continue
        assert is_equal is True
        found.append(f"{'?' if inexact is None else '~' if inexact else '='} {value}")
    return found


EACH_TIME = (
    "double of text",
    "date of text",
    "timestamp of a text that is made",
    "double of an integer",
    "varchar",
    "char",
    "a default for what does not convert",
    "a choice inside a text",
    "an element that fails",
    "a struct that is made",
    "keys that become one",
)
"""A case of each part of a value: what fails, what is asked for, what is inexact, what is stored."""


@pytest.mark.each_time(*EACH_TIME)
@pytest.mark.parametrize("name", CASES)
def test_a_value_converts_fails_or_changes_as_its_words_say(spark: SqlSession, name: str) -> None:
    old, expression, new, rows = CASES[name]
    with required_settings(spark):
        found = marks(spark, old, expression, new, list(rows))
    assert dict(zip(rows, found, strict=True)) == rows
