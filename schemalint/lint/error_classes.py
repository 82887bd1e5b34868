"""Errors of Delta, Spark and other clients: causes and advice. Only `explain` loads these tables."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from schemalint import clients
from schemalint.base.values import frozen

_TABLE: Final = Path(__file__).with_suffix(".toml")
_MESSAGES: Final = Path(clients.__file__).with_name("messages.toml")


@frozen
class ErrorAdvice:
    """What schemalint knows about some errors that have the same cause.

    Attributes:
        errors: The error classes; none for the messages of clients that have no classes.
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

    @property
    def name(self) -> str:
        """The first error class, or the first message."""
        return (*self.errors, *self.texts)[0]


@cache
def error_advice() -> tuple[ErrorAdvice, ...]:
    """Return both tables: error classes in their order, then the messages of clients."""
    table = _read(_TABLE)
    elsewhere = (
        ErrorAdvice(tuple(row["errors"]), f"This error is about {_one_line(row['about'])}, not a schema.")
        for row in table["elsewhere"]
    )
    return (*map(_advice, table["known"]), *elsewhere, *client_messages())


@cache
def client_messages() -> tuple[ErrorAdvice, ...]:
    """Return the messages of clients, in the order of their table."""
    return tuple(map(_advice, _read(_MESSAGES)["message"]))


def _read(table: Path) -> dict[str, Any]:
    return tomllib.loads(table.read_text(encoding="utf-8"))


def _advice(row: Mapping[str, Any]) -> ErrorAdvice:
    return ErrorAdvice(
        tuple(row.get("errors", ())),
        _one_line(row["cause"]),
        _one_line(row["remedy"]),
        tuple(row["rules"]),
        tuple(row.get("texts", ())),
    )


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
