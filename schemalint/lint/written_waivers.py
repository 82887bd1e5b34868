"""The exceptions that are written for the tables of a run, and which of them the change under review adds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeAlias

from schemalint import contract as contracts
from schemalint.model.contract import Contract, InlineIgnore
from schemalint.model.waiver import WaiverSource, WrittenWaiver
from schemalint.values import grouped, replace

Void: TypeAlias = Callable[[WaiverSource], str | None]
"""Return why exceptions of a kind that the change adds do not count; None if they do."""


def written_waivers(
    pairs: Iterable[tuple[Contract | None, Contract | None]], others: Iterable[WrittenWaiver], void: Void
) -> tuple[WrittenWaiver, ...]:
    """Return all exceptions; those that the change adds may not count.

    Args:
        pairs: The contracts of each table: of the base, and of the head.
        others: The exceptions outside of the contracts.
        void: See `Void`.
    """
    of_contracts = (written for before, after in pairs if after for written in _of_contract(before, after))
    return tuple(
        replace(written, void=void(written.source)) if written.added else written
        for written in (*of_contracts, *others)
    )


def _of_contract(before: Contract | None, after: Contract) -> Iterator[WrittenWaiver]:
    known = frozenset(before.waivers if before else ())
    for index, waiver in enumerate(after.waivers):
        location = contracts.locate(after, ("waiver", index))
        added = waiver not in known
        yield WrittenWaiver(
            waiver, after.table, WaiverSource.CONTRACT, location, added, index, after.document
        )
    ignored_before = {identity for _ignore, of_ignore in _ignores(before) for identity in of_ignore}
    for ignore, identities in _ignores(after):
        # One that covers more than before is new: otherwise a line that grows takes its ignore along.
        added = not identities or not ignored_before.issuperset(identities)
        yield WrittenWaiver(
            ignore.waiver,
            after.table,
            WaiverSource.INLINE,
            ignore.location,
            added,
            ignore.line,
            after.document,
            cut=ignore.cut,
        )


def _ignores(contract: Contract | None) -> Iterator[tuple[InlineIgnore, Sequence[Hashable]]]:
    """Yield the ignores with all that each is for, so that one that moves to another line is another one.

    Its line can declare several objects.
    """
    if contract is None or not contract.ignores:
        return
    by_line = grouped((contract.anchors[anchor].line, anchor) for anchor in contract.anchors)
    for ignore in contract.ignores:
        anchors = by_line.get(ignore.line, ())
        yield ignore, [(ignore.waiver, anchor) for anchor in anchors] if ignore.line else [ignore.waiver]
