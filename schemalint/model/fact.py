"""What the engine finds out beyond the diff, for rules to judge."""

from __future__ import annotations

from enum import Enum

from schemalint.delta.change import Change
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.history import HistoryStep
from schemalint.delta.table import LiveTable
from schemalint.errors import Location
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding
from schemalint.values import frozen


@frozen
class ProtocolUpgrade:
    """The declared state needs features that the table does not support, and Delta would add them.

    Attributes:
        added: Without those that Delta adds only when told: these are judged where they are needed.
        because: The properties, features or columns that need them, each with the features it needs.
    """

    before: frozenset[str]
    after: frozenset[str]
    because: tuple[tuple[str, str, frozenset[str]], ...] = ()

    @property
    def added(self) -> frozenset[str]:
        """What the upgrade adds."""
        return self.after - self.before


@frozen
class TableRetired:
    """A contract is gone, with its table left alone.

    Attributes:
        approved: The reason that the configuration gives, if it approves.
    """

    contract: Contract
    approved: str | None = None


@frozen
class DuplicateTable:
    """Two contracts declare one table, or one place.

    Attributes:
        first: The file and place of the other contract.
        what: ``table`` or ``location``; `value` is what is declared twice.
    """

    contract: Contract
    first: Location
    what: str
    value: str


class DriftKind(Enum):
    """How the live table stands to what is declared now and was declared before."""

    NOT_APPLIED = "not applied yet"
    AHEAD = "ahead"
    """A later revision was applied."""
    DRIFTED = "drifted"
    DIFFERS = "differs"
    """Of a table that somebody else brings to its declared state."""
    UNDECLARED = "undeclared"
    APPLIED = "already applied"
    APPLIED_IN_PART = "applied in part"
    """As declared already, while the rest of the same change is not."""


@frozen
class Drift:
    """The live table differs from the declaration, in one object, where git shows no change of it.

    Attributes:
        change: What would have to be done to the live table.
        cause: Why that cannot be done, as the rule says it that forbids it.
    """

    change: Change
    kind: DriftKind
    cause: Finding | None = None


@frozen
class LiveTableMissing:
    """There is no Delta table where the contract says.

    Attributes:
        expected: Why it should be there; None if it is simply to be created.
    """

    uri: str
    expected: str | None = None


@frozen
class LiveTableReplaced:
    """The table has another id than the one that was applied to: dropped and made again."""

    old_id: str
    new_id: str


Fact = (
    Change
    | Contract
    | LiveTable
    | HistoryStep
    | ProtocolUpgrade
    | TableRetired
    | DuplicateTable
    | Drift
    | LiveTableMissing
    | LiveTableReplaced
    | PhysicalTypes
)
"""What a rule can be about."""
