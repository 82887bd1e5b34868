"""The entry that would approve a finding, and the file that it can stand in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemalint.base.values import frozen
from schemalint.model.exception import NAMED

if TYPE_CHECKING:
    from schemalint.model.finding import Finding


@frozen
class ExceptionsFile:
    """The file of exceptions that an entry can be added to.

    Attributes:
        name: Its path in the repository.
        entries: How many entries it has; None if there is no file.
    """

    name: str = "exceptions.yaml"
    entries: int | None = None


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
