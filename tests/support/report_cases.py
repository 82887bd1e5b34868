"""Builders and loaders of the report cases."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

from schemalint.base.document.nodes import Span, location
from schemalint.base.errors import Location
from schemalint.model.finding import CheckResult, Finding, ObjectRef, Run, Severity, SideRef

CASES = Path(__file__).parents[1] / "report/cases"
ORDERS = "contracts/orders.yml"
BASE = SideRef("merge-base:origin/main", "abc1234" + "0" * 33, "merge base with origin/main")
HEAD = SideRef("worktree", None, "the working tree")


def location_of(file: str, text: str, pattern: str) -> Location:
    """Return the location of the pattern's first match in `text`."""
    match = re.search(pattern, text, re.DOTALL)
    assert match, f"{pattern!r} is not in the text"
    return location(file, text, Span(*match.span()))


def finding(message: str, place: Location, **changed: Any) -> Finding:  # noqa: ANN401 - a Finding's own fields
    """Return a finding about a narrowed column, with some fields changed."""
    fields: dict[str, Any] = {
        "code": "TW001",
        "rule": "illegal-narrowing",
        "severity": Severity.ERROR,
        "table": "sales.orders",
        "object": ObjectRef("column", "qty"),
        "path": ("qty",),
    }
    return Finding(message=message, location=place, **{**fields, **changed})


def run(*compared: str, **changed: Any) -> Run:  # noqa: ANN401 - a Run's own fields
    """Return a run against the merge base, with some fields changed."""
    return Run(**{"base": BASE, "head": HEAD, "compared": compared, **changed})


def result_of(case: str) -> CheckResult:
    """Return the result that a case's ``build.py`` builds."""
    result = runpy.run_path(str(CASES / case / "build.py"))["RESULT"]
    assert isinstance(result, CheckResult)
    return result


def all_cases() -> list[str]:
    """Return the names of all cases, which are their folders."""
    return sorted(folder.parent.name for folder in CASES.glob("*/build.py"))
