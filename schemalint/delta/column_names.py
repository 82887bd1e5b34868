"""Delta's restrictions on column names, besides uniqueness ignoring case."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

INVALID_CHARACTERS: Final = " ,;{}()\n\t="
"""Characters that Delta refuses in column names without column mapping, because they break Parquet's schema
text (``SchemaUtils.checkFieldNames``). Measured on Delta 4.4.0: Delta accepts all other characters, including
a dot, a quote and a carriage return, and even an empty name."""

CHANGE_DATA_COLUMNS: Final = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
"""Columns that the change data feed adds (PROTOCOL.md, "Change Data Files"). Delta reserves only this exact
spelling: it accepts a column ``_CHANGE_TYPE`` (measured on Delta 4.4.0)."""


def invalid_characters(name: str) -> str:
    """Return the characters of a name that require column mapping, each once, in order of appearance."""
    return "".join(dict.fromkeys(character for character in name if character in INVALID_CHARACTERS))


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar, ignoring case; None if no known name is similar."""
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    nearest = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.6)
    return by_lower_case[nearest[0]] if nearest else None
