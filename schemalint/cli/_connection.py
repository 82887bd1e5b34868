"""How a command connects: the configuration that counts, and the Spark session that its options choose."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import click

from schemalint.base.errors import GitError, UsageError
from schemalint.base.values import replace
from schemalint.cli import print_note
from schemalint.cli._options import together
from schemalint.cli._typed import NO_PACKAGES, Connection
from schemalint.project import git
from schemalint.project.config.trust import (
    ConfigOptions,
    Trusted,
    TrustedSpark,
    TrustedTarget,
    find_repository,
    find_trusted,
    is_overridden,
    unencrypted_hosts,
)
from schemalint.project.git import Repository

if TYPE_CHECKING:
    from schemalint.spark.executor_audit import Session
    from schemalint.spark.session_catalog import SessionCatalog


spark_options = together(
    click.option("--master", metavar="URL", help="Use a Spark master; local[*] if none is configured"),
    click.option("--remote", metavar="URL", help="Use a Spark Connect server: sc://host:port"),
    click.option("--conf", multiple=True, metavar="KEY=VALUE", help="Set a Spark configuration property"),
)
"""Add ``--master``, ``--remote`` and ``--conf``."""


via_options = together(
    click.option("--via", type=click.Choice(["spark"]), help="Look up table names in a Spark session"),
    spark_options,
)
"""``--via spark`` and the options that choose its session."""


class Spark:
    """A Spark session that starts at its first use."""

    def __init__(
        self, settings: TrustedSpark, target: TrustedTarget | None = None, *, adds_packages: bool = False
    ) -> None:
        self._settings = settings
        self._target = target
        self._adds_packages = adds_packages
        self._lock = Lock()
        self._started: Session | None = None
        self._is_own = False
        self._meanwhile = ExitStack()

    @property
    def session(self) -> Session:
        """The session, started once even if several threads look up tables.

        Raises:
            UsageError: pyspark or Java is not installed.
            ApplyError: The session does not start.
        """
        from schemalint.spark import session, session_settings  # noqa: PLC0415 (pyspark loads only when needed)
        from schemalint.spark.connect_server import connect_server  # noqa: PLC0415 (as above)
        from schemalint.spark.statements import refusals_not_logged  # noqa: PLC0415 (as above)

        with self._lock:
            if self._started is None:
                is_running = session.is_running()
                self._is_own = not (is_running or session.is_submitted())
                if self._is_own and (server := connect_server(self._settings)):
                    print_note(f"waiting for Spark at {server}")
                self._meanwhile.enter_context(refusals_not_logged())
                self._started = session.start(self._with_store() if self._is_own else self._settings)
                if is_running:
                    # The others count only when Spark starts.
                    conf = {
                        k: v for k, v in self._settings.conf.items() if self._started.conf.isModifiable(k)
                    }
                    self._meanwhile.enter_context(session_settings.assigned(self._started, conf))
            return self._started

    def _with_store(self) -> TrustedSpark:
        """Return the settings with what the target's store needs; say which packages are missing."""
        from schemalint.spark import object_stores, session  # noqa: PLC0415 (as above)

        settings = self._settings
        if self._target is None or session.is_remote(settings):
            return settings
        schemes = object_stores.schemes_of(self._target)
        missing = object_stores.missing_packages(settings, schemes)
        if self._adds_packages:
            settings = object_stores.with_packages(settings, missing)
        elif missing.names:
            print_note(
                f"note: a session needs {missing.names[0]} for {', '.join(schemes)}: add --with-packages, or "
                f'packages = ["{missing.names[0]}"] under [spark], unless its Spark has it'
            )
        if not session.is_local(settings):
            return settings
        for what in object_stores.left_out(settings, self._target):
            print_note(f"note: Hadoop has no setting for {what}")
        return object_stores.with_store_of(settings, self._target)

    @cached_property
    def catalog(self) -> SessionCatalog:
        """The catalog of the session."""
        from schemalint.spark.session_catalog import SessionCatalog  # noqa: PLC0415 (as above)

        return SessionCatalog(lambda: self.session)

    def stop(self) -> None:
        """Stop the session if this command started it; else give it its own settings again."""
        self._meanwhile.close()
        if self._started is not None and self._is_own:
            self._started.stop()


def catalog_of(spark: Spark | None) -> SessionCatalog | None:
    """Return the catalog of a session, which looks names up; None without a session."""
    return spark.catalog if spark else None


@contextmanager
def spark_for(
    settings: Trusted | None, options: Connection, *, is_used: bool = False
) -> Iterator[Spark | None]:
    """Provide Spark with the settings of the configuration if an option needs it, else None.

    Args:
        settings: The configuration that counts, None if no option needs Spark.
        options: The options of the connection.
        is_used: Whether another option than ``--via`` needs Spark.
    """
    if settings is None or not (options.via or is_used):
        yield None
        return
    with running_spark(settings.spark, options) as spark:
        yield spark


@contextmanager
def running_spark(
    configured: TrustedSpark, options: Connection, target: TrustedTarget | None = None
) -> Iterator[Spark]:
    """Provide Spark, and stop it at the end.

    Args:
        configured: The settings of the configuration.
        options: The options of the connection.
        target: The target whose store the session must reach; None if it only looks up names.

    Raises:
        UsageError: The session takes no packages.
    """
    settings = _settings(configured, options)
    if options.with_packages and settings.remote:
        raise UsageError(NO_PACKAGES)
    spark = Spark(settings, target, adds_packages=options.with_packages)
    try:
        yield spark
    finally:
        spark.stop()


def _settings(configured: TrustedSpark, options: Connection) -> TrustedSpark:
    """Return the configured settings, overridden by the command line."""
    conf = {key: value for key, _, value in (pair.partition("=") for pair in options.conf)}
    settings = replace(configured, conf={**configured.conf, **conf})
    if options.master or options.remote:
        return replace(settings, master=options.master, remote=options.remote)
    return settings


def repository_settings(options: Connection) -> tuple[Repository, Trusted]:
    """Return the repository around the working folder, and its configuration that counts.

    Raises:
        SchemalintError: There is no repository, its configuration is invalid, or this clone cannot tell which
            one counts.
    """
    repository = git.open_repository(Path.cwd(), os.environ)
    if options.fetch:
        repository = repository.fetching_objects()
    return repository, _trusted_settings(repository, options)


def settings_anywhere(options: Connection) -> tuple[Repository | None, Trusted]:
    """Return the repository, None where there is none, and the settings that may connect.

    Raises:
        SchemalintError: See `repository_settings`.
    """
    repository = find_repository(os.environ)
    if repository is not None and options.fetch:
        repository = repository.fetching_objects()
    return repository, _trusted_settings(repository, options)


def settings_without_contracts(options: Connection) -> tuple[Repository | None, Trusted]:
    """Return them for a command that reads no contracts, which with ``--config`` runs without git too.

    Raises:
        SchemalintError: See `repository_settings`.
    """
    try:
        return settings_anywhere(options)
    except GitError:
        if options.config_file is None:
            raise
    return None, _trusted_settings(None, options)


def _trusted_settings(repository: Repository | None, options: Connection) -> Trusted:
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
