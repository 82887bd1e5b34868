"""``schemalint apply``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from schemalint.cli import tell_error
from schemalint.cli._deploy import deploy_options, prepared
from schemalint.cli._plantext import plan_as_text, step_lines
from schemalint.cli._shared import PENDING, project
from schemalint.cli.plan import status_of
from schemalint.config import SparkSettings
from schemalint.deploy import Deployment
from schemalint.errors import UsageError
from schemalint.spark.runner import Applied, Outcome, apply_plan


@click.command("apply")
@deploy_options(default_head="HEAD")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--master", metavar="URL", help="Spark's master; local[*] if nothing is said.")
@click.option("--remote", metavar="URL", help="A Spark Connect server: sc://host:port.")
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of the Spark session.")
def command(
    *,
    yes: bool,
    master: str | None,
    remote: str | None,
    conf: tuple[str, ...],
    **options: Any,  # noqa: ANN401
) -> int:
    """Bring the live tables to the declared state, with Spark.

    Shows the plan and asks. Without a terminal and without --yes nothing is changed, and the status is 4.
    TABLES are names; all contracts if there are none.
    """
    deployment = prepared(options, applies=True)
    click.echo(plan_as_text(deployment), nl=False)
    for unplanned in deployment.unplanned:
        tell_error(unplanned.error)
    status = status_of(deployment)
    if not _has_work(deployment):
        return status
    if not yes and not _confirmed():
        click.echo("nothing was changed", err=True)
        return status or PENDING
    settings = _settings(project(options["config_file"], isolated=options["isolated"]).config.spark, conf)
    if master or remote:
        settings = replace(settings, master=master, remote=remote)
    results = _applied(deployment, settings)
    failed = [one for one in results if one.error is not None]
    return max([status, *(one.error.exit_status for one in failed if one.error)])


def _has_work(deployment: Deployment) -> bool:
    return any(plan.steps or plan.record for plan in deployment.plan.tables)


def _confirmed() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and click.confirm("Apply this?")


def _applied(deployment: Deployment, settings: SparkSettings) -> tuple[Applied, ...]:
    from schemalint.spark.session import start  # noqa: PLC0415 (Spark starts only when there is work)

    session = start(settings)
    try:
        results = apply_plan(
            session,
            deployment,
            lambda plan, step: click.echo(
                f"{plan.table}: {next(iter(step_lines(step))).strip(' -')}", err=True
            ),
        )
    finally:
        session.stop()
    for one in results:
        if one.outcome not in (Outcome.REFUSED, Outcome.UNPLANNED):
            click.echo(_said(one))
            if one.error is not None:
                tell_error(one.error)
    return results


def _said(one: Applied) -> str:
    facts = []
    if one.done:
        facts.append(f"{len(one.done)} statement{'s' if len(one.done) != 1 else ''}")
    if one.outcome is not Outcome.NOTHING and one.version is not None:
        facts.append(f"now at version {one.version}")
    return f"{one.table}: {one.outcome.value}" + (f" ({', '.join(facts)})" if facts else "")


def _settings(settings: SparkSettings, pairs: tuple[str, ...]) -> SparkSettings:
    conf = dict(settings.conf)
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator:
            raise UsageError(f"--conf {pair}: a value is missing", help="--conf KEY=VALUE")
        conf[key] = value
    return replace(settings, conf=conf)
