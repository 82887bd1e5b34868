"""What a session of Spark says of an expression that it parsed and analysed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from schemalint.base.values import frozen
from schemalint.delta.datatype import DataType, Struct


@frozen
class SparkAnswer:
    """What Spark says of one expression.

    Attributes:
        error: The error class, if Spark refuses it; empty for an error without a class, None if it does not.
        what: What Spark says then, on one line.
        type: The type of the value; None if Spark refuses the expression, or schemalint lacks the type.
    """

    error: str | None = None
    what: str = ""
    type: DataType | None = None


AskSpark: TypeAlias = Callable[[Struct, str], SparkAnswer | None]
"""Asks a session about an expression over a row of these columns; None if it was not sent."""
