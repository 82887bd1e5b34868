"""Find and read the live tables of a target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from schemalint import catalog
from schemalint.catalog import Catalog
from schemalint.catalog.table_location import absolute_location, is_found_by_name, table_location
from schemalint.config.trust import TrustedTarget
from schemalint.delta.table import LiveTable
from schemalint.delta_log.store import NoTable
from schemalint.errors import ConfigError, LiveError
from schemalint.model.contract import Contract
from schemalint.storage import NO_OPTIONS, holds_files, holds_tables, is_remote, read_many, read_table
from schemalint.values import field, frozen


@frozen
class TargetTables:
    """The live tables of contracts in a target.

    Attributes:
        storage: The settings that open the target's store, with resolved values.
        via: The catalogs of a running Spark session: see `schemalint.catalog.open_catalog`.
    """

    target: TrustedTarget
    repository: Path
    storage: Mapping[str, str] = field(repr=False)
    via: Catalog | None = field(default=None, repr=False)
    _fetched: dict[str, LiveTable | LiveError] = field(default_factory=dict, repr=False)

    def location(self, contract: Contract) -> str:
        """Return the location of an effective contract's table; see `table_location`.

        Raises:
            ConfigError: The table has no location, or the target does not allow it.
        """
        return table_location(contract, self.target, self.repository)

    def fetch(self, contracts: Iterable[Contract]) -> None:
        """Read many tables concurrently in advance; each serves the next `read` of its contract."""
        locations: list[str] = []
        names: list[str] = []
        for contract in contracts:
            with suppress(ConfigError):  # `read` raises it
                (names if self._by_name(contract) else locations).append(self.location(contract))
        self._fetched.update(zip(locations, read_many(locations, storage=self.storage), strict=True))
        self._fetched.update(zip(names, catalog.read_many(names, self.target, self.via), strict=True))

    def read(self, contract: Contract) -> LiveTable | None:
        """Read the table of an effective contract; return None if there is no table.

        Raises:
            ConfigError: The table has no location.
            LiveError: The location cannot be reached, or the log cannot be read.
        """
        location = self.location(contract)
        found = self._fetched.pop(location, None)
        if isinstance(found, NoTable):
            return None
        if isinstance(found, LiveError):
            raise found
        if found is None and self._by_name(contract):
            return self._read_by_name(location)
        return found or read_live(location, self.storage)

    def root_without_tables(self, missing: Iterable[str]) -> str | None:
        """Return the target's root if it is in a store and no Delta table is found below it.

        A store has no folders, so nothing else tells a misspelt root from an empty one; a local root must
        exist.

        Args:
            missing: The locations without a table; None is returned if all are outside of the root.

        Raises:
            LiveError: There is no table, and the target creates none; or the root cannot be listed.
        """
        if self.target.root is None:
            return None
        root = absolute_location(self.target.root, self.repository)
        is_concerned = is_remote(root) and any(location.startswith(f"{root}/") for location in missing)
        if not is_concerned or holds_tables(root, self.storage):
            return None
        if self.target.create:
            return root
        raise LiveError(
            f"no Delta table was found below the root of target {self.target.name}: {root}",
            help="check the spelling of the root; the target creates no tables (create = false)",
        )

    def is_occupied(self, contract: Contract) -> bool:
        """Whether the location of a table to create holds other files; a catalog chooses a free location.

        Raises:
            LiveError: The location cannot be listed.
        """
        if self._by_name(contract) or not holds_files(self.location(contract), self.storage):
            return False
        return self.read(contract) is None  # another run may have created the table meanwhile

    def _by_name(self, contract: Contract) -> bool:
        return is_found_by_name(contract, self.target)

    def _read_by_name(self, name: str) -> LiveTable | None:
        try:
            return catalog.read(name, self.target, self.via)
        except NoTable:
            return None


def read_live(uri: str, storage: Mapping[str, str] = NO_OPTIONS) -> LiveTable | None:
    """Read the latest version of the table at a location; return None if there is no table.

    Raises:
        LiveError: The location cannot be reached, or the log cannot be read.
    """
    try:
        return read_table(uri, storage=storage)
    except NoTable:
        return None
