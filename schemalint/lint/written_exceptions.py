"""The exceptions that are written for the tables of a run, and which of them the change under review adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.model.contract import Contract
from schemalint.model.exception import ExceptionSource, WrittenException

Void: TypeAlias = Callable[[ExceptionSource], str | None]
"""Return why exceptions of a kind that the change adds do not count; None if they do."""


def written_exceptions(
    pairs: Iterable[tuple[Contract | None, Contract | None]], others: Iterable[WrittenException], void: Void
) -> tuple[WrittenException, ...]:
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


def _of_contract(before: Contract | None, after: Contract) -> Iterator[WrittenException]:
    known = frozenset(before.exceptions if before else ())
    for index, exception in enumerate(after.exceptions):
        location = contracts.locate(after, ("exception", index))
        added = exception not in known
        yield WrittenException(
            exception, after.table, ExceptionSource.CONTRACT, location, added, index, after.document
        )
