"""How many commits a fill takes, and of how many bytes each."""

from __future__ import annotations

from math import ceil
from typing import Final

FILL_COMMIT_BYTES: Final = 8 << 30
"""How many bytes a commit of a fill rewrites at most, if it can: a long one meets those of other writers."""

MOST_FILL_COMMITS: Final = 10_000
"""How many commits a run makes at most."""

_MOST_SHARES: Final = 1 << 15


def hashed_shares(size: int, most: int) -> tuple[int, int]:
    """Return into how many shares the hash of a row divides a table, and how many make one commit.

    The number is a power of two: as a table grows its shares are halved, not divided anew, so that a budget
    reaches all of them.

    Args:
        size: The bytes of the data files.
        most: The bytes of a commit.
    """
    if size <= most:
        return 1, 1
    number = 4
    while number * most < 4 * size and number < _MOST_SHARES:
        number *= 2
    return number, max(1, most * number // size)


def commits_of(size: int) -> int:
    """Return how many commits fill all rows of a table that the hash of its rows divides."""
    number, together = hashed_shares(size, FILL_COMMIT_BYTES)
    return min(ceil(number / together), MOST_FILL_COMMITS)
