"""The two sides of a check: what they contain, and which settings count.

In CI the configurations of both sides decide, so that a change under review cannot weaken its own gate.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property, reduce
from operator import or_
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from schemalint.base import limits
from schemalint.base.errors import ConfigError, Location, UsageError
from schemalint.base.printable import visible
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen, replace
from schemalint.contract.contract_files import ContractFiles, contract_files
from schemalint.delta.column_names import nearest_name
from schemalint.delta.table import TableState
from schemalint.judge.case import Case
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import judge
from schemalint.model.contract import Contract, FileFormat
from schemalint.model.effective import EVERYWHERE, effective
from schemalint.model.exception import SOURCES
from schemalint.model.fact import ConfigurationChanged
from schemalint.model.finding import Finding, Severity
from schemalint.project import git
from schemalint.project.config import Config, read_file
from schemalint.project.config.nested_settings import NAME as NESTED
from schemalint.project.config.nested_settings import with_nested
from schemalint.project.config.repository_config import config_at, found_config, given_config
from schemalint.project.config.toml_text import Positions
from schemalint.project.config.trust import ConfigOptions, RuleFiles, Trusted
from schemalint.project.git import Contents, EmptyTree, Repository, Revision, Side, Worktree
from schemalint.review.loosened_settings import deciding_between, loosenings_of
from schemalint.review.lost_options import Loosening
from schemalint.review.moved_contracts import moves_to_looser_settings
from schemalint.review.rule_sets import rules_about_configuration

if TYPE_CHECKING:
    from schemalint.contract.contract_history import ContractHistory


@frozen
class Sides:
    """The sides of a check, with their configurations.

    Attributes:
        base: The old side.
        head: The side under review.
        at_head: The configuration of the head.
        at_base: The configuration of the base, or in CI the trusted one, of a merged commit.
        commit: The commit of `at_base`, None if it is in no commit.
        given: The file that ``--config`` names; it is the same for every side.
        is_local: Whether this is no run in CI, so that the configuration of the head decides.
        is_alone: Whether the configuration of the head decides alone in CI too.
        edited: The rule files that the head changes.
        moves: What contracts in other folders loosen.
        target: The target whose variables count in files of other formats; None for none.
    """

    repository: Repository
    base: Side
    head: Side
    at_head: Config
    at_base: Config
    commit: Revision | None = None
    given: str | None = None
    is_local: bool = False
    is_alone: bool = False
    edited: tuple[Loosening, ...] = ()
    moves: tuple[ConfigurationChanged, ...] = ()
    target: str | None = None

    @cached_property
    def deciding(self) -> tuple[Config, ...]:
        """The configurations that decide: a check reports what any of them reports."""
        is_of_head = self.is_local or self.is_alone
        if is_of_head:
            return (self.at_head,)
        return deciding_between(self.at_base, self.at_head)

    @property
    def is_first(self) -> bool:
        """Whether the base has no configuration, so that no target is trusted yet."""
        return not self.is_local and _is_first(self.at_base, self.at_head)

    @property
    def is_merged(self) -> bool:
        """Whether a CI run checks what a trusted branch contains already."""
        return self.commit is not None and self.commit.is_head

    @property
    def fail_on(self) -> Severity | None:
        """The lowest severity that fails the run, None if none does."""
        return min((config.fail_on for config in self.deciding if config.fail_on is not None), default=None)

    @property
    def head_files(self) -> tuple[ContractFiles, ...]:
        """The files with contracts at the head, of each configuration that decides."""
        return tuple(dict.fromkeys(contract_files(config, self.target) for config in self.deciding))

    @property
    def base_files(self) -> ContractFiles:
        """The files with contracts at the base; other files do not say what tables were."""
        if not self.is_local:
            return self.head_files[0]
        chosen = contract_files(self.at_base, self.target)
        if self.at_head.contracts:
            return chosen
        return replace(chosen, globs=git.within(chosen.folder, ()))

    def accepted(self, foreign: str | None) -> tuple[tuple[str, ...], str | None]:
        """Return which kinds of exceptions count at once, and why none of the change does.

        Args:
            foreign: Why the change may be a stranger's; what is merged is nobody's change.
        """
        if self.is_merged:
            return (SOURCES, None)
        return (self.deciding[0].accepted, foreign)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file of the head, None if it does not exist."""
        if isinstance(self.head, Worktree):
            return read_file(self.repository.root / name)
        return git.file_at(self.repository, self.head, name)

    def contents(self, *, reads_unchanged: bool) -> Contents:
        """Read the contracts: a file of the head counts if one configuration that decides includes it."""
        repository, of_base, of_head = self.repository, self.base_files, self.head_files
        if {of_base} == {*of_head}:
            return git.changes(
                repository,
                self.base,
                self.head,
                of_base.format_of,
                of_base.listed,
                NESTED,
                reads_unchanged=reads_unchanged,
            )
        nothing = EmptyTree("the globs of the other side")
        parts = [
            git.changes(
                repository,
                self.base if files == of_base else nothing,
                self.head if files in of_head else nothing,
                files.format_of,
                files.listed,
                NESTED,
            )
            for files in dict.fromkeys((*reversed(of_head), of_base))
        ]
        return Contents(
            {path: file for part in parts for path, file in part.base.items()},
            {path: file for part in parts for path, file in part.head.items()},
            {path: reason for part in parts for path, reason in part.unread.items()},
            reduce(or_, (part.beside_base for part in parts)),
            reduce(or_, (part.beside_head for part in parts)),
            {path: data for part in parts for path, data in part.former.items()},
        )

    def format_of(self, path: str, data: bytes) -> FileFormat | None:
        """Return the format of a file of the head with contracts; None for another file."""
        formats = (files.chosen_format(path, data) for files in self.head_files)
        return next((each for each in formats if each is not None), None)

    def with_nested(self, contents: Contents) -> Sides:
        """Return the sides with the nested files of their configurations.

        Raises:
            ConfigError: A nested file of the head is invalid.
        """
        of_base = contents.beside_base
        if self.commit is not None and self.commit.commit != self.base.commit:
            of_base = git.beside_files(self.repository, self.commit, self.base_files.listed, NESTED)
        if not of_base and not contents.beside_head:
            return self
        at_head = with_nested(self.at_head, contents.beside_head)
        at_base = with_nested(self.at_base, of_base, lenient=True)
        moves = tuple(moves_to_looser_settings(at_head, contents))
        return replace(self, at_head=at_head, at_base=at_base, moves=moves)

    @cached_property
    def _loosenings(self) -> tuple[Loosening, ...]:
        """What the head's configuration may no longer find."""
        is_compared = not self.is_alone and (
            not self.is_local or self.at_base.file is not None or self.at_base.nested
        )
        return (*(loosenings_of(self.at_base, self.at_head) if is_compared else ()), *self.edited)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts of the head's configuration, by the file's name, if something in it has a finding."""
        if not self._loosenings and not self.is_first:
            return {}
        nested = (loosening.nested for loosening in self._loosenings)
        texts = {self._name: self._text()} | {each.file: each.text for each in nested if each}
        return {file: text for file, text in texts.items() if text}

    def findings(self, local: RuleFiles | None, ignore: tuple[str, ...]) -> tuple[Finding, ...]:
        """Judge what the head changes in the configuration: see `rules_about_configuration`."""
        changes = (*self._changes(), *self.moves)
        if not changes:
            return ()
        rules = rules_about_configuration(self.deciding[0], local, ignore)
        contract = effective(Contract("", TableState()), EVERYWHERE)
        return judge(Case((RuleSet(rules),), declared=contract, facts=changes)).findings

    def _changes(self) -> Iterator[ConfigurationChanged]:
        """Yield the changes of the configuration with their lines."""
        if self.is_first:
            yield ConfigurationChanged(Location(self._name), len(self.deciding) == 1)
        lines = {file: Positions(file, text) for file, text in self.texts.items()}
        for each in self._loosenings:
            file = each.nested.file if each.nested else self._name
            location = lines.get(file, Positions(file, "")).locate(each.path, each.entry)
            yield ConfigurationChanged(location, self.is_local, each.key, each.old, each.new)

    @property
    def _name(self) -> str:
        """The path of the configuration of the head in the repository, or of another one that decides."""
        if self.given is None:
            files = (self.at_head.file, *(config.file for config in self.deciding))
            return next(filter(None, files), "")
        path = Path(os.path.abspath(self.given))  # noqa: PTH100 (as git, which does not follow links)
        is_inside = path.is_relative_to(self.repository.root)
        if is_inside:
            return path.relative_to(self.repository.root).as_posix()
        return self.given

    def _text(self) -> str:
        if self.at_head.file is None:
            return ""
        if self.given is None:
            data = self.read(self.at_head.file)
        else:
            data = read_given(Path(self.given), limits.MAX_CONFIG)
        return (data or b"").decode("utf-8", "replace")


def compared(
    repository: Repository, head: str, against: str | None, config: ConfigOptions, env: Mapping[str, str]
) -> tuple[Side, Side, Config]:
    """Return base and head of a check, and the configuration of the head.

    Args:
        repository: The repository.
        head: The head as the user names it.
        against: The base as the user names it; None for that of the event, or of the configuration.
        config: Where the configuration is.
        env: The environment with the CI variables.

    Raises:
        SchemalintError: A side or the configuration cannot be read.
    """
    new = git.find_head(repository, head, env)
    at_head = head_config(repository, new, None if config.isolated else config.file, isolated=config.isolated)
    # In CI the event determines the base: a change under review must not choose its own.
    against = against or (None if git.is_ci(env) else at_head.against)
    return git.find_base(repository, new, against, env, fetch=config.fetch), new, at_head


def head_config(repository: Repository, head: Side, file: str | None, *, isolated: bool) -> Config:
    """Return the configuration of the head: for the index and a revision not what is in the working tree."""
    if isolated:
        return Config(folder=None)
    if file is not None:
        return given_config(file)
    if isinstance(head, Worktree):
        return found_config(repository)
    return config_at(repository, head)


def local_sides(sides: Sides) -> Sides:
    """Return the sides of a run outside of CI: the head decides, and findings tell what CI will obey."""
    at_head, at_base = sides.at_head, sides.at_head
    if (
        sides.given is None
        and (at_head.file is not None or at_head.folder)
        and isinstance(sides.base, Revision)
    ):
        with suppress(ConfigError):  # the edit may repair it
            at_base = config_at(sides.repository, sides.base)
    return replace(sides, at_base=at_base, is_local=True)


def review_sides(sides: Sides, trusted: Config, commit: Revision | None) -> Sides:
    """Return the sides of a run in CI.

    The configuration that counts decides, and the head's too. If there is none that can be read, the default
    settings decide for the contracts of the base; without such contracts the head decides alone.

    Args:
        sides: The sides with the configuration of the head.
        trusted: The configuration that counts.
        commit: The commit that has it, None if it is in no commit.
    """
    return replace(
        sides,
        at_base=trusted,
        commit=commit,
        is_alone=_is_first(trusted, sides.at_head) and not _has_contracts(sides.repository, sides.base),
        edited=() if commit is None else tuple(_edited_rule_files(sides, trusted, commit)),
    )


def _is_first(trusted: Config, head: Config) -> bool:
    return trusted.file is None and head.file is not None


def _has_contracts(repository: Repository, side: Side) -> bool:
    """Return whether a side has contracts that the default globs include."""
    return bool(git.changes(repository, EmptyTree("one side is read"), side, ContractFiles().format_of).head)


def _edited_rule_files(sides: Sides, trusted: Config, commit: Revision) -> Iterator[Loosening]:
    for name in trusted.plugins:
        if name not in sides.at_head.plugins:
            continue
        texts = (sides.read(name), git.file_at(sides.repository, commit, name))
        # git may have converted the line ends of the working tree.
        old, new = (None if text is None else text.replace(b"\r\n", b"\n") for text in texts)
        if old != new:
            yield Loosening(f"plugins.{name}", None, None, ("plugins",), name)


def readable_ancestors(
    repository: Repository, files: ContractFiles, base: Side
) -> Callable[[str], tuple[str, Contract] | None]:
    """Return a search for a table's contract at the newest ancestor of the base where it can be read."""

    @cache
    def history() -> ContractHistory:
        from schemalint.contract.contract_history import ContractHistory  # noqa: PLC0415 (only if the base is unreadable)

        return ContractHistory(repository, files, base)

    return lambda key: next(history().newest_first(key), None) if base.commit else None


