"""Which Spark a command uses, and the session itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import click

from schemalint.cli._options import F
from schemalint.config import SparkSettings
from schemalint.config.project import Project
from schemalint.errors import UsageError
from schemalint.printable import printable
from schemalint.values import replace

if TYPE_CHECKING:
    from schemalint.spark.audit import Session
    from schemalint.spark.catalog import SessionCatalog


def spark_options(function: F) -> F:
    """``--master``, ``--remote`` and ``--conf``."""
    for option in (
        click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of the Spark session."),
        click.option("--remote", metavar="URL", help="A Spark Connect server: sc://host:port."),
        click.option("--master", metavar="URL", help="Spark's master; local[*] if nothing is said."),
    ):
        function = option(function)
    return function


def via_options(function: F) -> F:
    """``--via spark``, and which one."""
    help_text = "Let a Spark session say where tables lie that are found by name."
    return click.option("--via", type=click.Choice(["spark"]), help=help_text)(spark_options(function))


class Spark:
    """Spark, started when it is needed first."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._started: Session | None = None
        self._is_own = False

    @property
    def session(self) -> Session:
        """The session; tables are looked up by several threads, of which one starts it.

        Raises:
            UsageError: There is no Spark here.
            ApplyError: It does not start.
        """
        from schemalint.spark import session  # noqa: PLC0415 (Spark starts only when it is asked for)

        with self._lock:
            if self._started is None:
                self._is_own = not session.is_running()
                if self._is_own and (server := session.connect_server(self._settings)):
                    click.echo(f"waiting for Spark at {printable(server)}", err=True)
                self._started = session.start(self._settings)
            return self._started

    @cached_property
    def catalog(self) -> SessionCatalog:
        """The tables that the session knows by name."""
        from schemalint.spark.catalog import SessionCatalog  # noqa: PLC0415 (as above)

        return SessionCatalog(lambda: self.session)

    def stop(self) -> None:
        """Stop the session that was started; one that was there before is another's."""
        if self._started is not None and self._is_own:
            self._started.stop()


@contextmanager
def spark_for(
    here: Project | None, options: dict[str, Any], *, keeps_findings: bool = False
) -> Iterator[Spark | None]:
    """Spark if the command line asks for something that needs it, with the settings of a project.

    Args:
        here: The project.
        options: Those of the command.
        keeps_findings: Whether its ``--into`` is a Delta table.

    Raises:
        UsageError: It says which session, and for nothing.
    """
    if not options["via"] and not (keeps_findings and options["into"]):
        _require_no_settings(options, "--via spark or --into TABLE" if keeps_findings else "--via spark")
        yield None
        return
    with running_spark(here.config.spark if here else SparkSettings(), options) as spark:
        yield spark


@contextmanager
def running_spark(configured: SparkSettings, options: dict[str, Any]) -> Iterator[Spark]:
    """Spark for as long as it is needed.

    Raises:
        UsageError: A setting has no value.
    """
    spark = Spark(_settings(configured, options))
    try:
        yield spark
    finally:
        spark.stop()


def with_spark_options(here: Project, options: dict[str, Any]) -> Project:
    """The project; with ``--via spark`` a `trusted` one, its targets as the session finds their tables."""
    if not options["via"]:
        return here
    from schemalint.catalog import by_session  # noqa: PLC0415 (only with Spark)
    from schemalint.config.project import trusted  # noqa: PLC0415

    here = trusted(here)
    targets = {name: by_session(target) for name, target in here.config.targets.items()}
    return replace(here, config=replace(here.config, targets=targets))


def _require_no_settings(options: dict[str, Any], ways: str) -> None:
    idle = [f"--{name}" for name in ("master", "remote", "conf") if options[name]]
    if idle:
        raise UsageError(f"{idle[0]}: nothing here needs Spark", help=f"add {ways}")


def _settings(configured: SparkSettings, options: dict[str, Any]) -> SparkSettings:
    """The configured settings, over which the command line wins."""
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
