"""The source of a check: the contracts of both sides by table, and their cases, also with live tables."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from functools import cached_property

from schemalint import contract as contracts
from schemalint.base.errors import LiveError, MissingEntry, SchemalintError
from schemalint.base.printable import visible
from schemalint.contract.consumers import environment
from schemalint.contract.effective_pairs import effective_pairs, present
from schemalint.contract.overlay import is_overlay, nothing_to_extend, with_overlays
from schemalint.contract.overlays_beside import overlays_beside
from schemalint.delta.table import LiveTable
from schemalint.judge.case import Case, Purpose
from schemalint.judge.rule_set import RuleSet
from schemalint.model.client import SupportUnknown
from schemalint.model.contract import NATIVE, Contract, table_key
from schemalint.model.effective import EVERYWHERE, Effective, Environment, effective
from schemalint.model.fact import (
    DuplicateTable,
    ExpressionRefused,
    LiveTableMissing,
    RootWithoutTables,
    TableRetired,
)
from schemalint.model.finding import SkippedTable
from schemalint.project.config import Config
from schemalint.project.git import File
from schemalint.review.check_input import CheckInput, LiveSide
from schemalint.review.duplicates import duplicates
from schemalint.review.rule_sets import configurations_of


class CheckCases:
    """The cases of a check.

    Attributes:
        sides: The contracts of both sides.
        skipped: The tables that are not compared with the base or with their live tables.
        not_compared: The keys of the skipped tables that are compared with nothing.
        locations: Where live tables were found, by target and table key.
        live_tables: The live tables by key.
    """

    def __init__(self, request: CheckInput, sides: PairedContracts) -> None:
        self._request = request
        self.sides = sides
        self.skipped: list[SkippedTable] = []
        self.not_compared: set[str] = set()
        self.locations: dict[tuple[str | None, str], str] = {}
        self.live_tables: dict[str, LiveTable] = {}
        self._missing_entries: list[MissingEntry] = []
        self._missing_tables: list[Effective] = []

    def of(self, key: str) -> Iterator[Case]:
        """Yield the cases of a table: its removal; else one for each target, or of the live tables."""
        before, after = self.sides.before.get(key), self.sides.after.get(key)
        if after is None and before is not None:
            yield self._retired(before)
        elif after is not None and (live := self._request.live) is not None:
            yield from self._with_live(before, after, live)
        else:
            yield from self._offline(before, after)

    def contracts_to_read(self, live: LiveSide) -> Iterator[Effective]:
        """Yield the effective contracts whose live tables are read."""
        declared = (self.sides.after[key] for key in self.sides.tables() if key in self.sides.after)
        where = Environment(live.target)
        here = (effective(contract, where) for contract in declared)
        yield from (contract for contract in here if not contract.absent)

    def about_root(self) -> Iterator[Case]:
        """Yield a case if no table was found: a misspelt root looks like one for new tables."""
        live = self._request.live
        if live is None or self.live_tables or not self._missing_tables:
            return
        root = live.tables.root_without_tables(map(live.tables.location, self._missing_tables))
        if root is not None:
            first = self._missing_tables[0]
            yield Case(
                self._rules(first), declared=first, target=live.target, facts=(RootWithoutTables(root),)
            )

    def about_clients(self, unknown: Iterable[SupportUnknown]) -> Iterator[Case]:
        """Yield a case for each client of which it is unknown what it does, of all its tables."""
        for fact in unknown:
            contract = self.sides.after[table_key(fact.tables[0])]
            yield Case(self._rules(contract), declared=contract, facts=(fact,))

    def about_expressions(self, refused: Mapping[str, Iterable[ExpressionRefused]]) -> Iterator[Case]:
        """Yield a case for each table with expressions that Spark refuses."""
        for key, facts in refused.items():
            contract = self.sides.after[key]
            yield Case(self._rules(contract), self.sides.before.get(key), contract, facts=tuple(facts))

    def about_duplicates(self, changed: set[str]) -> Iterator[tuple[Case, bool]]:
        """Yield a case for each table or location that is declared twice, and whether the base has it too."""
        request = self._request
        for targets in request.targets:
            for fact, existing in duplicates(
                request.contents, changed, targets, request.repository, self.locations
            ):
                yield self._duplicate(fact), existing
        made = request.made_with_overlays
        for fact in made.duplicates if made else ():
            yield self._duplicate(fact), False

    def _duplicate(self, fact: DuplicateTable) -> Case:
        contract = effective(fact.contract, EVERYWHERE)
        return Case(self._rules(contract), declared=contract, facts=(fact,))

    def without_live_tables(self) -> Iterator[LiveError]:
        """Yield an error if the file has no entry for any table: only new contracts may lack one."""
        live = self._request.live
        if live is None or not self._request.everything or not self._missing_entries:
            return
        if len(self._missing_entries) == len(list(self.contracts_to_read(live))):
            yield LiveError(
                f"no table was compared with its live state: {self._missing_entries[0].message}",
                help="write the file again, from the tables of this target",
            )

    @property
    def live_keys(self) -> set[str]:
        """The keys of the tables that were compared with their live state."""
        return {contract.key for contract in self._missing_tables} | self.live_tables.keys()

    def rules_at(self, key: str, file: str) -> tuple[RuleSet, ...]:
        """Return the rules of a table's contract."""
        sides = (self.sides.before.get(key), self.sides.after.get(key))
        files = [contract.file for contract in sides if contract] or [file]
        return self._request.rules.of(*files)

    def _rules(self, contract: Contract) -> tuple[RuleSet, ...]:
        return self.rules_at(contract.key, contract.file)

    def _offline(self, before: Effective | None, after: Effective | None) -> Iterator[Case]:
        contract = after or before
        rules = self._rules(contract) if contract else ()
        for engines in self._request.engines:
            for target, old, new in effective_pairs(before, after, engines):
                yield Case(rules, old, new, target=target)

    def _retired(self, before: Effective) -> Case:
        renamed = next((new for new, old in self._renamed.items() if old.key == before.key), None)
        after = self.sides.after[renamed] if renamed else None
        made = self._request.made_with_overlays
        fact = TableRetired(
            before,
            renamed_to=after.table if after else None,
            moves=after is not None and set(self._places(before)).isdisjoint(self._places(after)),
            file_now=self._file_now(before.file) if before.dialect == NATIVE else "",
            why=made.why_gone.get(before.key, "") if made else "",
        )
        return Case(self._rules(before), before, before, facts=(fact,))

    def _file_now(self, file: str) -> str:
        """Return what is wrong with a file that had a contract; empty if it is gone, or has another one."""
        former = {visible(path): data for path, data in self._request.contents.former.items()}
        if file not in former:
            return ""
        try:
            return contracts.why_not_a_contract(former[file].decode())
        except UnicodeDecodeError:
            return "is not UTF-8"

    def _with_live(self, before: Effective | None, after: Effective, live: LiveSide) -> Iterator[Case]:
        contract = effective(after, Environment(live.target))
        base = present(before, Environment(live.target))
        if contract.absent:
            self._skip(contract, f"absent from target {live.target}")
            # A change must not take its own table out of the check.
            if before is None or base is not None:
                yield from self._offline(before, after)
            return
        try:
            table = live.read(contract)
        except MissingEntry as missing:
            self._skip(contract, missing.message)
            self._missing_entries.append(missing)
            if contract.is_contracted:
                yield from self._offline(before, after)
            return
        if table is None:
            self._missing_tables.append(contract)
            if not contract.is_contracted:
                self._skip(contract, "it has neither a contract nor a live table")
                return
            yield from self._offline(before, after)
            yield from self._creation(base, contract, live)
            yield self._without_table(base, contract, live)
            return
        from schemalint.review.live_case import live_case  # noqa: PLC0415 (only with live tables)

        self.live_tables[contract.key] = table
        self.locations[live.target, contract.key] = table.uri
        contract = live.tables.with_progress(contract, table)
        base = live.tables.with_progress(base, table) if base else None
        rules, everything = self._rules(contract), self._request.everything
        for old, new in self._by_engines(base, contract, live):
            yield live_case(rules, old, new, table, live, all_contracts=everything)

    def _by_engines(
        self, base: Effective | None, contract: Effective, live: LiveSide
    ) -> Iterator[tuple[Effective | None, Effective]]:
        """Yield both contracts for the engines of each verdict."""
        targets = (live.target,) if live.target else ()
        for engines in self._request.live_engines(live):
            where = Environment(engines=engines, engine_targets=targets)
            yield effective(base, where) if base else None, effective(contract, where)

    def _creation(self, base: Effective | None, contract: Effective, live: LiveSide) -> Iterator[Case]:
        """Yield the cases of a new table, as `plan` has them, whatever git changes."""
        if base is None:
            return
        for old, new in self._by_engines(base, contract, live):
            yield Case(self._rules(contract), old, new, target=live.target, purpose=Purpose.CREATION)

    def _without_table(self, base: Effective | None, contract: Effective, live: LiveSide) -> Case:
        expected = None if live.may_create else f"target {live.target} does not create tables"
        location = live.tables.location(contract)
        if base is not None and (old_location := live.tables.location(base)) != location:
            expected = f"its location at the base is {old_location}"
        if expected is None and live.tables.is_occupied(contract):
            expected = "other files are there, and Delta creates no table among them"
        fact = LiveTableMissing(location, expected)
        return Case(self._rules(contract), base, contract, target=live.target, facts=(fact,))

    def _skip(self, contract: Contract, reason: str) -> None:
        self.skipped.append(SkippedTable(contract.table, reason))
        self.not_compared.add(contract.key)

    @cached_property
    def _renamed(self) -> Mapping[str, Contract]:
        from schemalint.contract.renamed_tables import renamed_tables  # noqa: PLC0415 (only after a removal)

        before = {key: self.sides.before[key] for key in self.sides.before if key not in self.sides.hidden()}
        return renamed_tables(before, self.sides.after, self._places)

    def _places(self, contract: Contract) -> Iterator[Hashable]:
        from schemalint.tables.catalog.table_location import LocationKeys  # noqa: PLC0415 (only where locations may clash)

        yield from LocationKeys(self._request.targets[0], self._request.repository, self.locations).of(
            contract
        )


