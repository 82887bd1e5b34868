"""Run a check: read both sides' files, pair their contracts, and collect the findings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.base.errors import ContractError, LiveError
from schemalint.base.printable import visible
from schemalint.base.values import replace
from schemalint.delta.table import LiveTable
from schemalint.lint.check_input import CheckInput, LiveSide, MissingEntry
from schemalint.lint.consumers import configuration_faults
from schemalint.lint.context import git_context, present
from schemalint.lint.duplicates import duplicates
from schemalint.lint.exceptions import ExceptionResult, approve
from schemalint.lint.judge import Judge, collecting, judge_pair, ordered, worst_of_each
from schemalint.lint.paired_contracts import PairedContracts, is_unchanged
from schemalint.lint.readers import (
    clients_offline,
    each_client_once,
    each_stream_once,
    streams_offline,
)
from schemalint.lint.scopes import Scope
from schemalint.lint.written_exceptions import written_exceptions
from schemalint.model.client import ClientSupport
from schemalint.model.contract import NATIVE, Contract, table_key
from schemalint.model.exception import ExceptionSource
from schemalint.model.fact import LiveTableMissing, RootWithoutTables, TableRetired
from schemalint.model.finding import CheckResult, Finding, Run, Severity, SideRef, Skipped, TextChange
from schemalint.model.judged_table import JudgedTable
from schemalint.plugin import Rule
from schemalint.project.git import Side

if TYPE_CHECKING:
    from schemalint.contract.edits import Editor
    from schemalint.model.stream_report import StreamReport


def check(request: CheckInput) -> CheckResult:
    """Judge every changed table."""
    return _Check(request).run()


class _Check:
    def __init__(self, request: CheckInput) -> None:
        self.request = request
        self.changed = [path for path in self._paths() if self._is_selected(path)]
        self.sides = PairedContracts(request, self.changed)
        self.errors = self.sides.errors
        self.skipped = self.sides.skipped
        self.missing_entries: list[MissingEntry] = []
        self.not_compared: set[str] = set()
        self.missing_tables: list[Contract] = []
        self.found_table = False
        self.found: dict[tuple[str | None, str], str] = {}
        self.editors: dict[str, Editor] = {}
        self.live_tables: dict[str, LiveTable] = {}
        self.clients: list[ClientSupport] = []
        self.streams: list[StreamReport] = []

    def run(self) -> CheckResult:
        if self.request.live is not None:
            self.request.live.fetch(self._contracts_to_read(self.request.live))
        findings: list[Finding] = []
        for key in self.request.counted("checking", self.sides.tables()):
            with collecting(self.errors, key):
                findings += self._judge_table(key)
        with collecting(self.errors, "all contracts"):
            findings += self._judge_duplicates(set(self.changed))
        with collecting(self.errors, "the target"):
            findings += self._judge_root()
        if self.clients:
            findings += self._judge_unknown()
        self.errors += self._no_live_tables()
        reported = (finding for finding in findings if self._reports(finding))
        outcome, about = self._excepted(reported)
        return CheckResult(
            run=Run(
                base=_side_ref(self.request.base),
                head=_side_ref(self.request.head),
                target=self.request.live.target if self.request.live else None,
                compared=tuple(sorted(contract.table for contract in self._compared())),
                skipped=tuple(self.skipped),
                engines=self.request.judged_as,
            ),
            findings=ordered((*map(self._with_text, outcome.remaining), *about)),
            approved=outcome.approved,
            errors=(
                *self.errors,
                *configuration_faults(self.request.configurations[-1]),
                *contracts.unread_files(self.request.contents),
            ),
            sources=self._sources,
            clients=each_client_once(self.clients),
            streams=each_stream_once(self.streams),
            tables=tuple(map(self._judged, self.sides.tables())),
            accepts=frozenset(source for source in ExceptionSource if self.request.void(source) is None),
        )

    def _judged(self, key: str) -> JudgedTable:
        before, after = self.sides.before.get(key), self.sides.after.get(key)
        declared = after or self.sides.before[key]
        return JudgedTable(
            declared.table,
            file=declared.file,
            owner=declared.owner,
            consumers=declared.consumers,
            before=before.state if before else None,
            after=after.state if after else None,
            live=self.live_tables.get(key),
            holds_exceptions=declared.dialect == NATIVE,
        )

    def _paths(self) -> list[str]:
        return sorted({*self.request.contents.base, *self.request.contents.head})

    def _is_selected(self, path: str) -> bool:
        if self.request.only is not None and not self.request.only(path):
            return False
        return self.request.everything or not is_unchanged(self.request, path)

    def _scope(self, key: str, file: str) -> Scope | None:
        """Return the rules of a table's contract; None if there are no others than those of the request."""
        sides = (self.sides.before.get(key), self.sides.after.get(key))
        files = [contract.file for contract in sides if contract] or [file]
        return self.request.scopes.of(*files) if self.request.scopes else None

    def _rules(self, contract: Contract) -> Sequence[Rule]:
        scope = self._scope(contract.key, contract.file)
        return self.request.rules if scope is None else scope.rules

    def _reports(self, finding: Finding) -> bool:
        scope = self._scope(table_key(finding.table), finding.location.file)
        return self.request.reports(finding) if scope is None else scope.reports(finding)

    def _excepted(self, findings: Iterable[Finding]) -> tuple[ExceptionResult, tuple[Finding, ...]]:
        """Let the exceptions approve findings, and return with the result the findings about exceptions."""
        request, sides = self.request, self.sides
        pairs = [(sides.before.get(key), sides.after.get(key)) for key in sides.tables()]
        exceptions = written_exceptions(pairs, request.exceptions, request.void)
        outcome = approve(findings, exceptions, request.rules, request.today)
        if not exceptions:
            return outcome, ()
        from schemalint.lint.exception_findings import exception_findings  # noqa: PLC0415 (only with exceptions)

        about = exception_findings(
            exceptions, outcome, request, set(sides.tables()), self._live_keys, self._sources
        )
        return outcome, tuple(finding for finding in about if self._reports(finding))

    def _compared(self) -> list[Contract]:
        everything = {**self.sides.before, **self.sides.after}
        return [everything[key] for key in self.sides.tables() if key not in self.not_compared]

    def _skip(self, contract: Contract, reason: str) -> None:
        self.skipped.append(Skipped(contract.table, reason))
        self.not_compared.add(contract.key)

    def _contracts_to_read(self, live: LiveSide) -> Iterator[Contract]:
        """Yield the effective contracts whose live tables are read."""
        declared = (self.sides.after[key] for key in self.sides.tables() if key in self.sides.after)
        effective = (contracts.effective(contract, live.target) for contract in declared)
        yield from (contract for contract in effective if not contract.absent)

    def _judge_table(self, key: str) -> Iterator[Finding]:
        before, after = self.sides.before.get(key), self.sides.after.get(key)
        if after is None and before is not None:
            yield from self._judge_retired(before)
        elif after is not None and self.request.live is not None:
            yield from self._judge_with_live(before, after, self.request.live)
        else:
            yield from self._judge_offline(before, after)

    def _judge_offline(self, before: Contract | None, after: Contract | None) -> Iterator[Finding]:
        contract = after or before
        rules = self._rules(contract) if contract else ()
        if after is not None:
            for engines in self.request.engines:
                self.clients += clients_offline(before, after, engines)
                self.streams += streams_offline(before, after, engines)
        found = [judge_pair(before, after, rules, engines) for engines in self.request.engines]
        yield from found[0] if len(found) == 1 else worst_of_each(chain.from_iterable(found))

    def _judge_retired(self, before: Contract) -> Iterator[Finding]:
        renamed = next((new for new, old in self._renamed.items() if old.key == before.key), None)
        after = self.sides.after[renamed] if renamed else None
        fact = TableRetired(
            before,
            renamed_to=after.table if after else None,
            moves=after is not None and set(self._places(before)).isdisjoint(self._places(after)),
            file_now=self._file_now(before.file),
        )
        judge = Judge(tuple(self._rules(before)))
        yield from judge(fact, git_context(before, before), ("git",))

    def _file_now(self, file: str) -> str:
        """Return what is wrong with a file that had a contract; empty if it is gone, or has another one."""
        former = {visible(path): data for path, data in self.request.contents.former.items()}
        try:
            return contracts.without_contract(former[file].decode()) if file in former else ""
        except UnicodeDecodeError:
            return "is not UTF-8"

    @cached_property
    def _renamed(self) -> Mapping[str, Contract]:
        from schemalint.contract.renamed_tables import renamed_tables  # noqa: PLC0415 (only after a removal)

        before = {key: self.sides.before[key] for key in self.sides.before if key not in self.sides.hidden()}
        return renamed_tables(before, self.sides.after, self._places)

    def _judge_with_live(self, before: Contract | None, after: Contract, live: LiveSide) -> Iterator[Finding]:
        contract = contracts.effective(after, live.target)
        base = present(before, live.target)
        if contract.absent:
            self._skip(contract, f"absent from target {live.target}")
            # A change must not take its own table out of the check.
            if before is None or base is not None:
                yield from self._judge_offline(before, after)
            return
        try:
            table = live.read(contract)
        except MissingEntry as missing:
            self._skip(contract, missing.message)
            self.missing_entries.append(missing)
            yield from self._judge_offline(before, after)
            return
        self.found_table |= table is not None
        if table is None:
            self.missing_tables.append(contract)
            of_creation = self._judge_creation(base, contract, live)
            yield from worst_of_each((*self._judge_offline(before, after), *of_creation))
            yield from self._judge_missing(base, contract, live)
        else:
            self.live_tables[contract.key] = table
            self.found[live.target, contract.key] = table.uri
            contract = live.with_progress(contract, table)
            base = live.with_progress(base, table) if base else None
            yield from worst_of_each(self._judge_by_engines(base, contract, table, live))

    def _judge_by_engines(
        self, base: Contract | None, contract: Contract, table: LiveTable, live: LiveSide
    ) -> Iterator[Finding]:
        from schemalint.lint.live_table import judge_live_table  # noqa: PLC0415 (only with live tables)

        targets = (live.target,) if live.target else ()
        for engines in self.request.live_engines(live):
            judged = judge_live_table(
                base.for_engines(engines, *targets) if base else None,
                contract.for_engines(engines, *targets),
                table,
                live,
                self._rules(contract),
                everything=self.request.everything,
            )
            self.clients += judged.clients
            self.streams += judged.streams
            yield from (replace(finding, target=live.target) for finding in judged.findings)

    def _no_live_tables(self) -> Iterator[LiveError]:
        """Yield an error if the file has no entry for any table: only new contracts may lack one."""
        live = self.request.live
        if live is None or not self.request.everything or not self.missing_entries:
            return
        if len(self.missing_entries) == len(list(self._contracts_to_read(live))):
            yield LiveError(
                f"no table was compared with its live state: {self.missing_entries[0].message}",
                help="write the file again, from the tables of this target",
            )

    def _judge_creation(self, base: Contract | None, contract: Contract, live: LiveSide) -> Iterator[Finding]:
        """Yield the errors of a new table, as `plan` has them, whatever git changes."""
        if base is None:
            return
        rules = self._rules(contract)
        for own in self.request.live_engines(live):
            engines = {live.target: own}
            of_base = judge_pair(None, replace(base, targets={}), rules, engines)
            existing = {finding.identity for finding in of_base if finding.severity >= Severity.ERROR}
            for finding in judge_pair(None, replace(contract, targets={}), rules, engines):
                if finding.severity >= Severity.ERROR:
                    yield replace(finding, existing=finding.identity in existing, target=live.target)

    def _judge_missing(self, base: Contract | None, contract: Contract, live: LiveSide) -> Iterator[Finding]:
        expected = None if live.may_create else f"target {live.target} does not create tables"
        if base is not None and (old_location := live.location(base)) != live.location(contract):
            expected = f"its location at the base is {old_location}"
        fact = LiveTableMissing(live.location(contract), expected)
        for finding in Judge(tuple(self._rules(contract)))(fact, git_context(base, contract), ("live",)):
            yield replace(finding, target=live.target)

    def _judge_unknown(self) -> Iterator[Finding]:
        """Judge the clients of which it is unknown what they do: one finding per client, of all tables."""
        from schemalint.lint.client_support import unknown_support  # noqa: PLC0415 (only with clients)

        for unknown in unknown_support(each_client_once(self.clients)):
            contract = self.sides.after[table_key(unknown.tables[0])]
            judge = Judge(tuple(self._rules(contract)))
            yield from judge(unknown, git_context(None, contract), ("git",))

    def _judge_root(self) -> Iterator[Finding]:
        """Judge the target's root if no table was found: a misspelt one looks like one for new tables."""
        live = self.request.live
        if live is None or self.found_table or not self.missing_tables:
            return
        root = live.root_without_tables(map(live.location, self.missing_tables))
        if root is not None:
            first = self.missing_tables[0]
            judge, context = Judge(tuple(self._rules(first))), git_context(None, first)
            for finding in judge(RootWithoutTables(root), context, ("live",)):
                yield replace(finding, target=live.target)

    def _judge_duplicates(self, changed: set[str]) -> Iterator[Finding]:
        request = self.request
        found = [
            replace(finding, existing=existing)
            for targets in request.targets
            for fact, existing in duplicates(
                request.contents, changed, targets, request.repository, self.found
            )
            for finding in Judge(tuple(self._rules(fact.contract)))(
                fact, git_context(None, fact.contract), ("contract",)
            )
        ]
        yield from found if len(request.targets) == 1 else worst_of_each(found)

    def _places(self, contract: Contract) -> Iterator[Hashable]:
        from schemalint.tables.catalog.places import Places  # noqa: PLC0415 (only where locations may clash)

        yield from Places(self.request.targets[0], self.request.repository, self.found).of(contract)

    def _with_text(self, finding: Finding) -> Finding:
        contract = self.sides.after.get(table_key(finding.table))
        if self.request.declared is not None:
            finding = self.request.declared.explained(finding, contract)
        if finding.fix is None or contract is None:
            return finding
        changes: tuple[TextChange, ...] = ()
        # A layout that no edit can handle: the finding has no fix, and its help says what to write.
        with collecting(self.errors, contract.table), suppress(ContractError):
            if contract.key not in self.editors:
                self.editors[contract.key] = contracts.editor(contract, self._sources[contract.file])
            changes = self.editors[contract.key].text_changes(finding.fix.edits)
        return replace(finding, text_changes=changes, fix=finding.fix if changes else None)

    @property
    def _live_keys(self) -> set[str]:
        """The keys of the tables that were compared with their live state."""
        missing = {contract.key for contract in self.missing_tables}
        return missing | {key for _target, key in self.found}

    @cached_property
    def _sources(self) -> dict[str, str]:
        read = {contract.file: contracts.text_of(contract) for contract in self.sides.after.values()}
        texts = {
            visible(path): read.get(visible(path)) or file.data.decode("utf-8", "replace")
            for path in self.changed
            if (file := self.request.contents.head.get(path)) is not None
        }
        if self.request.declared is not None:
            texts |= self.request.declared.texts_of(self.sides.after.values())
        return {**self.request.texts, **texts}


def with_exit_status(result: CheckResult, fail_on: Severity | None) -> CheckResult:
    """Return the result with its exit status: that of its errors, else 1 if a finding fails the run."""
    result = replace(result, fail_on=fail_on)
    statuses = [error.exit_status for error in result.errors]
    return replace(result, exit_status=max(statuses or [int(any(map(result.fails, result.findings)))]))


def _side_ref(side: Side) -> SideRef:
    return SideRef(side.spec, side.commit, side.why)
