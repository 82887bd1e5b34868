"""Which target runs a test that asks the engine: `make test`, or one of those that take longer.

`make test` asks once per mechanism: what is marked ``each_time``. What else is marked ``spark`` belongs to
the target of its folder, unless it has the mark of another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

TARGETS: Final[Mapping[str, str]] = {
    "answers": "answers",
    "apply": "apply",
    "dbt": "dbt",
    "demo": "tour",
    "engine": "engine",
    "kill": "kill",
    "older": "apply-engines",
    "wide": "wide",
}
"""The marks of the tests that `make test` leaves out, and the targets of the Makefile that run them."""

_OF_FOLDER: Final[Mapping[str, str]] = {
    "catalog": "apply",
    "docs": "apply",
    "integration": "apply",
    "made_files": "dbt",
    "spark": "apply",
}
_OF_OTHER_FOLDERS: Final = "answers"

COLLECTED: Final = pytest.StashKey[list[pytest.Item]]()
"""All tests that a run has collected, before it selects some by their marks."""


def mark_target(item: pytest.Item) -> None:
    """Give a test that asks the engine the mark of its target, or none if it is for each time.

    Raises:
        UsageError: The test would run in `make test` and in a target, or in two targets.
    """
    marks = {mark.name for mark in item.iter_markers()} & TARGETS.keys()
    if is_for_each_time(item):
        marks.add("each_time")
    if len(marks) > 1:
        raise pytest.UsageError(f"{item.nodeid} has marks of several targets: {', '.join(sorted(marks))}")
    if not marks:
        folder = item.path.relative_to(item.config.rootpath / "tests").parts[0]
        item.add_marker(_OF_FOLDER.get(folder, _OF_OTHER_FOLDERS))


def is_for_each_time(item: pytest.Item) -> bool:
    """Whether `make test` runs the test: all of its parameters, or those whose ids the mark names."""
    return any(not mark.args or parameters(item) in mark.args for mark in item.iter_markers("each_time"))


def parameters(item: pytest.Item) -> str:
    """Return the id of a test's parameters, empty without any."""
    call = getattr(item, "callspec", None)
    return str(call.id) if call is not None else ""
