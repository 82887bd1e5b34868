"""ACME001."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_SNAKE_CASE = re.compile(r"[a-z][a-z0-9_]*")


@rule("ACME001", on=FieldAdded, severity=Severity.WARNING)
def snake_case_column(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:  # noqa: ARG001
    """A new column is not called in snake_case.

    ## What it does

    Looks at the names of new columns and nested fields. Those that are there already may stay.

    ## Why is this bad?

    Our jobs read columns by names that are made from the names of events.

    ## What to do

    Call it in snake_case, before the first row is written.
    """
    name = change.field.name
    if not _SNAKE_CASE.fullmatch(name):
        yield Problem(f"{format_path(change.path)} is not in snake_case", help=f"call it {_snake_case(name)}")


def _snake_case(name: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()
