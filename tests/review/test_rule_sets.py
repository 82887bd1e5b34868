"""Rules of two configurations: what either of them finds counts once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import TypeChanged
from schemalint.delta.diff import diff
from schemalint.judge.case import git_context
from schemalint.judge.rule_judge import AskedRules
from schemalint.judge.rule_set import RuleSet, TableRules, reports, rules_for
from schemalint.model.contract import Contract
from schemalint.plugin import ATTRIBUTE, Problem, Rule, RuleContext, Severity, rule
from schemalint.review.rulebook import load_rules
from support.effective import counting

ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: c, type: int}\n"


@rule("ACME001", on=TypeChanged, severity=Severity.WARNING, options={"most": 3})
def counted(_change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A rule of a test."""
    most = ctx.options["most"]
    assert isinstance(most, int)
    yield Problem("always", severity=Severity.INFO)
    if most < 5:
        yield Problem(f"more than {most}", part="type")


COUNTED: Rule = getattr(counted, ATTRIBUTE)


def _with(*, severity: Severity | None = None, most: int = 3) -> Rule:
    own = replace(COUNTED, options={"most": most})
    return own if severity is None else replace(own, severity=severity, severity_is_set=True)


def _contract(text: str) -> Contract:
    return contracts.read("orders.yaml", text.encode()).contracts[0]


def _findings(*rule_sets: RuleSet) -> list[tuple[str, str]]:
    before, after = _contract(ORDERS), _contract(ORDERS.replace("type: int", "type: bigint"))
    judge = AskedRules(rules_for(rule_sets, "sales.orders"))
    (change,) = diff(before.state, after.state)
    found = judge(change, git_context(counting(before), counting(after)), ("git",))
    reported = (finding for finding in found if reports(rule_sets, finding))
    return sorted((finding.message, finding.severity.label) for finding in reported)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (_with(), _with(severity=Severity.ERROR), ["error"]),
        (_with(), _with(severity=Severity.INFO), ["info"]),
        (_with(severity=Severity.ERROR), _with(severity=Severity.INFO), ["error"]),
    ],
)
def test_the_higher_severity_counts(left: Rule, right: Rule, expected: list[str]) -> None:
    for pair in ((left, right), (right, left)):
        found = _findings(*(RuleSet((each,)) for each in pair))
        assert [severity for message, severity in found if message == "always"] == expected


def test_a_problem_under_the_options_of_either_counts_once() -> None:
    for pair in ((_with(most=9), _with(most=4)), (_with(most=4), _with(most=9))):
        found = _findings(*(RuleSet((each,)) for each in pair))
        assert found == [("always", "info"), ("more than 4", "warning")]


def test_a_rule_of_one_configuration_counts_and_keeps_its_order() -> None:
    codes = [each.code for each in rules_for((RuleSet((_with(),)), RuleSet(load_rules()[:2])), "t")]
    assert codes == sorted(codes)
    assert len(codes) == 3
    assert len(_findings(RuleSet(()), RuleSet((_with(),)))) == 2


def test_a_rule_is_silent_for_a_table_only_if_all_that_select_it_ignore_it_there() -> None:
    ignoring = (TableRules("sales.*", ("ACME",)),)
    strict, silent = _with(severity=Severity.ERROR), _with(severity=Severity.WARNING)
    assert _findings(RuleSet((silent,), ignoring), RuleSet((silent,), ignoring)) == []
    assert _findings(RuleSet((silent,), ignoring), RuleSet(())) == []
    found = _findings(RuleSet((strict,), ignoring), RuleSet((silent,)))
    assert {severity for _, severity in found} == {"warning"}
