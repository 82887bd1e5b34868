"""A check of one repository, for the command line, for an editor, or for whoever else has a repository.

What both sides are is read once, when the check is opened. Then any texts can be judged in place of the
head's:

    session = open_check(repository, ReviewOptions(env))
    session.check()
    session.check({"contracts/orders.yml": text})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.base.errors import ConfigError, GitError, SchemalintError
from schemalint.base.values import as_dict, frozen, replace
from schemalint.contract.consumers import warning_of_writers
from schemalint.contract.contract_files import contract_files, made_files
from schemalint.delta.engine import Engine
from schemalint.judge.rule_judge import ordered
from schemalint.model.contract import NATIVE_FORMAT
from schemalint.model.exception import ExceptionSource
from schemalint.model.fact import AskSpark
from schemalint.model.finding import CheckResult, Finding
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.repository_config import Project, config_at, unmatched_globs
from schemalint.project.config.target_engines import without_writers
from schemalint.project.config.trust import ConfigOptions, RuleFiles, Trusted, find_trusted
from schemalint.project.git import Contents, Repository, Revision
from schemalint.review.baseline import Baseline
from schemalint.review.baseline_file import (
    BaselineOptions,
    Reach,
    read_baseline_of,
    require_baseline,
    with_unused,
)
from schemalint.review.check_input import CheckInput, LiveSide
from schemalint.review.exception_files import exceptions_of, files_without_owner
from schemalint.review.rule_notes import rule_notes
from schemalint.review.rule_sets import RuleOptions, RuleSets, is_locked, lock_faults, rule_sets_of
from schemalint.review.run_check import check, check_and_fix, with_texts
from schemalint.review.sides import (
    Sides,
    compared,
    local_sides,
    path_filter,
    readable_ancestors,
    review_sides,
)

if TYPE_CHECKING:
    from schemalint.contract.fixes import FixedFile
    from schemalint.review.made_tables import MadeTables
    from schemalint.tables.storage.table_workers import Tell


@frozen
class ReviewOptions:
    """What a check compares, and by what it judges.

    Attributes:
        env: The environment with the CI variables.
        config: Which configuration counts.
        head: The side under review: ``worktree``, ``index`` or a revision.
        against: The base, as ``--against`` names it; None for that of the event, or of the configuration.
        base_from: A made file that says what its tables were: ``FORMAT:FILE``.
        head_from: A made file that says what its tables are to be, in place of the configured one.
        paths: Judge only files at or below these paths, which are relative to the working directory.
        everything: Judge all contracts, not only the changed ones.
        reads_unchanged: Read the contracts that are not judged too.
        engine: An engine to judge by, in CI beside the declared ones.
        rules: Which rules run.
        allows_local_rules: Whether rules in files of the repository may run.
        is_live: Whether the contracts are compared with live tables, or with a file of them.
        asks_spark: Whether a session of Spark parses expressions.
        target: The target of the live tables; None for the only one that is configured.
        history: Whether the whole histories of live tables are judged.
        baseline: Which baseline counts.
        is_strict: Whether findings that the base has too fail the run.
    """

    env: Mapping[str, str]
    config: ConfigOptions = ConfigOptions()
    head: str = "worktree"
    against: str | None = None
    base_from: str | None = None
    head_from: str | None = None
    paths: tuple[str, ...] = ()
    everything: bool = False
    reads_unchanged: bool = False
    engine: Engine | None = None
    rules: RuleOptions = RuleOptions()
    allows_local_rules: bool = False
    is_live: bool = False
    asks_spark: bool = False
    target: str | None = None
    history: bool = False
    baseline: BaselineOptions = BaselineOptions()
    is_strict: bool = False

    @property
    def is_ci(self) -> bool:
        """Whether this is a run in CI."""
        return git.is_ci(self.env)


@frozen
class CheckSession:
    """What one check knows of both sides; `open_check` makes it.

    Attributes:
        options: What is compared, and by what.
        sides: Both sides, with the configurations that decide.
        contents: The files of both sides.
        rules: The rules.
        made: The tables that made files declare; None if there are none.
        trusted: The configuration that may connect and run rule files; None if nothing asks for it.
        live: The live tables; None without them.
        ask: Asks a session of Spark about expressions; None without one.
        tell: Called before each table with how far the check has come.
    """

    options: ReviewOptions
    sides: Sides
    contents: Contents
    rules: RuleSets
    made: MadeTables | None = None
    trusted: Trusted | None = None
    live: LiveSide | None = None
    ask: AskSpark | None = None
    tell: Tell = lambda _stage, _done, _total, _table: None

    def check(self, texts: Mapping[str, bytes] | None = None) -> CheckResult:
        """Judge the contracts; what did not change is not read again.

        Args:
            texts: Texts that count in place of those of the head's files, by their paths in the repository:
                of contracts, and of ``exceptions.yaml``.
        """
        result = check(with_texts(self.input, texts) if texts else self.input)
        errors, findings = self._about_settings
        result = replace(
            result,
            errors=(*result.errors, *errors),
            findings=ordered((*result.findings, *findings)),
            sources={**self.sides.texts, **(result.sources or {})},
            counts_existing=self.options.is_strict,
        )
        if self.baseline is None or self.options.baseline.is_written:
            return result
        return with_unused(result, self.baseline, self.reach)

    def fixes(self, *, unsafe: bool) -> dict[str, FixedFile]:
        """Return what files would be after the fixes of all findings, by their paths in the repository."""
        return check_and_fix(self.input, unsafe=unsafe)[1]

    def with_tables(self, live: LiveSide | None, tell: Tell) -> CheckSession:
        """Return the session with live tables, and with who is told of the progress."""
        return replace(self, live=live, tell=tell)

    def lacks_files(self, result: CheckResult) -> bool:
        """Whether nothing was compared, and made files were missing or could not be used."""
        return self.made is not None and bool(self.made.skipped) and not result.run.compared

    def has_contracts(self) -> bool:
        """Whether there is anything to judge."""
        return self.made is not None or self.contents.has_candidates()

    def reaches_contracts(self) -> bool:
        """Whether there is anything to judge in the paths that the user gives; True without paths."""
        only = self.input.only
        return self.made is not None or only is None or any(map(only, self.contents.paths()))

    @property
    def project(self) -> Project:
        """The repository with the configuration of the head."""
        return Project(self.sides.repository, self.sides.at_head)

    @property
    def connecting(self) -> Trusted | None:
        """The configuration that may connect; None if it is not asked for, or the change brings it."""
        return None if self.sides.is_first else self.trusted

    @cached_property
    def input(self) -> CheckInput:
        """The input of the judge."""
        options, sides = self.options, self.sides
        root, deciding = sides.repository.root, sides.deciding
        keeps = options.engine is None or options.is_ci
        return CheckInput(
            base=sides.base,
            head=sides.head,
            contents=self.contents,
            rules=self.rules,
            everything=options.everything,
            exceptions=exceptions_of(sides, *sides.accepted(git.foreign_head(options.env))),
            only=path_filter(root, options.paths, self.contents.paths()),
            live=self.live,
            readable=readable_ancestors(sides.repository, sides.base_files, sides.base),
            configurations=deciding if keeps else tuple(map(without_writers, deciding)),
            engine=options.engine,
            keeps_engines=keeps,
            repository=root,
            baseline=self.baseline,
            made=self.made,
            format_of=sides.format_of,
            ask=self.ask,
            tell=self.tell,
        )

    @cached_property
    def baseline(self) -> Baseline | None:
        """The baseline; in CI that of the base's configuration."""
        sides, options = self.sides, self.options.baseline
        accepted, foreign = sides.accepted(git.foreign_head(self.options.env))
        name, of_head = sides.deciding[0].baseline, sides.at_head.baseline
        if of_head not in (None, name) and not options.is_given:
            require_baseline(sides.repository.root / of_head, sides)  # it counts once it is merged

        def void(finding: Finding) -> bool:
            is_refused = foreign is not None or ExceptionSource.FILE.value not in accepted
            return is_refused or is_locked(finding, sides.deciding)

        return read_baseline_of(
            options,
            configured=self.configured_baseline,
            sides=sides,
            base=sides.base if self.options.is_ci and not sides.is_merged else None,
            void=void,
        )

    @property
    def configured_baseline(self) -> Path | None:
        """The file that the configuration names."""
        name = self.sides.deciding[0].baseline
        return None if name is None else self.sides.repository.root / name

    @property
    def reach(self) -> Reach:
        """What the check can find."""
        options = self.options
        sides = {"git", "contract"}
        if options.is_live:
            sides |= {"live", "history"} if options.history else {"live"}
        is_complete = options.everything and not options.paths
        return Reach(self.rules, frozenset(sides), is_complete=is_complete)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the engines and the rules before the check."""
        of_engines: set[str] = set()
        for judged in self.input.engines:
            for engines in judged.values():
                of_engines |= {f"note: {engine.newer_note}" for engine in engines.all if engine.newer_note}
        of_rules = rule_notes(
            self.sides.deciding,
            self.rules.everywhere,
            self.options.rules,
            has_base=not isinstance(self.sides.base, git.EmptyTree),
        )
        return (*sorted(of_engines), *of_rules)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What files of other formats say and nobody compares, one line for each format."""
        by_format: dict[str, Counter[str]] = {}
        for file in self.contents.head.values():
            if file.format != NATIVE_FORMAT:
                counted = by_format.setdefault(file.format.name, Counter())
                counted.update(contracts.read_file(file).left_out)
        return tuple(
            f"note: not compared in files of {name}: "
            + ", ".join(f"{number} × {kind}" for kind, number in sorted(counted.items()))  # noqa: RUF001 (times)
            for name, counted in sorted(by_format.items())
            if counted
        )

    def warnings(self, result: CheckResult) -> tuple[str, ...]:
        """Return what to mend: engines that nobody declares, files that approve findings without owners."""
        texts = [self._warning_of_writers(result)]
        if self.options.is_ci:
            texts.append(files_without_owner(self.sides))
        return tuple(f"warning: {text}" for text in texts if text is not None)

    def _warning_of_writers(self, result: CheckResult) -> str | None:
        """Return a warning of an engine that wrote live tables lately, and that nobody declares."""
        if self.live is None or self.live.target is None:
            return None
        writers = [table.live.writers for table in result.tables if table.live is not None]
        return warning_of_writers(self.live.target, self.live.engines, self.input.configurations, writers)

    @cached_property
    def _about_settings(self) -> tuple[tuple[SchemalintError, ...], tuple[Finding, ...]]:
        """The errors and the findings about the configuration, whatever the contracts are."""
        sides = self.sides
        errors = (
            *unmatched_globs(self.project, contract_files(sides.at_head).named, sides.head, sides.base),
            *lock_faults(sides.deciding[-1], self.rules.everywhere[-1].rules),
        )
        local = _rule_files(self.trusted, self.options, sides.repository)
        return errors, sides.findings(local, self.options.rules.ignore)


