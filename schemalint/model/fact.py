"""Facts for rules to judge: changes, and what the judge and a session derive beyond the diff."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from schemalint.base.errors import Location
from schemalint.base.values import frozen
from schemalint.delta.change import Change, ColumnChange, PropertyChanged
from schemalint.delta.datatype import DataType, Struct
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import Answer
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import Path
from schemalint.delta.table import LiveTable
from schemalint.model.client import SupportLost, SupportUnknown
from schemalint.model.contract import Contract
from schemalint.model.exception import ExceptionFault, WrittenException
from schemalint.model.finding import Finding, ObjectRef, object_of_change

if TYPE_CHECKING:
    from schemalint.delta.streams import Blocking
    from schemalint.model.stream_report import StreamReport


@frozen
class ProtocolUpgrade:
    """The declared state needs features that the table does not support, and Delta would add them.

    Attributes:
        before: The features that the table supports.
        after: The features after the upgrade, without those that need an explicit request: rules judge
            these where they are needed.
        because: The properties, features or columns that need new features, each with these features.
    """

    before: frozenset[str]
    after: frozenset[str]
    because: tuple[tuple[str, str, frozenset[str]], ...] = ()

    @property
    def added(self) -> frozenset[str]:
        """The features that the upgrade adds."""
        return self.after - self.before


@frozen
class WriterLoss:
    """An engine that cannot use a table any more.

    Attributes:
        engine: The engine.
        access: ``read`` or ``write``: what it cannot do.
        answer: What it does, and how that is known; unknown if nobody asked it.
    """

    engine: Engine
    access: str
    answer: Answer


@frozen
class WritersLost:
    """An edit after which engines that write the table can no longer use it.

    Attributes:
        cause: The kind and the name of the object that the edit is about.
        what: The edit, as a clause.
        instead: What else is possible without the edit, as a command.
        losses: The engines.
        path: The column whose type changes, if that is the edit.
    """

    cause: tuple[str, str]
    what: str
    instead: str
    losses: tuple[WriterLoss, ...]
    path: Path = ()


@frozen
class TableRetired:
    """A contract was removed, or its table got another name; the table stays.

    Attributes:
        renamed_to: The name of the table in the contract that was this one.
        moves: Whether the table of that contract has another location.
        file_now: What is wrong with the file that had the contract, such as "is empty"; empty if it is gone.
        why: Why a made file declares it no longer: ``model orders is disabled``; empty if it is gone.
    """

    contract: Contract
    renamed_to: str | None = None
    moves: bool = False
    file_now: str = ""
    why: str = ""


@frozen
class DuplicateTable:
    """Two contracts declare the same table or the same location.

    Attributes:
        other: The other contract's location.
        kind: ``table`` or ``location``.
        value: The table or location that is declared twice.
    """

    contract: Contract
    other: Location
    kind: str
    value: str


class DriftKind(Enum):
    """How a live object relates to the declarations of base and head."""

    NOT_APPLIED = "not applied yet"
    AHEAD = "ahead"
    """The live table already has a later revision."""
    DRIFTED = "drifted"
    MANAGED_ELSEWHERE = "differs"
    """The table differs, and another tool manages it."""
    UNDECLARED = "undeclared"
    APPLIED = "already applied"
    APPLIED_IN_PART = "applied in part"
    """The live table has this part of a change, but not the rest."""


@frozen
class Drift:
    """One object of the live table differs from the declaration, and git shows no change of it.

    Attributes:
        change: The change that would bring the live table to the declaration.
        cause: The finding of the rule that forbids this change, if any.
        origin: Which commit made the difference, or why that is not known: the end of a sentence. Empty if
            nobody asked.
        all_contracts: Whether the run judges all contracts (``check --all``), not only changed ones.
        shut_out: The declared readers and writers that cannot use the table because of it.
    """

    change: Change
    kind: DriftKind
    cause: Finding | None = None
    origin: str = ""
    all_contracts: bool = False
    shut_out: tuple[str, ...] = ()


@frozen
class LiveTableMissing:
    """There is no Delta table at the contract's location.

    Attributes:
        expected: Why the table should exist; None if `apply` creates it.
    """

    uri: str
    expected: str | None = None


@frozen
class SparkAnswer:
    """What Spark says of one expression.

    Attributes:
        error: The error class, if Spark refuses it; empty for an error without a class, None if it does not.
        what: What Spark says then, on one line.
        type: The type of the value; None if Spark refuses the expression, or schemalint lacks the type.
    """

    error: str | None = None
    what: str = ""
    type: DataType | None = None


AskSpark: TypeAlias = Callable[[Struct, str], SparkAnswer | None]
"""Asks a session about an expression over a row of these columns; None if it was not sent."""


@frozen
class ExpressionRefused:
    """An expression of a contract that a session of Spark refuses, and the offline model does not.

    Attributes:
        rule: The code of the rule about such a fault.
        subject: The expression, as messages name it.
        text: Its text.
        error: Spark's error class; None for an error without one.
        what: What Spark says.
        constraint: The name of the constraint; None for an expression of a column.
        path: The column.
        part: What of the column has the expression, as anchors name it.
    """

    rule: str
    subject: str
    text: str
    error: str | None
    what: str
    constraint: str | None = None
    path: Path | None = None
    part: str | None = None


@frozen
class RootWithoutTables:
    """No table of the run exists, and no Delta table was found below the target's root."""

    uri: str


