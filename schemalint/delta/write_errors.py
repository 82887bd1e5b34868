"""The classes of the errors with which Delta refuses writes; see `schemalint.delta.write_effect`."""

from __future__ import annotations

from typing import Final

from schemalint.delta.engine import Release, delta_spark
from schemalint.delta.engine_answers import error_of

MISMATCH: Final = "DELTA_METADATA_MISMATCH"
DUPLICATE_IN_DATA: Final = "DELTA_DUPLICATE_COLUMNS_FOUND.DATA"
DUPLICATE_IN_QUERY: Final = "DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA"
DUPLICATE_IN_NEW_SCHEMA: Final = "DELTA_DUPLICATE_COLUMNS_FOUND.METADATA_UPDATE"
AMBIGUOUS: Final = "AMBIGUOUS_REFERENCE"
ALL_PARTITIONS: Final = "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION"
NO_PARTITION: Final = "DELTA_PARTITION_COLUMN_NOT_FOUND"
NO_DATA_COLUMN: Final = "DELTA_NON_PARTITION_COLUMN_ABSENT"
NO_VALUE: Final = "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"
NULL_IN_ROW: Final = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
UNRESOLVED: Final = "DELTA_MERGE_UNRESOLVED_EXPRESSION"

_UNRESOLVED_IS_INTERNAL: Final = (4,)
"""The first release whose MERGE fails with an internal error for a column that the source lacks."""

_MERGE_FINDS_DUPLICATES: Final = (4, 4)
"""The first release whose MERGE refuses a name in two cases by that name, where it may change the schema."""


def class_on(release: Release, error: str) -> str:
    """Return the class of an error on a release, by its name on the newest one."""
    if error == UNRESOLVED and release >= _UNRESOLVED_IS_INTERNAL:
        return "INTERNAL_ERROR"
    return error_of(delta_spark(release), error) or error


def duplicate_in_merge(release: Release, *, merges: bool) -> str:
    """Return how a MERGE refuses a source with a name in two cases."""
    if merges and release >= _MERGE_FINDS_DUPLICATES:
        return DUPLICATE_IN_DATA
    return AMBIGUOUS
