"""The engines that write Delta tables, as far as their verdicts differ."""

from __future__ import annotations

import re
from typing import Final

from schemalint.values import frozen

DELTA_SPARK: Final = "delta-spark"
DATABRICKS: Final = "databricks"

_TEXT: Final = rf"({DELTA_SPARK}|{DATABRICKS}) (\d+(?:\.\d+)*)"


@frozen
class Engine:
    """An engine with its version.

    Attributes:
        name: ``delta-spark`` for open-source Delta on Spark, or ``databricks``.
        version: The version as written, such as ``4.4.0``.
    """

    name: str
    version: str


def parse_engine(text: str) -> Engine | None:
    """Return the engine in a text such as ``delta-spark 4.4.0``; None if the text names none."""
    match = re.fullmatch(_TEXT, text)
    return Engine(match[1], match[2]) if match else None
