"""Checks of all rows of a recorded table, in one test that names the rows that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


def check_each(check: Callable[[T], None], questions: Iterable[T]) -> None:
    """Check all questions, and fail with those whose check fails, and what differs.

    A test for each of thousands of rows costs more than the rows.

    Raises:
        Exception: A check raised something else than an assertion; its notes name the question.
    """
    asked = list(questions)
    assert asked, "no questions: the check is of nothing"
    differing = []
    for question in asked:
        try:
            check(question)
        except AssertionError as error:
            differing.append(f"{question}: {error}")
        except Exception as error:
            error.add_note(f"the question: {question}")
            raise
    if differing:
        pytest.fail(f"{len(differing)} of {len(asked)} differ:\n" + "\n".join(differing), pytrace=False)
