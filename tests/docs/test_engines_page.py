"""`docs/engines.md`: since when the engines do what, and how far the rules agree with the records."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.agreement import refusals
from engine.answers import NEWEST, OLDER, PARTS, hosted, record_path
from schemalint.base.phrases import affixed
from schemalint.base.values import grouped
from schemalint.delta import engine_rows as rows
from support.golden import assert_golden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schemalint.delta.engine_rows import Span

PAGE: Final = Path(__file__).parents[2] / "docs/engines.md"
HEAD: Final = Path(__file__).with_name("engines_head.md")
COUNTED: Final = Path(__file__).with_name("engines_counts.md")
_KINDS: Final = {
    "`byte` to `short` or `int`, `short` to `int`": rows.SMALL_INTEGERS,
    "integers to `long`, `float` to `double`, `date` to `timestamp_ntz`, more digits": rows.SAME_KIND,
    "integers to `double` or a decimal, another scale": rows.OTHER_KIND,
    "`void` to another type": rows.FROM_VOID,
}
_COLUMN_KINDS: Final = {
    "generated": "`CREATE TABLE` with a generated column",
    "identity": "`CREATE TABLE` with an identity column",
    "default": "a default value",
}


def test_page_of_the_engines_shows_all_rows_and_counts() -> None:
    assert_golden("\n".join([*_lines(), ""]), PAGE)


def _lines() -> Iterator[str]:
    yield from HEAD.read_text("utf-8").splitlines()
    columns = {_COLUMN_KINDS[kind]: span for kind, span in rows.COLUMN_SPANS.items()}
    yield from _releases("Changes of types, and columns of new tables", {**_KINDS, **columns})
    yield from _releases("Table features that an engine can write", _quoted(rows.FEATURE_SPANS))
    yield from _releases("Features that can be dropped, and no others", _quoted(rows.DROP_SPANS))
    properties = {**rows.PROPERTY_SPANS, **rows.OLDER_PROPERTIES}
    yield from _releases("Table properties that not all releases know", _quoted(properties))
    yield from ("", "## What the engines answered", "")
    yield from COUNTED.read_text("utf-8").splitlines()
    yield from ("", "| Delta | answers | other than 4.4.0 | the rules agree |")
    yield "| --- | ---: | ---: | ---: |"
    yield from _counts()


def _quoted(spans: Mapping[str, Span]) -> dict[str, Span]:
    return {f"`{name}`": span for name, span in spans.items()}


def _releases(title: str, spans: Mapping[str, Span]) -> Iterator[str]:
    """Yield a table: a row for each release of Delta, and for each runtime of Databricks with its page."""
    releases = grouped(
        (f"Delta {span.since}" if span.since else "no Delta", (_limits(span), name))
        for name, span in spans.items()
    )
    by_release = {release: "; ".join(_limited(named)) for release, named in releases.items()}
    pages = grouped(
        (f"Databricks {page.since} ({page.address}, {page.date})", name)
        for name, span in spans.items()
        if (page := span.databricks) is not None
    )
    by_release |= {page: ", ".join(names) for page, names in pages.items()}
    yield from ("", f"## {title}", "", "| since | |", "| --- | --- |")
    yield from (f"| {release} | {names} |" for release, names in sorted(by_release.items(), key=_order))


def _limited(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the names, those with the same limits together."""
    for limits, names in sorted(grouped(named).items()):
        yield affixed("", limits, ": ") + ", ".join(names)


def _limits(span: Span) -> str:
    limits = [f"until before {span.until}"] if span.until else []
    limits += [f"unknown between {span.not_before} and {span.since}"] if span.not_before else []
    return "; ".join(limits)


def _order(release: tuple[str, str]) -> tuple[bool, list[int]]:
    name = release[0]
    return name.startswith("Databricks"), [int(number) for number in re.findall(r"\d+", name)]


def _counts() -> Iterator[str]:
    for version in (*OLDER, NEWEST, *hosted()):
        asked, other, agreeing = 0, 0, 0
        for part in PARTS:
            if record_path(part, version).exists():
                answers, newest = refusals(part, version), refusals(part)
                asked += len(answers)
                other += sum(bool(answer) != bool(newest[question]) for question, answer in answers.items())
                agreeing += len(answers) - _disagreeing(version, part)
        agreed = "as `tests/engine` says" if version == NEWEST else f"{agreeing:,}"
        yield f"| {version} | {asked:,} | {other:,} | {agreed} |"


def _disagreeing(version: str, part: str) -> int:
    path = record_path(part, version).with_name(f"{part}-disagreements.csv")
    if not path.exists():
        return 0
    with path.open(encoding="utf-8", newline="") as file:
        return len(list(csv.DictReader(file)))
