"""``schemalint audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from schemalint.catalog.audit_targets import AuditTargets
from schemalint.catalog.table_requests import open_environment, table_requests
from schemalint.cli._options import (
    is_colored,
    least_severity,
    project_options,
    report_options,
    rule_options,
    write_report,
)
from schemalint.cli._spark_options import spark_for, spark_options, with_spark_options
from schemalint.config import Config
from schemalint.config.project import project_if_any
from schemalint.errors import SchemalintError, UsageError
from schemalint.lint.audit import audit
from schemalint.lint.audited import read_for_audit
from schemalint.lint.check import exit_status
from schemalint.lint.selection import rules_of, table_ignores
from schemalint.model.finding import CheckResult, Run, SideRef
from schemalint.report import findings as reports
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.catalog import Catalog
    from schemalint.catalog.table_requests import Environment, TableRequest
    from schemalint.cli._spark_options import Spark
    from schemalint.config.project import Project
    from schemalint.lint.audit import AuditedTable
    from schemalint.plugin import Rule
    from schemalint.spark.findings_sink import FindingsSink


@click.command("audit")
@click.argument("tables", nargs=-1)
@click.option("--root", "roots", multiple=True, metavar="PLACE", help="All tables at or below a place.")
@click.option("--all", "everything", is_flag=True, help="All tables of the target, declared or not.")
@click.option("--target", metavar="NAME", help="The environment in which names of tables are looked up.")
@click.option("--files", is_flag=True, help="Read the footers of all live data files too.")
@click.option(
    "--via",
    type=click.Choice(["spark"]),
    help="Read on the executors of a Spark cluster; its session knows tables by name.",
)
@click.option("--into", metavar="TABLE", help="Append the findings to a Delta table: a path or a name.")
@click.option("--run-id", metavar="ID", help="Of this run in that table: a run is there once.")
@spark_options
@report_options
@rule_options
@project_options
def command(output_format: str, output_file: str | None, color: str, **options: Any) -> int:  # noqa: ANN401
    """Judge live tables and their whole history, with or without contracts.

    TABLES are paths or URIs, with --target names of declared tables, and with --via spark names that Spark
    knows.
    """
    style = reports.get(output_format)
    try:
        result = _run(options)
    except SchemalintError as error:
        result = CheckResult(Run(None, SideRef("live")), (), (error,), error.exit_status)
    write_report(style.render(result, color=is_colored(color, output_file)), output_file)
    return result.exit_status


def _run(options: dict[str, Any]) -> CheckResult:
    here = project_if_any(options["config_file"], isolated=options["isolated"])
    if here is not None:
        here = with_spark_options(here, options)
    settings = here.config if here else Config()
    rules = _rules(here, settings, options)
    fail_on = least_severity(settings, options["fail_on"], exit_zero=options["exit_zero"])
    with spark_for(here, options, keeps_findings=True) as spark:
        wanted = _wanted(here, spark if options["via"] else None, options)
        sink = _sink(spark, wanted.tables, options)
        result = audit(
            _tables(wanted, spark, options),
            rules,
            target=wanted.where.target.name if wanted.where else None,
            table_ignores=table_ignores(settings, rules),
        )
        result = replace(result, errors=(*wanted.errors, *result.errors))
        result = _kept(result, sink) if sink else result
    return replace(result, exit_status=exit_status(result, fail_on))


def _sink(spark: Spark | None, tables: list[TableRequest], options: dict[str, Any]) -> FindingsSink | None:
    """Where the findings are kept; opened before anything is read, so that a wrong name costs no audit."""
    if options["into"] is None or spark is None:
        if options["run_id"] is not None:
            raise UsageError("--run-id: the findings of this run are not kept", help="add --into TABLE")
        return None
    from schemalint.spark.findings_sink import (  # noqa: PLC0415 (only with Spark)
        open_sink,
        require_one_version,
        sql_name,
    )

    require_one_version(tables)
    table = sql_name(options["into"])
    return open_sink(spark.session, table, options["run_id"])


def _kept(result: CheckResult, sink: FindingsSink) -> CheckResult:
    """The result; with one error more where its findings cannot be kept."""
    try:
        rows = sink.append(result)
    except SchemalintError as error:
        return replace(result, errors=(*result.errors, error))
    click.echo(f"run {sink.run.id}: {rows} rows in {sink.table}", err=True)
    return result


def _tables(wanted: AuditTargets, spark: Spark | None, options: dict[str, Any]) -> Iterator[AuditedTable]:
    if spark is None or not options["via"]:
        return read_for_audit(wanted.tables, files=options["files"])
    from schemalint.spark.audit import audited_by_spark  # noqa: PLC0415 (only with Spark)

    target = wanted.where.target if wanted.where else None
    return audited_by_spark(spark.session, wanted.tables, target, files=options["files"])


def _wanted(here: Project | None, spark: Spark | None, options: dict[str, Any]) -> AuditTargets:
    via = spark.catalog if spark else None
    where = _environment(here, via, options)
    wanted = AuditTargets(where)
    wanted.add(table_requests(options["tables"], where, via))
    if options["roots"]:
        wanted.add_roots(options["roots"])
    if options["everything"]:
        wanted.add_all()
    if wanted.tables or wanted.errors:
        return wanted
    if options["roots"] or options["everything"]:
        places = ", ".join(options["roots"]) or "this target"
        raise UsageError(f"no tables found in {places}", help="a table is a folder that holds a _delta_log")
    raise UsageError("which tables?", help="name some, or all below a place: --root PLACE, or --all")


def _environment(here: Project | None, via: Catalog | None, options: dict[str, Any]) -> Environment | None:
    """With --all alone the only target there is."""
    name = options["target"]
    if name is None and options["everything"] and here is not None and len(here.config.targets) == 1:
        name = next(iter(here.config.targets))
    if name is None and options["everything"]:
        raise UsageError("all tables of which target?", help="--target NAME, or --root PLACE without one")
    return open_environment(here, name, via)


def _rules(here: Project | None, settings: Config, options: dict[str, Any]) -> tuple[Rule, ...]:
    local = here.repository.root if here and options["allow_local_plugins"] else None
    return rules_of(
        settings,
        select=options["select"],
        extend_select=options["extend_select"],
        ignore=options["ignore"],
        preview=options["preview"],
        local_from=local,
    )