class PairedContracts:
    """The contracts of the selected files, by table key, as the settings make them effective.

    Attributes:
        before: The contracts of the base.
        after: Those of the head.
        unreadable: The tables whose contract is in an unreadable file of the head.
        errors: The errors of the head's files.
        skipped: Tables that are not compared with the base itself.
    """

    def __init__(self, request: CheckInput, paths: Iterable[str]) -> None:
        """Read the contracts in these files."""
        self._request = request
        self._broken_before = False
        self._read_before: dict[str, Contract] = {}
        self._read_after: dict[str, Contract] = {}
        self._overlays: tuple[list[Contract], list[Contract]] = ([], [])
        self.unreadable: set[str] = set()
        self.errors: list[SchemalintError] = []
        self.skipped: list[SkippedTable] = []
        # A contract that stays says what its table was, not a copy that the change deletes.
        ordered = sorted(paths, key=lambda path: path not in request.contents.head)
        for path in request.counted("reading", ordered):
            self._read(path)
        self._join_overlays(frozenset(ordered))
        self._add_made()
        if self._broken_before:
            self._read_older_bases()
        deciding = request.configurations
        here = environment(deciding[0])
        self.before = {key: effective(contract, here) for key, contract in self._read_before.items()}
        self.after = {
            key: effective(contract, environment(*self._deciding_for(contract)))
            for key, contract in self._read_after.items()
        }

    def _deciding_for(self, contract: Contract) -> tuple[Config, ...]:
        """Return the settings for a contract of the head: it must not move out of those that it had."""
        old = self._read_before.get(contract.key)
        return configurations_of(self._request.configurations, old.file if old else None, contract.file)

    def hidden(self) -> set[str]:
        """Return the tables whose contract is missing only because its file is unreadable."""
        return self.unreadable - self.after.keys()

    def tables(self) -> list[str]:
        """Return the keys of the tables to judge, in order."""
        return sorted({*self.before, *self.after} - self.hidden())

    def _add_made(self) -> None:
        """Add the tables of made files: a table is known by its name, whatever declares it."""
        made = self._request.made_with_overlays
        if made is None:
            return
        self.errors += made.errors
        self.skipped += made.skipped
        sides = made.changed(everything=self._request.everything)
        for side, tables in zip((self._read_before, self._read_after), sides, strict=True):
            for key, contract in tables.items():
                side.setdefault(key, contract)

    def _read(self, path: str) -> None:
        base, head = self._request.contents.base.get(path), self._request.contents.head.get(path)
        before = _parsed(base)
        after = before if is_unchanged(self._request, path) else _parsed(head, before)
        if head is not None and after.errors:
            self.errors += after.errors
            self.unreadable |= {contract.key for contract in before.contracts}
        elif before.errors:
            self._broken_before = True
        for side, overlays, result in zip(
            (self._read_before, self._read_after), self._overlays, (before, after), strict=True
        ):
            for contract in result.contracts:
                if contract.extends is None:
                    side.setdefault(contract.key, contract)
                elif is_overlay(contract):
                    overlays.append(contract)
                elif self._request.made_with_overlays is None and side is self._read_after:
                    self.errors.append(nothing_to_extend(contract))

    def _join_overlays(self, selected: Container[str]) -> None:
        """Join tables with the contracts that extend them; a file with either may not be selected."""
        read = (self._read_before, self._read_after)
        beside = overlays_beside(self._request.contents, selected, read, self._overlays)
        for tables, overlays, found in zip(read, self._overlays, beside, strict=True):
            for contract in found:
                if contract.extends is None:
                    tables.setdefault(contract.key, contract)
                else:
                    overlays.append(contract)
            wanted = (overlay for overlay in overlays if overlay.key not in self.unreadable)
            joined, faults = with_overlays(tables, wanted)
            tables.update(joined)
            self.errors += faults if tables is self._read_after else ()

    def _read_older_bases(self) -> None:
        """Take contracts from older revisions where a file of the base is unreadable.

        The contract may have been in any file, so it is identified by its table name.
        """
        reason = "a file of the base is unreadable"
        for key in sorted(self._read_after.keys() - self._read_before.keys()):
            table, older = self._read_after[key].table, self._request.readable(key)
            if older is None:
                self.skipped.append(
                    SkippedTable(table, f"{reason}, and no earlier commit has this contract: judged as new")
                )
                continue
            commit, contract = older
            self._read_before[key] = contract
            self.skipped.append(SkippedTable(table, f"{reason}: compared with {commit[:12]}"))


def is_unchanged(request: CheckInput, path: str) -> bool:
    """Return whether a file is the same on both sides."""
    base, head = request.contents.base.get(path), request.contents.head.get(path)
    if base is None or head is None:
        return False
    return base.data == head.data and base.format == head.format


def _parsed(file: File | None, older: contracts.Reading | None = None) -> contracts.Reading:
    if file is None:
        return contracts.Reading()
    return contracts.read_file(file, older)
