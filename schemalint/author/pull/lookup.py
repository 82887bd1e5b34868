"""Resolve a reference to a table and its contract."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Final

from schemalint.author.pull.pull_input import DeclaredContract, PullInput
from schemalint.base.errors import ConfigError, UsageError
from schemalint.base.values import frozen, replace
from schemalint.delta.path import format_path, split_path
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Environment, effective
from schemalint.tables.catalog.table_location import absolute_location, root_location, table_location
from schemalint.tables.storage import is_path_or_uri, location_key

_MAX_NAME_PARTS: Final = 3


@frozen
class TableLookup:
    """A table to pull.

    Attributes:
        reference: The reference from the command line.
        contract: The effective contract, or a new one with name and location only.
        file: The contract's file; None for a new contract.
    """

    reference: str
    contract: Contract
    file: Path | None


class Lookup:
    """A lookup of tables by name and location."""

    def __init__(self, request: PullInput) -> None:
        self._request = request
        self._storage = request.target.storage if request.target else {}
        self._by_name: dict[str, DeclaredContract] = {}
        self._by_location: dict[str, DeclaredContract] = {}
        self._new: dict[str, str] = {}  # the locations of new tables by key
        for declared in request.declared.values():
            self._by_name[self._key(declared.contract.table)] = declared
            location = self._location(declared.contract)
            if location is not None:
                self._by_location.setdefault(location_key(location, self._storage), declared)

    def find(self, reference: str) -> TableLookup:
        """Find a table by the name of a contract, by a name in the target, or by a location.

        Raises:
            UsageError: The table's location is unknown, or another table has its name.
            ContractError: No contract declares the table, but one is unreadable.
        """
        declared = self._by_name.get(self._key(reference))
        if declared is not None:
            _require_columns(declared.contract)
            return TableLookup(reference, self._reachable(declared.contract), declared.file)
        if is_path_or_uri(reference):
            return self._find_by_location(reference, absolute_location(reference, Path.cwd()))
        self._require_new()
        if self._request.target is None:
            raise UsageError(
                f"no contract declares {reference}, and there is no target to locate it",
                help="give its location: a path or a URI",
            )
        return TableLookup(reference, Contract(self._request.table or reference, TableState()), None)

    def _require_new(self) -> None:
        """Raise the error of an unreadable contract: it could declare the table already."""
        for error in self._request.unreadable:
            raise error

    def _reachable(self, contract: Contract) -> Contract:
        """Return the effective contract; raise a UsageError if its target has no such table."""
        here, target = self.effective(contract), self._request.target
        if target is None and here.location is None:
            raise UsageError(
                f"{contract.table} is declared without a location, and there is no target to locate it",
                help=f"give its location, and its name: --table {contract.table}",
            )
        if target is not None and here.absent:
            raise UsageError(f"{contract.table} is absent from target {target.name}", help="see --target")
        return here

    def effective(self, contract: Contract) -> Contract:
        """Return the contract effective for the target."""
        target = self._request.target
        return effective(contract, Environment(target.name if target else None))

    def _find_by_location(self, reference: str, location: str) -> TableLookup:
        declared = self._by_location.get(location_key(location, self._storage))
        if declared is not None:
            self._require_name_of(declared.contract)
            _require_columns(declared.contract)
            return TableLookup(reference, self.effective(declared.contract), declared.file)
        name = self._request.table or self._name_of(location)
        if self._request.numbers:
            name = self._numbered(name, location)
        other = self._new.setdefault(self._key(name), location)
        if other != location:
            raise UsageError(
                f"the table at {location} would be called {name}, as the one at {other}",
                help="pull it by itself, with a name: --table NAME",
            )
        declared = self._by_name.get(self._key(name))
        self._require_new()
        if declared is None:
            return TableLookup(reference, self._located(Contract(name, TableState()), location), None)
        if self._request.table is None or self._location(declared.contract) is not None:
            raise UsageError(
                f"{name} is already declared, at another location",
                help="give the new contract another name: --table NAME",
            )
        return TableLookup(
            reference, replace(self.effective(declared.contract), location=location), declared.file
        )

    def _require_name_of(self, contract: Contract) -> None:
        """Refuse a name from the command line under which the table of a contract is not declared."""
        name = self._request.table
        if name is not None and self._key(name) != self._key(contract.table):
            raise UsageError(
                f"the table is already declared, as {contract.table}",
                help=f"leave out --table {name}, or change the name in {contract.file}",
            )

    def _numbered(self, name: str, location: str) -> str:
        """Return the name, with a number if another table has it."""
        *parents, last = split_path(name)
        candidates = (format_path((*parents, f"{last}_{number}")) for number in count(2))
        return next(
            candidate
            for candidate in chain((name,), candidates)
            if self._key(candidate) not in self._by_name
            and self._new.get(self._key(candidate), location) == location
        )

    def _located(self, contract: Contract, absolute: str) -> Contract:
        """Return a new contract with the shortest sufficient location: none, a relative one, or all of it."""
        root = self._root_location()
        relative = absolute.removeprefix(f"{root}/") if root is not None else None
        for location in (None, relative):
            located = replace(contract, location=location)
            if self._location(located) == absolute:
                return located
        return replace(contract, location=absolute)

    def _name_of(self, location: str) -> str:
        """Return a name from the folders below the target's root, else from the last folder."""
        root = self._root_location()
        parts = (
            location.removeprefix(f"{root}/").split("/") if root and location.startswith(f"{root}/") else []
        )
        if not 1 <= len(parts) <= _MAX_NAME_PARTS:
            parts = [location.rstrip("/").rpartition("/")[2] or "table"]
        return ".".join(format_path((part,)) for part in parts)

    def _root_location(self) -> str | None:
        target = self._request.target
        return None if target is None else root_location(target, self._request.root)

    def _key(self, name: str) -> str:
        """Return a table's key, without the target's own catalog."""
        catalog = self._request.target.catalog if self._request.target else None
        if catalog is None:
            return table_key(name)
        return table_key(name).removeprefix(f"{table_key(catalog)}.")

    def _location(self, contract: Contract) -> str | None:
        here, target, root = self.effective(contract), self._request.target, self._request.root
        if here.absent:
            return None
        if target is None:
            if here.location is None:
                return None
            return absolute_location(here.location, root)
        with suppress(ConfigError):
            return table_location(here, target, root)
        return None


def _require_columns(contract: Contract) -> None:
    """Refuse a contract without columns of its own: another tool declares them."""
    if contract.extends is not None:
        raise UsageError(
            f"{contract.table} is declared by {contract.extends}, which its contract extends",
            help="pull --format dbt-yaml prints what to write there",
        )
