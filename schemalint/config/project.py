"""A repository with the configuration of its working tree, and the configuration of other revisions."""

from __future__ import annotations

from pathlib import Path

from schemalint import config, git, limits
from schemalint.config import Config
from schemalint.errors import ConfigError
from schemalint.git import EmptyTree, Repository, Side
from schemalint.reading import read_given
from schemalint.values import frozen


@frozen
class Project:
    """A repository with the configuration of one side; see also `schemalint.config.trust`."""

    repository: Repository
    config: Config


def found_config(repository: Repository) -> Config:
    """Load the configuration in the working tree."""
    return config.load(lambda name: config.read_file(repository.root / name))


def given_config(file: str) -> Config:
    """Load the configuration in the file that ``--config`` names.

    Raises:
        ConfigError: There is no such file, or it is invalid.
    """
    path = require_file(file)
    try:
        return config.parse(path.name, read_given(path, limits.MAX_CONFIG))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}", help="--config names it") from error


def require_file(file: str) -> Path:
    """Return the path that ``--config`` names.

    Raises:
        ConfigError: There is no such file.
    """
    path = Path(file)
    if not path.is_file():
        raise ConfigError(f"there is no file {file}", help="--config names it")
    return path


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


def config_at(repository: Repository, base: Side) -> Config:
    """Load the configuration of another revision.

    Raises:
        ConfigError: It is invalid, or no regular file, or too large: it is never treated as missing.
    """
    links = git.list_files(repository, base, config.FILES).links
    contents = git.changes(repository, EmptyTree("one side"), base, lambda _: True, config.FILES)

    def read(name: str) -> bytes | None:
        reason = "it is no regular file" if name in links else contents.unread.get(name)
        if reason is not None:
            raise ConfigError(f"{name} in {base.why} cannot be read: {reason}", help="repair it there")
        return contents.head[name].data if name in contents.head else None

    return config.load(read)
