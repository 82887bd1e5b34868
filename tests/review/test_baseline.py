"""Findings of the past: which of a run's findings a baseline covers, and what is written."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.base.errors import ConfigError, Location
from schemalint.base.values import replace
from schemalint.model.finding import CheckResult, Finding, ObjectRef, Run, Severity, SideRef
from schemalint.review.approve import ExceptionResult, approve
from schemalint.review.baseline import Baseline, read_baseline, rewritten, text_of, unused

if TYPE_CHECKING:
    from collections.abc import Iterable

FINDING = Finding(
    "TW001", "illegal-narrowing", Severity.WARNING, "a message", "sales.orders",
    ObjectRef("column", "id"), Location("a.yml", 3), path=("id",), old="bigint", new="int",
)  # fmt: skip
OTHER = replace(FINDING, code="CM001")


def _approve(baseline: Baseline | None, *findings: Finding) -> ExceptionResult:
    return approve(findings, (), (), dt.date(2026, 6, 15), baseline)


def _baseline(findings: Iterable[Finding], merged: Iterable[Finding] | None = None) -> Baseline:
    """Return the baseline that was written for findings, and read again."""

    def read(some: Iterable[Finding]) -> tuple[Any, str]:
        text = text_of(rewritten(None, some, {}, lambda _entry: True, grow=False))
        return read_baseline("b.json", text.encode()), text

    entries, text = read(findings)
    return Baseline("b.json", entries, None if merged is None else read(merged)[0], text=text)


def _is_covered(baseline: Baseline, *findings: Finding) -> list[bool]:
    return [finding.in_baseline for finding in _approve(baseline, *findings).remaining]


def test_a_finding_is_found_again_without_its_line_message_and_file() -> None:
    moved = replace(FINDING, message="another", help="x", location=Location("b/c.yml", 70), against=("live",))
    assert _is_covered(_baseline([FINDING]), moved, OTHER) == [True, False]
    for changed in (
        {"new": "smallint"}, {"path": ("ID2",)}, {"table": "sales.o"}, {"code": "TW002"}, {"target": "prod"},
        {"object": ObjectRef("table", "")}, {"severity": Severity.ERROR},
    ):  # fmt: skip
        assert _is_covered(_baseline([FINDING]), replace(FINDING, **changed)) == [False], changed


def test_an_entry_covers_as_many_findings_as_there_were() -> None:
    again = replace(FINDING, message="b")
    assert _is_covered(_baseline([FINDING]), FINDING, again) == [True, False]
    assert _is_covered(_baseline([FINDING, again]), FINDING, again) == [True, True]


def test_a_covered_finding_is_existing_and_never_fails() -> None:
    found = _approve(_baseline([FINDING]), FINDING, OTHER)
    result = CheckResult(Run(None, SideRef("worktree")), found.remaining)
    strict = replace(result, counts_existing=True, fail_on=Severity.INFO)
    assert [finding.existing for finding in result.findings] == [True, False]
    for each in (result, strict):
        assert [finding.code for finding in each.counted] == ["CM001"]
    assert [strict.fails(finding) for finding in strict.findings] == [False, True]


def test_what_a_change_adds_is_an_approval_or_does_not_count() -> None:
    both = _baseline([FINDING, OTHER], merged=[FINDING])
    found = _approve(both, FINDING, OTHER)
    assert [(each.finding.code, each.by.added, each.by.location.line) for each in found.approved] == [
        ("CM001", True, 4)
    ]
    assert [finding.in_baseline for finding in found.remaining] == [True]
    found = _approve(replace(both, void=lambda _finding: True), FINDING, OTHER)
    assert ([finding.in_baseline for finding in found.remaining], found.approved) == ([True, False], ())


def test_a_count_or_severity_that_a_change_raises_is_added_by_it() -> None:
    twice = _baseline([FINDING, FINDING], merged=[FINDING])
    found = _approve(replace(twice, void=lambda _finding: True), FINDING, FINDING)
    assert [finding.in_baseline for finding in found.remaining] == [True, False]
    severe = replace(FINDING, severity=Severity.ERROR)
    baseline = replace(_baseline([severe], merged=[FINDING]), void=lambda _finding: True)
    assert _is_covered(baseline, severe) == [False]


def test_findings_about_the_gate_and_about_exceptions_are_in_no_baseline() -> None:
    gate = [replace(FINDING, code=code) for code in ("CF001", "CF002", "CT005", "PF004")]
    assert rewritten(None, gate, {}, lambda _entry: True, grow=True) == ()


def _codes(
    baseline: Baseline | None, *findings: Finding, grow: bool, judged: bool = True
) -> list[tuple[str, int]]:
    found = _approve(baseline, *findings)
    entries = rewritten(baseline, found.remaining, found.covered, lambda _entry: judged, grow=grow)
    return sorted((entry.code, entry.count) for entry in entries)


def test_writing_removes_and_only_grow_adds() -> None:
    baseline = _baseline([FINDING, FINDING])
    assert _codes(None, FINDING, OTHER, grow=False) == [("CM001", 1), ("TW001", 1)]
    assert _codes(baseline, OTHER, grow=False) == []
    assert _codes(baseline, FINDING, OTHER, grow=False) == [("TW001", 1)]
    assert _codes(baseline, FINDING, OTHER, grow=True) == [("CM001", 1), ("TW001", 1)]
    assert _codes(baseline, FINDING, FINDING, FINDING, grow=False) == [("TW001", 2)]
    assert _codes(baseline, FINDING, FINDING, FINDING, grow=True) == [("TW001", 3)]
    assert _codes(baseline, OTHER, grow=False, judged=False) == [("TW001", 2)]


def test_entries_that_cover_too_few_findings_are_unused_if_the_run_judged_them() -> None:
    baseline = _baseline([FINDING, FINDING, OTHER])
    used = _approve(baseline, FINDING, OTHER).covered
    (entry,) = unused(baseline, used, lambda _entry: True)
    assert entry.title == "the entry of the baseline of TW001 for the column id"
    assert list(unused(baseline, used, lambda _entry: False)) == []


def test_the_file_is_sorted_with_a_line_for_each_entry() -> None:
    text = _baseline([FINDING, OTHER, replace(FINDING, table="a.b\u202e\n")]).text
    assert [json.loads(line.strip().rstrip(","))["code"] for line in text.splitlines()[3:-2]] == [
        "TW001",
        "CM001",
        "TW001",
    ]
    assert text.isascii()
    assert text == _baseline([OTHER, replace(FINDING, table="a.b\u202e\n"), FINDING]).text
    assert text_of(()) == '{\n  "schemalint_baseline": 1,\n  "findings": []\n}\n'


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"schemalint_baseline": 2, "findings": []}',
        b'{"schemalint_baseline": 1}', b'{"schemalint_baseline": 1, "findings": {}}',
        b'{"schemalint_baseline": 1, "findings": [1]}', b'{"schemalint_baseline": 1, "findings": [], "x": 1}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_baseline_is_an_error(data: bytes) -> None:
    with pytest.raises(ConfigError, match="is no baseline of schemalint"):
        read_baseline("b.json", data)


@pytest.mark.parametrize(
    "change",
    [
        {"count": True}, {"count": 0}, {"count": 10**9}, {"severity": "fatal"}, {"table": 3}, {"target": 3},
        {"against": "git"}, {"against": [1]}, {"x": 1}, {"fingerprint": None},
    ],
)  # fmt: skip
def test_an_invalid_entry_is_an_error(change: dict[str, Any]) -> None:
    document = json.loads(_baseline([FINDING]).text)
    read_baseline("b.json", json.dumps(document).encode())
    document["findings"][0] |= change
    with pytest.raises(ConfigError, match="entry 1 is invalid"):
        read_baseline("b.json", json.dumps(document).encode())