@frozen
class ConfigurationChanged:
    """A setting may find less than that of the base, or the base has no configuration.

    Attributes:
        location: The line of the setting, or the first configuration.
        takes_effect_now: Whether the new setting alone decides this run.
        key: The setting, such as ``severity.TW001``; None if the base has no configuration.
        old: The value at the base, or the entry that is missing now; None if the base sets nothing.
        new: The value now, or the entry that is new; None if nothing is set.
    """

    location: Location
    takes_effect_now: bool
    key: str | None = None
    old: str | None = None
    new: str | None = None


@frozen
class JudgedException:
    """An exception is past its end or near it, or approves nothing.

    Attributes:
        written: The exception, and where it is written.
        reason: Why it has no effect; empty for other faults.
        days: The days that it still counts; None if it has no end.
        wanted: What it would have to say to approve the finding that it is nearest to, by key; empty if its
            rule finds nothing more in the table.
    """

    written: WrittenException
    fault: ExceptionFault
    reason: str = ""
    days: int | None = None
    wanted: tuple[tuple[str, str], ...] = ()


@frozen
class AffectedStreams:
    """A table with declared streams gets commits.

    There is no such fact if a rule or the planner refuses the change.

    Attributes:
        streams: What the commits do to each stream.
        causes: The changes that tracked streams wait for, each with its kind.
        spared: What commits that wait for the next change would do to each stream; `streams` then says what
            happens without them.
        is_live: Whether the table was read; without that, it counts as created from the base.
    """

    streams: tuple[StreamReport, ...]
    causes: tuple[tuple[Blocking, Change], ...] = ()
    spared: tuple[StreamReport, ...] = ()
    is_live: bool = False

    @cached_property
    def _declared(self) -> frozenset[str]:
        return frozenset(stream.consumer.name for stream in self.streams if not stream.consumer.removed)

    def with_verdict(self, verdict: str) -> tuple[StreamReport, ...]:
        """Return the streams to which the commits do this, such as ``blocked``; see `StreamReport.effect`."""
        return tuple(stream for stream in self.streams if stream.effect.verdict.value == verdict)

    def cause(self, verdict: str) -> tuple[Path | None, ObjectRef | None]:
        """Return the column, or else the object, whose change gives streams this verdict."""
        causes = self._causes_of(verdict)
        path = next((change.path for change in causes if isinstance(change, ColumnChange)), None)
        return path, object_of_change(causes[0]) if causes and path is None else None

    def depends_on_creation(self, verdict: str) -> bool:
        """Whether streams get this verdict only if the table was created with column mapping.

        Without mapping, the names of the columns in data files become those of the table. Streams only stop
        if they are the same, as in a table that got its mapping later (measured on Delta 4.4.0).
        """
        if self.is_live:
            return False
        causes = self._causes_of(verdict)
        return bool(causes) and all(isinstance(change, PropertyChanged) for change in causes)

    def _causes_of(self, verdict: str) -> list[Change]:
        kinds = {kind for stream in self.with_verdict(verdict) for kind in stream.effect.unblock}
        return [change for kind, change in self.causes if kind in kinds or not kinds]

    def title(self, stream: StreamReport) -> str:
        """Return a stream for messages: ``silver (@bi, removed in this change)``."""
        consumer = stream.consumer
        gone = "as the base declares it" if consumer.name in self._declared else "removed in this change"
        unknown = "at an unknown position" if stream.unknown is not None else None
        details = ", ".join(filter(None, (consumer.owner, gone if consumer.removed else None, unknown)))
        if details:
            return f"{consumer.name} ({details})"
        return consumer.name


Fact = (
    Change
    | Contract
    | LiveTable
    | HistoryStep
    | ProtocolUpgrade
    | TableRetired
    | DuplicateTable
    | Drift
    | LiveTableMissing
    | RootWithoutTables
    | ExpressionRefused
    | PhysicalTypes
    | ConfigurationChanged
    | SupportLost
    | SupportUnknown
    | WritersLost
    | AffectedStreams
    | JudgedException
)
"""Anything that a rule can judge."""
