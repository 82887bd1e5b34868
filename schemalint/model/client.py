"""Clients of tables: what a piece of software can read or write, and how sure that is."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, Literal, TypeAlias

from schemalint.base.phrases import affixed
from schemalint.base.values import frozen
from schemalint.delta.path import Path
from schemalint.model.consumer import Consumer


class Verdict(Enum):
    """What a client does with a table, in rising order of harm."""

    OK = "ok"
    UNKNOWN = "unknown"
    REFUSES = "refuses"
    WRONG = "wrong"
    """It returns wrong rows, or NULLs in place of values, without an error."""

    @property
    def harm(self) -> int:
        """The position in the order of harm."""
        return list(Verdict).index(self)


class Trait(Enum):
    """A kind of property of a table that decides which clients can read it."""

    FEATURE = "feature"
    TYPE_CHANGE = "type change"
    TYPE = "type"
    """A type that no feature stands for, although not every client reads it."""
    PROTOCOL = "protocol"
    FORMAT = "format"
    """The metadata that a client needs beside Delta's log, such as Iceberg's."""
    NAMES = "names"
    """Names of columns or fields that differ only in case."""
    FINDING = "finding"
    """What a rule finds in the table itself, and why no client may be able to open it."""
    CLIENT = "client"
    """The declaration of the client itself: it is in no table of clients, or has no version."""


@frozen
class Evidence:
    """Where a verdict comes from.

    Attributes:
        how: ``run`` if the client was run, ``read`` if its source or release was read, ``documented`` if its
            vendor says so, ``inferred`` otherwise.
        source: The artifact with file and version, or the address of the page.
        as_of: The date (ISO).
    """

    how: str
    source: str
    as_of: str


@frozen
class Reason:
    """Why a client does not simply read or write a table.

    Attributes:
        trait: What decides.
        name: The feature, the type change (``int -> bigint``), the protocol or the format.
        verdict: The verdict; never ``ok``.
        access: ``read`` or ``write``: what the client cannot do.
        detail: What the client does, as a clause; may be empty.
        read_path: The read path that the verdict is about, if the client has several.
        evidence: Where the verdict comes from; None for an unknown one.
        assumed: Whether the verdict is that of an older version of the client.
    """

    trait: Trait
    name: str
    verdict: Verdict
    access: str = "read"
    detail: str = ""
    read_path: str | None = None
    evidence: Evidence | None = None
    assumed: bool = False

    @property
    def text(self) -> str:
        """The reason in a few words: ``feature deletionVectors``."""
        return f"{self.trait.value} {self.name}"


@frozen
class Support:
    """What a client does with a table.

    Attributes:
        reasons: What stands against reading or writing; empty if the client does it.
        assumed: Whether the verdict is that of an older version of the client.
    """

    reasons: tuple[Reason, ...] = ()
    assumed: bool = False

    @property
    def verdict(self) -> Verdict:
        """The most harmful of the verdicts."""
        return max(
            (reason.verdict for reason in self.reasons), key=lambda verdict: verdict.harm, default=Verdict.OK
        )

    @property
    def because(self) -> str:
        """The reasons for the verdict as text; empty if the client reads the table."""
        return ", ".join(
            dict.fromkeys(reason.text for reason in self.reasons if reason.verdict is self.verdict)
        )


@frozen
class TableForm:
    """The form of a table, as far as it decides which clients can read it.

    Attributes:
        reader: ``minReaderVersion``.
        writer: ``minWriterVersion``.
        features: The features that the protocol supports, listed or implied.
        reader_features: Those of them that readers must support.
        mapping: The column mapping mode: ``none``, ``name`` or ``id``.
        type_changes: The recorded type changes, each as both types in SQL.
        formats: The formats for whose readers Delta writes metadata, such as ``iceberg``.
        repeated_names: Whether names in the table, or in a struct, differ only in case.
        unreadable: What stands against reading the table at all: the code of each such finding, and after a
            blank the error class of Delta Spark if that cannot read the table either.
        unwritable: What stands against writing it, as `unreadable`; with all of these.
        types: The types that no feature stands for, although not every client reads them: ``time``, and
            ``void`` of a column.
    """

    reader: int = 1
    writer: int = 2
    features: frozenset[str] = frozenset()
    reader_features: frozenset[str] = frozenset()
    mapping: str = "none"
    type_changes: frozenset[tuple[str, str]] = frozenset()
    formats: frozenset[str] = frozenset()
    repeated_names: bool = False
    unreadable: frozenset[str] = frozenset()
    unwritable: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()


_NO_TABLE: Final = Support()


@frozen
class ClientSupport:
    """What the client of one declared consumer does with a table, before a change and after it.

    Attributes:
        before: None if there is no table before.
    """

    table: str
    consumer: Consumer
    before: Support | None
    after: Support

    @property
    def because(self) -> str:
        """What decides after the change: empty if the client reads the table and always did."""
        return self.after.because or (self.before or _NO_TABLE).because

    @property
    def verdict_before(self) -> str | None:
        """What the client did before the change; None if there is no table before."""
        return self.before.verdict.value if self.before else None

    @property
    def new_reasons(self) -> tuple[Reason, ...]:
        """The reasons that only the table after the change has."""
        reasons_before = {
            (reason.trait, reason.name, reason.access, reason.verdict)
            for reason in (self.before or _NO_TABLE).reasons
        }
        return tuple(
            reason
            for reason in self.after.reasons
            if (reason.trait, reason.name, reason.access, reason.verdict) not in reasons_before
        )

    @property
    def is_lost(self) -> bool:
        """Whether the client could use the table, or may have, and no longer can."""
        before = (self.before or _NO_TABLE).verdict.harm
        return self.after.verdict.harm > max(before, Verdict.UNKNOWN.harm)


LossKind: TypeAlias = Literal["refuses", "implicit", "type change", "wrong", "writes"]
"""How a client loses a table.

