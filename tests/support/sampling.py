"""Samples of questions to the engine: `make test` asks some of each kind, and other targets ask all."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, TypeVar

import pytest

from schemalint.base.values import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping

    from _pytest.mark.structures import ParameterSet

T = TypeVar("T")


def left_to(
    mark: pytest.MarkDecorator, values: Mapping[str, T], *, except_for: Collection[str]
) -> list[ParameterSet]:
    """Return all values as parameters; those that `make test` does not need have the mark of another target.

    A tuple is the values of several parameters.

    Raises:
        KeyError: One of the exceptions is no value.
    """
    unmarked = {name: values[name] for name in except_for}
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            id=name,
            marks=() if name in unmarked else mark,
        )
        for name, value in values.items()
    ]


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
