"""Add to a finding what else is found once its help is followed: all of it in one report.

So the first report is complete: after a property, the approval of the protocol upgrade, the `type_changes`
entry, and the clients that then lose the column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from schemalint.base.values import grouped, replace
from schemalint.delta.table import TableState
from schemalint.model.effective import Effective
from schemalint.model.finding import Consequence, Finding, Severity

_MOST_ROUNDS: Final = 5
"""A remedy may need another one: a column mapping mode after a rename."""

_MOST_REMEDIES: Final = 3
_MANY_FINDINGS: Final = 50
"""The limit per rule and table, and from how many findings on it is one: a remedy is judged like a contract.

Beyond it, a finding gets what the rule's first remedy needs of the table as a whole, and of its column.
"""


def with_follow_ups(
    findings: Sequence[Finding], contract: Effective, judge: Callable[[Effective], Sequence[Finding]]
) -> tuple[Finding, ...]:
    """Judge the contract with each remedy too, and add to the findings what is found then."""
    requests = {_request(finding) for finding in findings}
    judged: defaultdict[str, list[tuple[TableState, _FollowUps]]] = defaultdict(list)

    def follow_ups(code: str, remedy: Callable[[], TableState]) -> _FollowUps:
        of_rule = judged[code]
        if of_rule and len(findings) >= _MANY_FINDINGS:
            return of_rule[0][1]
        state = remedy()
        consequences = next(
            (consequences for judged_state, consequences in of_rule if judged_state == state), None
        )
        if consequences is None and len(of_rule) == _MOST_REMEDIES:
            return of_rule[0][1]
        if consequences is None:
            consequences = _FollowUps(_new_findings(state, contract, judge, requests))
            of_rule.append((state, consequences))
        return consequences

    def completed(finding: Finding) -> Finding:
        if finding.remedy is None:
            return finding
        new = () if finding.existing else follow_ups(finding.code, finding.remedy).of(finding)
        # Nothing asks for the remedy any more, and it holds all states that were judged.
        return replace(finding, then=tuple(map(_consequence, new)), remedy=None)

    return tuple(map(completed, findings))


class _FollowUps:
    """The findings that a remedy brings, by the columns that they are about."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = tuple(findings)
        self._of_table = [
            number for number, finding in enumerate(self._findings) if finding.object.kind != "column"
        ]
        self._of_columns = grouped(
            (path, number)
            for number, finding in enumerate(self._findings)
            if finding.object.kind == "column"
            for path in dict.fromkeys((finding.path, (*finding.path[:-1], finding.old)))
        )

    def of(self, finding: Finding) -> tuple[Finding, ...]:
        """Return those about the table, and those about the column of a finding, under either name."""
        if finding.object.kind != "column":
            return self._findings
        numbers = (*self._of_table, *self._of_columns.get(finding.path, ()))
        return tuple(self._findings[number] for number in sorted(numbers))


def _new_findings(
    remedy: TableState,
    contract: Effective,
    judge: Callable[[Effective], Sequence[Finding]],
    requests: Collection[object],
) -> Iterator[Finding]:
    """Yield the findings that a remedy brings, and those that their own remedies bring."""
    seen = set(requests)
    for _round in range(_MOST_ROUNDS):
        findings = [
            finding
            for finding in judge(replace(contract, state=remedy))
            if finding.severity >= Severity.WARNING and not finding.existing and _request(finding) not in seen
        ]
        yield from findings
        seen |= {_request(finding) for finding in findings}
        next_remedy = next((finding.remedy for finding in findings if finding.remedy is not None), None)
        if next_remedy is None:
            return
        remedy = next_remedy()


def _request(finding: Finding) -> tuple[object, ...]:
    """Return what the finding asks for, and where; whatever else may differ once a remedy is in place."""
    return finding.code, finding.path, _instruction(finding.help or finding.message)


def _consequence(finding: Finding) -> Consequence:
    instruction = _instruction(finding.help)
    return Consequence(finding.code, finding.severity, finding.message, instruction, finding.column)


def _instruction(text: str) -> str:
    """Return the first sentence of a text, as the part of another one."""
    sentence = text.partition(". ")[0].rstrip(".")
    if sentence[1:2].islower() or sentence[1:2].isspace():
        return sentence[:1].lower() + sentence[1:]
    return sentence
