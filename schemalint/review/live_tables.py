"""The live side of a check: tables of a target, or from a JSON file of ``show``."""

from __future__ import annotations

from schemalint.contract.contract_files import contract_files
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.engine import Engines
from schemalint.project.config.repository_config import Project
from schemalint.project.config.trust import Trusted, by_session, resolve_storage
from schemalint.project.git import Side
from schemalint.review.check_input import LiveSide
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_location import choose_target, require_reachable
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
    repository = project.repository
    require_reachable(target, repository.root)
    return LiveSide(
        target=target.name,
        tables=TargetTables(target, repository.root, resolve_storage(target), via, history, workers),
        revisions=Revisions(repository, contract_files(settings.config, target.name), target.name, head),
        may_create=target.create,
        engines=target.engines,
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
    return LiveSide(
        target=name,
        tables=tables,
        revisions=Revisions(project.repository, contract_files(settings.config, name), name, head),
        may_create=target.create if target else True,
        engines=target.engines if target else Engines(),
        as_of=tables.oldest,
    )
