"""Findings: a rule's judgement of a fact, with its location; and the result of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from schemalint.base.errors import Location, SchemalintError
from schemalint.base.values import field, frozen
from schemalint.delta.change import Change, subject_name
from schemalint.delta.path import Path, format_path, path_to_json
from schemalint.delta.table import HistoryEntry, LiveTable, TableState
from schemalint.delta.way_out import WayOut
from schemalint.model.change_kind import kind_of
from schemalint.model.client import ClientSupport
from schemalint.model.consumer import Consumer
from schemalint.model.contract_edit import Fix, TextChange
from schemalint.model.exception import ExceptionsFile, ExceptionSource, WrittenException
from schemalint.model.rule_codes import FIRST_CONFIGURATION, SETTING_LOOSENED

if TYPE_CHECKING:
    from schemalint.model.inventory import Inventory
    from schemalint.model.stream_report import StreamReport


class Severity(IntEnum):
    """The severity of a finding, in rising order."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The name in reports and configuration."""
        return self.name.lower()


@frozen
class ObjectRef:
    """The object of a finding.

    The kind is one of ``column``, ``property``, ``constraint``, ``feature``, ``consumer``, ``partitioning``,
    ``clustering``, ``table``, ``setting``, ``exception``.
    """

    kind: str
    name: str


def object_of_change(change: Change) -> ObjectRef:
    """Return the object that a change affects."""
    kind = kind_of(change)
    if kind.object in ("partitioning", "clustering"):
        return ObjectRef(kind.object, kind.anchor)
    return ObjectRef(kind.object, subject_name(change))


@frozen
class Consequence:
    """What a rule finds once the help of a finding is followed; it is no finding, so it has no fingerprint.

    Attributes:
        help: The first sentence of what to do about it, as a clause; may be empty.
        column: The column that it is about, as text; None if it is about the table.
    """

    code: str
    severity: Severity
    message: str
    help: str = ""
    column: str | None = None


@frozen
class Finding:
    """A problem that a rule found.

    Attributes:
        table: The table; empty for a finding about the configuration.
        against: The other sides of the comparison: ``git``, ``live``, ``contract``, ``history``.
        old: The previous value as text.
        new: The declared value as text.
        previous_location: The object's location in the base.
        delta_error: The error class that Delta raises.
        unreadable: Whether clients cannot even read the live table: Delta Spark if there is a `delta_error`.
        text_changes: The fix as changes of the texts that it is written in.
        existing: Whether the base has the finding too: then it does not fail the run.
        remedy: Return the declared state with everything that the help asks for; None if the rule does not
            give it.
        commit: The commit of the table that the finding is about, if it is about one.
        in_baseline: Whether the baseline has the finding: then it never fails the run.
        then: What else is found once the help is followed, or the fix applied.
        ways: The ways to the declared type, of a type that Delta cannot change in place.
        needs_rewrite: Whether Delta cannot do it in place, so that an exception needs ``via: rewrite``.
    """

    code: str
    rule: str
    severity: Severity
    message: str
    table: str
    object: ObjectRef
    location: Location
    help: str = ""
    target: str | None = None
    path: Path = ()
    against: tuple[str, ...] = ("git",)
    old: str | None = None
    new: str | None = None
    previous_location: Location | None = None
    delta_error: str | None = None
    fix: Fix | None = None
    text_changes: tuple[TextChange, ...] = ()
    existing: bool = False
    remedy: Callable[[], TableState] | None = field(default=None, compare=False, repr=False)
    commit: HistoryEntry | None = None
    then: tuple[Consequence, ...] = ()
    ways: tuple[WayOut, ...] = ()
    needs_rewrite: bool = False
    in_baseline: bool = False
    unreadable: bool = False

    @property
    def column(self) -> str | None:
        """The path as text; None if the object is not a column."""
        if self.path:
            return format_path(self.path)
        return self.object.name if self.object.kind == "column" else None

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """The values that identify the finding in every run; line and message do not count."""
        return (
            self.code,
            self.table.casefold(),
            self.target,
            (self.object.kind, self.object.name),
            json.dumps(path_to_json(self.path)),
            self.old,
            self.new,
        )

    @property
    def place(self) -> tuple[Hashable, ...]:
        """The rule and the object that it is about, whatever values that has."""
        return (self.code, self.object, self.path)

    @property
    def fingerprint(self) -> str:
        """The hash of the identity, for baselines and reports; two findings of one run may share it."""
        import hashlib  # noqa: PLC0415 (a check that prints no fingerprints starts without it)

        return hashlib.sha256(json.dumps(self.identity).encode()).hexdigest()


