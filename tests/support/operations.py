"""Count what a computation does, instead of its seconds."""

from __future__ import annotations

import cProfile
import functools
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

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
        run: Does the work for an input of a size.
        number: The size of the smaller input; the larger one is twice as large.
    """

    def count(size: int) -> int:
        _clear_caches()  # another test may have read the texts of one size
        run(2)  # what is done once per process does not count
        return calls(lambda: run(size))

    smaller, larger = count(number), count(2 * number)
    assert larger <= MOST_GROWTH * smaller, f"{smaller:,} calls for {number}, {larger:,} for twice as many"


def _clear_caches() -> None:
    modules = [
        module for name, module in sys.modules.items() if name.partition(".")[0].startswith("schemalint")
    ]
    values = {id(value): value for module in modules for value in _members(module)}
    for value in values.values():
        if isinstance(value, functools._lru_cache_wrapper):  # noqa: SLF001
            value.cache_clear()


def _members(module: ModuleType) -> Iterator[object]:
    """Yield what a module and its classes hold."""
    for value in tuple(vars(module).values()):
        yield value
        if isinstance(value, type):
            yield from vars(value).values()
