"""Text helpers that several reports share."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from schemalint.model.finding import Severity

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Sequence

MOST_SENTENCES: Final = 5
"""Most reasons or locations printed for one statement, which may alter thousands of columns."""

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))

COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def styled(text: str, *, color: bool, fg: str | None = None, bold: bool = False) -> str:
    """Style the text for a terminal; without ``color`` return it unchanged."""
    return click.style(text, fg=fg, bold=bold or None) if color and text else text


def separated(blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of blocks, with an empty line between them."""
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from block


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: ``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does: ``rename, drop and type_change``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def first_few(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the first sentences, then the number of the others: ``and 1,995 more``."""
    yield from islice(sentences, MOST_SENTENCES)
    if len(sentences) > MOST_SENTENCES:
        yield f"and {len(sentences) - MOST_SENTENCES:,} more"


def as_of_text(read_at: dt.datetime, now: dt.datetime) -> str:
    """Describe the age of a file of live tables: ``live tables as of …, 3 hours ago``."""
    return f"live tables as of {read_at:%Y-%m-%d %H:%M:%S %Z}, {_age((now - read_at).total_seconds())} ago"


def _age(seconds: float) -> str:
    """Format a duration in its largest unit: ``3 hours``."""
    for length, unit in _UNITS:
        if (number := int(seconds // length)) >= 1:
            return f"{number} {unit}{'s' if number > 1 else ''}"
    return "less than a second"
