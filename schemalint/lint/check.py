"""A whole run: both sides' files -> pairs of contracts -> findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.delta.change import FieldRenamed
from schemalint.delta.diff import diff, recreated_columns
from schemalint.delta.table import LiveTable
from schemalint.errors import LiveError, SchemalintError
from schemalint.git import Contents, File, Side
from schemalint.lint.duplicates import duplicates
from schemalint.lint.judge import Judge, git_context, judge_pair, ordered, present
from schemalint.lint.live import LiveComparison, judge_live, live_context
from schemalint.lint.renamed import Names, names_in_log
from schemalint.lint.rulebook import TableIgnores, is_ignored
from schemalint.lint.table import judge_table
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.contract import Contract, table_key
from schemalint.model.fact import LiveTableMissing, LiveTableReplaced, TableRetired
from schemalint.model.finding import CheckResult, Finding, Run, Severity, SideRef, Skipped
from schemalint.model.marker import Marker, declaration_hash, read_marker
from schemalint.plugin import Rule
from schemalint.printable import visible
from schemalint.values import field, frozen, replace

if TYPE_CHECKING:
    import datetime as dt


class MissingEntry(LiveError):  # noqa: N818 (an answer more than an error)
    """What stands in for the live tables does not say anything of this one."""


@frozen
class LiveSide:
    """Where live tables come from.

    Attributes:
        target: The environment.
        read: The live table of an effective contract, None if there is none; raises a LiveError, and
            `MissingEntry` where it cannot tell: then the table is judged without it.
        place: Where such a table lies.
        at_revision: A table's contract at a commit, None if the commit or the table is unknown.
        comes_after: Whether a commit is known to come after another one, None being that of HEAD.
        fetch: Told before which tables will be read, so that they can be read at the same time.
        as_of: When the tables were read, where that was in another run.
    """

    target: str | None
    read: Callable[[Contract], LiveTable | None]
    place: Callable[[Contract], str]
    at_revision: Callable[[str, str], Contract | None]
    may_create: bool = True
    comes_after: Callable[[str, str | None], bool] = lambda _revision, _head: False
    fetch: Callable[[Iterable[Contract]], None] = lambda _contracts: None
    as_of: dt.datetime | None = None


@frozen
class CheckInput:
    """What a run looks at.

    Attributes:
        everything: Judge every contract, not only those that changed.
        approved_removals: The reason by table key, as the configuration gives it.
        only: Judge the contracts of these files alone; None for all.
        with_text_changes: Work out what the fixes change in the text: wanted to make or to show them.
        readable: A table's contract at the newest ancestor of the base that has one that can be read.
    """

    base: Side
    head: Side
    contents: Contents
    rules: Sequence[Rule]
    everything: bool = False
    approved_removals: Mapping[str, str] = field(default_factory=dict)
    only: Callable[[str], bool] | None = None
    live: LiveSide | None = None
    with_text_changes: bool = True
    table_ignores: TableIgnores = ()
    readable: Callable[[str], tuple[str, Contract] | None] = lambda _key: None


def check(request: CheckInput) -> CheckResult:
    """Judge every table that changed."""
    return _Check(request).run()


class _Sides:
    """The parsed contracts of the files that are looked at, by table key."""

    def __init__(self) -> None:
        self.before: dict[str, Contract] = {}
        self.after: dict[str, Contract] = {}
        self.unreadable: set[str] = set()
        self.broken_before = False


class _Check:
    def __init__(self, request: CheckInput) -> None:
        self.request = request
        self.errors: list[SchemalintError] = []
        self.skipped: list[Skipped] = []
        self.not_held: list[MissingEntry] = []
        self.left_out: set[str] = set()
        self.sides = _Sides()

    def run(self) -> CheckResult:
        changed = [path for path in self._paths() if self._is_looked_at(path)]
        for path in changed:
            self._read(path)
        if self.sides.broken_before:
            self._look_further_back()
        if self.request.live is not None:
            self.request.live.fetch(self._wanted(self.request.live))
        findings = [
            *self._duplicates(set(changed)),
            *(finding for key in self._tables() for finding in self._table(key)),
        ]
        self.errors += self._nothing_held()
        return CheckResult(
            run=Run(
                base=_side(self.request.base),
                head=_side(self.request.head),
                target=self.request.live.target if self.request.live else None,
                compared=tuple(sorted(one.table for one in self._compared())),
                skipped=tuple(self.skipped),
            ),
            findings=ordered(self._with_text(one) for one in findings if not self._is_ignored(one)),
            errors=tuple(self.errors),
            sources=self._sources,
        )

    def _paths(self) -> list[str]:
        return sorted({*self.request.contents.base, *self.request.contents.head})

    def _is_looked_at(self, path: str) -> bool:
        if self.request.only is not None and not self.request.only(path):
            return False
        return self.request.everything or not self._unchanged(path)

    def _unchanged(self, path: str) -> bool:
        base, head = self.request.contents.base.get(path), self.request.contents.head.get(path)
        return base is not None and head is not None and base.data == head.data

    def _read(self, path: str) -> None:
        base, head = self.request.contents.base.get(path), self.request.contents.head.get(path)
        after = self._parsed(head)
        before = after if self._unchanged(path) else self._parsed(base)
        if head is not None and after.errors:
            self.errors += after.errors
            self.sides.unreadable |= {one.key for one in before.contracts}
        elif before.errors:
            self.sides.broken_before = True
        for one in before.contracts:
            self.sides.before.setdefault(one.key, one)
        for one in after.contracts:
            self.sides.after.setdefault(one.key, one)

    def _look_further_back(self) -> None:
        """What the base cannot tell, since a file of it cannot be read, an older revision does.

        The contract may have been in any file: it is known by its name.
        """
        reason = "a file of the base cannot be read"
        for key in sorted(self.sides.after.keys() - self.sides.before.keys()):
            table, older = self.sides.after[key].table, self.request.readable(key)
            if older is None:
                self.skipped.append(
                    Skipped(table, f"{reason}, and no commit before has this contract: judged as new")
                )
                continue
            commit, self.sides.before[key] = older
            self.skipped.append(Skipped(table, f"{reason}: compared with {commit[:12]}"))

    @staticmethod
    def _parsed(file: File | None) -> contracts.ReadResult:
        if file is None:
            return contracts.ReadResult((), ())
        return contracts.read(visible(file.path), file.data)

    def _tables(self) -> list[str]:
        return sorted({*self.sides.before, *self.sides.after} - self._hidden())

    def _hidden(self) -> set[str]:
        """Tables whose contract is gone only because its file cannot be read."""
        return self.sides.unreadable - self.sides.after.keys()

    def _compared(self) -> list[Contract]:
        everything = {**self.sides.before, **self.sides.after}
        return [everything[key] for key in self._tables() if key not in self.left_out]

    def _leave_out(self, contract: Contract, reason: str) -> None:
        self.skipped.append(Skipped(contract.table, reason))
        self.left_out.add(contract.key)

    def _wanted(self, live: LiveSide) -> Iterator[Contract]:
        """The effective contracts whose tables are looked at."""
        declared = (self.sides.after[key] for key in self._tables() if key in self.sides.after)
        effective = (contracts.effective(one, live.target) for one in declared)
        yield from (one for one in effective if not one.absent)

    def _table(self, key: str) -> Iterator[Finding]:
        before, after = self.sides.before.get(key), self.sides.after.get(key)
        if after is None and before is not None:
            yield from self._retired(before)
        elif after is not None and self.request.live is not None:
            yield from self._live(before, after, self.request.live)
        else:
            yield from judge_pair(before, after, self.request.rules)

    def _retired(self, before: Contract) -> Iterator[Finding]:
        fact = TableRetired(before, self.request.approved_removals.get(before.key))
        judge = Judge(tuple(self.request.rules))
        yield from judge(fact, git_context(before, before), ("git",))

    def _live(self, before: Contract | None, after: Contract, live: LiveSide) -> Iterator[Finding]:
        contract = contracts.effective(after, live.target)
        base = present(before, live.target)
        if contract.absent:
            self._leave_out(contract, f"absent from target {live.target}")
            return
        try:
            table = live.read(contract)
        except MissingEntry as unknown:
            self._leave_out(contract, unknown.message)
            self.not_held.append(unknown)
            yield from judge_pair(before, after, self.request.rules)
            return
        except LiveError as error:
            self.errors.append(error)
            return
        if table is None:
            yield from judge_pair(before, after, self.request.rules)
            yield from self._missing(base, contract, live)
        else:
            yield from self._compared_with_live(base, contract, table, live)

    def _nothing_held(self) -> Iterator[LiveError]:
        """That no table at all could be compared: a new contract may be unknown, but not every one."""
        live = self.request.live
        if live is None or not self.request.everything or not self.not_held:
            return
        if len(self.not_held) == len(list(self._wanted(live))):
            yield LiveError(
                f"no table was compared with the live ones: {self.not_held[0].message}",
                help="write the file anew, from the tables of this target",
            )

    def _missing(self, base: Contract | None, contract: Contract, live: LiveSide) -> Iterator[Finding]:
        expected = None if live.may_create else f"target {live.target} creates no tables"
        if base is not None and (was := live.place(base)) != live.place(contract):
            expected = f"the base has it at {was}"
        fact = LiveTableMissing(live.place(contract), expected)
        for finding in Judge(tuple(self.request.rules))(fact, git_context(base, contract), ("live",)):
            yield replace(finding, target=live.target)

    def _compared_with_live(
        self, base: Contract | None, contract: Contract, table: LiveTable, live: LiveSide
    ) -> Iterator[Finding]:
        rules = self.request.rules
        marker = read_marker(table)
        if marker and marker.table_id not in (None, table.metadata.table_id):
            fact = LiveTableReplaced(str(marker.table_id), table.metadata.table_id)
            ctx = live_context(contract, table, base)
            for finding in Judge(tuple(rules))(fact, ctx, ("live",)):
                yield replace(finding, target=live.target)
            # What was applied was applied to another table.
            marker = None
        settled = marker is not None and marker.hash == declaration_hash(contract)
        tracking = None if settled or base is None else _lineage(base, contract, table)
        comparison = LiveComparison(
            contract,
            table,
            base=base,
            applied=self._applied(marker, contract, live),
            settled=settled,
            ahead=self._is_ahead(marker, live),
            tracking=tracking,
            of_table=tuple(_of_table(table, rules, base, contract)),
            renamed=_renamed(base, contract, table) if tracking is None else {},
        )
        for finding in judge_live(comparison, rules):
            yield replace(finding, target=live.target)

    def _is_ahead(self, marker: Marker | None, live: LiveSide) -> bool:
        if marker is None or marker.revision is None:
            return False
        return live.comes_after(marker.revision, self.request.head.commit)

    @staticmethod
    def _applied(marker: Marker | None, contract: Contract, live: LiveSide) -> Contract | None:
        if marker is None or marker.revision is None:
            return None
        applied = live.at_revision(marker.revision, contract.key)
        return contracts.effective(applied, live.target) if applied else None

    def _duplicates(self, changed: set[str]) -> Iterator[Finding]:
        judge = Judge(tuple(self.request.rules))
        for fact in duplicates(self.request.contents.head, changed):
            existing = self._unchanged(fact.contract.file) and self._unchanged(fact.first.file)
            for finding in judge(fact, git_context(None, fact.contract), ("contract",)):
                yield replace(finding, existing=existing)

    def _is_ignored(self, finding: Finding) -> bool:
        return is_ignored(finding, self.request.rules, self.request.table_ignores)

    def _with_text(self, finding: Finding) -> Finding:
        contract = self.sides.after.get(table_key(finding.table))
        if finding.fix is None or contract is None or not self.request.with_text_changes:
            return finding
        text = self._sources[contract.file]
        changes = contracts.text_changes(contract, text, finding.fix.edits)
        return replace(finding, text_changes=tuple(changes))

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {
            visible(path): file.data.decode("utf-8", "replace")
            for path, file in self.request.contents.head.items()
            if self._is_looked_at(path)
        }


def _lineage(base: Contract, contract: Contract, table: LiveTable) -> ColumnTracking | None:
    """Which column is which where names are given up and taken since the base; elsewhere the names tell."""
    renamed = any(isinstance(one, FieldRenamed) for one in diff(base.state, contract.state))
    if not renamed and not recreated_columns(base.state, contract.state):
        return None
    return track_columns(table.state.columns, [base.state, contract.state])


def _renamed(base: Contract | None, contract: Contract, table: LiveTable) -> Names:
    """The columns that base and contract have, and the table under another name."""
    found = names_in_log(contract.state, table)
    if base is None or not found:
        return found
    at_base = names_in_log(base.state, table)
    return {path: name for path, name in found.items() if path in at_base}


def exit_status(result: CheckResult, fail_on: Severity | None, *, count_existing: bool = False) -> int:
    """2 if something could not be judged, 1 if a finding is bad enough, else 0."""
    if any(isinstance(error, SchemalintError) for error in result.errors):
        return max(error.exit_status for error in result.errors if isinstance(error, SchemalintError))
    if fail_on is None:
        return 0
    bad = (one for one in result.findings if count_existing or not one.existing)
    return int(any(one.severity >= fail_on for one in bad))


def _of_table(
    table: LiveTable, rules: Sequence[Rule], base: Contract | None, contract: Contract
) -> Iterator[Finding]:
    """What the log itself gives: old sins, but for what the base contract does not give."""
    found = judge_table(table, rules, contract=contract)
    known = {one.identity for one in judge_table(table, rules, contract=base)} if base and found else set()
    yield from (replace(one, existing=one.identity in known) for one in found)


def _side(side: Side) -> SideRef:
    return SideRef(side.spec, side.commit, side.why)
