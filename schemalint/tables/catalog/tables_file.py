"""The live tables of a JSON file that ``show`` wrote, found as a target's tables are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from schemalint.base import limits
from schemalint.base.errors import ConfigError, MissingEntry, UsageError
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen
from schemalint.delta.history import without_history
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Effective
from schemalint.project.config import Target
from schemalint.tables.catalog.table_location import absolute_location, table_location
from schemalint.tables.table_json import TableDocument, TableFailure, read_lines


@frozen
class TablesFile:
    """The tables of a file.

    Attributes:
        target: The target whose tables they are; None if it is unknown.
        repository: The folder that relative roots start from.
        history: Whether to return the whole histories, or tables as `TargetTables` reads them without.
    """

    file: str
    tables: tuple[TableDocument | TableFailure, ...]
    target: Target | None
    repository: Path
    history: bool = False

    @property
    def fetched(self) -> tuple[LiveTable, ...]:
        """The readable tables."""
        return tuple(table.live for table in self.tables if isinstance(table, TableDocument))

    def fetch(self, contracts: Iterable[Contract]) -> None:
        """Do nothing: the file is read already."""

    def root_without_tables(self, _missing: Iterable[str]) -> None:
        """Return None: the file does not tell of the root."""

    def is_occupied(self, _contract: Contract) -> bool:
        """Return False: the file does not tell of other files."""
        return False

    def with_progress(self, contract: Effective, _table: LiveTable) -> Effective:
        """Return the contract: the file does not tell of streams."""
        return contract

    @property
    def oldest(self) -> dt.datetime:
        """The earliest reading time of all tables."""
        return min(table.read_at for table in self.tables)

    def location(self, contract: Contract) -> str:
        """Return the location of a contract's table; without a target, its declared location or its name."""
        if self.target is None:
            return contract.location or contract.table
        return table_location(contract, self.target, self.repository)

    def read(self, contract: Contract) -> LiveTable | None:
        """Return the table of an effective contract; None if it did not exist when the file was written.

        Raises:
            MissingEntry: The file has no readable entry for the table.
        """
        document = self._entry(contract)
        if document is None:
            raise MissingEntry(f"{self.file} has no entry for it")
        if isinstance(document, TableDocument):
            if self.history:
                return document.live
            return without_history(document.live)
        if document.missing:
            return None
        raise MissingEntry(f"it was unreadable when {self.file} was written: {document.message}")

    def _entry(self, contract: Contract) -> TableDocument | TableFailure | None:
        """Find a table's entry by location, else by name."""
        try:
            location = self.location(contract)
        except ConfigError:
            location = None
        by_location = self._by_location.get(location) if location is not None else None
        return by_location or self._by_name.get(contract.key)

    @cached_property
    def _by_location(self) -> Mapping[str, TableDocument | TableFailure]:
        here = Path.cwd()
        return {absolute_location(entry.uri, here): entry for entry in reversed(self.tables)}

    @cached_property
    def _by_name(self) -> Mapping[str, TableDocument | TableFailure]:
        """The entries of the target with a name; of several the first counts."""
        targets = None if self.target is None else (None, self.target.name)
        entries = [entry for entry in self.tables if targets is None or entry.target in targets]
        return {table_key(entry.table): entry for entry in reversed(entries) if entry.table is not None}


def read_tables_file(
    file: str, target: Target | None, repository: Path, *, history: bool = False
) -> TablesFile:
    """Read the tables of a file.

    Raises:
        UsageError: The file is unreadable, or has an older version of a table.
        TableJsonError: The file is not the JSON of ``show``.
    """
    try:
        data = read_given(file, limits.MAX_TABLES_FILE)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", help="see --live-from") from None
    tables = read_lines(file, data)
    for entry in tables:
        if isinstance(entry, TableDocument) and not entry.is_latest:
            raise UsageError(
                f"{file} has version {entry.live.version} of {entry.table or entry.uri}, which was not the "
                "latest one: it cannot replace the live table",
                help="write the file with `schemalint show`, without a version or time after the table",
            )
    return TablesFile(file, tables, target, repository, history)
