"""The file of a baseline: which one counts, what a run leaves unused in it, and what it is after the run."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path

from schemalint.base import limits
from schemalint.base.errors import ConfigError, UsageError
from schemalint.base.untrusted_files import read_given, read_plain
from schemalint.base.values import frozen, replace
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.judge.rule_judge import ordered
from schemalint.model.contract import table_key
from schemalint.model.fact import JudgedException
from schemalint.model.finding import CheckResult, Finding
from schemalint.project import git
from schemalint.project.config.trust import Trusted
from schemalint.project.git import Repository, Side
from schemalint.review.approve import approve
from schemalint.review.baseline import Baseline, Entry, read_baseline, rewritten, text_of, unused
from schemalint.review.rule_sets import RuleSets
from schemalint.review.sides import Sides, reviewed_commit


@frozen
class BaselineOptions:
    """The baseline: the file to compare with, and the one to write; an empty name is the configured one."""

    baseline: str | None = None
    write_baseline: str | None = None
    grow: bool = False

    @property
    def is_written(self) -> bool:
        """Whether the run writes a baseline."""
        return self.write_baseline is not None

    @property
    def is_given(self) -> bool:
        """Whether the command line names a baseline."""
        return self.baseline is not None or self.write_baseline is not None

    def require_consistent(self) -> None:
        """Refuse ``--grow`` alone."""
        if self.grow and self.write_baseline is None:
            raise UsageError("--grow needs --write-baseline", help="give it too")


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

    def judged_in(self, result: CheckResult) -> Callable[[Entry], bool]:
        """Return whether a run with a result could have found what an entry is for."""
        target, compared = result.run.target, {table_key(table) for table in result.run.compared}
        codes = {rule.code for rule in self.rules.rules if self.files or rule.subjects != (PhysicalTypes,)}

        def is_judged(entry: Entry) -> bool:
            return (
                (self.is_complete or table_key(entry.table) in compared)
                and not result.errors
                and self.sides.issuperset(entry.against)
                # With a target, a finding of git has the target too, and another fingerprint.
                and (target is None or entry.target == target)
                and entry.code in codes
            )

        return is_judged


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
    file = Path(options.baseline) if options.baseline else configured
    target = Path(options.write_baseline) if options.write_baseline else file
    if target is None:
        if options.is_written:
            raise UsageError(
                "--write-baseline needs a file", help="name it, or set `baseline` in the configuration"
            )
        return None
    # All entries count where the file is written anew.
    baseline = _read(file or target, sides, None if options.is_written else base, may_miss=options.is_written)
    if options.is_written and target != file:
        _read(target, None, None, may_miss=True)  # a file that is no baseline is not overwritten
    return None if baseline is None else replace(baseline, void=void)


def merged_baseline(repository: Repository, head: Side, settings: Trusted) -> Baseline | None:
    """Read the configured baseline for a command that deploys; None if the configuration names none.

    Args:
        repository: The repository.
        head: The side with the contracts.
        settings: The configuration that counts; of a change under review, what its commit has counts.

    Raises:
        UsageError: There is no such file.
        ConfigError: It is no baseline.
    """
    config, reviewed = settings.config, reviewed_commit(settings)
    if config.baseline is None:
        return None
    sides = Sides(repository, reviewed or head, head, config, config)
    configured = repository.root / config.baseline
    return read_baseline_of(BaselineOptions(), configured=configured, sides=sides, base=reviewed)


def with_unused(result: CheckResult, baseline: Baseline, reach: Reach) -> CheckResult:
    """Return a result with findings about the entries of a baseline that are unused."""
    from schemalint.review.exception_findings import judge_exception  # noqa: PLC0415 (only with a baseline)

    about = [
        replace(finding, fix=None, help="--write-baseline removes it")
        for entry in unused(baseline, result.covered, reach.judged_in(result))
        for finding in judge_exception(JudgedException(entry, "unused"), reach.rules.everywhere)
    ]
    return replace(
        result,
        findings=ordered((*result.findings, *about)),
        sources={**(result.sources or {}), baseline.file: baseline.text},
    )


def baseline_after(
    result: CheckResult, baseline: Baseline | None, reach: Reach, file: Path, *, grow: bool
) -> Baseline:
    """Return what a baseline is after a run: without the entries that are unused, or with all findings."""
    entries = rewritten(baseline, result.findings, result.covered, reach.judged_in(result), grow=grow)
    return Baseline(str(file), {entry.fingerprint: entry for entry in entries}, text=text_of(entries))


def approved_by(result: CheckResult, baseline: Baseline) -> CheckResult:
    """Return a result whose findings a baseline approves, as far as it has them."""
    approval = approve(result.findings, (), (), dt.datetime.now(tz=dt.UTC).date(), baseline)
    return replace(result, findings=approval.remaining, covered=approval.covered)


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
            side = sides.head.commit[:12] if sides.head.commit else sides.head.why
            raise UsageError(f"there is no baseline {name} in {side}", help="write it, and commit it")
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
