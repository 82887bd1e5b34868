"""The input of a check: both sides' files, the rules, and where the live tables come from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from schemalint.base.values import field, frozen
from schemalint.contract.contract_files import ContractFiles
from schemalint.delta.engine import Engine, Engines
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.model.fact import AskSpark
from schemalint.project.config import Config, Target
from schemalint.project.git import Contents, FormatOf, Side
from schemalint.review.baseline import Baseline
from schemalint.review.exceptions import Exceptions
from schemalint.review.rule_sets import RuleSets

if TYPE_CHECKING:
    from schemalint.review.made_tables import MadeTables
    from schemalint.tables.storage.table_workers import Tell


class LiveTables(Protocol):
    """Where a check finds live tables: a target, or a file of ``show``."""

    @property
    def fetched(self) -> Iterable[LiveTable]:
        """The tables that were read in advance."""

    def fetch(self, contracts: Iterable[Contract]) -> None:
        """Read the tables of these contracts in advance, side by side."""

    def location(self, contract: Contract) -> str:
        """Return the location of a contract's table."""

    def read(self, contract: Contract) -> LiveTable | None:
        """Return the live table of an effective contract; None if there is none.

        Raises:
            MissingEntry: Nothing is known of the table, which is judged without its live side then.
            LiveError: The table cannot be read.
        """

    def root_without_tables(self, missing: Iterable[str]) -> str | None:
        """Return the target's root if no table is found below it.

        Args:
            missing: The locations that have no table.

        Raises:
            LiveError: The target creates no tables.
        """

    def is_occupied(self, contract: Contract) -> bool:
        """Return whether the location of a missing table is known to hold other files.

        Raises:
            LiveError: The location cannot be listed.
        """

    def with_progress(self, contract: Effective, table: LiveTable) -> Effective:
        """Return an effective contract whose streams have their progress."""


class AppliedContracts(Protocol):
    """The revisions of contracts that may have been applied to live tables, effective for the target."""

    def expect(self, tables: Iterable[LiveTable]) -> None:
        """Prepare for the commits that were applied last to these tables."""

    def at(self, commit: str, key: str) -> Effective | None:
        """Return a table's contract at a commit; None if the commit or the table is unknown."""

    def with_hash(self, declaration: str, key: str) -> Effective | None:
        """Return the newest revision of a table's contract with this hash; None if none is known."""

    def comes_after(self, commit: str) -> bool:
        """Return whether a commit is a descendant of the head."""


@frozen
class LiveSide:
    """The live tables of a check, each read once, however often a session checks.

    Attributes:
        target: The target's name; None if it is unknown.
        tables: The live tables.
        revisions: The contracts that may have been applied to them.
        may_create: Whether the target allows new tables.
        as_of: The time of reading, if another run read the tables.
        engines: The engines that write the tables, as far as the configuration names them.
    """

    target: str | None
    tables: LiveTables
    revisions: AppliedContracts
    may_create: bool = True
    as_of: dt.datetime | None = None
    engines: Engines = Engines()
    _read: dict[tuple[str, str | None], LiveTable | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def fetch(self, contracts: Iterable[Contract]) -> None:
        """Read the tables of these contracts in advance, and prepare for what was applied to them."""
        self.tables.fetch(contract for contract in contracts if _identity(contract) not in self._read)
        self.revisions.expect(self.tables.fetched)

    def read(self, contract: Contract) -> LiveTable | None:
        """Return the live table of an effective contract; see `LiveTables.read`."""
        identity = _identity(contract)
        if identity not in self._read:
            self._read[identity] = self.tables.read(contract)
        return self._read[identity]


def _identity(contract: Contract) -> tuple[str, str | None]:
    return contract.key, contract.location


@frozen
class CheckInput:
    """The input of a run.

    Attributes:
        everything: Judge every contract, not only the changed ones.
        only: Judge only the contracts of these files; None for all.
        readable: Return a table's contract at the newest ancestor of the base with a readable one.
        configurations: The configurations that decide: of base and head, or one.
        engine: An engine to judge by, beside or in place of the declared ones; None for these alone.
        keeps_engines: Whether the declared engines count beside `engine`.
        repository: The folder that relative roots start from.
        exceptions: The exceptions outside of the contracts.
        baseline: The baseline; None without one.
        made: The tables that made files declare; None if there are none.
        format_of: Returns the format of a file with contracts by its path and content; None for another file.
        ask: Asks a session of Spark about expressions; None if nobody asked for that.
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
    made: MadeTables | None = None
    format_of: FormatOf = ContractFiles().format_of
    ask: AskSpark | None = None
    tell: Tell = lambda _stage, _done, _total, _table: None

    @cached_property
    def made_with_overlays(self) -> MadeTables | None:
        """The tables that made files declare, with what contracts add to them (``extends``)."""
        if self.made is None:
            return None
        from schemalint.review.made_tables import with_overlays  # noqa: PLC0415 (only with such files)

        return with_overlays(self.made, self.contents)

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
