"""Whether Spark reads a text as a date or a timestamp (SparkDateTimeUtils.scala; measured on Spark 4.2.0)."""

from __future__ import annotations

import calendar
import re
from typing import Final

_DATE: Final = r"[+-]?(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?"
_MONTHS: Final = 12
_WORDS: Final = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})
"""What literals may say in place of a date; a cast reads no words."""


def is_calendar_date(text: str) -> bool:
    """Whether a text is a year, a month or a day; what follows the day does not matter."""
    date = re.fullmatch(_DATE, text.strip(), re.ASCII)
    if date is None:
        return False
    year, month, day = (int(part or 1) for part in date.groups())
    return 1 <= month <= _MONTHS and 1 <= day <= calendar.monthrange(year, month)[1]


def is_date(text: str) -> bool:
    """Whether ``date '…'`` is a literal with this text."""
    return _begins_with_a_word(text) or is_calendar_date(text)


def is_timestamp(text: str) -> bool:
    """Whether ``timestamp '…'`` may be a literal with this text: times of the day are not looked at."""
    has_time_only = ":" in text and re.match(r"\s*[+-]?\d{4}", text, re.ASCII) is None
    return _begins_with_a_word(text) or has_time_only or is_calendar_date(text)


def _begins_with_a_word(text: str) -> bool:
    return (text.lower().split() or [""])[0] in _WORDS
