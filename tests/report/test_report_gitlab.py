"""Code Quality reports have what GitLab's documentation requires."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemalint.base.values import replace
from schemalint.model.finding import CheckResult
from schemalint.report.findings import gitlab
from support.report_cases import all_cases, result_of

SEVERITIES = {"info", "minor", "major", "critical", "blocker"}
REQUIRED = {"description", "check_name", "fingerprint", "severity", "location"}


def entries(result: CheckResult) -> list[dict[str, Any]]:
    """Return the entries of a report."""
    found: list[dict[str, Any]] = json.loads(gitlab.render(result))
    return found


@pytest.mark.parametrize("case", all_cases())
def test_each_entry_has_all_required_fields(case: str) -> None:
    for entry in entries(result_of(case)):
        assert entry.keys() == REQUIRED
        assert entry["severity"] in SEVERITIES
        assert entry["location"].keys() == {"path", "lines"}
        assert entry["location"]["lines"]["begin"] >= 1
        assert entry["description"].isprintable()


def test_findings_with_one_identity_have_fingerprints_of_their_own() -> None:
    result = result_of("several_severities")
    (first, *_) = [finding for finding in result.findings if not finding.existing]
    twice = replace(result, findings=(first, first))
    one, two = (entry["fingerprint"] for entry in entries(twice))
    assert one != two
    assert [one] == [entry["fingerprint"] for entry in entries(replace(result, findings=(first,)))]


def test_moved_lines_and_other_words_keep_the_fingerprint() -> None:
    result = result_of("several_severities")
    (first, *_) = result.findings
    moved = replace(first, message="reworded", location=replace(first.location, line=90))
    before, after = (entries(replace(result, findings=(each,)))[0] for each in (first, moved))
    assert before["fingerprint"] == after["fingerprint"]
    assert before["description"] != after["description"]


@pytest.mark.parametrize(
    ("case", "names"),
    [
        ("clean", set()),
        ("errors_only", {"failure"}),
        ("nothing_compared", {"skipped", "nothing-compared"}),
    ],
)
def test_only_a_clean_run_is_empty(case: str, names: set[str]) -> None:
    assert {entry["check_name"] for entry in entries(result_of(case))} == names


def test_approved_findings_are_no_entries() -> None:
    result = result_of("pull_request")
    assert result.approved
    assert entries(result) == entries(replace(result, approved=()))
