"""The live side of a check: locate live tables and read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint import git
from schemalint.catalog.stream_progress import with_progress
from schemalint.catalog.table_location import choose_target, require_reachable
from schemalint.catalog.target_tables import TargetTables
from schemalint.config.project import Project
from schemalint.config.trust import Trusted, by_session, resolve_storage
from schemalint.contract import revisions
from schemalint.git import MissingHistoryError, Repository
from schemalint.lint.check_input import LiveSide

if TYPE_CHECKING:
    from schemalint.catalog import Catalog


def live_side(
    project: Project, settings: Trusted, target_name: str | None, via: Catalog | None = None
) -> LiveSide:
    """Return the live tables of a configured target, located by ``via`` if given."""
    target = choose_target(settings, target_name)
    if via is not None:
        target = by_session(target)
    root = project.repository.root
    require_reachable(target, root)
    tables = TargetTables(target, root, resolve_storage(target), via)
    return LiveSide(
        target=target.name,
        read=tables.read,
        location=tables.location,
        fetch=tables.fetch,
        at_revision=revisions.table_at(project.repository, settings.config.contracts),
        may_create=target.create,
        root_without_tables=tables.root_without_tables,
        engine=target.engine,
        comes_after=lambda revision, head: _comes_after(project.repository, revision, head),
        with_progress=lambda contract, table: with_progress(contract, table, target, root),
    )


def live_side_from(project: Project, settings: Trusted, target_name: str | None, file: str) -> LiveSide:
    """Return the live tables from a JSON file of ``show``, for runs that cannot reach the tables.

    Without a target, tables are identified by name.
    """
    from schemalint.lint.tables_file import read_tables_file  # noqa: PLC0415 (only with --live-from)

    target = choose_target(settings, target_name) if target_name or len(settings.targets) == 1 else None
    tables = read_tables_file(file, target, project.repository.root)
    return LiveSide(
        target=target.name if target else None,
        read=tables.read,
        location=tables.location,
        at_revision=revisions.table_at(project.repository, settings.config.contracts),
        may_create=target.create if target else True,
        engine=target.engine if target else None,
        as_of=tables.oldest,
        comes_after=lambda revision, head: _comes_after(project.repository, revision, head),
    )


def _comes_after(repository: Repository, revision: str, head: str | None) -> bool:
    """Return whether a commit is a descendant of the head; False if the clone lacks the history."""
    if not git.is_known(repository, revision):
        return False
    commit = head or git.resolve(repository, "HEAD")
    try:
        return commit != git.resolve(repository, revision) and git.is_ancestor(repository, commit, revision)
    except MissingHistoryError:
        return False
