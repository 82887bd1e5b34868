"""``--baseline``, ``--write-baseline`` and ``--grow``."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemalint.base import limits
from schemalint.base.errors import ConfigError, UsageError
from schemalint.base.files import write_text
from schemalint.base.untrusted_files import read_given, read_plain
from schemalint.base.values import frozen, replace
from schemalint.cli import print_note
from schemalint.cli._options import together
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.judge.rule_judge import ordered
from schemalint.model.contract import table_key
from schemalint.model.fact import JudgedException
from schemalint.project import git
from schemalint.review.approve import approve
from schemalint.review.baseline import Baseline, Entry, read_baseline, rewritten, text_of, unused
from schemalint.review.exception_findings import judge_exception

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.cli._typed import BaselineOptions
    from schemalint.model.finding import CheckResult, Finding
    from schemalint.project.git import Side
    from schemalint.review.rule_sets import RuleSets
    from schemalint.review.sides import Sides


baseline_options = together(
    click.option("--baseline", metavar="FILE", help="Do not fail for the findings in this file"),
    click.option(
        "--write-baseline",
        is_flag=False,
        flag_value="",
        metavar="[FILE]",
        help="Write the findings to the baseline; from one that is there, only remove what is gone",
    ),
    click.option(
        "--grow", is_flag=True, help="With --write-baseline: add findings to a baseline that is there"
    ),
)
"""Add the options of the baseline."""


@frozen
class Reach:
    """What a run could find.

    Attributes:
        rules: The rules that judged.
        sides: What the tables were compared with: see `Finding.against`.
        is_complete: Whether the run judged all tables.
        files: Whether it read data files.
    """

    rules: RuleSets
    sides: frozenset[str]
    is_complete: bool
    files: bool = False


def read_baseline_of(
    options: BaselineOptions,
    *,
    configured: Path | None = None,
    sides: Sides | None = None,
    base: Side | None = None,
    void: Callable[[Finding], bool] = lambda _finding: False,
) -> Baseline | None:
    """Read the baseline; None if there is none, or it is about to be written.

    Args:
        options: The options of the baseline.
        configured: The file that the configuration names.
        sides: The sides of a check, if the file can be one of their repository.
        base: The old side: what it lacks is added by the change under review.
        void: See `Baseline`.

    Raises:
        UsageError: There is no such file, or it cannot be written.
        ConfigError: It is no baseline.
    """
    is_written = options.write_baseline is not None
    file = Path(options.baseline) if options.baseline else configured
    target = Path(options.write_baseline) if options.write_baseline else file
    if target is None:
        if is_written:
            raise UsageError(
                "--write-baseline needs a file", help="name it, or set `baseline` in the configuration"
            )
        return None
    # All entries count where the file is written anew.
    baseline = _read(file or target, sides, None if is_written else base, may_miss=is_written)
    if is_written and target != file:
        _read(target, None, None, may_miss=True)  # a file that is no baseline is not overwritten
    return None if baseline is None else replace(baseline, void=void)


def with_baseline(
    result: CheckResult,
    baseline: Baseline | None,
    options: BaselineOptions,
    reach: Reach,
    configured: Path | None = None,
) -> CheckResult:
    """Return a result with the entries of the baseline that are unused; write it if the user wants that.

    Args:
        result: The result of a run.
        baseline: What `read_baseline_of` returned.
        options: The options of the baseline.
        reach: What the run could find.
        configured: The file that the configuration names.

    Raises:
        UsageError: The file cannot be written.
    """

    def is_judged(entry: Entry) -> bool:
        return _is_judged(entry, result, reach)

    target = Path(options.write_baseline or options.baseline or configured or "")
    if options.write_baseline is not None and result.errors:
        print_note(f"note: {target} was not written, because the run is incomplete")
    elif options.write_baseline is not None:
        entries = rewritten(baseline, result.findings, result.covered, is_judged, grow=options.grow)
        text = text_of(entries)
        write_text(target, text)
        print_note(f"wrote {target}: findings in {len(entries)} entries")
        baseline = Baseline(str(target), {entry.fingerprint: entry for entry in entries}, text=text)
        approval = approve(result.findings, (), (), dt.datetime.now(tz=dt.UTC).date(), baseline)
        result = replace(result, findings=approval.remaining, covered=approval.covered)
    if baseline is None:
        return result
    about = [
        replace(finding, fix=None, help="--write-baseline removes it")
        for entry in unused(baseline, result.covered, is_judged)
        for finding in judge_exception(JudgedException(entry, "unused"), reach.rules.everywhere)
    ]
    return replace(
        result,
        findings=ordered((*result.findings, *about)),
        sources={**(result.sources or {}), baseline.file: baseline.text},
    )


def require_baseline(file: Path, sides: Sides) -> None:
    """Read a baseline that the configuration under review names.

    Raises:
        UsageError: There is no such file.
        ConfigError: It is no baseline.
    """
    _read(file, sides, None, may_miss=False)


def _read(file: Path, sides: Sides | None, base: Side | None, *, may_miss: bool) -> Baseline | None:
    """Read a baseline; that of a repository at the side under review, with what the base has of it.

    Raises:
        UsageError: It cannot be read.
        ConfigError: It is no baseline.
    """
    # By its name first: a link that the change under review makes of it does not take it out.
    path = Path(os.path.abspath(file))  # noqa: PTH100 (follows no link)
    if sides is not None and not path.is_relative_to(sides.repository.root):
        path = path.resolve()
    is_inside = sides is not None and path.is_relative_to(sides.repository.root)
    name = path.relative_to(sides.repository.root).as_posix() if sides and is_inside else str(file)
    merged = None
    if sides is not None and is_inside and not isinstance(sides.head, git.Worktree):
        data = git.file_at(sides.repository, sides.head, name)
        if data is None and not may_miss:
            raise UsageError(
                f"there is no baseline {name} in {sides.head.why}", help="write it, and commit it"
            )
    else:
        data = _on_disk(path, name, read_plain if is_inside else read_given, may_miss=may_miss)
    if data is None:
        return None
    if sides is not None and base is not None and is_inside:
        at_base = git.file_at(sides.repository, base, name)
        merged = {} if at_base is None else _merged(name, at_base)
    return Baseline(name, read_baseline(name, data), merged, text=data.decode())


def _merged(name: str, data: bytes) -> dict[str, Entry]:
    try:
        return read_baseline(name, data)
    except ConfigError:  # what cannot be read approves nothing
        return {}


def _on_disk(path: Path, name: str, read: Callable[[Path, int], bytes], *, may_miss: bool) -> bytes | None:
    try:
        return read(path, limits.MAX_BASELINE)
    except FileNotFoundError:
        if may_miss:
            return None
        raise UsageError(f"there is no baseline {name}", help="write it with --write-baseline") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}", help="see --baseline") from None


def _is_judged(entry: Entry, result: CheckResult, reach: Reach) -> bool:
    """Whether a run could have found what an entry is for."""
    target, compared = result.run.target, {table_key(table) for table in result.run.compared}
    return (
        (reach.is_complete or table_key(entry.table) in compared)
        and not result.errors
        and reach.sides.issuperset(entry.against)
        # With a target, a finding of git has the target too, and another fingerprint.
        and (target is None or entry.target == target)
        and any(
            rule.code == entry.code and (reach.files or rule.subjects != (PhysicalTypes,))
            for rule in reach.rules.rules
        )
    )
