"""The live side of a check: locate live tables and read them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from schemalint.base.values import frozen
from schemalint.contract import effective
from schemalint.contract.history import ContractHistory
from schemalint.delta.engine import Engines
from schemalint.lint.check_input import LiveSide
from schemalint.model.marker import declaration_hash
from schemalint.project.config.project import Project
from schemalint.project.config.trust import Trusted, by_session, resolve_storage
from schemalint.project.git import MissingHistoryError, Repository, Side, is_ancestor, is_known, resolve
from schemalint.tables.catalog.stream_progress import with_progress
from schemalint.tables.catalog.table_location import choose_target, require_reachable
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.model.contract import Contract
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
    applied = _Applied(
        project.repository,
        ContractHistory(project.repository, settings.config.globs, head),
        target.name,
    )

    def fetch(contracts: Iterable[Contract]) -> None:
        tables.fetch(contracts)
        applied.history.expect(tables.fetched)

    return LiveSide(
        target=target.name,
        read=tables.read,
        location=tables.location,
        fetch=fetch,
        at_revision=applied.history.at,
        with_hash=applied.with_hash,
        may_create=target.create,
        root_without_tables=tables.root_without_tables,
        engines=target.engines,
        comes_after=applied.comes_after,
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
    from schemalint.lint.tables_file import read_tables_file  # noqa: PLC0415 (only with --live-from)

    target = choose_target(settings, target_name) if target_name or len(settings.targets) == 1 else None
    tables = read_tables_file(file, target, project.repository.root, history=history)
    applied = _Applied(
        project.repository,
        ContractHistory(project.repository, settings.config.globs, head),
        target.name if target else None,
    )
    return LiveSide(
        target=target.name if target else None,
        read=tables.read,
        location=tables.location,
        fetch=lambda _contracts: applied.history.expect(tables.live),
        at_revision=applied.history.at,
        with_hash=applied.with_hash,
        may_create=target.create if target else True,
        engines=target.engines if target else Engines(),
        as_of=tables.oldest,
        comes_after=applied.comes_after,
    )


@frozen
class _Applied:
    """The commits that were applied last, and the branch of the head."""

    repository: Repository
    history: ContractHistory
    target: str | None

    def with_hash(self, hash_: str, key: str) -> Contract | None:
        """Return the newest revision of a table's contract with this hash; None if none is known."""
        revisions = (effective(contract, self.target) for _commit, contract in self.history.newest_first(key))
        with suppress(MissingHistoryError):
            return next((revision for revision in revisions if declaration_hash(revision) == hash_), None)
        return None

    def comes_after(self, revision: str) -> bool:
        """Return whether a commit is a descendant of the head; False if the clone lacks the history."""
        tip = self.history.tip
        if tip is None or not is_known(self.repository, revision):
            return False
        try:
            return tip != resolve(self.repository, revision) and is_ancestor(self.repository, tip, revision)
        except MissingHistoryError:
            return False
