"""Apply fixes to contract files; only the text that a fix changes is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemalint import document
from schemalint.document import TextEdit
from schemalint.document.review import require_second_opinion, unified_diff
from schemalint.model.finding import Finding, TextChange
from schemalint.values import frozen


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
    accepted: list[TextChange] = []
    fixed: list[Finding] = []
    for finding in findings:
        new = [change for change in finding.text_changes if change not in accepted]
        if not any(_overlaps(change, other) for change in new for other in accepted):
            accepted += new
            fixed.append(finding)
    edits = [TextEdit(change.start, change.end, change.text) for change in accepted]
    after = document.apply_edits(text, edits, file)
    require_second_opinion(file, text, after)
    return FixedFile(file, text, after, tuple(fixed), len(findings) - len(fixed))


def _overlaps(first: TextChange, second: TextChange) -> bool:
    """Whether two changes overlap; so do insertions at the same offset, because their order is arbitrary."""
    return first.start <= second.end and second.start <= first.end
