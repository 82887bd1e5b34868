"""Rule ACME001: names in snake_case."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_SNAKE_CASE = re.compile(r"[a-z][a-z0-9_]*")


@rule("ACME001", on=FieldAdded, severity=Severity.WARNING)
def snake_case_column(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:  # noqa: ARG001
    """The name of a new column is not in snake_case.

    ## What it does

    Checks the names of new columns and nested fields. Existing names may stay.

    ## Why is this bad?

    Our jobs derive the names of columns from the names of events, in snake_case.

    ## What to do

    Rename the column to snake_case before it has data.
    """
    name = change.field.name
    if not _SNAKE_CASE.fullmatch(name):
        yield Problem(f"{format_path(change.path)} is not in snake_case", help=f"call it {_snake_case(name)}")


def _snake_case(name: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()