def open_check(repository: Repository, options: ReviewOptions) -> CheckSession:
    """Read both sides of a check.

    Raises:
        SchemalintError: A side or a configuration cannot be read, or the options name what is not there.
    """
    config = options.config
    file = None if config.isolated else config.file
    base, head, at_head = compared(repository, options.head, options.against, config, options.env)
    trusted = None
    if options.is_live or options.allows_local_rules or options.asks_spark:
        trusted = find_trusted(repository, options.env, config)
    sides = Sides(repository, base, head, at_head, at_head, given=file, target=_target_of(options, trusted))
    sides = _with_settings(sides, trusted, options)
    made = _made(sides, options)
    # Any contract may add to a table of a made file.
    reads_unchanged = options.everything or options.reads_unchanged or made is not None
    contents = sides.contents(reads_unchanged=reads_unchanged)
    sides = sides.with_nested(contents)
    local = _rule_files(trusted, options, repository)
    rules = rule_sets_of(sides.deciding, local=local, **as_dict(options.rules))
    return CheckSession(options, sides, contents, rules, made, trusted)


def _target_of(options: ReviewOptions, trusted: Trusted | None) -> str | None:
    """Return the name of the target of the live tables; None without them, or without a choice."""
    if not options.is_live or trusted is None:
        return None
    only = next(iter(trusted.targets), None) if len(trusted.targets) == 1 else None
    return options.target or only


