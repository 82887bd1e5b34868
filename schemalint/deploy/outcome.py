"""What became of the tables of a run."""

from __future__ import annotations

from enum import Enum

from schemalint.errors import SchemalintError
from schemalint.model.plan import Step
from schemalint.values import frozen


class Outcome(Enum):
    """What became of a table."""

    NOTHING = "nothing to do"
    APPLIED = "applied"
    RECORDED = "recorded"
    REFUSED = "refused"
    LEFT_ALONE = "left alone"
    UNPLANNED = "could not be planned"
    FAILED = "failed"


@frozen
class DoneStep:
    """A statement that was carried out.

    Attributes:
        version: Of the table, as it was read back after it.
        seconds: That it took, with the reading.
    """

    step: Step
    version: int
    seconds: float = 0.0


@frozen
class Applied:
    """A table after `apply`.

    Attributes:
        before: Its version when it was planned, None if there was none.
        version: Its version in the end, as far as it is known.
        done: The steps that this run carried out; not those that another one was ahead with.
    """

    table: str
    uri: str
    outcome: Outcome
    version: int | None = None
    done: tuple[DoneStep, ...] = ()
    error: SchemalintError | None = None
    before: int | None = None
