"""Each case is judged by its own rule alone; see `support.rule_cases` for what a case is.

``SCHEMALINT_UPDATE_GOLDEN=1`` writes ``expected`` and ``fixed`` anew, to be read as a diff.
"""

from __future__ import annotations

from itertools import groupby

import pytest

from support.golden import UPDATE
from support.rule_cases import Case, load_cases, write_results
from support.rule_judging import TEXTS, built_in, findings, fixed, told

CASES = load_cases()
BY_RULE = {rule: list(cases) for rule, cases in groupby(CASES, lambda case: case.rule)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    """The rule says what is expected, at the expected place; its safe fixes give the expected text."""
    assert set(case.texts) <= TEXTS
    rule = built_in()[case.rule]
    found = findings(rule, case.texts)
    has_fix = any(finding.fix and finding.fix.safe for finding in found)
    mended = fixed(found, case.texts["after"]) if has_fix else None
    if UPDATE:
        write_results(case, told(found), mended)
    else:
        assert told(found) == case.expected
        assert mended == case.fixed
    if mended is not None:
        assert not findings(rule, {**case.texts, "after": mended})


@pytest.mark.parametrize("rule", BY_RULE)
def test_rule_has_a_case_that_it_objects_to_and_one_that_it_does_not(rule: str) -> None:
    """Neither a rule that is always silent nor one that always speaks passes."""
    assert {bool(case.expected) for case in BY_RULE[rule]} == {True, False}


def test_every_file_of_cases_is_of_a_rule() -> None:
    assert set(BY_RULE) <= set(built_in())
