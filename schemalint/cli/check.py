"""``schemalint check``."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.files import rewrite_text
from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import document_text, terminal_text
from schemalint.base.values import frozen, replace
from schemalint.cli import print_note, report_bugs
from schemalint.cli._baseline import baseline_options, written_baseline
from schemalint.cli._connection import (
    Spark,
    catalog_of,
    config_options,
    connecting_settings,
    spark_for,
    via_options,
)
from schemalint.cli._options import (
    engine_option,
    examples,
    history_option,
    least_severity,
    project_options,
    rule_options,
    target_option,
)
from schemalint.cli._output import show
from schemalint.cli._progress import shown_progress, workers_of, workers_options
from schemalint.cli._reports import log_run, outputs_of, report_options, write_reports
from schemalint.cli._typed import Connection, ReportOptions, takes
from schemalint.delta.engine import Engine
from schemalint.model.finding import CheckResult, Run, SideRef
from schemalint.project import git
from schemalint.project.config.trust import Trusted
from schemalint.project.git import Index, Worktree
from schemalint.report.text_helpers import as_of_text
from schemalint.review.baseline_file import BaselineOptions
from schemalint.review.check_input import LiveSide
from schemalint.review.check_session import CheckSession, ReviewOptions, open_check
from schemalint.review.rule_sets import RuleOptions
from schemalint.review.run_check import with_exit_status
from schemalint.review.sides import compared

if TYPE_CHECKING:
    from schemalint.tables.storage.table_workers import Tell


@frozen
class CheckOptions:
    """The options of ``check``."""

    paths: tuple[str, ...]
    against: str | None
    head_option: str
    with_live: bool
    parse_with: str | None
    live_from: str | None
    history: bool
    everything: bool
    engine: Engine | None
    strict: bool
    fix: bool
    unsafe_fixes: bool
    show_diff: bool
    allow_none: bool
    show_base: bool
    allow_local_plugins: bool
    base_from: str | None
    head_from: str | None
    connection: Connection
    rules: RuleOptions
    baseline: BaselineOptions
    report: ReportOptions

    @property
    def is_live(self) -> bool:
        """Whether contracts are compared with tables, or with a file of them."""
        return self.with_live or self.live_from is not None

    @property
    def asks_spark(self) -> bool:
        """Whether a session of Spark parses expressions."""
        return self.parse_with == "spark"

    @property
    def is_fixing(self) -> bool:
        """Whether to fix, or to show the fixes."""
        return self.fix or self.show_diff

    def require_consistent(self) -> None:
        """Refuse options that do not go together, or lack what they need."""
        if self.with_live and self.live_from is not None:
            raise UsageError("--live and --live-from do not go together", help="leave one of them out")
        if self.connection.via and not self.with_live:
            raise UsageError("--via needs --live", help="give --live too")
        needing = {"--target": self.connection.target is not None, "--history": self.history}
        for name, is_given in needing.items():
            if is_given and not self.is_live:
                raise UsageError(f"{name} needs --live or --live-from", help="give one of them too")
        if self.unsafe_fixes and not self.is_fixing:
            raise UsageError("--unsafe-fixes needs --fix or --diff", help="give one of them too")
        if self.is_fixing and self.head_option not in (Worktree.spec, Index.spec):
            raise UsageError(
                f"--fix and --head {self.head_option} do not go together",
                help="leave --head out, or check the index: --head index",
            )
        self.connection.require_session("--via spark or --parse-with spark", is_used=self.asks_spark)
        if self.asks_spark and (why := git.foreign_head(os.environ)) is not None:
            raise UsageError(
                f"--parse-with spark hands expressions of the contracts to a session, and {why}",
                help="check it without a session; Spark reads it after the merge",
            )


@click.command(
    "check",
    epilog=examples(
        "schemalint check",
        "schemalint check --against HEAD~1 --output-format concise",
        "schemalint check --live --target prod --all",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option(
    "--against", metavar="BASE", help="Compare with this base: REV, merge-base:REV, tag:PATTERN or none"
)
@click.option(
    "--head",
    "head_option",
    default="worktree",
    show_default=True,
    metavar="SIDE",
    help="Check this side: worktree, index or REV",
)
@click.option("--live", "with_live", is_flag=True, help="Compare with the live tables too")
@click.option(
    "--parse-with",
    type=click.Choice(["spark"]),
    help="Let a Spark session parse and analyse the expressions of the contracts; it computes none",
)
@click.option("--live-from", metavar="FILE", help="Compare with a `show` JSON file instead of the log")
@click.option(
    "--base-from", metavar="FORMAT:FILE", help="Base of the tables in a file of another tool: dbt:FILE"
)
@click.option(
    "--head-from", metavar="FORMAT:FILE", help="Head of these tables, instead of the configured file"
)
@target_option("Compare with the tables of this target")
@history_option
@via_options
@workers_options()
@click.option(
    "--all", "everything", is_flag=True, help="Check all contracts, and show findings that the base has too"
)
@engine_option("Judge by this engine, such as 'delta-spark 3.3.2'; in CI beside the declared ones")
@click.option("--strict", is_flag=True, help="Fail for findings that the base has too")
@report_options
@baseline_options
@click.option("--fix", is_flag=True, help="Apply safe fixes to the files")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: unsafe fixes too")
@click.option(
    "--diff",
    "show_diff",
    is_flag=True,
    help="Show what --fix would change; write nothing, and exit as without --fix",
)
@click.option("--allow-none", is_flag=True, help="Exit with 0 if there are no contracts (for hooks)")
@click.option("--show-base", is_flag=True, help="Print the commit of the base, and check nothing")
@rule_options
@project_options
@takes(CheckOptions)
def command(options: CheckOptions) -> int:
    """Check changed contracts against git and against the live tables.

    PATHS are files and folders to check; by default the whole repository.
    """
    if options.show_base:
        show(terminal_text([_base_commit(options)]))
        return 0
    outputs = outputs_of(options.report)
    show_existing = options.everything or options.strict
    try:
        result = _run(options)
    except SchemalintError as error:
        result = CheckResult(Run(None, SideRef(options.head_option)), (), (error,), error.exit_status)
    if result is None:
        if not options.report.quiet:
            print_note("no contracts found")
        return 0
    write_reports(result, outputs, options.report, show_existing=show_existing, err=options.show_diff)
    report_bugs(result.errors)
    return result.exit_status


def _run(options: CheckOptions) -> CheckResult | None:
    """Run the check; return None if there are no contracts and ``--allow-none`` is given."""
    connection = options.connection
    repository = git.open_repository(Path.cwd(), os.environ)
    if connection.fetch:
        repository = repository.fetching_objects()
    session = open_check(repository, _review_options(options))
    _say_what_is_read(session, options)
    trusted = session.connecting
    connecting = None if trusted is None else connecting_settings(trusted, connection)
    is_used = options.asks_spark
    with spark_for(connecting, connection, is_used=is_used) as spark, shown_progress(connection) as tell:
        session = session.with_tables(_live_tables(session, connecting, options, spark, tell), tell)
        session = _asking(session, options, spark)
        for note in session.notes:
            print_note(note)
        if not session.has_contracts():
            _require_none_allowed(options)
            return None
        if not session.reaches_contracts():
            _require_none_allowed(options)
        result = _fixed(session, options) if options.is_fixing else session.check()
    if options.report.verbose:
        _say_what_is_not_modelled(result)
    for warning in session.warnings(result):
        print_note(warning)
    if options.baseline.is_written:
        file = session.configured_baseline
        result = written_baseline(result, session.baseline, options.baseline, session.reach, file)
    result = with_exit_status(result, least_severity(session.sides.fail_on, options.report))
    if session.lacks_files(result) and not options.allow_none:  # a hook goes on
        return replace(result, exit_status=max(result.exit_status, UsageError.exit_status))
    return result


def _base_commit(options: CheckOptions) -> str:
    """Return the commit that the check compares with, for a job that makes such files there."""
    repository = git.open_repository(Path.cwd(), os.environ)
    if options.connection.fetch:
        repository = repository.fetching_objects()
    base, _head, _config = compared(
        repository, options.head_option, options.against, config_options(options.connection), os.environ
    )
    if not isinstance(base, git.Revision) or base.commit is None:
        raise UsageError(f"the base is no commit: {base.spec}", help="name one: --against REV")
    return base.commit


def _review_options(options: CheckOptions) -> ReviewOptions:
    return ReviewOptions(
        env=os.environ,
        config=config_options(options.connection),
        head=options.head_option,
        against=options.against,
        base_from=options.base_from,
        head_from=options.head_from,
        paths=options.paths,
        everything=options.everything,
        reads_unchanged=options.report.verbose,
        engine=options.engine,
        rules=options.rules,
        allows_local_rules=options.allow_local_plugins,
        is_live=options.is_live,
        asks_spark=options.asks_spark,
        target=options.connection.target,
        history=options.history,
        baseline=options.baseline,
        is_strict=options.strict,
    )


def _say_what_is_read(session: CheckSession, options: CheckOptions) -> None:
    declared = () if session.made is None else session.made.notes
    for note in () if options.report.quiet else (*declared, *session.left_out):
        print_note(note)
    if options.report.verbose:
        log_run(session.sides, session.contents, session.rules.rules)


def _live_tables(
    session: CheckSession,
    connecting: Trusted | None,
    options: CheckOptions,
    spark: Spark | None,
    tell: Tell,
) -> LiveSide | None:
    if connecting is None or not options.is_live:
        return None
    from schemalint.review.live_tables import live_side, live_side_from  # noqa: PLC0415 (only with live tables)

    where = session.project, connecting, options.connection.target, session.sides.head
    if options.live_from is None:
        via, workers = catalog_of(spark), workers_of(options.connection, tell)
        return live_side(*where, via, history=options.history, workers=workers)
    side = live_side_from(*where, options.live_from, history=options.history)
    if side.as_of is not None:
        print_note(as_of_text(side.as_of, dt.datetime.now(tz=dt.UTC)))
    return side


def _asking(session: CheckSession, options: CheckOptions, spark: Spark | None) -> CheckSession:
    """Return the session of a check with one of Spark, if it is asked for.

    Raises:
        UsageError: No merged configuration says what to start.
    """
    if not options.asks_spark:
        return session
    if spark is None:
        raise UsageError(
            "--parse-with spark starts the session of a merged configuration, and the base has none",
            help="check it without a session; Spark reads it after the merge",
        )
    from schemalint.spark.session_questions import ExpressionParser  # noqa: PLC0415 (pyspark loads only when needed)

    return replace(session, ask=ExpressionParser(spark.session))


def _require_none_allowed(options: CheckOptions) -> None:
    if not options.allow_none:
        raise UsageError(
            "no contracts found" + affixed(" in ", ", ".join(options.paths)),
            help="a contract is a YAML file that git tracks, with a line `schemalint: 1`",
        )


def _fixed(session: CheckSession, options: CheckOptions) -> CheckResult:
    """Write the fixes, or show them as a diff: then return the result without them."""
    files, texts, faults = session.fixes(unsafe=options.unsafe_fixes), {}, []
    for path, file in files.items():
        if options.show_diff:
            show(document_text(file.diff))
            continue
        try:
            rewrite_text(session.sides.repository.root / path, file.before, file.after)
        except UsageError as fault:  # the other files are fixed all the same
            faults.append(fault)
            continue
        texts[path] = file.after.encode()
        print_note(f"fixed {file.file}")
    result = session.check(texts)
    return replace(result, errors=(*result.errors, *faults))


def _say_what_is_not_modelled(result: CheckResult) -> None:
    from schemalint.judge.asked_expressions import not_modelled  # noqa: PLC0415 (only with --verbose)

    unknown, total = not_modelled(table.after for table in result.tables if table.after is not None)
    if total:
        print_note(f"note: the offline model knows no type of {unknown} of {counted(total, 'expression')}")
