"""Read a contract that adds to a declaration in a file of another tool: it has no columns of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from schemalint.base.document import Sequence
from schemalint.base.document.outline import Outline
from schemalint.base.document.shape import check_for
from schemalint.base.values import replace
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.build import Columns, Known, build

if TYPE_CHECKING:
    from schemalint.contract.dialects.native.faults import Report
    from schemalint.model.contract import Contract


def read_overlay(data: dict[str, Any], report: Report) -> Contract | None:
    """Return what a document adds to another declaration; None if it has errors."""
    if not check_for(native.Overlay)(data):
        from schemalint.contract.dialects.native.explanations import report_problems  # noqa: PLC0415 (pydantic)

        report_problems(data, report, native.Overlay)
        if report.errors:
            return None
    document, end = report.document, report.document.span.end
    known = Known(Columns(), Columns(), Outline.of(document, Sequence((), flow=False, start=end, end=end)))
    contract = build(cast("native.Contract", {**data, "columns": []}), report, known)
    tool = data["extends"]
    return replace(contract, managed_by=tool, extends=tool, renamed_from=data.get("renamed_from", {}))
