"""Samples of questions to the engine, so that each run of the tests asks some of each kind."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, TypeVar

from schemalint.values import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

T = TypeVar("T")


def some_of_each(values: Iterable[T], kind: Callable[[T], Hashable], size: int) -> list[T]:
    """Return so many values of each kind, chosen by ``SCHEMALINT_SEED``, in their order.

    With ``SCHEMALINT_ENGINE_ALL=1``, as `make engine` has it, return all.
    """
    known = list(values)
    if os.environ.get("SCHEMALINT_ENGINE_ALL") == "1":
        return known
    chosen = random.Random(os.environ.get("SCHEMALINT_SEED", "1"))  # noqa: S311 (no secret is made of it)
    numbers = grouped((kind(value), number) for number, value in enumerate(known))
    kept = [chosen.sample(list(same), min(size, len(same))) for same in numbers.values()]
    return [known[number] for number in sorted(number for same in kept for number in same)]
