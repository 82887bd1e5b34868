"""The live tables of a target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from schemalint import catalog
from schemalint.catalog import Catalog
from schemalint.catalog.table_location import is_found_by_name, table_location
from schemalint.config import Target
from schemalint.delta.table import LiveTable
from schemalint.delta_log.store import NoTable
from schemalint.errors import ConfigError, LiveError
from schemalint.model.contract import Contract
from schemalint.storage import NO_OPTIONS, holds_files, read_many, read_table
from schemalint.values import field, frozen


@frozen
class TargetTables:
    """Where the tables of contracts lie in a target, and what they are.

    Attributes:
        storage: What opens the target's store, with the values themselves.
        via: What a running Spark session knows of tables: see `schemalint.catalog.open_catalog`.
    """

    target: Target
    repository: Path
    storage: Mapping[str, str] = field(repr=False)
    via: Catalog | None = field(default=None, repr=False)
    _fetched: dict[str, LiveTable | LiveError] = field(default_factory=dict, repr=False)

    def place(self, contract: Contract) -> str:
        """The place of an effective contract's table.

        Raises:
            ConfigError: It has none, or one that is not allowed.
        """
        return table_location(contract, self.target, self.repository)

    def fetch(self, contracts: Iterable[Contract]) -> None:
        """Read tables of which each is going to be asked for once: all at the same time."""
        places: list[str] = []
        names: list[str] = []
        for contract in contracts:
            with suppress(ConfigError):  # said where that table is asked for
                (names if self._by_name(contract) else places).append(self.place(contract))
        self._fetched.update(zip(places, read_many(places, storage=self.storage), strict=True))
        self._fetched.update(zip(names, catalog.read_many(names, self.target, self.via), strict=True))

    def read(self, contract: Contract) -> LiveTable | None:
        """The table of an effective contract, None if there is none.

        Raises:
            ConfigError: It has no place.
            LiveError: The place cannot be reached, or the log cannot be read.
        """
        place = self.place(contract)
        found = self._fetched.pop(place, None)
        if isinstance(found, NoTable):
            return None
        if isinstance(found, LiveError):
            raise found
        if found is None and self._by_name(contract):
            return self._read_by_name(place)
        return found or read_live(place, self.storage)

    def is_occupied(self, contract: Contract) -> bool:
        """Whether something that is no table lies where one is to be made; a catalog finds a place itself.

        Raises:
            LiveError: The place cannot be looked at.
        """
        if self._by_name(contract) or not holds_files(self.place(contract), self.storage):
            return False
        return self.read(contract) is None  # else another run has made it meanwhile

    def _by_name(self, contract: Contract) -> bool:
        return is_found_by_name(contract, self.target)

    def _read_by_name(self, name: str) -> LiveTable | None:
        try:
            return catalog.read(name, self.target, self.via)
        except NoTable:
            return None


def read_live(uri: str, storage: Mapping[str, str] = NO_OPTIONS) -> LiveTable | None:
    """The table at a place as it is now, None if there is none.

    Raises:
        LiveError: The place cannot be reached, or the log cannot be read.
    """
    try:
        return read_table(uri, storage=storage)
    except NoTable:
        return None
