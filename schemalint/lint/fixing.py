"""Fixes, applied and checked again until none is left."""

from __future__ import annotations

from typing import Final

from schemalint.contract.fixes import FixedFile, fixed_files
from schemalint.git import Contents
from schemalint.lint.check import check
from schemalint.lint.check_input import CheckInput
from schemalint.lint.exception_files import OtherExceptions, exceptions_after
from schemalint.model.finding import CheckResult
from schemalint.printable import visible
from schemalint.values import replace

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
    result, contents = check(request), request.contents
    fixed: dict[str, FixedFile] = {}
    others = OtherExceptions(request.waivers, texts=request.texts)
    fixes = sum(finding.fix is not None for finding in result.findings)
    for _round in range(fixes + _MORE_ROUNDS):
        files = fixed_files(result.findings, result.sources or {}, unsafe=unsafe)
        if not files:
            break
        paths = _paths(contents)
        for file in files:
            path = paths.get(file.file, file.file)
            first = fixed.get(path)
            fixed[path] = replace(file, before=first.before if first else file.before)
            if path in contents.head:
                contents = _with_text(contents, path, file.after)
            else:
                others = exceptions_after(others, file)
        result = check(replace(request, contents=contents, waivers=others.waivers, texts=others.texts))
    return result, fixed


def _with_text(contents: Contents, path: str, text: str) -> Contents:
    file = replace(contents.head[path], data=text.encode(), blob=None)
    return replace(contents, head={**contents.head, path: file})


def _paths(contents: Contents) -> dict[str, str]:
    """Map the printed form of each head path to the path; a path may contain a line break."""
    return {visible(path): path for path in contents.head}
