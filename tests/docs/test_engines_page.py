"""`docs/engines.md`: since when the engines do what, and how far the rules agree with the records."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.agreement import refusals
from engine.answers import NEWEST, OLDER, PARTS, hosted, record_path
from schemalint.delta import engine_rows as rows
from support.golden import assert_golden

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.delta.engine_rows import Span

PAGE: Final = Path(__file__).parents[2] / "docs/engines.md"
HEAD: Final = Path(__file__).with_name("engines_head.md")
COUNTED: Final = Path(__file__).with_name("engines_counts.md")
_KINDS: Final = (
    ("`byte` to `short` or `int`, `short` to `int`", rows.SMALL_INTEGERS),
    ("integers to `long`, `float` to `double`, `date` to `timestamp_ntz`, more digits", rows.SAME_KIND),
    ("integers to `double` or a decimal, another scale", rows.OTHER_KIND),
    ("`void` to another type", rows.FROM_VOID),
)
_COLUMN_KINDS: Final = {
    "generated": "`CREATE TABLE` with a generated column",
    "identity": "`CREATE TABLE` with an identity column",
    "default": "a column with a default value",
}


def test_page_of_the_engines_shows_all_rows_and_counts() -> None:
    assert_golden("\n".join([*_lines(), ""]), PAGE)


def _lines() -> Iterator[str]:
    yield from HEAD.read_text("utf-8").splitlines()
    yield from ("", "## Type changes", "")
    yield from _table("change in place", dict(_KINDS))
    yield from ("", "## Columns of new tables", "")
    yield from _table("statement", {_COLUMN_KINDS[kind]: span for kind, span in rows.COLUMN_SPANS.items()})
    yield from ("", "## Table features", "", "*Known*: the engine writes a table with the feature.", "")
    yield from _table("feature", rows.FEATURE_SPANS)
    yield from ("", "## Features that can be dropped", "", "No version drops a feature without a row.", "")
    yield from _table("feature", rows.DROP_SPANS)
    yield from ("", "## Table properties", "", "All versions know a property without a row.", "")
    yield from _table("property", {**rows.PROPERTY_SPANS, **rows.OLDER_PROPERTIES})
    yield from ("", "## What the engines answered", "")
    yield from COUNTED.read_text("utf-8").splitlines()
    yield from ("", "| Delta | questions about | answers | other than 4.4.0 | the rules agree |")
    yield "| --- | --- | ---: | ---: | ---: |"
    yield from _counts()


def _table(what: str, spans: Mapping[str, Span]) -> Iterator[str]:
    yield f"| {what} | Delta, since | until before | unknown between | Databricks, since |"
    yield "| --- | --- | --- | --- | --- |"
    for name, span in spans.items():
        unknown = f"{span.not_before} and {span.since}" if span.not_before else ""
        page = span.databricks
        databricks = f"{page.since} ({page.address}, {page.date})" if page else "unknown"
        text = name if "`" in name else f"`{name}`"
        yield f"| {text} | {span.since or 'none'} | {span.until or ''} | {unknown} | {databricks} |"


def _counts() -> Iterator[str]:
    for version in (*OLDER, NEWEST, *hosted()):
        for part in PARTS:
            if not record_path(part, version).exists():
                continue
            answers, newest = refusals(part, version), refusals(part)
            other = sum(bool(answer) != bool(newest[question]) for question, answer in answers.items())
            agreeing = _agreeing(version, part, len(answers))
            yield f"| {version} | {part} | {len(answers):,} | {other:,} | {agreeing} |"


def _agreeing(version: str, part: str, questions: int) -> str:
    path = record_path(part, version).with_name(f"{part}-disagreements.csv")
    if not path.exists():
        return "as `tests/engine` says"
    with path.open(encoding="utf-8", newline="") as file:
        return f"{questions - len(list(csv.DictReader(file))):,}"
