"""Count what a computation does, instead of its seconds."""

from __future__ import annotations

import cProfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_GROWTH: Final = 2.1
"""Twice the input may take this many times the calls; what is done once per run makes it less than twice."""


def calls(function: Callable[[], object]) -> int:
    """Return the number of calls of functions, built-in ones included, and of steps of generators."""
    profile = cProfile.Profile()
    profile.runcall(function)
    return sum(entry.callcount for entry in profile.getstats())


def assert_linear(run: Callable[[int], object], number: int) -> None:
    """Assert that the work grows as the input does.

    Args:
        run: Does the work for an input of a size; its first run fills caches, and does not count.
        number: The size of the smaller input; the larger one is twice as large.
    """
    run(2)
    smaller, larger = (calls(lambda size=size: run(size)) for size in (number, 2 * number))  # type: ignore[misc]
    assert larger <= MOST_GROWTH * smaller, f"{smaller:,} calls for {number}, {larger:,} for twice as many"
