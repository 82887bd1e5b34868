"""For each Delta that was asked, the rules report an error exactly for what it refused, with its class.

`disagreements.csv` lists every question about which they differ; `docs/engines.md` counts them.
"""

from __future__ import annotations

import csv
import io
import random
from typing import TYPE_CHECKING, Final

import pytest

from engine.agreement import NO_CLASS, OF_DATABRICKS, STATES_EXPLAINED, refusals, verdict
from engine.answers import OLDER, PARTS, hosted, record_path
from schemalint.model.finding import Severity
from support.golden import assert_golden

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SAMPLE: Final = 300
ASKED_WHOLE_BY: Final = {"nested": pytest.mark.engine, "types": pytest.mark.answers}
"""The largest records, of which `make test` takes a sample."""
RECORDED = [
    (version, part)
    for version in (*OLDER, *hosted())
    for part in PARTS
    if record_path(part, version).exists()
]


@pytest.mark.parametrize(
    ("version", "part"),
    [pytest.param(*each, marks=ASKED_WHOLE_BY.get(each[1], pytest.mark.wide)) for each in RECORDED],
)
def test_rules_agree_with_the_record_but_for_the_listed_questions(version: str, part: str) -> None:
    rows = []
    for question, recorded in refusals(part, version).items():
        reported = verdict(part, question, version)
        if reported != recorded:
            rows.append((_text(question), " ".join(recorded) or "accepted", " ".join(reported) or "accepted"))
    path = record_path(part, version).with_name(f"{part}-disagreements.csv")
    assert_golden(_csv(rows), path)


@pytest.mark.wide
@pytest.mark.parametrize(("version", "part"), [each for each in RECORDED if each[1] in ASKED_WHOLE_BY])
def test_rules_agree_about_a_sample_of_the_types(version: str, part: str) -> None:
    """Other targets ask for all."""
    recorded = refusals(part, version)
    some = random.Random(1).sample(list(recorded), SAMPLE)  # noqa: S311 (no secret is made of it)
    listed = _listed(version, part)
    reported = {question: verdict(part, question, version) for question in some}
    differing = {_text(question) for question in some if reported[question] != recorded[question]}
    assert differing == {_text(question) for question in some} & listed.keys()


@pytest.mark.parametrize(("version", "part"), RECORDED)
def test_no_listed_question_has_the_opposite_verdict(version: str, part: str) -> None:
    """Where the rules differ, they name another class, warn with that of the engine, or have a reason."""
    opposite = _opposite(version, part)
    assert [text for text in opposite if not any(reason in text for reason in EXPLAINED)] == []


def test_every_reason_explains_a_question() -> None:
    opposite = [text for version, part in RECORDED for text in _opposite(version, part)]
    assert [part for part in EXPLAINED if not any(part in text for text in opposite)] == []


def _opposite(version: str, part: str) -> list[str]:
    """Return the listed questions about which the rules say the opposite, and do not warn either."""
    rows = _listed(version, part)
    recorded = {_text(question): question for question in refusals(part, version)} if rows else {}
    return [
        text
        for text, row in rows.items()
        if (row["engine"] == "accepted") != (row["rules"] == "accepted")
        and row["engine"] not in verdict(part, recorded[text], version, Severity.WARNING)
    ]


def _listed(version: str, part: str) -> dict[str, dict[str, str]]:
    """Return the listed disagreements by question."""
    path = record_path(part, version).with_name(f"{part}-disagreements.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["question"]: row for row in csv.DictReader(file)}


EXPLAINED: Final[Mapping[str, str]] = {
    **{
        part.removeprefix("new -> "): reason
        for part, reason in STATES_EXPLAINED.items()
        if part != OF_DATABRICKS
    },
    "(1,7) rowTracking | delta.enableRowTracking=true": "the table has the value: no plan sets it",
    **dict.fromkeys(
        ('"delta.redirectReaderWriter-preview": ', '"delta.redirectWriterOnly-preview": '),
        "Delta 3.3 takes any value for an existing table; nobody but Delta itself sets one",
    ),
}
"""Why the rules may say the opposite, by a part of the question."""


def _text(question: object) -> str:
    assert isinstance(question, tuple)
    return " | ".join(str(part) for part in question)


def _csv(rows: Iterable[tuple[str, str, str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["question", "engine", "rules"])
    writer.writerows(rows)
    assert NO_CLASS
    return text.getvalue()
