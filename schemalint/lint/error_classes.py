"""Error classes of Delta and Spark: what causes each, and what to do. Only `explain` loads this table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from schemalint.values import frozen

_TABLE: Final = Path(__file__).with_suffix(".toml")


@frozen
class ErrorAdvice:
    """What schemalint knows about some error classes that have the same cause.

    Attributes:
        errors: The error classes.
        cause: What causes these errors.
        remedy: What to do; empty if the errors do not concern schemas, and schemalint has no advice.
        rules: Codes of rules about the same cause, beside those that claim one of the classes themselves.
        texts: Messages that say the same without an error class, or pieces of them.
    """

    errors: tuple[str, ...]
    cause: str
    remedy: str = ""
    rules: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


@cache
def error_advice() -> tuple[ErrorAdvice, ...]:
    """Return the whole table, in its order."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    known = (
        ErrorAdvice(
            tuple(row["errors"]),
            _one_line(row["cause"]),
            _one_line(row["remedy"]),
            tuple(row["rules"]),
            tuple(row.get("texts", ())),
        )
        for row in table["known"]
    )
    elsewhere = (
        ErrorAdvice(tuple(row["errors"]), f"This error is about {_one_line(row['about'])}, not a schema.")
        for row in table["elsewhere"]
    )
    return (*known, *elsewhere)


@cache
def advice_by_class() -> Mapping[str, ErrorAdvice]:
    """Return the rows of the table by error class."""
    return {error: advice for advice in error_advice() for error in advice.errors}


def find_advice(error: str) -> ErrorAdvice | None:
    """Return the row of an error class; that of the main class if it has none for a sub-class."""
    rows = advice_by_class()
    return rows.get(error) or rows.get(error.partition(".")[0])


def _one_line(text: str) -> str:
    return " ".join(text.split())
