"""Every rule case, judged by its own rule alone; `support.rule_cases` describes the format.

``SCHEMALINT_UPDATE_GOLDEN=1`` rewrites ``expected`` and ``fixed``; review the diff before you commit it.
"""

from __future__ import annotations

from itertools import groupby

import pytest

from support.golden import UPDATE
from support.rule_cases import Case, load_cases, write_results
from support.rule_judging import TEXTS, built_in, findings, fixed_text, report_text

CASES = load_cases()
BY_RULE = {rule: list(cases) for rule, cases in groupby(CASES, lambda case: case.rule)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rule_gives_the_expected_findings_and_fixed_text(case: Case) -> None:
    """The findings and the fixed text are the expected ones; the fixed text has no findings."""
    assert set(case.texts) <= TEXTS
    rule = built_in()[case.rule]
    found = findings(rule, case.texts)
    has_safe_fix = any(finding.fix and finding.fix.safe for finding in found)
    text_after_fixes = fixed_text(found, case.texts["after"]) if has_safe_fix else None
    if UPDATE:
        write_results(case, report_text(found), text_after_fixes)
    else:
        assert report_text(found) == case.expected
        assert text_after_fixes == case.fixed
    if text_after_fixes is not None:
        assert not findings(rule, {**case.texts, "after": text_after_fixes})


@pytest.mark.skipif(UPDATE, reason="the cases were loaded before their results were written")
@pytest.mark.parametrize("rule", BY_RULE)
def test_rule_has_a_case_with_findings_and_a_case_without(rule: str) -> None:
    """The cases cannot pass for a rule that always reports, or never."""
    assert {bool(case.expected) for case in BY_RULE[rule]} == {True, False}


def test_every_case_file_belongs_to_a_rule() -> None:
    assert set(BY_RULE) <= set(built_in())
