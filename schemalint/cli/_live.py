"""The live side of a check: where tables lie and how they are read."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import click

from schemalint import config, git, revisions
from schemalint.catalog import by_session
from schemalint.cli._shared import Project
from schemalint.config import Config
from schemalint.engine.check import LiveSide
from schemalint.engine.place import choose_target, require_reachable
from schemalint.engine.tables import TargetTables
from schemalint.git import MissingHistoryError, Repository, Revision, Side

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
    from schemalint.cli._showntables import read_shown_tables  # noqa: PLC0415 (only with --live-from)

    settings = trusted(here, base).config
    target = choose_target(settings, target_name) if target_name or len(settings.targets) == 1 else None
    tables = read_shown_tables(file, target, here.repository.root)
    click.echo(tables.age(dt.datetime.now(tz=dt.UTC)), err=True)
    return LiveSide(
        target=target.name if target else None,
        read=tables.read,
        place=tables.place,
        at_revision=revisions.table_at(here.repository, here.config.contracts),
        may_create=target.create if target else True,
        comes_after=lambda revision, head: _comes_after(here.repository, revision, head),
    )


def trusted(here: Project, base: Side | None = None) -> Project:
    """The project, in a pull request with the targets and the Spark settings of the base.

    The change under review must not say where the runner's credentials are sent, and which code is run.
    """
    if not git.is_review(os.environ):
        return here
    settings = config_at(here, base if isinstance(base, Revision) else _base_of_event(here))
    return replace(here, config=replace(here.config, targets=settings.targets, spark=settings.spark))


def config_at(here: Project, base: Side) -> Config:
    """The configuration of another revision."""
    files = git.files_at(here.repository, base, config.FILES)
    by_path = {PurePosixPath(path).as_posix(): file.data for path, file in files.items()}
    return config.load(by_path.get)


def _comes_after(repository: Repository, revision: str, head: str | None) -> bool:
    """Whether a commit is a descendant of the head; not if this clone cannot tell."""
    if not git.is_known(repository, revision):
        return False
    commit = head or git.resolve(repository, "HEAD")
    try:
        return commit != git.resolve(repository, revision) and git.is_ancestor(repository, commit, revision)
    except MissingHistoryError:
        return False


def _base_of_event(here: Project) -> Side:
    """What the change under review is compared with by its event, whatever else was asked for."""
    return git.find_base(here.repository, git.find_head(here.repository, "HEAD", {}), None, os.environ)
