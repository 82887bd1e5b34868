"""The configuration that counts, for the commands that connect."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.base.errors import GitError
from schemalint.cli import print_note
from schemalint.project import git
from schemalint.project.config.trust import (
    ConfigOptions,
    Trusted,
    find_repository,
    find_trusted,
    is_overridden,
    unencrypted_hosts,
)

if TYPE_CHECKING:
    from schemalint.cli._typed import Connection
    from schemalint.project.git import Repository


def repository_settings(options: Connection) -> tuple[Repository, Trusted]:
    """Return the repository around the working folder, and its configuration that counts.

    Raises:
        SchemalintError: There is no repository, its configuration is invalid, or this clone cannot tell which
            one counts.
    """
    repository = git.open_repository(Path.cwd(), os.environ)
    if options.fetch:
        repository = repository.fetching_objects()
    return repository, trusted_settings(repository, options)


def settings_anywhere(options: Connection) -> tuple[Repository | None, Trusted]:
    """Return the same where a repository is not needed: None without one.

    Raises:
        SchemalintError: See `repository_settings`.
    """
    repository = find_repository(os.environ)
    if repository is not None and options.fetch:
        repository = repository.fetching_objects()
    return repository, trusted_settings(repository, options)


def settings_without_contracts(options: Connection) -> tuple[Repository | None, Trusted]:
    """Return the same for a command that reads no contracts: with ``--config`` it runs without git too.

    Raises:
        SchemalintError: See `repository_settings`.
    """
    try:
        return settings_anywhere(options)
    except GitError:
        if options.config_file is None:
            raise
    return None, trusted_settings(None, options)


def trusted_settings(repository: Repository | None, options: Connection) -> Trusted:
    """Return the configuration that counts, and print a note if the one in the working tree does not."""
    settings = find_trusted(repository, os.environ, config_options(options))
    if repository is not None and is_overridden(settings, repository):
        print_note(f"note: the configuration of the working tree does not count, only {settings.source}")
    return connecting_settings(settings, options)


def connecting_settings(settings: Trusted, options: Connection) -> Trusted:
    """Return the configuration as ``--via`` needs it, and print a note on credentials without encryption."""
    if options.via:
        settings = settings.by_session()
    for name, target in settings.targets.items():
        if options.target == name or (options.target is None and len(settings.targets) == 1):
            for host in unencrypted_hosts(target):
                print_note(
                    f"note: target {name} sends credentials to {host} without encryption: same machine"
                )
    return settings


def config_options(options: Connection) -> ConfigOptions:
    """Return the options of the command line that choose the configuration."""
    return ConfigOptions(
        file=options.config_file,
        isolated=options.isolated,
        trusted_refs=options.trusted_ref,
        fetch=options.fetch,
    )
