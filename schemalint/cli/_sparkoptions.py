"""Which Spark a command uses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from schemalint.cli._shared import F
from schemalint.errors import UsageError

if TYPE_CHECKING:
    from schemalint.config import SparkSettings


def spark_options(function: F) -> F:
    """``--master``, ``--remote`` and ``--conf``."""
    for option in (
        click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of the Spark session."),
        click.option("--remote", metavar="URL", help="A Spark Connect server: sc://host:port."),
        click.option("--master", metavar="URL", help="Spark's master; local[*] if nothing is said."),
    ):
        function = option(function)
    return function


def spark_settings(configured: SparkSettings, options: dict[str, Any]) -> SparkSettings:
    """The configured settings, over which the command line wins.

    Raises:
        UsageError: A setting has no value.
    """
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
