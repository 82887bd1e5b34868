"""A repository with its configuration, and the revision whose settings are trusted."""

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
    """Open the repository around the working directory.

    Raises:
        SchemalintError: There is no repository, or its configuration is invalid.
    """
    repository = git.open_repository(Path.cwd(), os.environ)
    if isolated:
        return Project(repository, Config())
    if config_file is not None:
        path = Path(config_file)
        if not path.is_file():
            raise ConfigError(f"there is no file {config_file}", help="--config names it")
        return Project(repository, config.parse(path.name, path.read_bytes()))
    return Project(repository, config.load(lambda name: config.read_file(repository.root / name)))


def find_project(config_file: str | None, *, isolated: bool) -> Project | None:
    """Open the project around the working directory; None outside a project, where tables can still be read.

    Raises:
        SchemalintError: The configuration is invalid, or `config_file` is given outside a project.
    """
    try:
        return open_project(config_file, isolated=isolated)
    except GitError:
        if config_file is not None:
            raise
        return None


def trusted(project: Project, base: Side | None = None) -> Project:
    """Return the project; in a pull request with the targets and Spark settings of the base.

    A change under review must not decide where the runner's credentials are sent or which code runs.
    """
    if not git.is_review(os.environ):
        return project
    settings = config_at(project, base if isinstance(base, Revision) else _base_of_event(project))
    return replace(project, config=replace(project.config, targets=settings.targets, spark=settings.spark))


def unmatched_globs(project: Project, *sides: Side) -> tuple[ConfigError, ...]:
    """Return an error for each glob of contract files that matches no file of any side.

    A misspelt glob would hide all its contracts.
    """
    config = project.config
    return tuple(
        ConfigError(
            f"{config.file}: the glob {glob!r} of `contracts` matches no file",
            help="correct or remove it; a contract is a file that git tracks, or would add",
        )
        for glob in git.unmatched_globs(project.repository, sides, config.contracts)
    )


def config_at(project: Project, base: Side) -> Config:
    """Load the configuration of another revision."""
    files = git.files_at(project.repository, base, config.FILES)
    by_path = {PurePosixPath(path).as_posix(): file.data for path, file in files.items()}
    return config.load(by_path.get)


def _base_of_event(project: Project) -> Side:
    """Return the default base of ``HEAD``, independent of ``--against`` and ``--head``."""
    return git.find_base(project.repository, git.find_head(project.repository, "HEAD", {}), None, os.environ)
