"""What would be done to the live tables: ordered statements, each with the changes it makes."""

from __future__ import annotations

import hashlib
import json
from enum import Enum
from typing import Final

from schemalint.delta.change import Change
from schemalint.delta.table import TableState
from schemalint.errors import Location
from schemalint.model.finding import Finding, ObjectRef
from schemalint.values import frozen

PLAN_FORMAT: Final = 1


class StepKind(Enum):
    """What a step does."""

    CREATE = "create the table"
    SET_PROPERTIES = "set properties"
    UNSET_PROPERTIES = "unset properties"
    NOTE_PENDING = "note what is on its way"
    DROP_CONSTRAINT = "drop a constraint"
    DROP_COLUMNS = "drop columns"
    RENAME_COLUMN = "rename a column"
    ADD_COLUMNS = "add columns"
    ALTER_COLUMNS = "alter columns"
    MOVE_COLUMN = "move a column"
    CLUSTER = "cluster"
    ADD_CONSTRAINT = "add a constraint"
    DROP_FEATURE = "drop a feature"
    RECORD = "record what is applied"


class Cost(Enum):
    """What a statement costs beside its commit."""

    METADATA = "metadata only"
    SCAN = "scans the data"
    REWRITE = "rewrites data files"


class Approval(Enum):
    """The word that a step needs on the command line, or in an approved plan."""

    UPGRADE = "upgrade"
    DESTRUCTIVE = "destructive"


@frozen
class Step:
    """One statement.

    Attributes:
        changes: What it makes of the table, to simulate and to check it by.
        reasons: The declared things that ask for it, one sentence each.
        adds_features: The table features that Delta adds with it.
        undo: The statement that takes it back, None if there is none.
        undo_note: What taking it back does not bring back, or why it cannot be taken back.
        commits: Versions that it adds to the log, at least.
        needs: What has to be approved.
        requires: What the table has to be before it, one sentence for each object that it touches.
        places: Where the contract asks for it, as far as its text says so.
    """

    kind: StepKind
    sql: str
    changes: tuple[Change, ...]
    reasons: tuple[str, ...]
    adds_features: frozenset[str] = frozenset()
    undo: str | None = None
    undo_note: str = ""
    commits: int = 1
    cost: Cost = Cost.METADATA
    needs: Approval | None = None
    requires: tuple[str, ...] = ()
    places: tuple[Location, ...] = ()


@frozen
class Refusal:
    """Why a table gets no steps: by a rule, or by what this version cannot do yet.

    Attributes:
        code: The rule's code; None where no rule forbids it.
        awaits: What would have to be approved; None where no approval helps.
        about: The object, where a rule may say the same of it.
    """

    reason: str
    help: str = ""
    code: str | None = None
    finding: Finding | None = None
    awaits: Approval | None = None
    about: ObjectRef | None = None

    @property
    def is_finding(self) -> bool:
        """Whether a rule says it of the declaration (status 1), or the table cannot be brought on (2)."""
        return self.finding is not None


@frozen
class TablePlan:
    """The way from a live table to its declaration.

    Attributes:
        uri: Where the table lies.
        table_id: Of the live table, None if it is to be created.
        version: Of the live table when the plan was made.
        live: Its state then, None if it is to be created.
        features: What it supported then.
        hash: Of the declaration.
        record: Whether the marker is to be written.
        refusals: Not empty: there are no steps.
        name: The full name in a catalog that the statements use, None where they use the place.
        again: Whether it is to be planned anew after these steps: they finish what another run began.
    """

    table: str
    uri: str
    hash: str
    table_id: str | None = None
    version: int | None = None
    live: TableState | None = None
    features: frozenset[str] = frozenset()
    steps: tuple[Step, ...] = ()
    record: bool = False
    refusals: tuple[Refusal, ...] = ()
    name: str | None = None
    again: bool = False

    @property
    def needs(self) -> frozenset[Approval]:
        """What has to be approved before it is carried out."""
        return frozenset(step.needs for step in self.steps if step.needs is not None)

    @property
    def adds_features(self) -> frozenset[str]:
        """The protocol upgrade, as the features that come to a table that exists."""
        if self.live is None:
            return frozenset()
        return frozenset[str]().union(*(step.adds_features for step in self.steps))


@frozen
class Plan:
    """The plans of all tables of one target."""

    target: str | None
    tables: tuple[TablePlan, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change; a mere record does not count."""
        return not any(table.steps for table in self.tables)

    @property
    def hash(self) -> str:
        """Names the target, and of each table with steps its id, the statements and what they require.

        Neither revision, nor time, nor a version is part of it, so that it can be approved.
        """
        content = [
            self.target,
            [
                [one.table, one.uri, one.table_id, [[step.sql, step.requires] for step in one.steps]]
                for one in self.tables
                if one.steps
            ],
        ]
        return f"{PLAN_FORMAT}:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"
