"""``schemalint audit``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

import click

from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.values import as_dict, frozen, replace
from schemalint.cli import print_note, report_bugs
from schemalint.cli._baseline import baseline_options, written_baseline
from schemalint.cli._completion import table_names
from schemalint.cli._connection import Spark, catalog_of, settings_anywhere, spark_for, spark_options
from schemalint.cli._options import (
    engine_option,
    examples,
    least_severity,
    project_options,
    rule_options,
    target_option,
)
from schemalint.cli._progress import table_workers, workers_options
from schemalint.cli._reports import outputs_of, report_options, write_reports
from schemalint.cli._typed import Connection, ReportOptions, takes
from schemalint.contract.consumers import configuration_faults, warning_of_writers
from schemalint.delta.engine import NO_ENGINES, Engine, Engines
from schemalint.model.consumer import Consumer
from schemalint.model.finding import CheckResult, Run, SideRef
from schemalint.project.config.trust import Trusted
from schemalint.project.git import Repository
from schemalint.review.audit_cases import TableReading, audit_cases, read_for_audit
from schemalint.review.baseline_file import BaselineOptions, Reach, read_baseline_of, with_unused
from schemalint.review.rule_notes import rule_notes
from schemalint.review.rule_sets import RuleOptions, RuleSets, lock_faults, rule_sets_of
from schemalint.review.run_audit import audit, with_exceptions
from schemalint.review.run_check import with_exit_status
from schemalint.spark.executor_audit import audited_by_spark
from schemalint.spark.findings_sink import FindingsSink, open_sink, require_one_version, sql_name
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.audit_targets import AuditTargets
from schemalint.tables.catalog.table_requests import (
    TableRequest,
    TargetContracts,
    open_target,
    table_requests,
)
from schemalint.tables.storage.table_workers import TableWorkers

_AUDITED: Final = frozenset({"live", "history"})


@frozen
class AuditOptions:
    """The options of ``audit``."""

    tables: tuple[str, ...]
    roots: tuple[str, ...]
    everything: bool
    files: bool
    clients: bool
    engine: Engine | None
    into: str | None
    run_id: str | None
    allow_local_plugins: bool
    connection: Connection
    rules: RuleOptions
    baseline: BaselineOptions
    report: ReportOptions

    @property
    def is_of_target(self) -> bool:
        """Whether all tables of the target are audited: ``--all``, or a target alone, as in `plan`."""
        return self.everything or not (self.connection.target is None or self.tables or self.roots)

    def require_consistent(self) -> None:
        """Refuse options without what they need."""
        if not (self.tables or self.roots or self.is_of_target):
            raise UsageError("no tables given", help="name tables, or give --root PATH or --target NAME")
        if self.run_id is not None and self.into is None:
            raise UsageError("--run-id has no effect without --into", help="add --into TABLE")
        self.connection.require_session("--via spark or --into TABLE", is_used=self.into is not None)


@click.command(
    "audit",
    epilog=examples(
        "schemalint audit --root lake",
        "schemalint audit --root lake --output-format html:audit.html",
    ),
)
@click.argument("tables", nargs=-1, shell_complete=table_names)
@click.option(
    "--root", "roots", multiple=True, metavar="PATH", help="Audit all tables at or below a path or URI"
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Audit all tables of the target, declared or not: the default with --target alone",
)
@target_option("Look up table names in this target")
@click.option("--files", is_flag=True, help="Read the footers of all live data files too")
@click.option(
    "--via",
    type=click.Choice(["spark"]),
    help="Read tables on Spark executors, and look up table names in the Spark session",
)
@click.option("--clients", is_flag=True, help="Ask what the declared consumers can read of each table")
@engine_option("Judge by this engine, such as 'delta-spark 3.3.2', before an upgrade or a downgrade")
@click.option("--into", metavar="TABLE", help="Append the findings to a Delta table, a path or a name")
@click.option("--run-id", metavar="ID", help="Run id; a repeated id appends nothing")
@spark_options
@workers_options()
@baseline_options
@report_options
@rule_options
@project_options
@takes(AuditOptions)
def command(options: AuditOptions) -> int:
    """Check live tables and their history, with or without contracts.

    TABLES are paths or URIs; with --target also names of declared tables, and with --via spark also table
    names of the Spark session.

    With --clients the report says for each consumer of the configuration, and of the tables' contracts, which
    tables its client refuses, reads wrongly, or may not read: give it another `version` there first, and see
    what an upgrade brings.

    With --engine the report says for that engine which tables it cannot read or write, what it would refuse
    of the changes that the contracts still need, and what of the tables it ignores.
    """
    outputs = outputs_of(options.report)
    try:
        result = _run(options, keep_tables=any(output.style.SHOWS_TABLES for output in outputs))
    except SchemalintError as error:
        result = CheckResult(Run(None, SideRef("live")), (), (error,), error.exit_status)
    write_reports(result, outputs, options.report)
    report_bugs(result.errors)
    return result.exit_status


def _run(options: AuditOptions, *, keep_tables: bool) -> CheckResult:
    repository, settings = settings_anywhere(options.connection)
    settings = settings.with_nested(repository)
    rules = _rules(repository, settings, options)
    engines = NO_ENGINES if options.engine is None else Engines(options.engine, (options.engine,))
    with spark_for(settings, options.connection, is_used=options.into is not None) as spark:
        targets = _targets(repository, settings, spark if options.connection.via else None, options)
        where = targets.where
        engines_of_run = where.target.engines if where is not None and not engines.all else engines
        sink = _sink(spark, targets.tables, options)
        consumers = _consumers(settings, targets.tables) if options.clients else None
        _say_what_is_audited(settings, rules, targets, engines_of_run, options)
        baseline = read_baseline_of(options.baseline)
        with table_workers(options.connection) as workers:
            result = audit(
                audit_cases(_tables(targets, spark, workers, options), rules, where, engines),
                target=where.target.name if where else None,
                consumers=consumers,
                client_rows=settings.config.clients,
                keep_tables=keep_tables,
            )
        _warn_of_writers(settings, where, result)
        run = replace(result.run, engines=engines_of_run.judged_as)
        result = with_exceptions(
            replace(result, run=run, errors=(*targets.errors, *result.errors)),
            (table.contract for table in targets.tables if table.contract),
            rules,
            repository,
            settings,
            baseline,
            env=os.environ,
            files=options.files,
        )
        reach = Reach(rules, _AUDITED, options.is_of_target, options.files)
        if options.baseline.is_written:
            result = written_baseline(result, baseline, options.baseline, reach)
        elif baseline is not None:
            result = with_unused(result, baseline, reach)
        if sink is not None:
            result = _append(result, sink)
    return with_exit_status(result, least_severity(settings.config.fail_on, options.report))


def _say_what_is_audited(
    settings: Trusted, rules: RuleSets, targets: AuditTargets, engines: Engines, options: AuditOptions
) -> None:
    if options.report.verbose:
        print_note(f"configuration: {settings.config.file or 'none'}")
        print_note(f"tables: {len(targets.tables):,}")
        print_note(f"rules: {len(rules.rules):,}")
    for engine in engines.all:
        if engine.newer_note is not None:
            print_note(f"note: {engine.newer_note}")
    if options.report.quiet:
        return
    notes = rule_notes([settings.config], rules.everywhere, options.rules, has_base=False)
    declared = () if targets.where is None else targets.where.declared.notes
    for note in (*notes, *declared):
        print_note(note)


def _warn_of_writers(settings: Trusted, where: TargetContracts | None, result: CheckResult) -> None:
    """Warn once of an engine that wrote tables of the target lately, and that nobody declares."""
    if where is None or result.inventory is None:
        return
    target, writers = where.target, [table.writers for table in result.inventory.tables]
    text = warning_of_writers(target.name, target.engines, (settings.config,), writers)
    if text is not None:
        print_note(f"warning: {text}")


def _consumers(settings: Trusted, tables: Iterable[TableRequest]) -> tuple[Consumer, ...]:
    """Return the consumers of the configuration that name a client; contracts add theirs to their tables."""
    for fault in configuration_faults(settings.config):
        raise fault
    consumers = tuple(consumer for consumer in settings.config.consumers.values() if consumer.client)
    declared = (consumer for table in tables if table.contract for consumer in table.contract.consumers)
    if not consumers and not any(consumer.client for consumer in declared):
        raise UsageError(
            "--clients needs consumers with a client in the configuration or in the contracts of the tables",
            help='[consumers.NAME], client = "…", version = "…"',
        )
    return consumers


def _sink(spark: Spark | None, tables: list[TableRequest], options: AuditOptions) -> FindingsSink | None:
    """Open the table of ``--into``; this comes before the audit, so that a wrong name fails early."""
    if options.into is None or spark is None:
        return None
    require_one_version(tables)
    table = sql_name(options.into)
    return open_sink(spark.session, table, options.run_id)


def _append(result: CheckResult, sink: FindingsSink) -> CheckResult:
    """Append the findings to the sink; a failure is one more error of the result."""
    try:
        rows = sink.append(result)
    except SchemalintError as error:
        return replace(result, errors=(*result.errors, error))
    print_note(f"run {sink.run.id}: {rows} rows in {sink.table}")
    return result


def _tables(
    targets: AuditTargets, spark: Spark | None, workers: TableWorkers, options: AuditOptions
) -> Iterator[TableReading]:
    if spark is None or not options.connection.via:
        return read_for_audit(targets.tables, workers, files=options.files)
    target = targets.where.target if targets.where else None
    return audited_by_spark(spark.session, targets.tables, target, workers, files=options.files)


def _targets(
    repository: Repository | None, settings: Trusted, spark: Spark | None, options: AuditOptions
) -> AuditTargets:
    via = catalog_of(spark)
    environment = _environment(repository, settings, via, options)
    targets = AuditTargets(environment)
    targets.add(table_requests(options.tables, environment, via))
    if options.roots:
        targets.add_roots(options.roots)
    if options.is_of_target:
        targets.add_all()
    if targets.tables or targets.errors:
        return targets
    searched = ", ".join(options.roots) or "this target"
    raise UsageError(f"no tables found in {searched}", help="a table is a folder that holds a _delta_log")


def _environment(
    repository: Repository | None, settings: Trusted, via: Catalog | None, options: AuditOptions
) -> TargetContracts | None:
    """Open the target of ``--target``; ``--all`` without it takes the only target of the configuration."""
    name = options.connection.target
    if name is None and options.everything and len(settings.targets) == 1:
        name = next(iter(settings.targets))
    if name is None and options.everything:
        raise UsageError("--all needs a target", help="give --target NAME, or --root PATH instead of --all")
    return open_target(repository, settings, name, via)


def _rules(repository: Repository | None, settings: Trusted, options: AuditOptions) -> RuleSets:
    local = settings.rule_files(repository) if repository and options.allow_local_plugins else None
    rules = rule_sets_of([settings.config], local=local, **as_dict(options.rules))
    for fault in lock_faults(settings.config, rules.everywhere[0].rules):
        raise fault
    return rules
