"""A live side whose tables the tests say, and to which nothing was applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.review.check_input import LiveSide


class _Told:
    fetched: tuple[LiveTable, ...] = ()

    def __init__(
        self, read: Callable[[Contract], LiveTable | None], location: Callable[[Contract], str]
    ) -> None:
        self.read = read
        self.location = location

    def fetch(self, _contracts: Iterable[Contract]) -> None:
        """Read nothing in advance."""

    def root_without_tables(self, _missing: Iterable[str]) -> None:
        """Know no root."""

    def is_occupied(self, _contract: Contract) -> bool:
        """Know no files."""
        return False

    def with_progress(self, contract: Effective, _table: LiveTable) -> Effective:
        """Know no stream."""
        return contract


class _NothingApplied:
    def expect(self, _tables: Iterable[LiveTable]) -> None:
        """Know no commit."""

    def at(self, _commit: str, _key: str) -> None:
        """Know no revision."""

    def with_hash(self, _declaration: str, _key: str) -> None:
        """Know no revision."""

    def comes_after(self, _commit: str) -> bool:
        """Know no commit."""
        return False


def told_live_side(
    read: Callable[[Contract], LiveTable | None], location: Callable[[Contract], str], target: str = "prod"
) -> LiveSide:
    """Return a live side.

    Args:
        read: Return the live table of a contract; None if there is none.
        location: Return where the table of a contract is.
        target: The name of the target.
    """
    return LiveSide(target, _Told(read, location), _NothingApplied())
