"""A file of ``show`` in place of the live tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.catalog.table_location import absolute_location, table_location
from schemalint.errors import ConfigError, UsageError
from schemalint.lint.check import MissingEntry
from schemalint.model.contract import table_key
from schemalint.table_json import TableDocument, TableFailure, read_lines
from schemalint.values import frozen

if TYPE_CHECKING:
    import datetime as dt

    from schemalint.config import Target
    from schemalint.delta.table import LiveTable
    from schemalint.model.contract import Contract


@frozen
class TablesFile:
    """The tables of a file.

    Attributes:
        target: The environment that they are taken for, None if none is known.
        repository: Relative roots are taken from there.
    """

    file: str
    tables: tuple[TableDocument | TableFailure, ...]
    target: Target | None
    repository: Path

    @property
    def oldest(self) -> dt.datetime:
        """When the table was read that was read first."""
        return min(table.read_at for table in self.tables)

    def place(self, contract: Contract) -> str:
        """Where the contract's table lies; its name if that is not known."""
        if self.target is None:
            return contract.location or contract.table
        return table_location(contract, self.target, self.repository)

    def read(self, contract: Contract) -> LiveTable | None:
        """The table of an effective contract, None if there was none when the file was written.

        Raises:
            NotHeld: The file does not say.
        """
        found = self._found(contract)
        if found is None:
            raise MissingEntry(f"{self.file} does not hold it")
        if isinstance(found, TableDocument):
            return found.live
        if found.missing:
            return None
        raise MissingEntry(f"it could not be read when {self.file} was written: {found.message}")

    def _found(self, contract: Contract) -> TableDocument | TableFailure | None:
        """By the place, else by the name."""
        try:
            place = self.place(contract)
        except ConfigError:
            place = None
        by_place = (one for one in self.tables if absolute_location(one.uri, Path.cwd()) == place)
        by_name = (one for one in self.tables if self._is_named(one, contract))
        return next(by_place, None) or next(by_name, None)

    def _is_named(self, one: TableDocument | TableFailure, contract: Contract) -> bool:
        if one.table is None or table_key(one.table) != contract.key:
            return False
        return self.target is None or one.target in (None, self.target.name)


def read_tables_file(file: str, target: Target | None, repository: Path) -> TablesFile:
    """The tables of a file.

    Raises:
        UsageError: The file cannot be read, or holds an older version of a table.
        ShownError: It is not what ``show`` prints.
    """
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", help="see --live-from") from None
    tables = read_lines(file, data)
    for one in tables:
        if isinstance(one, TableDocument) and not one.is_latest:
            raise UsageError(
                f"{file} holds version {one.live.version} of {one.table or one.uri} as an older one: "
                "it does not stand for the live table",
                help="write the file with `schemalint show`, without a version or a time behind the table",
            )
    return TablesFile(file, tables, target, repository)
