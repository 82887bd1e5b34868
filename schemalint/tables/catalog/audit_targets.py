"""Collect the tables of an audit, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field  # noqa: TID251 (it is filled step by step)
from pathlib import Path
from typing import TypeVar

from schemalint.base.errors import SchemalintError
from schemalint.tables import catalog
from schemalint.tables.catalog.table_location import absolute_location, root_location
from schemalint.tables.catalog.table_requests import TableRequest, TargetContracts
from schemalint.tables.storage import NO_OPTIONS, find_tables

T = TypeVar("T")


@dataclass(slots=True)
class AuditTargets:
    """The tables of an audit, each once."""

    where: TargetContracts | None
    errors: list[SchemalintError] = field(default_factory=list)
    _requests: dict[tuple[str, int | None, int | None], TableRequest] = field(default_factory=dict)

    @property
    def tables(self) -> list[TableRequest]:
        """The tables in the order in which they were added."""
        return list(self._requests.values())

    def add(self, requests: Iterable[TableRequest]) -> None:
        """Add tables; a request with a contract replaces one without."""
        for request in requests:
            key = (request.uri, request.version, request.at)
            if key not in self._requests or request.contract is not None:
                self._requests[key] = request

    def add_roots(self, roots: Iterable[str]) -> None:
        """Add the tables at or below locations; declared ones keep their name and contract."""
        storage, here = self.where.storage if self.where else NO_OPTIONS, Path.cwd()
        declared = self._known(self.where) if self.where else {}
        for root in roots:
            uris = self._until_error(find_tables(root, storage))
            self.add(
                declared.get(absolute_location(uri, here), TableRequest(uri, storage=storage)) for uri in uris
            )

    def add_all(self) -> None:
        """Add all tables of the target: declared ones, and those below its root and in its catalog."""
        if self.where is None:
            return
        self.add(self._declared(self.where))
        if (root := root_location(self.where.target, self.where.folder)) is not None:
            self.add_roots([root])
        if self.where.target.catalog is not None:
            known = self._known(self.where)
            for name in self._until_error(catalog.tables("*.*", self.where.target, self.where.via)):
                request = self.where.request_by_name(name)
                self.add([known.get(request.uri, request)])

    def _known(self, where: TargetContracts) -> dict[str, TableRequest]:
        """Return the requests for declared tables, and for those that a file names without a contract."""
        requests: list[TableRequest] = []
        for contract in where.declared.uncontracted.values():
            with suppress(SchemalintError):  # nobody promised that the target has it
                requests.append(where.request_for(contract))
        return {request.uri: request for request in (*requests, *self._declared(where))}

    def _declared(self, where: TargetContracts) -> Iterator[TableRequest]:
        declarations = where.declared
        self.errors += (error for error in declarations.errors if str(error) not in map(str, self.errors))
        for contract in declarations.contracts.values():
            yield from self._until_error(map(where.request_for, [contract]))

    def _until_error(self, items: Iterator[T]) -> Iterator[T]:
        """Yield items until an error ends the iteration; record the error once."""
        try:
            yield from items
        except SchemalintError as error:
            if str(error) not in map(str, self.errors):
                self.errors.append(error)
