"""Clients of tables: what a piece of software can read or write, and how sure that is."""

from __future__ import annotations

from enum import Enum

from schemalint.values import frozen


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
    PROTOCOL = "protocol"
    FORMAT = "format"
    """The metadata that a client needs beside Delta's log, such as Iceberg's."""
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
        return max((reason.verdict for reason in self.reasons), key=_harm, default=Verdict.OK)

    @property
    def because(self) -> str:
        """The reasons for the verdict as text; empty if the client reads the table."""
        return ", ".join(
            dict.fromkeys(reason.text for reason in self.reasons if reason.verdict is self.verdict)
        )


def _harm(verdict: Verdict) -> int:
    return verdict.harm


@frozen
class TableForm:
    """The form of a table, as far as it decides which clients can read it.

    Attributes:
        reader: ``minReaderVersion``.
        writer: ``minWriterVersion``.
        features: The features that the protocol supports, listed or implied.
        reader_features: Those of them that readers must support.
        mapping: The column mapping mode: ``none``, ``name`` or ``id``.
        type_changes: The recorded type changes, each as the SQL names of both types without parameters.
        formats: The formats for whose readers Delta writes metadata, such as ``iceberg``.
    """

    reader: int = 1
    writer: int = 2
    features: frozenset[str] = frozenset()
    reader_features: frozenset[str] = frozenset()
    mapping: str = "none"
    type_changes: frozenset[tuple[str, str]] = frozenset()
    formats: frozenset[str] = frozenset()
