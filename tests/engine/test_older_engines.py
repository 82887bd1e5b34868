"""For each Delta that was asked, the rules report an error exactly for what it refused, with its class.

`disagreements.csv` lists every question about which they differ; `docs/engines.md` counts them.
"""

from __future__ import annotations

import csv
import io
import random
from typing import TYPE_CHECKING, Final

import pytest

from engine.agreement import NO_CLASS, STATES_EXPLAINED, refusals, verdict
from engine.answers import OLDER, PARTS, hosted, record_path
from support.golden import assert_golden

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SAMPLE: Final = 300
RECORDED = [
    (version, part)
    for version in (*OLDER, *hosted())
    for part in PARTS
    if record_path(part, version).exists()
]


@pytest.mark.parametrize(
    ("version", "part"),
    [pytest.param(*each, marks=[pytest.mark.engine] if each[1] == "nested" else []) for each in RECORDED],
)
def test_rules_agree_with_the_record_but_for_the_listed_questions(version: str, part: str) -> None:
    rows = []
    for question, recorded in refusals(part, version).items():
        reported = verdict(part, question, version)
        if reported != recorded:
            rows.append((_text(question), " ".join(recorded) or "accepted", " ".join(reported) or "accepted"))
    path = record_path(part, version).with_name(f"{part}-disagreements.csv")
    assert_golden(_csv(rows), path)


@pytest.mark.parametrize("version", [version for version, part in RECORDED if part == "nested"])
def test_rules_agree_about_a_sample_of_the_nested_types(version: str) -> None:
    """`make engine` asks for all."""
    recorded = refusals("nested", version)
    some = random.Random(1).sample(list(recorded), SAMPLE)  # noqa: S311 (no secret is made of it)
    reported = {question: verdict("nested", question, version) for question in some}
    assert reported == {question: recorded[question] for question in some}


@pytest.mark.parametrize(("version", "part"), RECORDED)
def test_no_listed_question_has_the_opposite_verdict(version: str, part: str) -> None:
    """Where the rules differ, they name another class, or the contract cannot say what was asked."""
    path = record_path(part, version).with_name(f"{part}-disagreements.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    opposite = [row for row in rows if (row["engine"] == "accepted") != (row["rules"] == "accepted")]
    assert [row["question"] for row in opposite if not _is_explained(row["question"])] == []


def _is_explained(question: str) -> bool:
    return any(part in question for part in EXPLAINED)


_ICEBERG: Final = "the session that was asked lacks the jar delta-iceberg, and Delta 4.4 asks for it later"
EXPLAINED: Final[Mapping[str, str]] = {
    **{part.removeprefix("new -> "): reason for part, reason in STATES_EXPLAINED.items()},
    '"delta.universalFormat.enabledFormats": "iceberg"': _ICEBERG,
    "(1,7) rowTracking | delta.enableRowTracking=true": "the table has the value: no plan sets it",
    **dict.fromkeys(
        ("(2,7) columnMapping | delta.enableIcebergCompatV2=true", '"delta.enableIcebergCompatV2": "true"'),
        "Delta 3.2 turns it on for an existing table by REORG alone, and checks no partitions",
    ),
    '.config.x"': "an open set of keys, which Delta 3.2.1 does not know yet: no row",
    '{"delta.minReaderVersion": "3"': "Delta 3.2 makes no such table without a writer version of 7",
    '"struct<x: array<int>>"}, "properties": {"delta.dataSkippingStatsColumns"': (
        "Delta 3.2 looks at the types of a struct's fields, newer releases do not"
    ),
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
