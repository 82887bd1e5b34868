"""Apply fixes to contract files; only the text that a fix changes is replaced."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping

from schemalint.base import document
from schemalint.base.document import TextEdit
from schemalint.base.document.review import require_second_opinion, unified_diff
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen
from schemalint.model.finding import Finding, TextChange


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

    Each fixed text is read back by schemalint and by ruamel.yaml, so a fix never breaks a file.

    Args:
        findings: The findings; those without text changes are skipped.
        sources: The text of each file.
        unsafe: Apply unsafe fixes too.

    Raises:
        ContractError: A fixed file cannot be read back.
        InternalError: ruamel.yaml reads a fixed file differently.
    """
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and finding.text_changes and (finding.fix.safe or unsafe):
            by_file.setdefault(finding.location.file, []).append(finding)
    return tuple(_fixed(file, sources[file], group) for file, group in sorted(by_file.items()))


def _fixed(file: str, text: str, findings: list[Finding]) -> FixedFile:
    try:
        return _fixed_with(file, text, findings, _Accepted(shares=True))
    except ContractError:  # two insertions in one place, such as two of the same key
        return _fixed_with(file, text, findings, _Accepted(shares=False))


def _fixed_with(file: str, text: str, findings: list[Finding], accepted: _Accepted) -> FixedFile:
    fixed = [finding for finding in findings if accepted.add(finding.text_changes)]
    after = with_changes(file, text, accepted.changes)
    return FixedFile(file, text, after, tuple(fixed), len(findings) - len(fixed))


def with_changes(file: str, text: str, changes: Iterable[TextChange]) -> str:
    """Return the text of a file after changes, read back by schemalint and by ruamel.yaml.

    Raises:
        ContractError: The text cannot be read back.
        InternalError: ruamel.yaml reads the text differently.
    """
    after = document.apply_edits(text, _text_edits(changes), file)
    require_second_opinion(file, text, after)
    return after


def _text_edits(changes: Iterable[TextChange]) -> list[TextEdit]:
    return [TextEdit(change.start, change.end, change.text) for change in changes]


class _Accepted:
    """The text changes of several fixes that can be made together.

    Attributes:
        changes: The changes, each once.
    """

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
