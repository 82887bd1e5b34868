"""Comments and job summaries: short enough for GitHub, the worst first, and without markup of strangers."""

from __future__ import annotations

import re

import pytest

from schemalint.base.values import replace
from schemalint.model.finding import CheckResult, Severity
from schemalint.report.findings import markdown
from schemalint.report.text_helpers import MOST_CHARACTERS
from support.report_cases import all_cases, result_of

GITHUB_ACCEPTS = 65_536


def many(number: int) -> CheckResult:
    """Return a result whose only error comes last."""
    result = result_of("several_severities")
    info, error, *_ = result.findings
    assert (info.severity, error.severity) == (Severity.INFO, Severity.ERROR)
    return replace(result, findings=(*(info for _ in range(number)), error))


def test_a_long_report_keeps_the_worst_and_says_how_many_are_missing() -> None:
    text = markdown.render(many(2_000))
    assert 50_000 < len(text) <= MOST_CHARACTERS < GITHUB_ACCEPTS
    sections = re.findall(r"^#### (\w+)", text, re.MULTILINE)
    assert sections[0] == "error"
    (left,) = re.findall(r"^\*\*([\d,]+) more\*\*", text, re.MULTILINE)
    assert int(left.replace(",", "")) + len(sections) == 2_001
    assert "2 findings that the base has too" not in text
    assert "2,000 infos" not in text  # the summary counts as the other formats do
    assert "2000 infos" in text.replace("&#44;", ",")


def test_a_report_that_fits_is_whole() -> None:
    text = markdown.render(many(20))
    assert len(re.findall(r"^#### ", text, re.MULTILINE)) == 21
    assert " more**" not in text


def test_long_texts_of_strangers_leave_room_for_others() -> None:
    result = result_of("several_severities")
    loud = replace(result.findings[1], message="x" * 500_000)
    text = markdown.render(replace(result, findings=(loud, result.findings[0])))
    assert len(text) < MOST_CHARACTERS
    assert "becomes the last but one" in text


def test_what_the_change_approves_comes_first_and_findings_are_counted_by_owner() -> None:
    text = markdown.render(result_of("pull_request"))
    approved, owners, first = (
        text.index(part) for part in ("**Approved in this change**", "| owner", "####")
    )
    assert approved < owners < first
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| <code>")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["<code>&#64;sales</code>", "1", "1", "0", "0"],
        ["<code>no owner declared</code>", "1", "0", "1", "0"],
    ]


def test_the_ways_out_end_a_finding() -> None:
    text = markdown.render(result_of("pull_request"))
    section = text[text.index("#### error") :]
    ways = [section.index(f"**{way}**") for way in ("do", "or approve", "or ask")]
    assert ways == sorted(ways)
    assert "via: rewrite" in section


@pytest.mark.parametrize("case", all_cases())
def test_outside_of_code_nobody_is_mentioned_and_nothing_is_linked(case: str) -> None:
    text = markdown.render(result_of(case), show_existing=True)
    without_code = re.sub(
        r"^ *```yaml\n.*?^ *```$|<code>.*?</code>", "", text, flags=re.DOTALL | re.MULTILINE
    )
    assert not re.search(r"@|&#64;|://|\]\(|<", without_code)
