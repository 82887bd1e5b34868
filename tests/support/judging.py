"""The judge for tests: what rules find of states, without a source that makes cases of them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from schemalint.base.values import replace
from schemalint.contract.effective_pairs import effective_pairs
from schemalint.judge.case import Case, Purpose
from schemalint.judge.rule_judge import AskedRules, worst_of_each
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.table_judge import is_refusal_of_table, table_findings
from schemalint.judge.verdict import judge
from schemalint.model.contract import Contract
from schemalint.model.fact import TableRetired
from schemalint.project.config import Config
from schemalint.review.rule_sets import RuleSets
from support.effective import counting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from schemalint.delta.engine import Engines
    from schemalint.delta.footer_summary import PhysicalTypes
    from schemalint.delta.table import LiveTable
    from schemalint.model.client import ClientSupport
    from schemalint.model.finding import Finding
    from schemalint.plugin import Rule

_NO_ENGINES: Mapping[str | None, Engines] = MappingProxyType({})


def rule_sets(rules: Sequence[Rule]) -> RuleSets:
    """Return these rules for all files."""
    return RuleSets((Config(),), lambda _config: RuleSet(tuple(rules)))


def case(rules: Sequence[Rule], **states: Any) -> Case:  # noqa: ANN401 (those of `Case`)
    """Return a case with these rules."""
    return Case((RuleSet(tuple(rules)),), **states)


def pairs(
    before: Contract | None,
    after: Contract | None,
    rules: Sequence[Rule],
    engines: Mapping[str | None, Engines] = _NO_ENGINES,
) -> Iterator[Case]:
    """Yield the cases of a contract and its base, as `check` makes them: for each target."""
    for target, old, new in effective_pairs(before, after, engines):
        yield case(rules, base=old, declared=new, target=target)


def judge_pair(
    before: Contract | None,
    after: Contract | None,
    rules: Sequence[Rule],
    engines: Mapping[str | None, Engines] = _NO_ENGINES,
) -> tuple[Finding, ...]:
    """Return the findings of a contract compared with its base, for each target."""
    if after is None:
        assert before is not None
        retired = case(rules, base=before, declared=before, facts=(TableRetired(before),))
        return judge(retired).findings
    each = [judge(of_target) for of_target in pairs(before, after, rules, engines)]
    return worst_of_each(verdict.findings for verdict in each)


def clients_offline(
    before: Contract | None, after: Contract, engines: Mapping[str | None, Engines] = _NO_ENGINES
) -> tuple[ClientSupport, ...]:
    """Return what the declared clients do with a table before and after, for each target."""
    return tuple(
        client for of_target in pairs(before, after, (), engines) for client in judge(of_target).clients
    )


def live_case(declared: Contract, live: LiveTable, **states: Any) -> Case:  # noqa: ANN401 (those of `Case`)
    """Return the case of a contract and its live table, without rules."""
    return case((), declared=declared, live=live, **states)


def judge_live(of_table: Case, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """Return what rules find in a case."""
    return judge(replace(of_table, rules=(RuleSet(tuple(rules)),))).findings


def audited(
    table: LiveTable,
    rules: Sequence[Rule],
    contract: Contract | None = None,
    *,
    name: str | None = None,
    files: PhysicalTypes | None = None,
) -> Case:
    """Return the case of a table in an audit."""
    return case(rules, purpose=Purpose.AUDIT, declared=contract, live=table, name=name, files=files)


def judge_table(
    table: LiveTable,
    rules: Sequence[Rule],
    *,
    name: str | None = None,
    contract: Contract | None = None,
    files: PhysicalTypes | None = None,
) -> tuple[Finding, ...]:
    """Return the findings of an audit."""
    return judge(audited(table, rules, contract, name=name, files=files)).findings


def refused_by_spark(contract: Contract, table: LiveTable, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """Return the findings that prevent Delta Spark from reading or writing the table, and so any plan."""
    findings = table_findings(AskedRules(tuple(rules)), table, counting(contract))
    return tuple(filter(is_refusal_of_table, findings))
