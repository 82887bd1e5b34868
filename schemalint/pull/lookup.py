"""Which table, and which contract, a reference stands for."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from schemalint import contract as contracts
from schemalint.catalog.table_location import absolute_location, table_location
from schemalint.delta.path import format_path
from schemalint.delta.table import TableState
from schemalint.errors import ConfigError, UsageError
from schemalint.model.contract import Contract, table_key
from schemalint.pull.request import Declared, PullInput
from schemalint.storage import is_place
from schemalint.values import frozen, replace

_MOST_PARTS: Final = 3


@frozen
class TableLookup:
    """A table to pull.

    Attributes:
        contract: Says what the table is called and where it lies: effective, or the head of a new one.
        file: Of the contract; None if there is none yet.
    """

    reference: str
    contract: Contract
    file: Path | None


class Lookup:
    """Names and places to tables."""

    def __init__(self, request: PullInput) -> None:
        self._request = request
        self._by_name: dict[str, Declared] = {}
        self._by_place: dict[str, Declared] = {}
        for one in request.declared.values():
            self._by_name[self._key(one.contract.table)] = one
            place = self._place(one.contract)
            if place is not None:
                self._by_place.setdefault(place, one)

    def find(self, reference: str) -> TableLookup:
        """The table that is meant by the name of a declared one, a name in the target, or a place.

        Raises:
            UsageError: It cannot be said where the table lies, or its name is taken.
        """
        declared = self._by_name.get(self._key(reference))
        if declared is not None:
            return TableLookup(reference, self._reachable(declared.contract), declared.file)
        if is_place(reference):
            return self._at(reference, absolute_location(reference, Path.cwd()))
        if self._request.target is None:
            raise UsageError(
                f"no contract declares {reference}, and no target says where it lies",
                help="give its place: a path or a URI",
            )
        return TableLookup(reference, Contract(self._request.table or reference, TableState()), None)

    def _reachable(self, contract: Contract) -> Contract:
        """The effective contract of a table that is there to be pulled."""
        effective, target = self.effective(contract), self._request.target
        if target is None and effective.location is None:
            raise UsageError(
                f"{contract.table} is declared without a location, and no target says where it lies",
                help=f"give its place, and its name: --table {contract.table}",
            )
        if target is not None and effective.absent:
            raise UsageError(f"{contract.table} is absent from target {target.name}", help="see --target")
        return effective

    def effective(self, contract: Contract) -> Contract:
        """The contract for the target."""
        target = self._request.target
        return contracts.effective(contract, target.name if target else None)

    def _at(self, reference: str, place: str) -> TableLookup:
        name = self._request.table or self._name_of(place)
        declared = self._by_place.get(place)
        if declared is not None:
            return TableLookup(reference, self.effective(declared.contract), declared.file)
        declared = self._by_name.get(self._key(name))
        if declared is None:
            return TableLookup(reference, self._located(Contract(name, TableState()), place), None)
        if self._request.table is None or self._place(declared.contract) is not None:
            raise UsageError(
                f"{name} is declared already, and lies elsewhere",
                help="name the new contract otherwise: --table NAME",
            )
        return TableLookup(
            reference, replace(self.effective(declared.contract), location=place), declared.file
        )

    def _located(self, contract: Contract, place: str) -> Contract:
        """A new contract with the least that leads to its place: nothing, a path below the root, or all."""
        top = self._top()
        below = place.removeprefix(f"{top}/") if top is not None else None
        for location in (None, below):
            located = replace(contract, location=location)
            if self._place(located) == place:
                return located
        return replace(contract, location=place)

    def _name_of(self, place: str) -> str:
        """The folders below the target's root, else the last one alone."""
        top = self._top()
        parts = place.removeprefix(f"{top}/").split("/") if top and place.startswith(f"{top}/") else []
        if not 1 <= len(parts) <= _MOST_PARTS:
            parts = [place.rstrip("/").rpartition("/")[2] or "table"]
        return ".".join(format_path((part,)) for part in parts)

    def _top(self) -> str | None:
        root = self._request.target.root if self._request.target else None
        return None if root is None else absolute_location(root, self._request.root)

    def _key(self, name: str) -> str:
        """What a table is known by; the target's own catalog goes without saying."""
        catalog = self._request.target.catalog if self._request.target else None
        return table_key(name) if catalog is None else table_key(name).removeprefix(f"{table_key(catalog)}.")

    def _place(self, contract: Contract) -> str | None:
        effective, target, root = self.effective(contract), self._request.target, self._request.root
        if effective.absent:
            return None
        if target is None:
            return None if effective.location is None else absolute_location(effective.location, root)
        with suppress(ConfigError):
            return table_location(effective, target, root)
        return None
