"""A repository with the configuration of its working tree, and the configuration of other revisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schemalint.base import limits
from schemalint.base.errors import ConfigError
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen
from schemalint.project import config, git
from schemalint.project.config import Config
from schemalint.project.config.nested_settings import NAME as NESTED
from schemalint.project.config.nested_settings import with_nested
from schemalint.project.git import Repository, Side


@frozen
class Project:
    """A repository with the configuration of one side; see also `schemalint.project.config.trust`."""

    repository: Repository
    config: Config


def found_config(repository: Repository) -> Config:
    """Load the configuration of the working folder in the working tree, without nested files."""
    return config.load(lambda name: config.read_file(repository.root / name), repository.folder)


def given_config(file: str) -> Config:
    """Load the configuration in the file that ``--config`` names.

    Raises:
        ConfigError: There is no such file, or it is invalid.
    """
    path = require_file(file)
    try:
        return config.parse(path.name, read_given(path, limits.MAX_CONFIG), is_given=True)
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


def unmatched_globs(project: Project, globs: Sequence[str], *sides: Side) -> tuple[ConfigError, ...]:
    """Return an error for each glob of contract files that matches no file of any side.

    A misspelt glob would hide all its contracts.
    """
    config = project.config
    return tuple(
        ConfigError(
            f"{config.file}: the glob {glob!r} of `contracts` matches no file",
            help="correct or remove it; a contract is a file that git tracks, or would add",
        )
        for glob in git.unmatched_globs(project.repository, sides, globs)
    )


def config_at(repository: Repository, base: Side) -> Config:
    """Load the configuration of the working folder at another revision, without nested files.

    Raises:
        ConfigError: It is invalid, or no regular file, or too large: it is never treated as missing.
    """
    names = [git.escape_glob(name) for name in config.config_files(repository.folder)]
    listing = git.list_files(repository, base, names)
    blobs = dict(git.read_blobs(repository, {*listing.blobs.values()}))

    def read(name: str) -> bytes | None:
        if name in listing.links:
            raise _unreadable(name, base, "it is no regular file")
        if name not in listing.blobs:
            return None
        data = blobs[listing.blobs[name]]
        if data is None:
            raise _unreadable(name, base, f"it has more than {git.MAX_SIZE >> 20} MiB, a limit of schemalint")
        return data

    return config.load(read, repository.folder)


def _unreadable(name: str, base: Side, reason: str) -> ConfigError:
    return ConfigError(f"{name} in {base.why} cannot be read: {reason}", help="repair it there")


def with_nested_at(repository: Repository, side: Side, settings: Config) -> Config:
    """Return a configuration with the nested files of a side (one git process, one more if there are any).

    Raises:
        ConfigError: One of them is invalid.
    """
    if settings.folder is None:
        return settings
    files = git.beside_files(repository, side, settings.all_globs, NESTED)
    if files:
        return with_nested(settings, files)
    return settings