def path_filter(root: Path, paths: tuple[str, ...], files: Iterable[str]) -> Callable[[str], bool] | None:
    """Return a test whether a file of the repository is at or below one of the paths, None without paths.

    Args:
        root: The root of the repository.
        paths: As the user gives them, relative to the working directory.
        files: The files of both sides, relative to the root.

    Raises:
        UsageError: A path is outside of the repository, or nowhere.
    """
    if not paths:
        return None
    relative_paths = []
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 (resolves no link, as git's paths do not)
        try:
            relative_paths.append(PurePosixPath(absolute.relative_to(root).as_posix()))
        except ValueError:
            raise UsageError(f"{path} is outside of the repository {root}") from None
    for path, relative in zip(paths, relative_paths, strict=True):
        exists = any(PurePosixPath(file).is_relative_to(relative) for file in files)
        if not exists and not Path(path).exists():
            close = nearest_name(str(relative), files)
            raise UsageError(
                f"{path} exists neither in the working tree nor in the base",
                help=f"did you mean {visible(close)}?" if close else "",
            )
    return lambda file: any(PurePosixPath(file).is_relative_to(relative) for relative in relative_paths)


def reviewed_commit(settings: Trusted) -> Revision | None:
    """Return the merged commit whose configuration counts in place of the head's; None if the head's does."""
    commit = settings.commit
    return None if commit is None or commit.is_head else commit
