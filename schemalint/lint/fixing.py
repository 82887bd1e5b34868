"""Fixes, applied and checked again until none is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemalint.base.printable import visible
from schemalint.base.values import replace
from schemalint.contract.fixes import FixedFile, fixed_files
from schemalint.lint.check import check
from schemalint.lint.check_input import CheckInput
from schemalint.model.finding import CheckResult
from schemalint.project.git import Contents

_MORE_ROUNDS: Final = 5
"""A fix may enable another one.

Of fixes that overlap, a round applies one. So there may be as many more rounds as the first result has fixes.
"""


def check_and_fix(request: CheckInput, *, unsafe: bool) -> tuple[CheckResult, dict[str, FixedFile]]:
    """Check, fix and check again, without writing anything.

    Args:
        request: With text changes.
        unsafe: Apply unsafe fixes too.

    Returns:
        The result of the last check, and the fixed files by their paths in the repository.
    """
    result, paths = check(request), _paths(request.contents)
    fixed: dict[str, FixedFile] = {}
    fixes = sum(finding.fix is not None for finding in result.findings)
    for _round in range(fixes + _MORE_ROUNDS):
        files = fixed_files(result.findings, result.sources or {}, unsafe=unsafe)
        if not files:
            break
        for file in files:
            path = paths.get(file.file, file.file)
            first = fixed.get(path)
            fixed[path] = replace(file, before=first.before if first else file.before)
        result = check(with_fixes(request, fixed))
    return result, fixed


def with_fixes(request: CheckInput, fixed: Mapping[str, FixedFile]) -> CheckInput:
    """Return the input after fixes.

    Args:
        request: The input before them.
        fixed: The fixed files by their paths in the repository.
    """
    head = dict(request.contents.head)
    exceptions = request.exceptions
    for path, file in fixed.items():
        if path in head:
            head[path] = replace(head[path], data=file.after.encode(), blob=None)
        else:
            exceptions = exceptions.after(file)
    contents = replace(request.contents, head=head)
    return replace(request, contents=contents, exceptions=exceptions)


def _paths(contents: Contents) -> dict[str, str]:
    """Map the printed form of each head path to the path; a path may contain a line break."""
    return {visible(path): path for path in contents.head}
