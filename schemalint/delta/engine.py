"""The engines that write Delta tables, and which Delta each of them is.

`schemalint.delta.engine_rows` says since when an engine does what, `schemalint.delta.engine_answers` answers.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from schemalint.base.values import frozen

DELTA_SPARK: Final = "delta-spark"
DATABRICKS: Final = "databricks"
FABRIC: Final = "fabric"

Release: TypeAlias = tuple[int, ...]
"""A version as numbers, without zeros at its end: ``(4, 0, 1)``, and ``(4,)`` for 4.0.0."""

MEASURED: Final = ("3.2.1", "3.3.2", "4.0.1", "4.4.0")
"""The releases of Delta Spark that were asked: the records in ``tests/engine/answers``."""

ANSWERED: Final[frozenset[str]] = frozenset()
"""The hosted engines whose answers somebody brought, such as ``databricks 16.4``: their rows refuse too."""

DELTA_LINES: Final = ("2.4", "3.0", "3.1", "3.2", "3.3", "4.0", "4.1", "4.2", "4.3", "4.4")
"""The lines of releases that schemalint knows, the oldest first."""

FABRIC_RUNTIMES: Final = {"1.3": "3.2.1"}
"""The runtimes of Fabric, and the release of Delta that each of them is."""
FABRIC_PAGE: Final = "learn.microsoft.com/fabric/data-engineering/runtime-1-3"
"""The page that says which Delta a runtime of Fabric is: "Delta 3.2"."""
FABRIC_READ: Final = "2026-04"
"""When it was read; the day is not known any more."""

_EXAMPLES: Final = {DELTA_SPARK: "4.4.0", DATABRICKS: "16.4", FABRIC: "1.3"}
_OLDEST_DATABRICKS: Final = "9.1"
# The newest runtime of which a page of docs.databricks.com says what it does with a type, 2026-11.
_NEWEST_DATABRICKS: Final = "18.2"
# Minor versions of runtimes so far: 16.4 exists, 16.40 does not.
_HIGHEST_MINOR: Final = 9


@frozen
class Engine:
    """An engine with its version.

    Attributes:
        name: ``delta-spark`` for open-source Delta on Spark, ``databricks`` or ``fabric``.
        version: The version as written, such as ``4.4.0``.
    """

    name: str
    version: str

    def __str__(self) -> str:
        """Return the engine as the configuration names it."""
        return f"{self.name} {self.version}"

    @property
    def release(self) -> Release:
        """The engine's own version."""
        return release_of(self.version)

    @property
    def delta(self) -> Release | None:
        """The release of Delta Spark that the engine is, or is made from; None for Databricks.

        A version without its last number is the first one of its line.
        """
        if self.name == DATABRICKS:
            return None
        if self.name == FABRIC:
            return release_of(FABRIC_RUNTIMES.get(self.version, FABRIC_RUNTIMES[_newest(FABRIC_RUNTIMES)]))
        return self.release

    @property
    def is_hosted(self) -> bool:
        """Whether only its vendor's pages say what the engine does: such rows warn, and refuse nothing."""
        return self.name != DELTA_SPARK and str(self) not in ANSWERED

    @property
    def is_newest(self) -> bool:
        """Whether it is a release of the newest known line of Delta Spark, or a later one."""
        return self.name == DELTA_SPARK and self.release >= release_of(DELTA_LINES[-1])

    def includes(self, other: Engine) -> bool:
        """Whether the other engine is this one, as far as both tell: ``3.3`` is any release of that line.

        Fabric tells the Delta that it is made from.
        """
        if self.name == FABRIC == other.name:
            return self == other
        if self.name == FABRIC and self.delta is not None:
            return other.name == DELTA_SPARK and other.release[:2] == self.delta[:2]
        return self.name == other.name and f"{other.version}.".startswith(f"{self.version}.")

    @property
    def newer_note(self) -> str | None:
        """What to tell of a version that is newer than all known ones; None if it is not."""
        judged_as = self.judged_as
        if judged_as:
            return f"{self} is newer than what schemalint knows: judged as {self.name} {judged_as}"
        return None

    @property
    def judged_as(self) -> str | None:
        """The newest version that is known, if this one is newer; else None."""
        newest_of = {
            DELTA_SPARK: DELTA_LINES[-1],
            DATABRICKS: _NEWEST_DATABRICKS,
            FABRIC: _newest(FABRIC_RUNTIMES),
        }
        newest = newest_of[self.name]
        if self.release[: len(release_of(newest))] <= release_of(newest):
            return None
        if self.name == DELTA_SPARK:
            return MEASURED[-1]
        return newest


