"""Which tables an audit looks at: each once, and all that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from schemalint.catalog.table_requests import TableRequest
from schemalint.errors import SchemalintError
from schemalint.storage import NO_OPTIONS, find_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.catalog.table_requests import Environment
    from schemalint.model.contract import Contract

T = TypeVar("T")


@dataclass(slots=True)
class AuditTargets:
    """The tables, each once; and why some could not be found out.

    Attributes:
        where: The target; None without one.
    """

    where: Environment | None
    errors: list[SchemalintError] = field(default_factory=list)
    _found: dict[tuple[str, int | None, int | None], TableRequest] = field(default_factory=dict)

    @property
    def tables(self) -> list[TableRequest]:
        """In the order in which they were found."""
        return list(self._found.values())

    def add(self, asked: Iterable[TableRequest]) -> None:
        """Add tables; one that a contract declares is known as that."""
        for one in asked:
            key = (one.uri, one.version, one.at)
            if key not in self._found or one.contract is not None:
                self._found[key] = one

    def add_roots(self, roots: Iterable[str]) -> None:
        """Add what lies at or below places; what a contract declares there goes by its name."""
        storage = self.where.storage if self.where else NO_OPTIONS
        declared = {one.uri: one for one in self._declared()} if self.where else {}
        for root in roots:
            found = find_tables(root, storage)
            self.add(declared.get(uri, TableRequest(uri, storage=storage)) for uri in self._checked(found))

    def add_all(self) -> None:
        """Add all of the target: what is declared, what lies below its root, what its catalog has."""
        if self.where is None:
            return
        self.add(self._declared())
        if (root := self.where.root()) is not None:
            self.add_roots([root])
        if self.where.target.catalog is not None:
            from schemalint import catalog  # noqa: PLC0415 (only where there is one)

            names = catalog.tables("*.*", self.where.target, self.where.via)
            self.add(map(self.where.named, self._checked(names)))

    def _declared(self) -> Iterator[TableRequest]:
        contracts = self.where.declared().values() if self.where else ()
        yield from (asked for one in contracts for asked in self._checked(self._asked(one)))

    def _asked(self, contract: Contract) -> Iterator[TableRequest]:
        if self.where is not None:
            yield self.where.asked(contract)

    def _checked(self, found: Iterator[T]) -> Iterator[T]:
        """What can be had; what stops it is an error of the run, told once."""
        try:
            yield from found
        except SchemalintError as error:
            if str(error) not in map(str, self.errors):
                self.errors.append(error)
