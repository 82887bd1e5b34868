"""``schemalint check``."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemalint.base.errors import ConfigError, GitError, SchemalintError, UsageError
from schemalint.base.files import rewrite_text
from schemalint.base.printable import document_text
from schemalint.base.values import as_dict, frozen, replace
from schemalint.cli import print_note, report_bugs
from schemalint.cli._baseline import (
    Reach,
    baseline_options,
    read_baseline_of,
    require_baseline,
    with_baseline,
)
from schemalint.cli._connection import Spark, config_options, connecting_settings, spark_for, via_options
from schemalint.cli._declarations import (
    DeclarationsOptions,
    declarations_options,
    tables_of_other_tools,
    with_additions,
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
from schemalint.cli._reports import log_run, outputs_of, report_options, warn_of_owners, write_reports
from schemalint.cli._typed import BaselineOptions, Connection, ReportOptions, RuleOptions, takes
from schemalint.judge.rule_judge import ordered
from schemalint.model.exception import ExceptionSource
from schemalint.model.finding import CheckResult, Finding, Run, SideRef
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.repository_config import Project, config_at, unmatched_globs
from schemalint.project.config.target_engines import without_writers
from schemalint.project.config.trust import Trusted, find_trusted
from schemalint.project.git import Contents, Index, Revision, Side, Worktree
from schemalint.report.text_helpers import as_of_text
from schemalint.review.check_input import CheckInput
from schemalint.review.consumers import warning_of_writers
from schemalint.review.exception_files import exceptions_of
from schemalint.review.rule_sets import RuleSets, is_locked, lock_faults, rule_sets_of
from schemalint.review.run_check import check, with_exit_status
from schemalint.review.sides import (
    Sides,
    head_config,
    local_sides,
    path_filter,
    readable_ancestors,
    review_sides,
)

if TYPE_CHECKING:
    from schemalint.delta.engine import Engine
    from schemalint.review.baseline import Baseline
    from schemalint.review.check_input import LiveSide
    from schemalint.tables.storage.table_workers import Tell


@frozen
class CheckOptions:
    """The options of ``check``."""

    paths: tuple[str, ...]
    against: str | None
    head_option: str
    with_live: bool
    live_from: str | None
    history: bool
    everything: bool
    engine: Engine | None
    strict: bool
    fix: bool
    unsafe_fixes: bool
    show_diff: bool
    allow_none: bool
    allow_local_plugins: bool
    declarations: DeclarationsOptions
    connection: Connection
    rules: RuleOptions
    baseline: BaselineOptions
    report: ReportOptions

    @property
    def is_live(self) -> bool:
        """Whether contracts are compared with tables, or with a file of them."""
        return self.with_live or self.live_from is not None

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
        self.connection.require_session()


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
@click.option("--live-from", metavar="FILE", help="Compare with a `show` JSON file instead of the log")
@declarations_options
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
@rule_options
@project_options
@takes(CheckOptions)
def command(options: CheckOptions) -> int:
    """Check changed contracts against git and against the live tables.

    PATHS are files and folders to check; by default the whole repository.
    """
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
    repository = git.open_repository(Path.cwd(), os.environ)
    connection = options.connection
    if connection.fetch:
        repository = repository.fetching_objects()
    head = git.find_head(repository, options.head_option, os.environ)
    # In CI the event determines the base: a change under review must not choose its own.
    file = None if connection.isolated else connection.config_file
    config = head_config(repository, head, file, isolated=connection.isolated)
    against = options.against or (None if git.is_ci(os.environ) else config.against)
    base = git.find_base(repository, head, against, os.environ, fetch=connection.fetch)
    trusted = _trusted(repository, options)
    sides = _with_settings(Sides(repository, base, head, config, config, given=file), trusted, options)
    project = Project(repository, sides.at_head)
    declared = tables_of_other_tools(sides, options.declarations, options.report)
    # The verbose run counts them, and any of them may declare a table of another tool's file.
    reads_unchanged = options.everything or options.report.verbose or declared is not None
    contents = sides.contents(reads_unchanged=reads_unchanged)
    sides = sides.with_nested(contents)
    local = trusted.rule_files(repository) if trusted and options.allow_local_plugins else None
    rules = rule_sets_of(sides.deciding, local=local, **as_dict(options.rules))
    if options.report.verbose:
        log_run(sides, contents, rules.rules)
    connecting = None if trusted is None or sides.is_first else connecting_settings(trusted, connection)
    with spark_for(connecting, connection) as spark:
        request = _request(sides, contents, rules, options)
        with shown_progress(options.connection) as tell:
            live = _live(project, head, connecting, options, spark, tell)
            request = replace(request, live=live, tell=tell, declared=with_additions(declared, contents))
            engines = (engine for judged in request.engines for of in judged.values() for engine in of.all)
            for note in sorted(set(filter(None, (engine.newer_note for engine in engines)))):
                print_note(f"note: {note}")
            if declared is None and not _has_contracts(request.contents, options):
                return None
            baseline = _baseline(options, sides)
            request = replace(request, baseline=baseline)
            result = _fixed(project, request, options) if options.is_fixing else check(request)
    _warn_of_writers(request, result)
    if git.is_ci(os.environ):
        warn_of_owners(sides)
    result = replace(
        result,
        errors=(
            *result.errors,
            *unmatched_globs(project, head, base),
            *lock_faults(sides.deciding[-1], rules.everywhere[-1].rules),
        ),
        findings=ordered((*result.findings, *sides.findings(local, options.rules.ignore))),
        sources={**sides.texts, **(result.sources or {})},
        counts_existing=options.strict,
    )
    against_what = {"git", "contract"}
    if options.is_live:
        against_what |= {"live", "history"} if options.history else {"live"}
    reach = Reach(rules, frozenset(against_what), is_complete=options.everything and not options.paths)
    result = with_baseline(result, baseline, options.baseline, reach, _configured_baseline(sides))
    fail_on = least_severity(sides.fail_on, options.report)
    return with_exit_status(result, fail_on)


def _warn_of_writers(request: CheckInput, result: CheckResult) -> None:
    """Warn once of an engine that wrote live tables lately, and that nobody declares."""
    if request.live is None or request.live.target is None:
        return
    writers = [table.live.writers for table in result.tables if table.live is not None]
    text = warning_of_writers(request.live.target, request.live.engines, request.configurations, writers)
    if text is not None:
        print_note(f"warning: {text}")


def _baseline(options: CheckOptions, sides: Sides) -> Baseline | None:
    """Read the baseline; in CI that of the base's configuration."""
    accepted, foreign = sides.accepted(git.foreign_head(os.environ))
    name, of_head = sides.deciding[0].baseline, sides.at_head.baseline
    if of_head not in (None, name) and not options.baseline.is_given:
        require_baseline(sides.repository.root / of_head, sides)  # it counts once it is merged

    def void(finding: Finding) -> bool:
        is_refused = foreign is not None or ExceptionSource.FILE.value not in accepted
        return is_refused or is_locked(finding, sides.deciding)

    return read_baseline_of(
        options.baseline,
        configured=_configured_baseline(sides),
        sides=sides,
        base=sides.base if git.is_ci(os.environ) and not sides.is_merged else None,
        void=void,
    )


