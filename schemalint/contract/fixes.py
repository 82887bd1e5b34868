"""Safe fixes written into the files: the text is spliced, everything else stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemalint import document
from schemalint.document import TextEdit
from schemalint.document.review import read_by_another, unified_diff
from schemalint.model.finding import Finding, TextChange
from schemalint.values import frozen


@frozen
class FixedFile:
    """A file after its fixes.

    Attributes:
        fixed: The findings that are mended.
        left: How many fixes were left out, because they touch what another one changes: run again.
    """

    file: str
    before: str
    after: str
    fixed: tuple[Finding, ...]
    left: int = 0

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        return unified_diff(self.file, self.before, self.after)


def fixed_files(
    findings: Iterable[Finding], sources: Mapping[str, str], *, unsafe: bool = False
) -> tuple[FixedFile, ...]:
    """The files that fixes change.

    Each file is read back after the splice, by schemalint's own reader and by ruamel.yaml: a fix that would
    break it raises instead.

    Raises:
        ContractError: A spliced file cannot be read back.
    """
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and finding.text_changes and (finding.fix.safe or unsafe):
            by_file.setdefault(finding.location.file, []).append(finding)
    return tuple(_fixed(file, sources[file], listed) for file, listed in sorted(by_file.items()))


def _fixed(file: str, text: str, findings: list[Finding]) -> FixedFile:
    taken: list[TextChange] = []
    fixed: list[Finding] = []
    for finding in findings:
        fresh = [one for one in finding.text_changes if one not in taken]
        if not any(_overlaps(one, other) for one in fresh for other in taken):
            taken += fresh
            fixed.append(finding)
    edits = [TextEdit(one.start, one.end, one.text) for one in taken]
    after = document.apply_edits(text, edits, file)
    read_by_another(after)
    return FixedFile(file, text, after, tuple(fixed), len(findings) - len(fixed))


def _overlaps(one: TextChange, other: TextChange) -> bool:
    """Insertions at one place overlap too: which comes first would be chance."""
    return one.start <= other.end and other.start <= one.end
