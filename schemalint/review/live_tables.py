"""The live side of a check: tables of a target, or from a JSON file of ``show``."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from schemalint.contract.contract_files import contract_files
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.engine import Engines
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.model.marker import declaration_hash
from schemalint.project.config.repository_config import Project
from schemalint.project.config.trust import Trusted, by_session, resolve_storage
from schemalint.project.git import MissingHistoryError, Side, is_ancestor, is_known, resolve
from schemalint.review.check_input import LiveSide
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.table_location import (
    choose_target,
    require_reachable,
)
from schemalint.tables.catalog.tables_file import read_tables_file
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers


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
    revisions = Revisions(project.repository, contract_files(settings.config, target.name), target.name, head)

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
    revisions = Revisions(project.repository, contract_files(settings.config, name), name, head)
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


def _with_hash(revisions: Revisions, hash_: str, key: str) -> Effective | None:
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
