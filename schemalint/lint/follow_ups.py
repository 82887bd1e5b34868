"""Add to a finding's help what else the change needs once its help is followed: all of it in one report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule
from schemalint.values import replace

_MOST_ROUNDS: Final = 5
"""A remedy may need another one: a column mapping mode after a rename."""

_MOST_REMEDIES: Final = 3
_MANY_FINDINGS: Final = 50
"""The limit per rule and table, and from how many findings on it is one: a remedy is judged like a contract.

Beyond it, a finding gets what the rule's first remedy needs of the table as a whole.
"""


def with_follow_ups(
    findings: Sequence[Finding],
    contract: Contract,
    judge: Callable[[Contract], Sequence[Finding]],
    rules: Sequence[Rule],
) -> tuple[Finding, ...]:
    """Judge the contract with each remedy too, and add what is found then to the help.

    Args:
        findings: The findings of the contract.
        contract: The contract, effective for its target.
        judge: Return the findings of a contract in place of this one.
        rules: All rules; those about effects ask for nothing.
    """
    effects = {rule.code for rule in rules if rule.scope == "effect"}
    known = {_request(finding) for finding in findings}
    most = 1 if len(findings) >= _MANY_FINDINGS else _MOST_REMEDIES
    judged: dict[str, list[tuple[TableState, tuple[Finding, ...]]]] = {}

    def follow_ups(code: str, remedy: TableState) -> tuple[Finding, ...]:
        of_rule = judged.setdefault(code, [])
        found = next((found for state, found in of_rule if state == remedy), None)
        if found is not None:
            return found
        if len(of_rule) == most:
            return tuple(other for other in of_rule[0][1] if other.object.kind != "column")
        found = tuple(_new_findings(remedy, contract, judge, known))
        of_rule.append((remedy, found))
        return found

    def completed(finding: Finding) -> Finding:
        if finding.remedy is None or finding.existing:
            return finding
        new = [
            _instruction(other)
            for other in follow_ups(finding.code, finding.remedy)
            if other.code not in effects and _concerns(other, finding)
        ]
        return replace(finding, help=f"{finding.help}. Then also: {'; '.join(new)}") if new else finding

    return tuple(map(completed, findings))


def _new_findings(
    remedy: TableState,
    contract: Contract,
    judge: Callable[[Contract], Sequence[Finding]],
    known: Collection[object],
) -> Iterator[Finding]:
    """Yield the findings that a remedy brings, and those that their own remedies bring."""
    seen = set(known)
    next_remedy: TableState | None = remedy
    for _round in range(_MOST_ROUNDS):
        if next_remedy is None:
            return
        found = [
            finding
            for finding in judge(replace(contract, state=next_remedy))
            if finding.severity >= Severity.WARNING and not finding.existing and _request(finding) not in seen
        ]
        yield from found
        seen |= {_request(finding) for finding in found}
        next_remedy = next((finding.remedy for finding in found if finding.remedy is not None), None)


def _request(finding: Finding) -> tuple[object, ...]:
    """Return what the finding asks for, and where; whatever else may differ once a remedy is in place."""
    return finding.code, finding.path, _instruction(finding)


def _instruction(finding: Finding) -> str:
    text = (finding.help or finding.message).partition(". ")[0].rstrip(".")
    is_word = text[1:2].islower() or text[1:2].isspace()
    return f"{text[:1].lower() + text[1:] if is_word else text} ({finding.code})"


def _concerns(other: Finding, finding: Finding) -> bool:
    """Return whether a follow-up is about the same column, under either name, or about the table."""
    if {other.object.kind, finding.object.kind} != {"column"} or other.path == finding.path:
        return True
    return other.path[:-1] == finding.path[:-1] and other.old == finding.path[-1]
