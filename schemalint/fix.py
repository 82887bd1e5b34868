"""Safe fixes written into the files: the text is spliced, everything else stays as it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schemalint import document
from schemalint.document import TextEdit
from schemalint.model.finding import Finding, TextChange


@dataclass(frozen=True, slots=True)
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
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.file}",
            f"b/{self.file}",
        )
        return "".join(
            line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
        )


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
    _read_by_another(after)
    return FixedFile(file, text, after, tuple(fixed), len(findings) - len(fixed))


def _overlaps(one: TextChange, other: TextChange) -> bool:
    """Insertions at one place overlap too: which comes first would be chance."""
    return one.start <= other.end and other.start <= one.end


def _read_by_another(text: str) -> None:
    """A second opinion; the imports cost too much for a run that fixes nothing."""
    from ruamel.yaml import YAML  # noqa: PLC0415

    list(YAML(typ="safe", pure=True).load_all(text))
