"""``schemalint check``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from schemalint import git, report
from schemalint.cli._shared import Project, project, project_options, rule_options, rules_of
from schemalint.document import candidate
from schemalint.engine import CheckInput, check, load_rules
from schemalint.engine.check import exit_status
from schemalint.engine.rulebook import require_known
from schemalint.errors import ContractError, Location, SchemalintError, UsageError
from schemalint.git import Contents, EmptyTree, Revision, Side, Worktree, printable_path
from schemalint.model.finding import Problems, Run, Severity, SideRef

if TYPE_CHECKING:
    from schemalint.engine.check import LiveSide
    from schemalint.fix import FixedFile
    from schemalint.plugin import Rule

FAIL_ON = {"error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFO, "never": None}
MOST_ROUNDS = 5


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--against", metavar="BASE", help="REV, merge-base:REV, tag:PATTERN or none.")
@click.option("--head", "head_option", default="worktree", metavar="SIDE", help="worktree, index or REV.")
@click.option("--live", "with_live", is_flag=True, help="Compare with the live Delta log too.")
@click.option("--target", metavar="NAME", help="The environment whose tables are looked at.")
@click.option("--all", "everything", is_flag=True, help="Judge every contract, and show old findings.")
@click.option("--strict", is_flag=True, help="Findings that the base has too fail the run.")
@click.option("--fail-on", type=click.Choice([*FAIL_ON]), help="The least severity that fails the run.")
@click.option("--exit-zero", is_flag=True, help="Findings never fail the run.")
@click.option("--output-format", envvar="SCHEMALINT_OUTPUT_FORMAT", default="full", metavar="FORMAT")
@click.option("--output-file", type=click.Path(dir_okay=False), help="Write the report there.")
@click.option("--fix", is_flag=True, help="Write the safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix: the unsafe ones too.")
@click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change; write nothing.")
@click.option("--fetch", is_flag=True, help="Fetch the base from the remote if this clone lacks it.")
@click.option("--allow-none", is_flag=True, help="Be content if there are no contracts (for hooks).")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
@rule_options
@project_options
def command(output_format: str, output_file: str | None, color: str, **options: Any) -> int:  # noqa: ANN401
    """Judge the contracts that changed, against git and against the live tables.

    PATHS restrict it to some files and folders.
    """
    style = report.get(output_format)
    show_existing = bool(options["everything"] or options["strict"])
    try:
        result = _run(options, shows_fixes=style.SHOWS_FIXES)
    except SchemalintError as error:
        result = Problems(Run(None, SideRef(options["head_option"])), (), (error,), error.exit_status)
    if result is None:
        click.echo("no contracts found", err=True)
        return 0
    text = style.render(result, color=_colored(color, output_file), show_existing=show_existing)
    if output_file:
        _write(Path(output_file), text)
    else:
        click.echo(text, nl=False, err=options["show_diff"])
    return result.exit_status


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}", help="see --output-file") from error


def _run(options: dict[str, Any], *, shows_fixes: bool) -> Problems | None:
    """The result; None if there is nothing to judge and that is fine."""
    here = project(options["config_file"], isolated=options["isolated"])
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
    request = _request(here, base, head, rules, options)
    request = replace(request, with_text_changes=fixing or shows_fixes)
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
    here: Project, base: Side, head: Side, rules: tuple[Rule, ...], options: dict[str, Any]
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
        table_ignores=_table_ignores(here, rules),
        live=_live(here, base, options["target"]) if options["with_live"] else None,
    )


def _contents(here: Project, base: Side, head: Side) -> Contents:
    """Both sides' contracts, each by the globs of its own configuration: narrowed globs hide nothing."""
    globs = here.config.contracts
    contents = git.changes(here.repository, base, head, candidate, globs)
    if not globs or not isinstance(base, Revision):
        return contents
    from schemalint.cli._live import config_at  # noqa: PLC0415 (only where globs are configured)

    before = config_at(here, base).contracts
    if before == globs:
        return contents
    old = git.changes(here.repository, EmptyTree("the base alone"), base, candidate, before)
    return replace(contents, base=old.head, too_large=tuple({*contents.too_large, *old.too_large}))


def _table_ignores(here: Project, rules: tuple[Rule, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Per glob of tables; a pattern that names no rule at all is an error, as it is on the command line."""
    for entry in here.config.tables:
        require_known(entry.ignore, load_rules() if entry.ignore else rules)
    return tuple((entry.match, entry.ignore) for entry in here.config.tables)


def _with_status(result: Problems, request: CheckInput, options: dict[str, Any], here: Project) -> Problems:
    too_large = tuple(
        ContractError(
            "the file is larger than 1 MiB and was not looked at",
            help="split it, or exclude it by the `contracts` globs of the configuration",
            location=Location(printable_path(path)),
        )
        for path in request.contents.too_large
    )
    result = replace(result, errors=(*result.errors, *too_large))
    fail_on = FAIL_ON[options["fail_on"]] if options["fail_on"] else here.config.fail_on
    if options["exit_zero"]:
        fail_on = None
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


def _live(here: Project, base: Side, target_name: str | None) -> LiveSide:
    from schemalint.cli._live import live_side  # noqa: PLC0415 (only with --live)

    return live_side(here, base, target_name)


def _fixed(here: Project, request: CheckInput, result: Problems, options: dict[str, Any]) -> Problems:
    """Fix, judge again, until nothing more can be fixed; a fix may wait for another one."""
    from schemalint.fix import fixed_files  # noqa: PLC0415 (only with --fix)

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
    return {printable_path(path): path for path in contents.head}


def _colored(color: str, output_file: str | None) -> bool:
    if color != "auto" or output_file:
        return color == "always"
    return not os.environ.get("NO_COLOR") and sys.stdout.isatty()