@frozen
class Engines:
    """The engines that write a table.

    Attributes:
        apply_with: The engine that runs the statements; None if nobody names it.
        writers: All engines that write the table, as far as named; that of the statements may be missing.
    """

    apply_with: Engine | None = None
    writers: tuple[Engine, ...] = ()

    @property
    def all(self) -> tuple[Engine, ...]:
        """Each engine once, the one that runs the statements first."""
        first = () if self.apply_with is None else (self.apply_with,)
        return tuple(dict.fromkeys((*first, *self.writers)))

    @property
    def judged_as(self) -> tuple[str, ...]:
        """The engines whose verdict a run gives; without one for the statements that is the newest Delta."""
        first = () if self.apply_with is not None else (f"Delta {DELTA_LINES[-1]}",)
        return (*first, *map(str, self.all))

    @property
    def others(self) -> tuple[Engine, ...]:
        """The engines that write the table beside the one that runs the statements."""
        return tuple(engine for engine in self.all if engine != self.apply_with)


NO_ENGINES: Final = Engines()
"""Nobody names an engine: the newest Delta counts."""


def release_of(version: str) -> Release:
    """Return a version of digits and dots as numbers."""
    numbers = [int(number) for number in version.split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        del numbers[-1]
    return tuple(numbers)


def delta_spark(release: Release) -> Engine:
    """Return a release of Delta Spark as an engine."""
    return Engine(DELTA_SPARK, ".".join(map(str, release)))


def parse_engine(text: str) -> Engine:
    """Return the engine in a text such as ``delta-spark 4.4.0``.

    Raises:
        ValueError: There is no such engine, or it has no such version; the message says which there are.
    """
    name, _, version = text.partition(" ")
    if name not in _EXAMPLES:
        raise ValueError(
            f"there is no engine {name[:40]!r}; known are {DELTA_SPARK}, {DATABRICKS} and {FABRIC}"
        )
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}", version, re.ASCII):
        raise ValueError(f"{version[:40]!r} is no version of {name}; write one such as {_EXAMPLES[name]}")
    engine = Engine(name, version)
    if reason := _why_not(engine):
        raise ValueError(f"{name} has no version {version}; {reason}")
    return engine


def _why_not(engine: Engine) -> str:
    """Return which versions there are, if this is none of them; else an empty text."""
    if engine.name == DELTA_SPARK:
        line = ".".join(engine.version.split(".")[:2])
        is_known = line in DELTA_LINES or engine.release > release_of(DELTA_LINES[-1])
        if is_known:
            return ""
        return f"known are {', '.join(DELTA_LINES)} and newer ones"
    if engine.name == FABRIC:
        if engine.release >= release_of(min(FABRIC_RUNTIMES)):
            return ""
        return f"known are {min(FABRIC_RUNTIMES)} and newer ones"
    _major, *rest = engine.release
    is_known = engine.release >= release_of(_OLDEST_DATABRICKS) and (not rest or rest[0] <= _HIGHEST_MINOR)
    if is_known:
        return ""
    return f"known are {_OLDEST_DATABRICKS} to {_NEWEST_DATABRICKS} and newer ones"


def _newest(versions: dict[str, str]) -> str:
    return max(versions, key=release_of)
