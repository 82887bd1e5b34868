"""What the cases of the report's tests are made of."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

from schemalint.document.nodes import Span, location
from schemalint.errors import Location
from schemalint.model.finding import CheckResult, Finding, ObjectRef, Run, Severity, SideRef

CASES = Path(__file__).parents[1] / "report/cases"
ORDERS = "contracts/orders.yml"
BASE = SideRef("merge-base:origin/main", "abc1234" + "0" * 33, "merge base with origin/main")
HEAD = SideRef("worktree", None, "the working tree")


def spot(file: str, text: str, marked: str) -> Location:
    """Where `marked` stands in `text`: the pattern's first match."""
    match = re.search(marked, text, re.DOTALL)
    assert match, f"{marked!r} is not in the text"
    return location(file, text, Span(*match.span()))


def finding(message: str, where: Location, **others: Any) -> Finding:  # noqa: ANN401 - a Finding's own fields
    """A finding of a narrowed column, where `others` do not say otherwise."""
    fields: dict[str, Any] = {
        "code": "TW001",
        "rule": "illegal-narrowing",
        "severity": Severity.ERROR,
        "table": "sales.orders",
        "object": ObjectRef("column", "qty"),
        "path": ("qty",),
    }
    return Finding(message=message, location=where, **{**fields, **others})


def run(*compared: str, **others: Any) -> Run:  # noqa: ANN401 - a Run's own fields
    """A run against the merge base."""
    return Run(**{"base": BASE, "head": HEAD, "compared": compared, **others})


def result_of(case: str) -> CheckResult:
    """The result that a case's ``build.py`` makes."""
    result = runpy.run_path(str(CASES / case / "build.py"))["RESULT"]
    assert isinstance(result, CheckResult)
    return result


def all_cases() -> list[str]:
    """The names of the cases' folders."""
    return sorted(folder.parent.name for folder in CASES.glob("*/build.py"))
