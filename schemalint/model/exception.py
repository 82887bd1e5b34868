"""Exceptions: findings that somebody approved, with a reason and an end, and where that is written."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from schemalint.base.errors import Location
from schemalint.base.values import frozen
from schemalint.delta.path import Path, format_path

Via = Literal["rewrite"]
"""How a table gets what Delta cannot do in place: ``rewrite`` is done outside of schemalint."""


ExceptionFault = Literal["expired", "expires soon", "unused", "without effect"]
"""What is wrong with an exception."""


@frozen
class RuleException:
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


class ExceptionSource(Enum):
    """Where an exception is written; the value is its name in ``exceptions.accept``."""

    CONTRACT = "contract"
    FILE = "file"


NAMED: Final = ("property", "constraint", "feature", "consumer")
"""The kinds of objects with names, beside columns: each is a key and a field of an exception."""

IN_BASELINE: Final = -1
"""The index of an exception that is an entry of the baseline."""

SOURCES: Final = tuple(source.value for source in ExceptionSource)


def named_object(exception: RuleException) -> tuple[str, str] | None:
    """Return the kind and the name of the object of an exception; None if the kind is none of `NAMED`."""
    objects = ((kind, getattr(exception, kind)) for kind in NAMED)
    return next(((kind, name) for kind, name in objects if name is not None), None)


def subject_of(exception: RuleException) -> str:
    """Return the rule, the object and the change of an exception, for messages."""
    about = f"the {exception.object}" if exception.object else "no object"
    if exception.column:
        about = f"column {format_path(exception.column)}"
    elif part := named_object(exception):
        about = " ".join(part)
    change = " ".join(
        f"{word} {value}" for word, value in (("from", exception.old), ("to", exception.new)) if value
    )
    return " ".join(filter(None, (exception.rule, "for", about, change)))


@frozen
class WrittenException:
    """An exception where it is written.

    Attributes:
        table: The table that it is for.
        added: Whether the change under review adds it, so that nobody but its author may have approved it.
        index: Its place in the list of its file or contract.
        void: Why it does not count in this run; None if it does.
    """

    exception: RuleException
    table: str
    source: ExceptionSource
    location: Location
    added: bool = False
    index: int = 0
    void: str | None = None

    @property
    def title(self) -> str:
        """The exception, for messages."""
        what = "entry of the baseline" if self.index == IN_BASELINE else "exception"
        return f"the {what} of {subject_of(self.exception)}"

    @property
    def claim(self) -> str:
        """Who approved it, as far as its text says: nothing proves it."""
        name = self.exception.approved_by
        who = f"approval claimed for {name}" if name else "approval claimed"
        if self.added:
            return f"{who} by this change"
        return who


@frozen
class ExceptionsFile:
    """The file of exceptions that an entry can be added to.

    Attributes:
        name: Its path in the repository.
        entries: How many entries it has; None if there is no file.
    """

    name: str = "exceptions.yaml"
    entries: int | None = None