``refuses``: it refuses to read it, because of something that the contract names. ``implicit``: because of a
feature that comes with something else. ``type change``: it knows the feature, but not this type change.
``wrong``: it returns wrong rows. ``writes``: it still reads the table, but can no longer write it.
"""


@frozen
class Loss:
    """One consumer that loses a table.

    Attributes:
        consumer: The consumer.
        reasons: Why, most important first.
        cures: What would let it keep the table, as noun phrases.
    """

    consumer: Consumer
    reasons: tuple[Reason, ...]
    cures: tuple[str, ...] = ()


@frozen
class SupportLost:
    """Declared clients lose a table by one thing that changes.

    Attributes:
        kind: How they lose it.
        cause: What changes: the kind and the name of an object, such as a property.
        losses: The consumers.
        path: The column whose type changes, if that is the cause.
    """

    kind: LossKind
    cause: tuple[str, str]
    losses: tuple[Loss, ...]
    path: Path = ()

    @property
    def who(self) -> str:
        """The consumers with clients and owners, as text."""
        return ", ".join(dict.fromkeys(loss.consumer.described for loss in self.losses))

    @property
    def why(self) -> str:
        """The features and type changes that decide, as text."""
        return ", ".join(dict.fromkeys(reason.text for loss in self.losses for reason in loss.reasons))

    @property
    def details(self) -> str:
        """What the clients do, and from where that is known, as sentences."""
        return " ".join(
            dict.fromkeys(_detail(loss, reason) for loss in self.losses for reason in loss.reasons)
        )

    @property
    def cause_text(self) -> str:
        """What changes, as text: ``property delta.enableDeletionVectors``."""
        kind, name = self.cause
        if kind == "clustering":
            return name
        return " ".join(filter(None, (kind, name)))

    @property
    def help(self) -> str:
        """What would keep them in, and from where the verdicts are known, as sentences."""
        cures = [f"{loss.consumer.name} with {' or '.join(loss.cures)}" for loss in self.losses if loss.cures]
        ways = f"This keeps in: {'; '.join(cures)}." if cures else "Do without the change."
        return f"{ways} {self.details}"


@frozen
class SupportUnknown:
    """It is unknown what a client does with tables after the change.

    Attributes:
        client: The name of the client.
        version: Its version as declared.
        tables: The tables.
        consumers: The names of the consumers.
        why: What is unknown, as text.
        has_versions: Whether the client has versions that one can declare.
    """

    client: str
    version: str | None
    tables: tuple[str, ...]
    consumers: tuple[str, ...]
    why: tuple[str, ...]
    has_versions: bool = True


def _detail(loss: Loss, reason: Reason) -> str:
    client = " ".join(filter(None, (loss.consumer.client, loss.consumer.version)))
    does = reason.detail or f"does not {reason.access} it"
    where, source = "unknown", ""
    if reason.evidence:
        where, source = f"{reason.evidence.how}, {reason.evidence.as_of}", f": {reason.evidence.source}"
    if reason.assumed:
        where += ", assumed from an older version"
    path = affixed(" (", reason.read_path, ")")
    return f"{client}{path} with {reason.text}: {does} ({where}{source})."


Version: TypeAlias = tuple[int, ...]

_NUMBER: Final = r"\d{1,9}(?:\.\d{1,9}){0,5}"
_PART: Final = re.compile(rf"\s*(>=|<=|>|<|==|)\s*({_NUMBER})(?:\.x| LTS)?\s*")
_MAX_PARTS: Final = 4


@frozen
class VersionRange:
    """The versions from `low`, included, to `high`, excluded; None is no limit.

    A version stands for all releases that begin with it: ``1.6`` for 1.6.0 and 1.6.6, ``476`` for this
    release alone.
    """

    low: Version = ()
    high: Version | None = None

    def __contains__(self, version: Version) -> bool:
        return self.low <= version and (self.high is None or version < self.high)


EVERY: Final = VersionRange()


def parse_versions(text: str) -> VersionRange:
    """Return the range of versions that a text such as ``476`` or ``>=1.6,<2`` names.

    Raises:
        ValueError: The text is none of that, or names no version.
    """
    low: Version = ()
    high: Version | None = None
    parts = text.split(",", _MAX_PARTS)
    for part in parts:
        match = _PART.fullmatch(part)
        if match is None or (not match[1] and len(parts) > 1):
            raise ValueError(f"{text!r} is not a version such as 1.6.4, nor a range such as >=1.6,<2")
        bounds, after = _versions(match[2])
        if match[1] in (">=", "==", ""):
            low = max(low, bounds)
        elif match[1] == ">":
            low = max(low, after)
        if match[1] in ("<=", "==", ""):
            high = after if high is None else min(high, after)
        elif match[1] == "<":
            high = bounds if high is None else min(high, bounds)
    if high is not None and high <= low:
        raise ValueError(f"{text!r} names no version")
    return VersionRange(low, high)


def _versions(text: str) -> tuple[Version, Version]:
    """Return a version and the first one after all that begin with it, without zeros at the end."""
    numbers = tuple(map(int, text.split(".")))
    return _short(numbers), _short((*numbers[:-1], numbers[-1] + 1))


def _short(numbers: Version) -> Version:
    while numbers and not numbers[-1]:
        numbers = numbers[:-1]
    return numbers
