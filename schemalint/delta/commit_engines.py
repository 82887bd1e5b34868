"""Who wrote a table, as ``engineInfo`` of its commits says: it proposes and warns, and decides nothing.

Measured: ``Apache-Spark/4.2.0 Delta-Lake/4.4.0``. Not measured: ``Databricks-Runtime/16.4.x-scala2.12``;
``Apache-Spark/3.2.1-amzn-0 Delta-Lake/2.0.0`` of Amazon; a fourth number in builds of Microsoft, as in
``Apache-Spark/3.5.1.5.4.20240407-1 Delta-Lake/3.2.0.3``. Where one has another form, nothing is proposed and
nobody is warned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Final

from schemalint.delta.engine import (
    DATABRICKS,
    DELTA_SPARK,
    FABRIC,
    FABRIC_RUNTIMES,
    Engine,
    Engines,
    parse_engine,
    release_of,
)

_FABRIC_BUILD: Final = re.compile(r"\bDelta-Lake/(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d")
_NAMES: Final = (
    (DATABRICKS, re.compile(r"\bDatabricks-Runtime/(\d{1,3}\.\d{1,3})\b")),
    (DELTA_SPARK, re.compile(r"\bDelta-Lake/(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)\b")),
)
"""How engines sign, apart from the builds of Fabric."""

_CLIENTS: Final = (
    ("deltalake", re.compile(r"delta-rs:py-(\d{1,3}\.\d{1,3}\.\d{1,3})")),
    ("deltalake", re.compile(r"delta-rs[:.]()")),
    ("delta-kernel-java", re.compile(r"Kernel-(\d{1,3}\.\d{1,3}\.\d{1,3})")),
)
"""How clients of the client table sign that are no engine; a version of a library is none of a client."""

# They rewrite or delete what others wrote, and add no row: whoever runs them is no writer.
_MAINTENANCE: Final = ("OPTIMIZE", "VACUUM")
WHO_WROTE: Final = "who wrote in the last 30 days, by the newest commits of each table"
"""What `init` says of the writers, for which it reads commits before the newest checkpoint too."""
WHO_WROTE_NEWEST: Final = "who wrote in the last 30 days, by the commits since the newest checkpoints"
"""What `pull` says of the writers: it reads no commit for that."""

_RECENT: Final = 30 * 24 * 60 * 60 * 1000
"""30 days in milliseconds."""


def is_of_writer(operation: str | None) -> bool:
    """Whether a commit of this operation creates, alters or fills a table."""
    return operation is None or not operation.upper().startswith(_MAINTENANCE)


def engine_of_commit(engine_info: str) -> Engine | None:
    """Return the engine that ``engineInfo`` names; None for other writers, such as delta-rs."""
    if (match := _FABRIC_BUILD.search(engine_info)) and (runtime := _fabric_of(match[1])):
        return Engine(FABRIC, runtime)
    for name, pattern in _NAMES:
        if match := pattern.search(engine_info):
            try:
                return parse_engine(f"{name} {match[1]}")
            except ValueError:
                return None
    return None


def _fabric_of(delta: str) -> str | None:
    """Return the newest runtime of Fabric that is made from a line of Delta; None if none is."""
    line = release_of(delta)[:2]
    runtimes = [runtime for runtime, version in FABRIC_RUNTIMES.items() if release_of(version)[:2] == line]
    return max(runtimes, key=release_of, default=None)


def client_of_commit(engine_info: str) -> tuple[str, str] | None:
    """Return the client that ``engineInfo`` names, by its name in the client table, and its version.

    The version is empty if the text does not say it. None for engines, and for clients that sign otherwise.
    """
    for name, pattern in _CLIENTS:
        if match := pattern.match(engine_info):
            return name, match[1]
    return None


def recent_clients(writers: Mapping[str, int], now: int) -> tuple[tuple[str, str], ...]:
    """Return the clients that wrote a table in the last 30 days, in order: see `client_of_commit`.

    Args:
        writers: `LiveTable.writers`.
        now: The time, in milliseconds since the epoch.
    """
    recent = (info for info, at in writers.items() if at >= recent_since(now))
    return tuple(sorted({client for info in recent if (client := client_of_commit(info))}))


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
    engines = {engine for info in recent if (engine := engine_of_commit(info))}
    return tuple(sorted(engines, key=attrgetter("name", "release")))


def undeclared_writers(
    target: str, declared: Iterable[Engines], tables: Iterable[Mapping[str, int]], now: int
) -> str | None:
    """Return what to say of a target of which the log knows more writers; None if it knows no more.

    None also if nobody declares a writer.

    Args:
        target: The name of the target.
        declared: The engines that the configuration names for it.
        tables: `LiveTable.writers` of its tables.
        now: The time, in milliseconds since the epoch.
    """
    writers = [engine for engines in declared for engine in engines.all]
    recent = recent_writers(tables, now)
    missing = [engine for engine in recent if not any(own.includes(engine) for own in writers)]
    if not writers or not missing:
        return None
    names = " and ".join(map(str, missing))
    return f"{names} wrote tables of target {target} in the last 30 days, and no writers of it name that"


def as_setting(engines: Iterable[Engine]) -> str:
    """Return the line of the configuration that declares these writers."""
    names = ", ".join(f'"{engine}"' for engine in engines)
    return f"writers = [{names}]"
