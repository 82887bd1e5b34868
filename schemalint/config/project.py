"""A repository and its configuration, and which of its revisions is trusted."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from schemalint import config, git
from schemalint.config import Config
from schemalint.errors import ConfigError, GitError
from schemalint.git import Repository, Revision, Side
from schemalint.values import frozen, replace


@frozen
class Project:
    """A repository with its configuration."""

    repository: Repository
    config: Config


def open_project(config_file: str | None = None, *, isolated: bool = False) -> Project:
    """The repository around the working directory.

    Raises:
        SchemalintError: There is none, or its configuration cannot be used.
    """
    repository = git.open_repository(Path.cwd(), os.environ)
    if isolated:
        return Project(repository, Config())
    if config_file is not None:
        path = Path(config_file)
        if not path.is_file():
            raise ConfigError(f"there is no file {config_file}", help="see --config")
        return Project(repository, config.parse(path.name, path.read_bytes()))
    return Project(repository, config.load(lambda name: config.read_file(repository.root / name)))


def project_if_any(config_file: str | None, *, isolated: bool) -> Project | None:
    """The project around the working directory; tables can be looked at without one.

    Raises:
        SchemalintError: Its configuration cannot be used, or one is named outside of any project.
    """
    try:
        return open_project(config_file, isolated=isolated)
    except GitError:
        if config_file is not None:
            raise
        return None


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


def _base_of_event(here: Project) -> Side:
    """What the change under review is compared with by its event, whatever else was asked for."""
    return git.find_base(here.repository, git.find_head(here.repository, "HEAD", {}), None, os.environ)
