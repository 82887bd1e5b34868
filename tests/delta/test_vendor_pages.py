"""A row that rests on a vendor's page is as old as the page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from schemalint.delta import engine_rows
from schemalint.delta.datatype import INTEGER, LONG
from schemalint.delta.engine import FABRIC_PAGE, FABRIC_READ, parse_engine
from schemalint.delta.engine_answers import changes_type
from schemalint.delta.engine_rows import Page, Span

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("engine", "today", "note"),
    [
        ("databricks 14.3", "2026-11-27", " (documented)"),
        ("databricks 14.3", "2027-11-26", " (documented)"),
        ("databricks 14.3", "2027-11-27", " (documented, by a page read more than a year ago)"),
        ("fabric 1.3", "2027-04-01", " (documented)"),
        ("fabric 1.3", "2027-04-02", " (documented, by a page read more than a year ago)"),
    ],
)
def test_a_finding_says_that_its_page_was_read_long_ago(engine: str, today: str, note: str) -> None:
    answer = changes_type(parse_engine(engine), INTEGER, LONG)
    assert (answer.does, answer.note(dt.date.fromisoformat(today))) == (False, note)
    measured = changes_type(parse_engine("delta-spark 3.3.2"), INTEGER, LONG)
    assert measured.note(dt.date.fromisoformat(today)) == ""


@pytest.mark.parametrize(
    ("engine", "source"),
    [
        ("databricks 14.3", "as docs.databricks.com/delta/type-widening.html says (2026-11-26)"),
        ("fabric 1.3", f"fabric 1.3 is Delta 3.2, as {FABRIC_PAGE} says ({FABRIC_READ})"),
        ("fabric 2.0", f"fabric 1.3 is Delta 3.2, as {FABRIC_PAGE} says ({FABRIC_READ})"),
    ],
)
def test_a_finding_about_a_hosted_engine_names_page_and_date(engine: str, source: str) -> None:
    assert changes_type(parse_engine(engine), INTEGER, LONG).since.endswith(source)


def test_every_page_has_its_day() -> None:
    pages = list(_pages())
    assert len(pages) > 10
    assert all(dt.date.fromisoformat(page.date) <= dt.date(2030, 1, 1) for page in pages)


def _pages() -> Iterator[Page]:
    for value in vars(engine_rows).values():
        spans = value.values() if isinstance(value, Mapping) else [value]
        yield from (span.databricks for span in spans if isinstance(span, Span) and span.databricks)
