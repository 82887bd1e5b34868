"""The live side of a check: where tables lie and how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint import config, git
from schemalint.catalog import by_session
from schemalint.catalog.table_location import choose_target, require_reachable
from schemalint.catalog.target_tables import TargetTables
from schemalint.config.project import Project, trusted
from schemalint.contract import revisions
from schemalint.git import MissingHistoryError, Repository, Side
from schemalint.lint.check import LiveSide

if TYPE_CHECKING:
    from schemalint.catalog import Catalog


def live_side(here: Project, base: Side, target_name: str | None, via: Catalog | None = None) -> LiveSide:
    """Live tables of a target, which is a `trusted` one; with a session's catalog, as that finds them."""
    target = choose_target(trusted(here, base).config, target_name)
    if via is not None:
        target = by_session(target)
    root = here.repository.root
    require_reachable(target, root)
    tables = TargetTables(target, root, config.resolve_storage(target), via)
    return LiveSide(
        target=target.name,
        read=tables.read,
        place=tables.place,
        fetch=tables.fetch,
        at_revision=revisions.table_at(here.repository, here.config.contracts),
        may_create=target.create,
        comes_after=lambda revision, head: _comes_after(here.repository, revision, head),
    )


def live_side_from(here: Project, base: Side, target_name: str | None, file: str) -> LiveSide:
    """Live tables as ``show`` printed them as JSON: for runs that cannot reach the tables themselves.

    A target is not needed: then tables are known by their names.
    """
    from schemalint.lint.shown_tables import read_tables_file  # noqa: PLC0415 (only with --live-from)

    settings = trusted(here, base).config
    target = choose_target(settings, target_name) if target_name or len(settings.targets) == 1 else None
    tables = read_tables_file(file, target, here.repository.root)
    return LiveSide(
        target=target.name if target else None,
        read=tables.read,
        place=tables.place,
        at_revision=revisions.table_at(here.repository, here.config.contracts),
        may_create=target.create if target else True,
        as_of=tables.oldest,
        comes_after=lambda revision, head: _comes_after(here.repository, revision, head),
    )


def _comes_after(repository: Repository, revision: str, head: str | None) -> bool:
    """Whether a commit is a descendant of the head; not if this clone cannot tell."""
    if not git.is_known(repository, revision):
        return False
    commit = head or git.resolve(repository, "HEAD")
    try:
        return commit != git.resolve(repository, revision) and git.is_ancestor(repository, commit, revision)
    except MissingHistoryError:
        return False
