"""Find and read the live tables of a target, and bring the entry of a catalog to what the log says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from schemalint.base.errors import ConfigError, LiveError, SchemalintError
from schemalint.base.values import field, frozen, replace
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from schemalint.tables.catalog import Catalog, open_catalog
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.table_location import is_found_by_name, root_location, table_location
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.delta_log.told_values import ToldRows, told_rows
from schemalint.tables.storage import holds_files, holds_tables, is_remote, open_store, read_table
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers

C = TypeVar("C", bound=Contract)
T = TypeVar("T")


@frozen
class TargetTables:
    """The live tables of contracts in a target.

    Attributes:
        storage: The settings that open the target's store, with resolved values.
        via: The catalogs of a running Spark session: see `schemalint.tables.catalog.open_catalog`.
        history: Whether to read the whole history of each table; else `LiveTable.history_since` reads what
            is asked for. Several threads may read tables at the same time.
    """

    target: TrustedTarget
    repository: Path
    storage: Mapping[str, str] = field(repr=False)
    via: Catalog | None = field(default=None, repr=False)
    history: bool = False
    workers: TableWorkers = SIDE_BY_SIDE
    _fetched: dict[str, LiveTable | LiveError] = field(default_factory=dict, repr=False)

    def location(self, contract: Contract) -> str:
        """Return the location of an effective contract's table; see `table_location`.

        Raises:
            ConfigError: The table has no location, or the target does not allow it.
        """
        return table_location(contract, self.target, self.repository)

    def fetch(self, contracts: Iterable[Contract]) -> None:
        """Read many tables side by side in advance; each serves the next `read` of its contract."""
        by_location: dict[str, Contract] = {}
        for contract in contracts:
            with suppress(ConfigError):  # `read` raises it
                by_location[self.location(contract)] = contract
        tables = self.each("reading", self._read_or_error, by_location.values())
        self._fetched.update(zip(by_location, tables, strict=True))

    def each(self, stage: str, function: Callable[[C], T], contracts: Iterable[C]) -> list[T]:
        """Call the function for each contract, side by side if requests can overlap; return the results."""
        work = list(contracts)
        return self._workers_for(work).each(stage, function, work, lambda contract: contract.table)

    def stream(self, contracts: Iterable[Contract]) -> Iterator[LiveTable | SchemalintError | None]:
        """Read many tables side by side; yield what `read` returns, or the error that it raises."""

        def read(contract: Contract) -> LiveTable | SchemalintError | None:
            try:
                return self.read(contract)
            except SchemalintError as error:
                return error

        work = list(contracts)
        return self._workers_for(work).stream("reading", read, work, lambda contract: contract.table)

    @property
    def fetched(self) -> tuple[LiveTable, ...]:
        """The tables that were read in advance, and not asked for yet."""
        return tuple(table for table in self._fetched.values() if isinstance(table, LiveTable))

    def read(self, contract: Contract) -> LiveTable | None:
        """Read the table of an effective contract; return None if there is no table.

        Raises:
            ConfigError: The table has no location.
            LiveError: The location cannot be reached, or the log cannot be read.
        """
        location = self.location(contract)
        result = self._fetched.pop(location, None) or self._read_or_error(contract)
        if isinstance(result, NoTable):
            return None
        if isinstance(result, LiveError):
            raise result
        return result

    def with_progress(self, contract: Effective, table: LiveTable) -> Effective:
        """Return an effective contract whose streams have their progress."""
        return with_progress(contract, table, self.target, self.repository)

    def told_rows(self, contract: Contract, uri: str, version: int) -> ToldRows | None:
        """Return what the log of a table says of the rows of a version; None if it does not say it.

        Of a table in a catalog, the log at its location may lack the newest commits.

        Raises:
            LiveError: The log cannot be read.
        """
        if self._by_name(contract) and is_remote(uri) and not self.storage:
            return None  # the catalog has the credentials
        return told_rows(open_store(uri, self.storage), version)

    def root_without_tables(self, missing: Iterable[str]) -> str | None:
        """Return the target's root if it is in a store and no Delta table is found below it.

        A store has no folders, so nothing else tells a misspelt root from an empty one; a local root must
        exist.

        Args:
            missing: The locations without a table; None is returned if all are outside of the root.

        Raises:
            LiveError: There is no table, and the target creates none; or the root cannot be listed.
        """
        root = root_location(self.target, self.repository)
        if root is None:
            return None
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

    def _workers_for(self, contracts: Iterable[Contract]) -> TableWorkers:
        overlap = any(map(self._needs_requests, contracts))
        return self.workers if overlap else replace(self.workers, jobs=1)

    def _needs_requests(self, contract: Contract) -> bool:
        with suppress(ConfigError):
            return self._by_name(contract) or is_remote(self.location(contract))
        return False

    def _read_or_error(self, contract: Contract) -> LiveTable | LiveError:
        location = self.location(contract)
        try:
            if self._by_name(contract):
                return catalog.read(location, self.target, self.via, history=self.history)
            return read_table(location, history=self.history, storage=self.storage)
        except LiveError as error:
            return error

    def _by_name(self, contract: Contract) -> bool:
        return is_found_by_name(contract, self.target)


def refresh_entry(contract: Contract, tables: TargetTables) -> SchemalintError | None:
    """Bring the entry of a contract's table up to date, which writes to the catalog; see `Catalog.refresh`.

    A catalog that only a Spark session knows is left to Spark.

    Returns:
        Why the entry may still be as it was before; None if it is up to date.
    """
    if tables.target.catalog_uri is None or contract.location is not None:
        return None
    try:
        table = tables.read(contract)
        if table is not None:
            open_catalog(tables.target).refresh(table)
    except LiveError as error:
        return error
    return None
