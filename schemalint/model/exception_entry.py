"""The entry of an exception that would approve a finding."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.model.exception import NAMED
from schemalint.model.finding import Finding


def exception_keys(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the keys of an exception that approves a finding, with an empty reason."""
    yield "rule", finding.code
    kind, name = finding.object.kind, finding.object.name
    if finding.column is not None:
        yield "column", finding.column
    elif kind in NAMED:
        yield kind, name
    else:
        yield "object", kind
    if finding.old is not None:
        yield "from", finding.old
    if finding.new is not None:
        yield "to", finding.new
    if finding.needs_rewrite:
        yield "via", "rewrite"
    yield "reason", ""
