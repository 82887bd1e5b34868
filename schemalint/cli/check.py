"""``schemalint check``."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from schemalint import git
from schemalint.cli._options import (
    is_colored,
    least_severity,
    project_options,
    report_options,
    rule_options,
    write_report,
)
from schemalint.cli._spark_options import Spark, spark_for, via_options
from schemalint.config.project import Project, open_project
from schemalint.document import candidate
from schemalint.errors import ContractError, Location, SchemalintError, UsageError
from schemalint.git import Contents, EmptyTree, Revision, Side, Worktree
from schemalint.lint.check import CheckInput, check, exit_status
from schemalint.lint.selection import rules_of, table_ignores
from schemalint.model.finding import CheckResult, Run, SideRef
from schemalint.printable import visible
from schemalint.report import findings as reports
from schemalint.report.text import as_of_text
from schemalint.values import replace

if TYPE_CHECKING:
    from schemalint.contract.fixes import FixedFile
    from schemalint.lint.check import LiveSide
    from schemalint.model.contract import Contract
    from schemalint.plugin import Rule

MOST_ROUNDS = 5


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--against", metavar="BASE", help="REV, merge-base:REV, tag:PATTERN or none.")
@click.option("--head", "head_option", default="worktree", metavar="SIDE", help="worktree, index or REV.")
@click.option("--live", "with_live", is_flag=True, help="Compare with the live Delta log too.")
@click.option("--live-from", metavar="FILE", help="With what `show` printed as JSON, in place of the log.")
@click.option("--target", metavar="NAME", help="The environment whose tables are looked at.")
@via_options
@click.option("--all", "everything", is_flag=True, help="Judge every contract, and show old findings.")
@click.option("--strict", is_flag=True, help="Findings that the base has too fail the run.")
@report_options
@click.option("--fix", is_flag=True, help="Write the safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix: the unsafe ones too.")
@click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change; write nothing.")
@click.option("--fetch", is_flag=True, help="Fetch the base from the remote if this clone lacks it.")
@click.option("--allow-none", is_flag=True, help="Be content if there are no contracts (for hooks).")
@rule_options
@project_options
def command(output_format: str, output_file: str | None, color: str, **options: Any) -> int:  # noqa: ANN401
    """Judge the contracts that changed, against git and against the live tables.

    PATHS restrict it to some files and folders.
    """
    style = reports.get(output_format)
    show_existing = bool(options["everything"] or options["strict"])
    try:
        result = _run(options, shows_fixes=style.SHOWS_FIXES)
    except SchemalintError as error:
        result = CheckResult(Run(None, SideRef(options["head_option"])), (), (error,), error.exit_status)
    if result is None:
        click.echo("no contracts found", err=True)
        return 0
    text = style.render(result, color=is_colored(color, output_file), show_existing=show_existing)
    write_report(text, output_file, err=options["show_diff"])
    return result.exit_status


def _run(options: dict[str, Any], *, shows_fixes: bool) -> CheckResult | None:
    """The result; None if there is nothing to judge and that is fine."""
    here = open_project(options["config_file"], isolated=options["isolated"])
    rules = rules_of(
        here.config,
        select=options["select"],
        extend_select=options["extend_select"],
        ignore=options["ignore"],
        preview=options["preview"],
        local_from=here.repository.root if options["allow_local_plugins"] else None,
    )
    fixing = options["fix"] or options["show_diff"]
    if fixing and options["head_option"] != Worktree.spec:
        raise UsageError(
            f"--fix and --head {options['head_option']} do not go together", help="leave --head out"
        )
    head = Worktree() if fixing else git.find_head(here.repository, options["head_option"], os.environ)
    # In CI the event says what is compared: a change under review must not choose its own base.
    against = options["against"] or (None if git.is_ci(os.environ) else here.config.against)
    base = git.find_base(here.repository, head, against, os.environ, fetch=options["fetch"])
    with spark_for(_of_spark(here, base, options), options) as spark:
        request = _request(here, base, head, rules, options, spark)
        request = replace(request, with_text_changes=fixing or shows_fixes)
        return _judged(here, request, options, fixing=fixing)


def _judged(
    here: Project, request: CheckInput, options: dict[str, Any], *, fixing: bool
) -> CheckResult | None:
    if not request.contents.base and not request.contents.head and not request.contents.too_large:
        if options["allow_none"]:
            return None
        raise UsageError(
            "no contracts found",
            help="a contract is a YAML file that git tracks, with a line `schemalint: 1`",
        )
    result = check(request)
    if fixing:
        result = _fixed(here, request, result, options)
    return _with_status(result, request, options, here)


def _request(
    here: Project,
    base: Side,
    head: Side,
    rules: tuple[Rule, ...],
    options: dict[str, Any],
    spark: Spark | None,
) -> CheckInput:
    contents = _contents(here, base, head)
    return CheckInput(
        base=base,
        head=head,
        contents=contents,
        rules=rules,
        everything=options["everything"],
        approved_removals=here.config.removed,
        only=_only(here, options["paths"], {*contents.base, *contents.head}),
        table_ignores=table_ignores(here.config, rules),
        live=_live(here, base, options, spark),
        readable=lambda key: _readable(here, base, key),
    )


def _readable(here: Project, base: Side, key: str) -> tuple[str, Contract] | None:
    from schemalint.contract.revisions import newest_readable  # noqa: PLC0415 (only where a base is broken)

    return newest_readable(here.repository, _globs_at(here, base), base)(key)


def _contents(here: Project, base: Side, head: Side) -> Contents:
    """Both sides' contracts, each by the globs of its own configuration: narrowed globs hide nothing."""
    globs, before = here.config.contracts, _globs_at(here, base)
    contents = git.changes(here.repository, base, head, candidate, globs)
    if before == globs:
        return contents
    old = git.changes(here.repository, EmptyTree("the base alone"), base, candidate, before)
    return replace(contents, base=old.head, too_large=tuple({*contents.too_large, *old.too_large}))


