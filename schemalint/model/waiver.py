"""Exceptions: findings that somebody approved, with a reason and an end, and where that is written."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from schemalint.delta.path import Path, format_path
from schemalint.errors import Location
from schemalint.values import frozen

Via = Literal["rewrite"]
"""How a table gets what Delta cannot do in place: ``rewrite`` is done outside of schemalint."""


WaiverFault = Literal["expired", "expires soon", "unused", "without effect"]
"""What is wrong with an exception."""


@frozen
class Waiver:
    """An approved violation of a rule: the rule, its object and its change, with reason and expiry.

    Attributes:
        rule: The code or the name of the rule.
        object: The kind of an object without a name: ``table``, ``partitioning`` or ``clustering``.
        old: The finding's value before the change (``from``).
        new: The finding's declared value (``to``).
        via: The way out, for a change that Delta cannot make.
        approved_by: Who approved it: a claim of whoever wrote it.
        expires: The last day on which it counts (ISO date); a text that is no date counts as past.
    """

    rule: str
    reason: str
    column: Path | None = None
    property: str | None = None
    constraint: str | None = None
    feature: str | None = None
    consumer: str | None = None
    object: str | None = None
    old: str | None = None
    new: str | None = None
    via: Via | None = None
    approved_by: str | None = None
    expires: str | None = None


class WaiverSource(Enum):
    """Where an exception is written; the value is its name in ``exceptions.accept``."""

    CONTRACT = "contract"
    FILE = "file"
    INLINE = "inline"


NAMED: Final = ("property", "constraint", "feature", "consumer")
"""The kinds of objects with names, beside columns: each is a key of an exception, and a field of `Waiver`."""

IN_CONFIGURATION: Final = -1
"""The index of an exception that the configuration has, under ``removed``."""

IN_BASELINE: Final = -2
"""The index of an exception that is an entry of the baseline."""

SOURCES: Final = tuple(source.value for source in WaiverSource)


def named_object(waiver: Waiver) -> tuple[str, str] | None:
    """Return the kind and the name of the object of an exception; None if the kind is none of `NAMED`."""
    found = ((kind, getattr(waiver, kind)) for kind in NAMED)
    return next(((kind, name) for kind, name in found if name is not None), None)


def subject_of(waiver: Waiver) -> str:
    """Return the rule, the object and the change of an exception, for messages."""
    about = f"the {waiver.object}" if waiver.object else "no object"
    if waiver.column:
        about = f"column {format_path(waiver.column)}"
    elif named := named_object(waiver):
        about = " ".join(named)
    change = " ".join(
        f"{word} {value}" for word, value in (("from", waiver.old), ("to", waiver.new)) if value
    )
    return " ".join(filter(None, (waiver.rule, "for", about, change)))


@frozen
class WrittenWaiver:
    """An exception where it is written.

    Attributes:
        table: The table that it is for.
        added: Whether the change under review adds it, so that nobody but its author may have approved it.
        index: Its place in the list of its file or contract; for an inline ignore the line that it is for, 0
            for the whole file.
        document: The index of its YAML document in the file.
        void: Why it does not count in this run; None if it does.
        cut: For an inline ignore the text to remove with it: the offsets of its start and its end.
    """

    waiver: Waiver
    table: str
    source: WaiverSource
    location: Location
    added: bool = False
    index: int = 0
    document: int = 0
    void: str | None = None
    cut: tuple[int, int] | None = None

    @property
    def title(self) -> str:
        """The exception, for messages."""
        if self.source is WaiverSource.INLINE:
            return f"the ignore of {self.waiver.rule}" if self.waiver.rule else "the ignore of no rule"
        what = "entry of the baseline" if self.index == IN_BASELINE else "exception"
        return f"the {what} of {subject_of(self.waiver)}"

    @property
    def claim(self) -> str:
        """Who approved it, as far as its text says: nothing proves it."""
        name = self.waiver.approved_by
        who = f"approval claimed for {name}" if name else "approval claimed"
        return f"{who} by this change" if self.added else who