@frozen
class ApprovedFinding:
    """A finding that an exception silences, and the exception."""

    finding: Finding
    by: WrittenException


@frozen
class SkippedTable:
    """A table that was not compared, with the reason."""

    table: str
    reason: str


@frozen
class SideRef:
    """One side of the comparison.

    Attributes:
        spec: The side as requested, or as derived from the environment.
        commit: The resolved commit; None for a working tree or index.
        why: How the side was chosen.
    """

    spec: str
    commit: str | None = None
    why: str = ""


@frozen
class Run:
    """The two sides of a comparison.

    Attributes:
        base: None without a base: with ``--against none``, or if the base was not found.
        compared: The names of the judged tables.
        engines: The engines whose verdict this is, with their versions.
    """

    base: SideRef | None
    head: SideRef
    target: str | None = None
    compared: tuple[str, ...] = ()
    skipped: tuple[SkippedTable, ...] = ()
    engines: tuple[str, ...] = ()


@frozen
class CheckResult:
    """The result of a run.

    Attributes:
        findings: The findings in report order.
        errors: The errors of contracts and tables that could not be judged.
        sources: The head's text of the files that locations name, as far as known.
        inventory: The tables of an audit.
        clients: What the clients of the declared consumers do with the tables.
        streams: What happens to the declared streams of the tables.
        counts_existing: Whether findings that the base has too count, as with ``--strict``.
        approved: The findings that exceptions silence, those first that the change under review approves.
        fail_on: The lowest severity that fails the run; None if no finding does.
        tables: The tables that were judged.
        accepts: Where the change may write exceptions that count.
        exceptions_file: The file of exceptions.
        covered: How many findings each entry of the baseline covers, by fingerprint.
    """

    run: Run
    findings: tuple[Finding, ...]
    errors: tuple[SchemalintError, ...] = ()
    exit_status: int = 0
    sources: Mapping[str, str] | None = None
    inventory: Inventory | None = None
    clients: tuple[ClientSupport, ...] = ()
    streams: tuple[StreamReport, ...] = ()
    counts_existing: bool = False
    approved: tuple[ApprovedFinding, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    tables: tuple[JudgedTable, ...] = ()
    accepts: frozenset[ExceptionSource] = frozenset(ExceptionSource)
    exceptions_file: ExceptionsFile = ExceptionsFile()
    covered: Mapping[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The findings that count: for the exit status, the summary and its color."""
        return tuple(filter(self._counts, self.findings))

    def _counts(self, finding: Finding) -> bool:
        return not finding.in_baseline and (self.counts_existing or not finding.existing)

    @property
    def tables_by_name(self) -> dict[str, JudgedTable]:
        """The tables that were judged, by their names in findings."""
        return {table.name: table for table in self.tables}

    def fails(self, finding: Finding) -> bool:
        """Whether a finding fails the run.

        One about the configuration does as an error only: no later edit can resolve it, so a configuration
        could never be loosened.
        """
        if self.fail_on is None or not self._counts(finding):
            return False
        is_of_configuration = finding.code in (SETTING_LOOSENED, FIRST_CONFIGURATION)
        return finding.severity >= (Severity.ERROR if is_of_configuration else self.fail_on)


@frozen
class JudgedTable:
    """A table of a run, with both of its states.

    Attributes:
        name: The table's name in findings.
        file: The file of the contract; empty without one.
        owner: The owner that the contract names.
        consumers: The declared consumers.
        before: The state that the base declares, or that the table has; None for a new table.
        after: The declared state, or that of the table in an audit; None for a removed table.
        live: The live table, if the report shows tables and the run read it.
        holds_exceptions: Whether the file takes exceptions: those of other tools do not.
        has_exceptions: Whether it has some.
        client_rows: The rows of the configuration that precede those of the client table.
    """

    name: str
    file: str = ""
    owner: str | None = None
    consumers: tuple[Consumer, ...] = ()
    before: TableState | None = None
    after: TableState | None = None
    live: LiveTable | None = None
    holds_exceptions: bool = True
    has_exceptions: bool = False
    client_rows: tuple[Mapping[str, object], ...] = ()
