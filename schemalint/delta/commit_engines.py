"""Which engines wrote a table: ``engineInfo`` of its commits.

The log proposes and warns; it decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from schemalint.delta.engine import DATABRICKS, DELTA_SPARK, FABRIC, Engine, Engines, parse_engine

# Measured: ``Apache-Spark/4.2.0 Delta-Lake/4.4.0``. Not measured: ``Databricks-Runtime/16.4.x-scala2.12``;
# where it has another form, nothing is proposed and nobody is warned.
_NAMES: Final = (
    (DATABRICKS, re.compile(r"\bDatabricks-Runtime/(\d{1,3}\.\d{1,3})\b")),
    (DELTA_SPARK, re.compile(r"\bDelta-Lake/(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)\b")),
)
# They rewrite or delete what others wrote, and add no row: whoever runs them is no writer.
_MAINTENANCE: Final = ("OPTIMIZE", "VACUUM")
WHO_WROTE: Final = "who wrote in the last 30 days, by the newest commits of each table"
"""What `init` says of the writers, for which it reads commits before the newest checkpoint too."""
WHO_WROTE_NEWEST: Final = "who wrote in the last 30 days, by the commits since the newest checkpoints"
"""What `pull` says of them: it reads no commit for that."""

_RECENT: Final = 30 * 24 * 60 * 60 * 1000
"""30 days in milliseconds."""


def is_of_writer(operation: str | None) -> bool:
    """Whether a commit of this operation creates, alters or fills a table."""
    return operation is None or not operation.upper().startswith(_MAINTENANCE)


def engine_of_commit(engine_info: str) -> Engine | None:
    """Return the engine that ``engineInfo`` names; None for other writers, such as delta-rs."""
    for name, pattern in _NAMES:
        if match := pattern.search(engine_info):
            try:
                return parse_engine(f"{name} {match[1]}")
            except ValueError:
                return None
    return None


def recent_since(now: int) -> int:
    """Return since when a commit is recent; both in milliseconds since the epoch."""
    return now - _RECENT


def recent_writers(tables: Iterable[Mapping[str, int]], now: int) -> tuple[Engine, ...]:
    """Return the engines that wrote some tables in the last 30 days, in order.

    Args:
        tables: `LiveTable.writers` of each table.
        now: The time, in milliseconds since the epoch.
    """
    recent = {info for writers in tables for info, at in writers.items() if at >= recent_since(now)}
    return tuple(sorted({engine for info in recent if (engine := engine_of_commit(info))}, key=_order))


def undeclared_writers(declared: Iterable[Engines], recent: Iterable[Engine]) -> tuple[Engine, ...]:
    """Return the engines among the recent writers that nobody declared; none if nobody declared any."""
    writers = tuple(engine for engines in declared for engine in engines.all)
    if not writers:
        return ()
    return tuple(engine for engine in recent if not any(_is_same(own, engine) for own in writers))


def warning(
    target: str, declared: Iterable[Engines], tables: Iterable[Mapping[str, int]], now: int
) -> str | None:
    """Return what to say of a target of which the log knows more writers; None if it knows no more.

    Args:
        target: The name of the target.
        declared: The engines that the configuration names for it.
        tables: `LiveTable.writers` of its tables.
        now: The time, in milliseconds since the epoch.
    """
    missing = undeclared_writers(declared, recent_writers(tables, now))
    if not missing:
        return None
    names = " and ".join(map(str, missing))
    return f"{names} wrote tables of target {target} in the last 30 days, and no writers of it name that"


def as_setting(engines: Iterable[Engine]) -> str:
    """Return the line of the configuration that declares these writers."""
    names = ", ".join(f'"{engine}"' for engine in engines)
    return f"writers = [{names}]"


def _is_same(declared: Engine, writer: Engine) -> bool:
    """Whether a declared engine is the writer, as far as both tell: ``3.3`` is any release of that line."""
    if declared.name == FABRIC:  # it signs as the Delta that it is made from
        return writer.name == DELTA_SPARK and (declared.delta or ())[:2] == writer.release[:2]
    parts = len(declared.version.split("."))
    return declared.name == writer.name and writer.version.split(".")[:parts] == declared.version.split(".")


def _order(engine: Engine) -> tuple[str, tuple[int, ...]]:
    return engine.name, engine.release
