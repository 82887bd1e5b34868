"""What Delta asks of the names of columns, beside being unique ignoring case."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

INVALID_CHARACTERS: Final = " ,;{}()\n\t="
"""Characters that no name may hold on a table without column mapping: Parquet's own schema text could not be
read with them (``SchemaUtils.checkFieldNames``). Measured on Delta 4.4.0: these and no others, so that a dot,
a quote, a carriage return and even an empty name are fine."""

CHANGE_DATA_COLUMNS: Final = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
"""The columns that the change data feed adds (PROTOCOL.md, "Change Data Files"). Delta compares them with
regard to case: ``_CHANGE_TYPE`` is taken (measured on Delta 4.4.0)."""


def invalid_characters(name: str) -> str:
    """The characters of a name that need column mapping, each once, in their order."""
    return "".join(dict.fromkeys(character for character in name if character in INVALID_CHARACTERS))


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant, spelled as it is known; None if none is near. Case does not count."""
    spelled = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.6)
    return spelled[near[0]] if near else None
