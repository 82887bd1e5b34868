"""The live side of a check: where tables lie and how they are read."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from schemalint import config, deploy, git, revisions
from schemalint.cli._shared import Project
from schemalint.config import Config
from schemalint.engine.check import LiveSide
from schemalint.engine.place import choose_target, require_reachable, table_location
from schemalint.git import Revision, Side


def live_side(here: Project, base: Side, target_name: str | None) -> LiveSide:
    """Live tables of a target.

    In a pull request the targets are those of the base: the change under review must not say where the
    runner's credentials are sent.
    """
    settings = here.config
    if git.is_review(os.environ):
        trusted = base if isinstance(base, Revision) else _base_of_event(here)
        settings = config_at(here, trusted)
    target = choose_target(settings, target_name)
    root = here.repository.root
    require_reachable(target, root)
    return LiveSide(
        target=target.name,
        read=lambda contract: deploy.read_live(table_location(contract, target, root)),
        place=lambda contract: table_location(contract, target, root),
        at_revision=revisions.table_at(here.repository, here.config.contracts),
        may_create=target.create,
    )


def config_at(here: Project, base: Side) -> Config:
    """The configuration of another revision."""
    files = git.files_at(here.repository, base, config.FILES)
    by_path = {PurePosixPath(path).as_posix(): file.data for path, file in files.items()}
    return config.load(by_path.get)


def _base_of_event(here: Project) -> Side:
    """What the change under review is compared with by its event, whatever else was asked for."""
    return git.find_base(here.repository, git.find_head(here.repository, "HEAD", {}), None, os.environ)
