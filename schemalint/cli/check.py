"""``schemalint check``."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemalint import git
from schemalint.cli import print_note, report_bugs
from schemalint.cli._options import (
    is_colored,
    least_severity,
    project_options,
    report_options,
    rule_options,
    write_report,
)
from schemalint.cli._output import show
from schemalint.cli._settings import config_options, connecting_settings
from schemalint.cli._spark_options import Spark, spark_for, via_options
from schemalint.config import Config
from schemalint.config.project import Project, config_at, unmatched_globs
from schemalint.config.trust import Trusted, find_trusted
from schemalint.errors import ConfigError, GitError, SchemalintError, UsageError
from schemalint.files import rewrite_text
from schemalint.git import Contents, Revision, Side, Worktree
from schemalint.lint.check import check, exit_status
from schemalint.lint.check_input import CheckInput
from schemalint.lint.configuration import (
    CheckSettings,
    HeadConfig,
    head_config,
    local_settings,
    review_settings,
)
from schemalint.lint.judge import ordered
from schemalint.lint.selection import rule_sets_of
from schemalint.lint.sides import path_filter, read_contents, readable_ancestor
from schemalint.lint.stricter import RuleSet, rules_of_all
from schemalint.model.finding import CheckResult, Run, SideRef
from schemalint.printable import document_text
from schemalint.report import findings as reports
from schemalint.report.text import as_of_text
from schemalint.values import replace

if TYPE_CHECKING:
    from schemalint.lint.check_input import LiveSide


@click.command("check")
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
@click.option("--target", metavar="NAME", help="Compare with the tables of this target")
@via_options
@click.option(
    "--all", "everything", is_flag=True, help="Check all contracts, and show findings that the base has too"
)
@click.option("--strict", is_flag=True, help="Fail for findings that the base has too")
@report_options
@click.option("--fix", is_flag=True, help="Apply safe fixes to the files")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix: apply unsafe fixes too")
@click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change; write nothing")
@click.option("--allow-none", is_flag=True, help="Exit with 0 if there are no contracts (for hooks)")
@rule_options
@project_options
def command(output_format: str, output_file: str | None, color: str, **options: Any) -> int:  # noqa: ANN401
    """Check changed contracts against git and against the live tables.

    PATHS are files and folders to check; by default the whole repository.
    """
    style = reports.get(output_format)
    show_existing = bool(options["everything"] or options["strict"])
    try:
        result = _run(options, shows_fixes=style.SHOWS_FIXES)
    except SchemalintError as error:
        result = CheckResult(Run(None, SideRef(options["head_option"])), (), (error,), error.exit_status)
    if result is None:
        print_note("no contracts found")
        return 0
    text = style.render(result, color=is_colored(color, output_file), show_existing=show_existing)
    write_report(text, output_file, err=options["show_diff"])
    report_bugs(result.errors)
    return result.exit_status


def _run(options: dict[str, Any], *, shows_fixes: bool) -> CheckResult | None:
    """Run the check; return None if there are no contracts and ``--allow-none`` is given."""
    repository = git.open_repository(Path.cwd(), os.environ)
    if options["fetch"]:
        repository = repository.fetching_objects()
    fixing = options["fix"] or options["show_diff"]
    if fixing and options["head_option"] != Worktree.spec:
        raise UsageError(
            f"--fix and --head {options['head_option']} do not go together", help="leave --head out"
        )
    head = Worktree() if fixing else git.find_head(repository, options["head_option"], os.environ)
    of_head = head_config(repository, head, options["config_file"], isolated=options["isolated"])
    project = Project(repository, of_head.config)
    # In CI the event determines the base: a change under review must not choose its own.
    against = options["against"] or (None if git.is_ci(os.environ) else project.config.against)
    base = git.find_base(repository, head, against, os.environ, fetch=options["fetch"])
    trusted = _trusted(repository, options)
    settings = _settings(of_head, base, trusted, options)
    local = trusted.rule_files(repository) if trusted and options["allow_local_plugins"] else None
    rule_sets = rule_sets_of(settings.gate.deciding, local=local, **_rule_options(options))
    connecting = None if trusted is None or settings.is_first else connecting_settings(trusted, options)
    with spark_for(connecting, options) as spark:
        request = _request(project, base, head, settings, rule_sets, options)
        request = replace(request, live=_live(project, connecting, options, spark))
        request = replace(request, with_text_changes=fixing or shows_fixes)
        if not _has_contracts(request.contents, options):
            return None
        result = _fixed(project, request, options) if fixing else check(request)
    result = replace(
        result,
        errors=(*result.errors, *unmatched_globs(project, head, base)),
        findings=ordered((*result.findings, *settings.findings(local, options["ignore"]))),
        sources={**(result.sources or {}), **settings.texts},
        counts_existing=options["strict"],
    )
    fail_on = least_severity(settings.gate.fail_on, options["fail_on"], exit_zero=options["exit_zero"])
    return replace(result, exit_status=exit_status(result, fail_on))


def _rule_options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("select", "extend_select", "ignore", "preview")}


def _settings(
    of_head: HeadConfig, base: Side, trusted: Trusted | None, options: dict[str, Any]
) -> CheckSettings:
    """Return the settings; in CI those that count decide too, or those of the base that the user names."""
    if not git.is_ci(os.environ):
        return local_settings(of_head, base)
    try:
        trusted = trusted or find_trusted(of_head.repository, os.environ, config_options(options))
    except ConfigError:
        # The change may repair it, and no connection is asked for.
        return review_settings(of_head, base, Config(), None)
    except GitError:
        if not options["against"] and not os.environ.get("SCHEMALINT_AGAINST"):
            raise
        if not isinstance(base, Revision):
            return local_settings(of_head, base)
        return review_settings(of_head, base, config_at(of_head.repository, base), base)
    return review_settings(of_head, base, trusted.config, trusted.commit)


def _has_contracts(contents: Contents, options: dict[str, Any]) -> bool:
    if contents.base or contents.head or contents.unread:
        return True
    if options["allow_none"]:
        return False
    raise UsageError(
        "no contracts found",
        help="a contract is a YAML file that git tracks, with a line `schemalint: 1`",
    )


def _fixed(project: Project, request: CheckInput, options: dict[str, Any]) -> CheckResult:
    """Write the fixes, or show them as a diff: then return the result without them."""
    from schemalint.lint.fixing import check_and_fix  # noqa: PLC0415 (only with --fix or --diff)

    result, files = check_and_fix(request, unsafe=options["unsafe_fixes"])
    if options["show_diff"]:
        for file in files.values():
            show(document_text(file.diff))
        return check(request)
    for path, file in files.items():
        rewrite_text(project.repository.root / path, file.before, file.after)
        print_note(f"fixed {file.file}")
    return result


def _request(
    project: Project,
    base: Side,
    head: Side,
    settings: CheckSettings,
    rule_sets: tuple[RuleSet, ...],
    options: dict[str, Any],
) -> CheckInput:
    contents = read_contents(project.repository, base, head, settings.base_globs, settings.head_globs)
    return CheckInput(
        base=base,
        head=head,
        contents=contents,
        rules=rules_of_all(rule_sets),
        everything=options["everything"],
        approved_removals=settings.gate.removed,
        only=path_filter(project.repository.root, options["paths"], {*contents.base, *contents.head}),
        reports=lambda finding: any(rule_set.reports(finding) for rule_set in rule_sets),
        readable=lambda key: readable_ancestor(project.repository, settings.base_globs, base, key),
        configurations=settings.gate.deciding,
        repository=project.repository.root,
    )


def _trusted(repository: git.Repository, options: dict[str, Any]) -> Trusted | None:
    """Return the configuration that counts for connections and for local rules; None if there are neither."""
    if options["via"] and not options["with_live"]:
        raise UsageError("--via needs --live", help="give --live too")
    if not any(options[name] for name in ("with_live", "live_from", "allow_local_plugins")):
        return None
    return find_trusted(repository, os.environ, config_options(options))


def _live(
    project: Project, settings: Trusted | None, options: dict[str, Any], spark: Spark | None
) -> LiveSide | None:
    if options["with_live"] and options["live_from"] is not None:
        raise UsageError("--live and --live-from do not go together", help="leave one of them out")
    is_live = options["with_live"] or options["live_from"] is not None
    if options["target"] is not None and not is_live:
        raise UsageError("--target needs --live or --live-from", help="give one of them too")
    if settings is None or not is_live:
        return None
    from schemalint.lint.live_side import live_side, live_side_from  # noqa: PLC0415 (only with live tables)

    if options["live_from"] is not None:
        side = live_side_from(project, settings, options["target"], options["live_from"])
        if side.as_of is not None:
            print_note(as_of_text(side.as_of, dt.datetime.now(tz=dt.UTC)))
        return side
    return live_side(project, settings, options["target"], spark.catalog if spark else None)
