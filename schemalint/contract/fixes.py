"""Apply fixes to contract files; only the text that a fix changes is replaced."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping
from contextlib import suppress

from schemalint.base.document.edit_review import unified_diff
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen
from schemalint.contract.text_editor import edited_text
from schemalint.model.contract_edit import TextChange
from schemalint.model.finding import Finding


@frozen
class FixedFile:
    """A file after its fixes.

    Attributes:
        fixed: The fixed findings.
        left: The number of fixes skipped because they overlap with another fix; a second run applies them.
    """

    file: str
    before: str
    after: str
    fixed: tuple[Finding, ...]
    left: int = 0

    @property
    def diff(self) -> str:
        """The unified diff of the file."""
        return unified_diff(self.file, self.before, self.after)


def fixed_files(
    findings: Iterable[Finding], sources: Mapping[str, str], *, unsafe: bool = False
) -> tuple[FixedFile, ...]:
    """Apply the fixes of the findings, and return the changed files.

    A file whose layout cannot be edited in place is not fixed.

    Args:
        findings: The findings; those without text changes are skipped.
        sources: The text of each file.
        unsafe: Apply unsafe fixes too.

    Raises:
        InternalError: ruamel.yaml reads a fixed file differently.
    """
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and finding.text_changes and (finding.fix.safe or unsafe):
            by_file.setdefault(finding.location.file, []).append(finding)
    fixed = (_fixed(file, sources[file], group) for file, group in sorted(by_file.items()))
    return tuple(filter(None, fixed))


def _fixed(file: str, text: str, findings: list[Finding]) -> FixedFile | None:
    # Two insertions in one place cannot always be made together, such as two of the same key.
    for accepted in (_AcceptedChanges(shares=True), _AcceptedChanges(shares=False)):
        fixed = [finding for finding in findings if accepted.add(finding.text_changes)]
        with suppress(ContractError):
            after = edited_text(file, text, accepted.changes)
            return FixedFile(file, text, after, tuple(fixed), len(findings) - len(fixed))
    return None


class _AcceptedChanges:
    """The text changes of several fixes that can be made together."""

    def __init__(self, *, shares: bool) -> None:
        """Accept several insertions of lines or items in one place only with ``shares``."""
        self.changes: dict[TextChange, None] = {}
        self._shares = shares
        self._spans: list[tuple[int, int]] = []
        self._shared: set[int] = set()

    def add(self, changes: Iterable[TextChange]) -> bool:
        """Add the changes of a fix, unless one overlaps with a change of another fix."""
        new = [change for change in changes if change not in self.changes]
        if any(map(self._overlaps, new)):
            return False
        for change in new:
            self.changes[change] = None
            insort(self._spans, (change.start, change.end))
            if self._shares and _adds_lines(change):
                self._shared.add(change.start)
        return True

    def _overlaps(self, change: TextChange) -> bool:
        """Whether a change overlaps with another; insertions at one offset do, unless both add lines."""
        if change.start in self._shared and _adds_lines(change):
            return False
        index = bisect_right(self._spans, (change.start, change.end))
        neighbours = self._spans[max(index - 1, 0) : index + 1]
        return any(start <= change.end and change.start <= end for start, end in neighbours)


def _adds_lines(change: TextChange) -> bool:
    """Whether a change inserts whole lines, or items in brackets: their order does not matter."""
    added = change.text
    return change.start == change.end and (
        added.startswith((", ", "\n", "\r")) or added.endswith(("\n", "\r"))
    )
