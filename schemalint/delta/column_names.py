"""Delta's restrictions on column names, besides uniqueness ignoring case.

Names are compared in lower case, not by Unicode's case folding: straße and strasse are two columns in Delta
(measured on Delta 4.4.0).
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

INVALID_CHARACTERS: Final = frozenset(" ,;{}()\n\t=")
"""Characters that Delta refuses in column names without column mapping, because they break Parquet's schema
text (``SchemaUtils.checkFieldNames``). Measured on Delta 4.4.0: Delta accepts all other characters, including
a dot, a quote and a carriage return, and even an empty name."""

CHANGE_DATA_COLUMNS: Final = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
"""Columns that the change data feed adds (PROTOCOL.md, "Change Data Files"). Delta reserves only this exact
spelling: it accepts a column ``_CHANGE_TYPE`` (measured on Delta 4.4.0)."""

_WITH_VECTORS: Final = "with deletion vectors DELETE, UPDATE and MERGE fail"
INTERNAL_COLUMNS: Final[Mapping[str, str]] = {
    "_metadata": f"Spark adds to each table: {_WITH_VECTORS}",
    "_tmp_metadata_row_index": f"Spark adds when it reads the positions of rows: {_WITH_VECTORS}",
    "__delta_internal_is_row_deleted": f"Delta adds when it reads deletion vectors: {_WITH_VECTORS}",
    "deletionvectorid": f"Delta adds when it looks for rows: {_WITH_VECTORS}",
    "_source_row_present_": "Delta adds in MERGE, which fails",
    "_target_row_present_": "Delta adds in MERGE, which fails",
    "_row_dropped_": "Delta adds in MERGE, which fails",
}
"""Who adds a column of this name, in lower case, and what fails if the table has one.

Measured on Delta 4.4.0, beside names such as ``__delta_internal_row_index`` and ``filePath`` that do no harm.
"""

UNREADABLE_COLUMNS: Final[Mapping[str, str]] = {
    "_tmp_metadata_row_index": "each query reads the positions of the rows in place of its values, or fails",
    "__delta_internal_is_row_deleted": "each query of the table fails",
}
"""What happens to a column of exactly this name in a file, in this case (measured on Delta 4.4.0)."""

_COMPARED: Final = 32
"""As many names are compared one by one."""


def invalid_characters(name: str) -> str:
    """Return the characters of a name that require column mapping, each once, in order of appearance."""
    if INVALID_CHARACTERS.isdisjoint(name):  # as most names
        return ""
    return "".join(dict.fromkeys(character for character in name if character in INVALID_CHARACTERS))


def nearest_name(name: str, candidates: Iterable[str]) -> str | None:
    """Return the known name that is most similar, ignoring case; None if no known name is similar.

    Of many known names, only those with the longest common start or end are compared: each finding about a
    wide table may ask.
    """
    by_lower_case, forwards, backwards = _sorted(frozenset(candidates))
    lower, near = name.lower(), forwards
    if len(forwards) > _COMPARED:
        ends = _around(backwards, lower[::-1])
        near = sorted({*_around(forwards, lower), *(end[::-1] for end in ends)})
    nearest = difflib.get_close_matches(lower, near, n=1, cutoff=0.6)
    if nearest:
        return by_lower_case[nearest[0]]
    return None


@lru_cache(maxsize=32)
def _sorted(names: frozenset[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Return the names by lower case, and the names in lower case: sorted, and sorted when reversed."""
    by_lower_case = {name.lower(): name for name in sorted(names)}
    return by_lower_case, sorted(by_lower_case), sorted(name[::-1] for name in by_lower_case)


def _around(names: list[str], name: str) -> list[str]:
    index, half = bisect_left(names, name), _COMPARED // 4
    return names[max(index - half, 0) : index + half]
