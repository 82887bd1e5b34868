"""The input of a check: both sides' files, the rules, and where the live tables come from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.base.values import field, frozen
from schemalint.contract.contract_files import ContractFiles
from schemalint.delta.engine import Engine, Engines
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.project.config import Config, Target
from schemalint.project.git import Contents, FormatOf, Side
from schemalint.review.baseline import Baseline
from schemalint.review.exceptions import Exceptions
from schemalint.review.rule_sets import RuleSets

if TYPE_CHECKING:
    from schemalint.review.declared_tables import DeclaredTables
    from schemalint.tables.storage.table_workers import Tell


@frozen
class LiveSide:
    """A source of live tables.

    Attributes:
        target: The target's name.
        read: Return the live table of an effective contract, or None if there is none. It raises a LiveError;
            after a `MissingEntry` the table is judged without the live side.
        location: Return the location of a contract's table.
        at_revision: Return a table's contract at a commit; None if the commit or the table is unknown.
        with_hash: Return the newest revision of a table's contract with this hash, effective for the target.
        may_create: Whether the target allows new tables.
        root_without_tables: Return the target's root if no table is found below it; it gets the locations
            that have no table, and raises a LiveError if the target creates none.
        comes_after: Return whether a commit is a descendant of the head.
        fetch: Prefetch the tables of these contracts concurrently.
        as_of: The time of reading, if another run read the tables.
        engines: The engines that write the tables, as far as the configuration names them.
        with_progress: Return an effective contract whose streams have their progress.
    """

    target: str | None
    read: Callable[[Contract], LiveTable | None]
    location: Callable[[Contract], str]
    at_revision: Callable[[str, str], Contract | None]
    with_hash: Callable[[str, str], Effective | None] = lambda _hash, _key: None
    may_create: bool = True
    root_without_tables: Callable[[Iterable[str]], str | None] = lambda _missing: None
    comes_after: Callable[[str], bool] = lambda _revision: False
    fetch: Callable[[Iterable[Contract]], None] = lambda _contracts: None
    as_of: dt.datetime | None = None
    engines: Engines = Engines()
    with_progress: Callable[[Effective, LiveTable], Effective] = lambda contract, _table: contract


@frozen
class CheckInput:
    """The input of a run.

    Attributes:
        everything: Judge every contract, not only the changed ones.
        only: Judge only the contracts of these files; None for all.
        readable: Return a table's contract at the newest ancestor of the base with a readable one.
        configurations: Those that decide: of base and head, or one.
        engine: An engine to judge by, beside or in place of the declared ones; None for these alone.
        keeps_engines: Whether the declared engines count beside `engine`.
        repository: The folder that relative roots start from.
        exceptions: The exceptions outside of the contracts.
        baseline: The baseline; None without one.
        declared: The tables that files of other tools declare; None if there are none.
        format_of: Returns the format of a file with contracts by its path and content; None for another file.
        tell: Called before each table with the stage of the run, how many are done, how many there are, and
            the table.
    """

    base: Side
    head: Side
    contents: Contents
    rules: RuleSets
    everything: bool = False
    only: Callable[[str], bool] | None = None
    live: LiveSide | None = None
    readable: Callable[[str], tuple[str, Contract] | None] = lambda _key: None
    configurations: tuple[Config, ...] = (Config(),)
    engine: Engine | None = None
    keeps_engines: bool = True
    repository: Path = Path()
    exceptions: Exceptions = field(default_factory=Exceptions)
    baseline: Baseline | None = None
    declared: DeclaredTables | None = None
    format_of: FormatOf = ContractFiles().format_of
    tell: Tell = lambda _stage, _done, _total, _table: None

    @property
    def targets(self) -> tuple[Mapping[str, Target], ...]:
        """The targets of each configuration, once if they are equal; they say where tables are."""
        first, *others = (config.targets for config in self.configurations)
        return (first, *(other for other in others if other != first))

    @cached_property
    def engines(self) -> Sequence[Mapping[str | None, Engines]]:
        """The engines to judge by, each time of all targets: those of None count without targets."""
        declared: list[Mapping[str | None, Engines]] = [
            {name: target.engines for name, target in targets.items()} for targets in self.targets
        ]
        if self.engine is None:
            return [engines for index, engines in enumerate(declared) if engines not in declared[:index]]
        names = dict.fromkeys(name for targets in self.targets for name in targets)
        added = dict.fromkeys([*names, None], Engines(self.engine, (self.engine,)))
        return [*declared, added] if self.keeps_engines else [added]

    @property
    def judged_as(self) -> tuple[str, ...]:
        """The engines whose verdict the run gives."""
        if self.live is not None:
            judged = self.live_engines(self.live)
        else:
            judged = [engines for of_targets in self.engines for engines in of_targets.values()]
        return tuple(dict.fromkeys(name for engines in judged or [Engines()] for name in engines.judged_as))

    def live_engines(self, live: LiveSide) -> Sequence[Engines]:
        """Return the engines to judge a live table by, each time with a verdict of their own."""
        if self.engine is None:
            return [live.engines]
        added = Engines(self.engine, (self.engine,))
        return [live.engines, added] if self.keeps_engines else [added]

    def counted(self, stage: str, names: Sequence[str]) -> Iterator[str]:
        """Yield the names, and tell of each that it is at work."""
        for done, name in enumerate(names):
            self.tell(stage, done, len(names), name)
            yield name
        self.tell(stage, len(names), len(names), "")