def _globs_at(here: Project, base: Side) -> tuple[str, ...]:
    """The globs of the base's own configuration; where none are configured now, every contract counts."""
    globs = here.config.contracts
    if not globs or not isinstance(base, Revision):
        return globs
    from schemalint.config.project import config_at  # noqa: PLC0415 (only where globs are configured)

    return config_at(here, base).contracts


def _with_status(
    result: CheckResult, request: CheckInput, options: dict[str, Any], here: Project
) -> CheckResult:
    too_large = tuple(
        ContractError(
            "the file is larger than 1 MiB and was not looked at",
            help="split it, or exclude it by the `contracts` globs of the configuration",
            location=Location(visible(path)),
        )
        for path in request.contents.too_large
    )
    result = replace(result, errors=(*result.errors, *too_large))
    fail_on = least_severity(here.config, options["fail_on"], exit_zero=options["exit_zero"])
    return replace(result, exit_status=exit_status(result, fail_on, count_existing=options["strict"]))


def _only(here: Project, paths: tuple[str, ...], files: Iterable[str]) -> Callable[[str], bool] | None:
    """Whether a file of the repository is asked for; folders stand for what is in them."""
    if not paths:
        return None
    wanted = []
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 (a link is not followed: git's path is meant)
        try:
            wanted.append(PurePosixPath(absolute.relative_to(here.repository.root).as_posix()))
        except ValueError:
            raise UsageError(f"{path} lies outside of the repository {here.repository.root}") from None
    for path, one in zip(paths, wanted, strict=True):
        known = any(PurePosixPath(file).is_relative_to(one) for file in files)
        if not known and not Path(path).exists():
            raise UsageError(f"there is no {path}, neither here nor in the base")
    return lambda file: any(PurePosixPath(file).is_relative_to(one) for one in wanted)


def _of_spark(here: Project, base: Side, options: dict[str, Any]) -> Project:
    """Whose settings are those of Spark."""
    if not options["via"]:
        return here
    if not options["with_live"]:
        raise UsageError("--via is about live tables", help="give --live too")
    from schemalint.config.project import trusted  # noqa: PLC0415 (only with live tables)

    return trusted(here, base)


def _live(here: Project, base: Side, options: dict[str, Any], spark: Spark | None) -> LiveSide | None:
    if options["with_live"] and options["live_from"] is not None:
        raise UsageError("--live and --live-from do not go together", help="leave one of them out")
    if not options["with_live"] and options["live_from"] is None:
        if options["target"] is not None:
            raise UsageError("--target is about live tables", help="give --live or --live-from too")
        return None
    from schemalint.lint.live_side import live_side, live_side_from  # noqa: PLC0415 (only with live tables)

    if options["live_from"] is not None:
        side = live_side_from(here, base, options["target"], options["live_from"])
        if side.as_of is not None:
            click.echo(as_of_text(side.as_of, dt.datetime.now(tz=dt.UTC)), err=True)
        return side
    return live_side(here, base, options["target"], spark.catalog if spark else None)


def _fixed(here: Project, request: CheckInput, result: CheckResult, options: dict[str, Any]) -> CheckResult:
    """Fix, judge again, until nothing more can be fixed; a fix may wait for another one."""
    from schemalint.contract.fixes import fixed_files  # noqa: PLC0415 (only with --fix)

    contents = request.contents
    written: dict[str, FixedFile] = {}
    fixed = result
    for _round in range(MOST_ROUNDS):
        files = fixed_files(fixed.findings, fixed.sources or {}, unsafe=options["unsafe_fixes"])
        if not files:
            break
        for file in files:
            first = written.get(file.file)
            written[file.file] = replace(file, before=first.before if first else file.before)
        contents = _with_files(contents, files)
        fixed = check(replace(request, contents=contents))
    if options["show_diff"]:
        for file in written.values():
            click.echo(file.diff, nl=False)
        return result
    paths = _paths(contents)
    for file in written.values():
        (here.repository.root / paths[file.file]).write_bytes(file.after.encode())
        click.echo(f"fixed {file.file}", err=True)
    return fixed


def _with_files(contents: Contents, files: tuple[FixedFile, ...]) -> Contents:
    head, paths = dict(contents.head), _paths(contents)
    for file in files:
        path = paths[file.file]
        head[path] = replace(head[path], data=file.after.encode(), blob=None)
    return replace(contents, head=head)


def _paths(contents: Contents) -> dict[str, str]:
    """The paths of the head's files by what is printed for them: a name may hold a line break."""
    return {visible(path): path for path in contents.head}
