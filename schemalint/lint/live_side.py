"""The live side of a check: tables of a target, or from a JSON file of ``show``."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.base import limits
from schemalint.base.errors import ConfigError, UsageError
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.engine import Engines
from schemalint.delta.history import without_history
from schemalint.lint.check_input import LiveSide, MissingEntry
from schemalint.model.contract import table_key
from schemalint.model.marker import declaration_hash
from schemalint.project.config.repository_config import Project
from schemalint.project.config.trust import Trusted, by_session, resolve_storage
from schemalint.project.git import MissingHistoryError, Side, is_ancestor, is_known, resolve
from schemalint.tables.catalog.contract_streams import with_progress
from schemalint.tables.catalog.table_location import (
    absolute_location,
    choose_target,
    require_reachable,
    table_location,
)
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers
from schemalint.tables.table_json import TableDocument, TableFailure, read_lines

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping

    from schemalint.delta.table import LiveTable
    from schemalint.model.contract import Contract
    from schemalint.project.config import Target
    from schemalint.tables.catalog import Catalog


def live_side(
    project: Project,
    settings: Trusted,
    target_name: str | None,
    head: Side,
    via: Catalog | None = None,
    *,
    history: bool = False,
    workers: TableWorkers = SIDE_BY_SIDE,
) -> LiveSide:
    """Return the live tables of a configured target, located by ``via`` if given; or with their histories."""
    target = choose_target(settings, target_name)
    if via is not None:
        target = by_session(target)
    root = project.repository.root
    require_reachable(target, root)
    tables = TargetTables(target, root, resolve_storage(target), via, history, workers)
    revisions = Revisions(project.repository, settings.config.globs, target.name, head)

    def fetch(contracts: Iterable[Contract]) -> None:
        tables.fetch(contracts)
        revisions.history.expect(tables.fetched)

    return LiveSide(
        target=target.name,
        read=tables.read,
        location=tables.location,
        fetch=fetch,
        at_revision=revisions.history.at,
        with_hash=partial(_with_hash, revisions),
        may_create=target.create,
        root_without_tables=tables.root_without_tables,
        engines=target.engines,
        comes_after=partial(_comes_after, revisions),
        with_progress=lambda contract, table: with_progress(contract, table, target, root),
    )


def live_side_from(
    project: Project,
    settings: Trusted,
    target_name: str | None,
    head: Side,
    file: str,
    *,
    history: bool = False,
) -> LiveSide:
    """Return the live tables from a JSON file of ``show``, for runs that cannot reach the tables.

    Without a target, tables are identified by name.
    """
    target = choose_target(settings, target_name) if target_name or len(settings.targets) == 1 else None
    tables = read_tables_file(file, target, project.repository.root, history=history)
    name = target.name if target else None
    revisions = Revisions(project.repository, settings.config.globs, name, head)
    return LiveSide(
        target=name,
        read=tables.read,
        location=tables.location,
        fetch=lambda _contracts: revisions.history.expect(tables.live),
        at_revision=revisions.history.at,
        with_hash=partial(_with_hash, revisions),
        may_create=target.create if target else True,
        engines=target.engines if target else Engines(),
        as_of=tables.oldest,
        comes_after=partial(_comes_after, revisions),
    )


def _with_hash(revisions: Revisions, hash_: str, key: str) -> Contract | None:
    """Return the newest revision of a table's contract with this hash; None if none is known."""
    with suppress(MissingHistoryError):
        for _commit, contract in revisions.newest_first(key):
            if declaration_hash(contract) == hash_:
                return contract
    return None


def _comes_after(revisions: Revisions, commit: str) -> bool:
    """Return whether a commit is a descendant of the head; False if the clone lacks the history."""
    repository, tip = revisions.repository, revisions.history.tip
    if tip is None or not is_known(repository, commit):
        return False
    try:
        return tip != resolve(repository, commit) and is_ancestor(repository, tip, commit)
    except MissingHistoryError:
        return False


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
    def live(self) -> tuple[LiveTable, ...]:
        """The readable tables."""
        return tuple(table.live for table in self.tables if isinstance(table, TableDocument))

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
            return document.live if self.history else without_history(document.live)
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
