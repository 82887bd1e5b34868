"""``schemalint audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from schemalint.catalog.audit_targets import AuditTargets
from schemalint.catalog.table_requests import open_environment, table_requests
from schemalint.cli import print_note, report_bugs
from schemalint.cli._options import (
    is_colored,
    least_severity,
    project_options,
    report_options,
    rule_options,
    write_report,
)
from schemalint.cli._settings import settings_anywhere
from schemalint.cli._spark_options import spark_for, spark_options
from schemalint.errors import SchemalintError, UsageError
from schemalint.lint.audit import audit
from schemalint.lint.audit_reading import read_for_audit, with_streams
from schemalint.lint.check import exit_status
from schemalint.lint.consumers import configuration_faults
from schemalint.lint.selection import rules_of, table_ignores
from schemalint.model.finding import CheckResult, Run, SideRef
from schemalint.report import findings as reports
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.catalog import Catalog
    from schemalint.catalog.table_requests import Environment, TableRequest
    from schemalint.cli._spark_options import Spark
    from schemalint.config.trust import Trusted
    from schemalint.git import Repository
    from schemalint.lint.audit import AuditedTable
    from schemalint.model.consumer import Consumer
    from schemalint.plugin import Rule
    from schemalint.spark.findings_sink import FindingsSink


@click.command("audit")
@click.argument("tables", nargs=-1)
@click.option(
    "--root", "roots", multiple=True, metavar="PATH", help="Audit all tables at or below a path or URI"
)
@click.option("--all", "everything", is_flag=True, help="Audit all tables of the target, declared or not")
@click.option("--target", metavar="NAME", help="Look up table names in this target")
@click.option("--files", is_flag=True, help="Read the footers of all live data files too")
@click.option(
    "--via",
    type=click.Choice(["spark"]),
    help="Read tables on Spark executors, and look up table names in the Spark session",
)
@click.option("--clients", is_flag=True, help="Ask what the configured consumers can read of each table")
@click.option("--into", metavar="TABLE", help="Append the findings to a Delta table, a path or a name")
@click.option("--run-id", metavar="ID", help="Run id; a repeated id appends nothing")
@spark_options
@report_options
@rule_options
@project_options
def command(output_format: str, output_file: str | None, color: str, **options: Any) -> int:  # noqa: ANN401
    """Check live tables and their history, with or without contracts.

    TABLES are paths or URIs; with --target also names of declared tables, and with --via spark also table
    names of the Spark session.

    With --clients the report says for each consumer of the configuration which tables its client refuses,
    reads wrongly, or may not read: give it another `version` there first, and see what an upgrade brings.
    """
    style = reports.get(output_format)
    try:
        result = _run(options)
    except SchemalintError as error:
        result = CheckResult(Run(None, SideRef("live")), (), (error,), error.exit_status)
    write_report(style.render(result, color=is_colored(color, output_file)), output_file)
    report_bugs(result.errors)
    return result.exit_status


def _run(options: dict[str, Any]) -> CheckResult:
    repository, settings = settings_anywhere(options)
    rules = _rules(repository, settings, options)
    fail_on = least_severity(settings.config.fail_on, options["fail_on"], exit_zero=options["exit_zero"])
    with spark_for(settings, options, into_is_table=True) as spark:
        targets = _targets(repository, settings, spark if options["via"] else None, options)
        sink = _sink(spark, targets.tables, options)
        result = audit(
            with_streams(_tables(targets, spark, options), targets.where),
            rules,
            target=targets.where.target.name if targets.where else None,
            table_ignores=table_ignores(settings.config, rules),
            consumers=_consumers(settings) if options["clients"] else (),
            client_rows=settings.config.clients,
        )
        result = replace(result, errors=(*targets.errors, *result.errors))
        result = _append(result, sink) if sink else result
    return replace(result, exit_status=exit_status(result, fail_on))


def _consumers(settings: Trusted) -> tuple[Consumer, ...]:
    """Return the consumers of the configuration that name a client."""
    for fault in configuration_faults(settings.config):
        raise fault
    found = tuple(consumer for consumer in settings.config.consumers.values() if consumer.client)
    if not found:
        raise UsageError(
            "--clients needs consumers with a client in the configuration",
            help='[consumers.NAME], client = "…", version = "…"',
        )
    return found


def _sink(spark: Spark | None, tables: list[TableRequest], options: dict[str, Any]) -> FindingsSink | None:
    """Open the table of ``--into``; this comes before the audit, so that a wrong name fails early."""
    if options["into"] is None or spark is None:
        if options["run_id"] is not None:
            raise UsageError("--run-id has no effect without --into", help="add --into TABLE")
        return None
    from schemalint.spark.findings_sink import (  # noqa: PLC0415 (only with Spark)
        open_sink,
        require_one_version,
        sql_name,
    )

    require_one_version(tables)
    table = sql_name(options["into"])
    return open_sink(spark.session, table, options["run_id"])


def _append(result: CheckResult, sink: FindingsSink) -> CheckResult:
    """Append the findings to the sink; a failure is one more error of the result."""
    try:
        rows = sink.append(result)
    except SchemalintError as error:
        return replace(result, errors=(*result.errors, error))
    print_note(f"run {sink.run.id}: {rows} rows in {sink.table}")
    return result


def _tables(targets: AuditTargets, spark: Spark | None, options: dict[str, Any]) -> Iterator[AuditedTable]:
    if spark is None or not options["via"]:
        return read_for_audit(targets.tables, files=options["files"])
    from schemalint.spark.audit import audited_by_spark  # noqa: PLC0415 (only with Spark)

    target = targets.where.target if targets.where else None
    return audited_by_spark(spark.session, targets.tables, target, files=options["files"])


def _targets(
    repository: Repository | None, settings: Trusted, spark: Spark | None, options: dict[str, Any]
) -> AuditTargets:
    via = spark.catalog if spark else None
    environment = _environment(repository, settings, via, options)
    targets = AuditTargets(environment)
    targets.add(table_requests(options["tables"], environment, via))
    if options["roots"]:
        targets.add_roots(options["roots"])
    if options["everything"]:
        targets.add_all()
    if targets.tables or targets.errors:
        return targets
    if options["roots"] or options["everything"]:
        searched = ", ".join(options["roots"]) or "this target"
        raise UsageError(f"no tables found in {searched}", help="a table is a folder that holds a _delta_log")
    raise UsageError("no tables given", help="name tables, or give --root PATH or --all")


def _environment(
    repository: Repository | None, settings: Trusted, via: Catalog | None, options: dict[str, Any]
) -> Environment | None:
    """Open the target of ``--target``; ``--all`` without it takes the only target of the configuration."""
    name = options["target"]
    if name is None and options["everything"] and len(settings.targets) == 1:
        name = next(iter(settings.targets))
    if name is None and options["everything"]:
        raise UsageError("--all needs a target", help="give --target NAME, or --root PATH instead of --all")
    return open_environment(repository, settings, name, via)


def _rules(repository: Repository | None, settings: Trusted, options: dict[str, Any]) -> tuple[Rule, ...]:
    local = settings.rule_files(repository) if repository and options["allow_local_plugins"] else None
    return rules_of(
        settings.config,
        select=options["select"],
        extend_select=options["extend_select"],
        ignore=options["ignore"],
        preview=options["preview"],
        local=local,
    )