def _with_settings(sides: Sides, trusted: Trusted | None, options: ReviewOptions) -> Sides:
    """Return the sides; in CI the settings that count decide too, or those of the base the user names."""
    if not options.is_ci:
        return local_sides(sides)
    try:
        trusted = trusted or find_trusted(sides.repository, options.env, options.config)
    except ConfigError:
        # The change may repair it, and no connection is asked for.
        return review_sides(sides, Config(), None)
    except GitError:
        if not options.against and not options.env.get("SCHEMALINT_AGAINST"):
            raise
        if not isinstance(sides.base, Revision):
            return local_sides(sides)
        return review_sides(sides, config_at(sides.repository, sides.base), sides.base)
    return review_sides(sides, trusted.config, trusted.commit)


def _made(sides: Sides, options: ReviewOptions) -> MadeTables | None:
    """Return the tables in made files; None if there are none."""
    files = (options.base_from, options.head_from)
    if files == (None, None) and not any(made_files(config) for config in sides.deciding):
        return None
    from schemalint.review.made_tables import made_tables  # noqa: PLC0415 (only with such files)

    return made_tables(
        sides.repository,
        sides.base,
        sides.head,
        sides.deciding,
        files,
        is_ci=options.is_ci,
        is_live=options.is_live,
    )


def _rule_files(trusted: Trusted | None, options: ReviewOptions, repository: Repository) -> RuleFiles | None:
    if trusted and options.allows_local_rules:
        return trusted.rule_files(repository)
    return None
