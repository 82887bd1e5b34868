"""The options that choose a Spark session, and the session itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import click

from schemalint.cli import print_note
from schemalint.cli._options import F
from schemalint.config import SparkSettings
from schemalint.config.project import Project
from schemalint.errors import UsageError
from schemalint.values import replace

if TYPE_CHECKING:
    from schemalint.spark.audit import Session
    from schemalint.spark.catalog import SessionCatalog


def spark_options(function: F) -> F:
    """Add ``--master``, ``--remote`` and ``--conf``."""
    for option in (
        click.option("--conf", multiple=True, metavar="KEY=VALUE", help="Set a Spark configuration property"),
        click.option("--remote", metavar="URL", help="Use a Spark Connect server: sc://host:port"),
        click.option("--master", metavar="URL", help="Use a Spark master; local[*] if none is configured"),
    ):
        function = option(function)
    return function


def via_options(function: F) -> F:
    """Add ``--via spark`` and the options that choose its session."""
    help_text = "Look up table names in a Spark session"
    return click.option("--via", type=click.Choice(["spark"]), help=help_text)(spark_options(function))


class Spark:
    """A Spark session that starts at its first use."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._started: Session | None = None
        self._is_own = False

    @property
    def session(self) -> Session:
        """The session, started once even if several threads look up tables.

        Raises:
            UsageError: pyspark, delta-spark or Java is not installed.
            ApplyError: The session does not start.
        """
        from schemalint.spark import session  # noqa: PLC0415 (pyspark loads only when needed)

        with self._lock:
            if self._started is None:
                self._is_own = not session.is_running()
                if self._is_own and (server := session.connect_server(self._settings)):
                    print_note(f"waiting for Spark at {server}")
                self._started = session.start(self._settings)
            return self._started

    @cached_property
    def catalog(self) -> SessionCatalog:
        """The catalog of the session."""
        from schemalint.spark.catalog import SessionCatalog  # noqa: PLC0415 (as above)

        return SessionCatalog(lambda: self.session)

    def stop(self) -> None:
        """Stop the session, unless it ran before this command."""
        if self._started is not None and self._is_own:
            self._started.stop()


@contextmanager
def spark_for(
    project: Project | None, options: dict[str, Any], *, into_is_table: bool = False
) -> Iterator[Spark | None]:
    """Provide Spark with the settings of a project if an option needs it, else None.

    Args:
        project: The project, None outside of one.
        options: The options of the command.
        into_is_table: Whether the command's ``--into`` names a Delta table.

    Raises:
        UsageError: An option chooses a session, but no option needs one.
    """
    if not options["via"] and not (into_is_table and options["into"]):
        _require_no_settings(options, "--via spark or --into TABLE" if into_is_table else "--via spark")
        yield None
        return
    with running_spark(project.config.spark if project else SparkSettings(), options) as spark:
        yield spark


@contextmanager
def running_spark(configured: SparkSettings, options: dict[str, Any]) -> Iterator[Spark]:
    """Provide Spark, and stop it at the end.

    Raises:
        UsageError: A ``--conf`` has no value.
    """
    spark = Spark(_settings(configured, options))
    try:
        yield spark
    finally:
        spark.stop()


def with_spark_options(project: Project, options: dict[str, Any]) -> Project:
    """Return the project; with ``--via spark`` its `trusted` form, with targets that the session looks up."""
    if not options["via"]:
        return project
    from schemalint.catalog import by_session  # noqa: PLC0415 (only with Spark)
    from schemalint.config.project import trusted  # noqa: PLC0415

    project = trusted(project)
    targets = {name: by_session(target) for name, target in project.config.targets.items()}
    return replace(project, config=replace(project.config, targets=targets))


def _require_no_settings(options: dict[str, Any], needing: str) -> None:
    unused = [f"--{name}" for name in ("master", "remote", "conf") if options[name]]
    if unused:
        raise UsageError(f"{unused[0]} has no effect without Spark", help=f"add {needing}")


def _settings(configured: SparkSettings, options: dict[str, Any]) -> SparkSettings:
    """Return the configured settings, overridden by the command line."""
    conf = dict(configured.conf)
    for pair in options["conf"]:
        key, separator, value = pair.partition("=")
        if not separator:
            raise UsageError(f"--conf {pair}: a value is missing", help="--conf KEY=VALUE")
        conf[key] = value
    settings = replace(configured, conf=conf)
    if options["master"] or options["remote"]:
        return replace(settings, master=options["master"], remote=options["remote"])
    return settings
