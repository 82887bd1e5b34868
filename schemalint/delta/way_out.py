"""A way to what Delta cannot change in place, as `schemalint.delta.ways` finds it, and reports say it."""

from __future__ import annotations

import datetime as dt
from enum import Enum
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.engine import Engine


class Way(Enum):
    """The kind of a way, as reports name it."""

    WIDEN = "widen"
    COLUMN = "column"
    OVERWRITE = "overwrite"
    REPLACE = "replace"
    DEFINE = "define"
    CONSTRAINT = "constraint"
    CLUSTER = "cluster"


@frozen
class WayOut:
    """A way to what Delta does not change in place, and its price.

    Attributes:
        way: The way.
        does: What is to be done, in the imperative.
        commits: How many states the readers see; None if that depends on the size of the table.
        loses: What the table does not have afterwards.
        refused: The error class with which Delta refuses the way, or its last step; None if it goes it.
        stops: The error class with which it ends streams without a schemaTrackingLocation that read the
            table; None if they go on.
        streams: The declared streams without a schemaTrackingLocation.
        stops_tracked: The error class with which it ends streams with a schemaTrackingLocation; None if they
            go on, or need a new start only.
        tracked: The declared streams with a schemaTrackingLocation.
        unknown_for: An engine that nobody asked, with the price on the newest Delta; None if it was asked.
        unsure: Why it is unknown whether Delta goes the last step; None if it is known.
        rewrites: Whether it writes all rows again.
        size: The bytes of the data files that it replaces; None if unknown.
        until: The last day on which RESTORE can take the table back, if the way is taken today; VACUUM may
            come sooner. None if unknown.
        declare: How the file of the table asks `apply` to go the way; empty if the planner would refuse it.
    """

    way: Way
    does: str
    commits: int | None = None
    loses: tuple[str, ...] = ()
    refused: str | None = None
    stops: str | None = None
    streams: tuple[str, ...] = ()
    stops_tracked: str | None = None
    tracked: tuple[str, ...] = ()
    unknown_for: Engine | None = None
    unsure: str | None = None
    rewrites: bool = True
    size: int | None = None
    until: dt.date | None = None
    declare: str = ""


@frozen
class WayWords:
    """How the file of the table says a step of a way, with the column as ``{column}``.

    Attributes:
        fill: Fills it.
        drop: Drops it at the end.
        rewrite: Asks `apply` to overwrite the table; empty if the file cannot say it.
    """

    fill: str = "fill {column} with `backfill`"
    drop: str = "list {column} under dropped"
    rewrite: str = "declare `rewrite`"


NATIVE: Final = WayWords()
"""The words of schemalint's own format."""