def _configured_baseline(sides: Sides) -> Path | None:
    name = sides.deciding[0].baseline
    return None if name is None else sides.repository.root / name


def _with_settings(sides: Sides, trusted: Trusted | None, options: CheckOptions) -> Sides:
    """Return the sides; in CI the settings that count decide too, or those of the base the user names."""
    if not git.is_ci(os.environ):
        return local_sides(sides)
    try:
        trusted = trusted or find_trusted(sides.repository, os.environ, config_options(options.connection))
    except ConfigError:
        # The change may repair it, and no connection is asked for.
        return review_sides(sides, Config(), None)
    except GitError:
        if not options.against and not os.environ.get("SCHEMALINT_AGAINST"):
            raise
        if not isinstance(sides.base, Revision):
            return local_sides(sides)
        return review_sides(sides, config_at(sides.repository, sides.base), sides.base)
    return review_sides(sides, trusted.config, trusted.commit)


def _has_contracts(contents: Contents, options: CheckOptions) -> bool:
    if contents.has_candidates():
        return True
    if options.allow_none:
        return False
    raise UsageError(
        "no contracts found",
        help="a contract is a YAML file that git tracks, with a line `schemalint: 1`",
    )


def _fixed(project: Project, request: CheckInput, options: CheckOptions) -> CheckResult:
    """Write the fixes, or show them as a diff: then return the result without them."""
    from schemalint.review.run_check import check_and_fix, with_fixes  # noqa: PLC0415 (only with --fix or --diff)

    result, files = check_and_fix(request, unsafe=options.unsafe_fixes)
    if options.show_diff:
        for file in files.values():
            show(document_text(file.diff))
        return check(request)
    by_path, faults = {}, []
    for path, file in files.items():
        try:
            rewrite_text(project.repository.root / path, file.before, file.after)
        except UsageError as fault:  # the other files are fixed all the same
            faults.append(fault)
            continue
        by_path[path] = file
        print_note(f"fixed {file.file}")
    if not faults:
        return result
    result = check(with_fixes(request, by_path))
    return replace(result, errors=(*result.errors, *faults))


def _request(sides: Sides, contents: Contents, rules: RuleSets, options: CheckOptions) -> CheckInput:
    root, deciding = sides.repository.root, sides.deciding
    keeps = options.engine is None or git.is_ci(os.environ)
    return CheckInput(
        base=sides.base,
        head=sides.head,
        contents=contents,
        rules=rules,
        everything=options.everything,
        exceptions=exceptions_of(sides, *sides.accepted(git.foreign_head(os.environ))),
        only=path_filter(root, options.paths, contents.paths()),
        readable=readable_ancestors(sides.repository, sides.base_globs, sides.base),
        configurations=deciding if keeps else tuple(map(without_writers, deciding)),
        engine=options.engine,
        keeps_engines=keeps,
        repository=root,
    )


def _trusted(repository: git.Repository, options: CheckOptions) -> Trusted | None:
    """Return the configuration that counts for connections and for local rules; None if there are neither."""
    if not (options.is_live or options.allow_local_plugins):
        return None
    return find_trusted(repository, os.environ, config_options(options.connection))


def _live(
    project: Project,
    head: Side,
    settings: Trusted | None,
    options: CheckOptions,
    spark: Spark | None,
    tell: Tell,
) -> LiveSide | None:
    if settings is None or not options.is_live:
        return None
    from schemalint.review.live_tables import live_side, live_side_from  # noqa: PLC0415 (only with live tables)

    target, history = options.connection.target, options.history
    if options.live_from is not None:
        side = live_side_from(project, settings, target, head, options.live_from, history=history)
        if side.as_of is not None:
            print_note(as_of_text(side.as_of, dt.datetime.now(tz=dt.UTC)))
        return side
    via, workers = spark.catalog if spark else None, workers_of(options.connection, tell)
    return live_side(project, settings, target, head, via, history=history, workers=workers)
