"""A row that rests on a vendor's page is as old as the page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from schemalint.delta import engine_rows
from schemalint.delta.datatype import INTEGER, LONG
from schemalint.delta.engine import parse_engine
from schemalint.delta.engine_answers import changes_type
from schemalint.delta.engine_rows import Page, Span

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("today", "note"),
    [
        ("2026-11-27", " (documented)"),
        ("2027-11-26", " (documented)"),
        ("2027-11-27", " (documented, by a page read more than a year ago)"),
    ],
)
def test_a_finding_says_that_its_page_was_read_long_ago(today: str, note: str) -> None:
    answer = changes_type(parse_engine("databricks 14.3"), INTEGER, LONG)
    assert (answer.does, answer.note(dt.date.fromisoformat(today))) == (False, note)
    measured = changes_type(parse_engine("delta-spark 3.3.2"), INTEGER, LONG)
    assert measured.note(dt.date.fromisoformat(today)) == ""


def test_every_page_has_its_day() -> None:
    pages = list(_pages())
    assert len(pages) > 10
    assert all(dt.date.fromisoformat(page.date) <= dt.date(2030, 1, 1) for page in pages)


def _pages() -> Iterator[Page]:
    for value in vars(engine_rows).values():
        spans = value.values() if isinstance(value, Mapping) else [value]
        yield from (span.databricks for span in spans if isinstance(span, Span) and span.databricks)
