"""Versions of clients, and ranges of them.

A range is closed below and open above. A version stands for all releases that begin with it: ``1.6`` for
1.6.0 and 1.6.6, ``476`` for this release alone.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from schemalint.base.values import frozen

Version: TypeAlias = tuple[int, ...]

_NUMBER: Final = r"\d{1,9}(?:\.\d{1,9}){0,5}"
_PART: Final = re.compile(rf"\s*(>=|<=|>|<|==|)\s*({_NUMBER})(?:\.x| LTS)?\s*")
MAX_PARTS: Final = 4


@frozen
class VersionRange:
    """The versions from `low`, included, to `high`, excluded; None is no limit."""

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
    parts = text.split(",", MAX_PARTS)
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
    return _short((*numbers,)), _short((*numbers[:-1], numbers[-1] + 1))


def _short(numbers: Version) -> Version:
    while numbers and not numbers[-1]:
        numbers = numbers[:-1]
    return numbers
