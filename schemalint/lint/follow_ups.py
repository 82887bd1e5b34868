"""Add to a finding's help what else the change needs once its help is followed: all of it in one report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule
from schemalint.values import replace

_MOST_ROUNDS: Final = 5
"""A remedy may need another one: a column mapping mode after a rename."""

_MOST_REMEDIES: Final = 20
"""The limit per table: each remedy is judged like a contract, and many findings have the same one."""


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
    judged: list[tuple[TableState, tuple[Finding, ...]]] = []

    def follow_ups(remedy: TableState) -> tuple[Finding, ...]:
        found = next((found for state, found in judged if state == remedy), None)
        if found is None and len(judged) < _MOST_REMEDIES:
            found = tuple(_new_findings(remedy, contract, judge))
            judged.append((remedy, found))
        return found or ()

    def completed(finding: Finding) -> Finding:
        if finding.remedy is None or finding.existing:
            return finding
        new = [
            _instruction(other)
            for other in follow_ups(finding.remedy)
            if other.code not in effects and _request(other) not in known and _concerns(other, finding)
        ]
        return replace(finding, help=f"{finding.help}. Then also: {'; '.join(new)}") if new else finding

    return tuple(map(completed, findings))


def _new_findings(
    remedy: TableState, contract: Contract, judge: Callable[[Contract], Sequence[Finding]]
) -> Iterator[Finding]:
    """Yield the findings after a remedy, and after the remedies of these."""
    tried: list[TableState] = [contract.state]
    seen: set[object] = set()
    next_remedy: TableState | None = remedy
    for _round in range(_MOST_ROUNDS):
        if next_remedy is None or next_remedy in tried:
            return
        tried.append(next_remedy)
        found = [
            finding
            for finding in judge(replace(contract, state=next_remedy))
            if finding.severity >= Severity.WARNING and not finding.existing
        ]
        yield from (finding for finding in found if _request(finding) not in seen)
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
