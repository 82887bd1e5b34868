"""Plans for live tables: ordered statements, each with the changes it makes."""

from __future__ import annotations

import hashlib
import json
from enum import Enum
from typing import Final, assert_never

from schemalint.delta.change import Change
from schemalint.delta.table import TableState
from schemalint.errors import Location
from schemalint.model.client import ClientSupport
from schemalint.model.finding import Finding, ObjectRef
from schemalint.values import frozen

PLAN_FORMAT: Final = 1


class StepKind(Enum):
    """The kind of a step; the value is its text in reports."""

    CREATE = "create the table"
    SET_PROPERTIES = "set properties"
    UNSET_PROPERTIES = "unset properties"
    NOTE_PENDING = "store pending column paths"
    DROP_CONSTRAINT = "drop a constraint"
    DROP_COLUMNS = "drop columns"
    RENAME_COLUMN = "rename a column"
    ADD_COLUMNS = "add columns"
    ALTER_COLUMNS = "alter columns"
    MOVE_COLUMN = "move a column"
    CLUSTER = "cluster"
    ADD_CONSTRAINT = "add a constraint"
    DROP_FEATURE = "drop a feature"
    RECORD = "write the marker"


class Cost(Enum):
    """The cost of a statement in addition to its commit."""

    METADATA = "metadata only"
    SCAN = "scans the data"
    REWRITE = "rewrites data files"


class Approval(Enum):
    """An approval that a step needs, from ``--allow`` or from an approved plan."""

    UPGRADE = "upgrade"
    DESTRUCTIVE = "destructive"


@frozen
class Step:
    """One statement.

    Attributes:
        changes: The changes that the statement makes, for the simulation and the check after it.
        reasons: The declarations that cause the step, one sentence each.
        adds_features: The table features that Delta adds with the statement.
        undo: The statement that reverts the step; None if there is none.
        undo_note: What the undo does not restore, or why there is no undo.
        commits: The minimum number of versions that the statement adds to the log.
        needs: The approval that the step needs, if any.
        requires: The state that the step requires, one sentence for each object that it affects.
        sources: The locations of the causing declarations in the contract, as far as known.
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
    sources: tuple[Location, ...] = ()


class RefusalKind(Enum):
    """The source of a refusal, and the first command that can know it.

    `check` has an error for every refusal of the kind DECLARATION, and `check --live` for those of the kind
    LIVE; ``docs/refusals.md`` lists the others.
    """

    RULE = "a rule forbids the declaration"
    DECLARATION = "no statement leads to the declaration"
    LIVE = "no statement leads from the live table to the declaration"
    OPERATION = "the history of the table or the request of this run forbids it"
    APPROVAL = "the statements wait for an approval"
    STREAMS = "the statements wait for a declared stream"

    @property
    def exit_status(self) -> int:
        """The exit status of a run with such a refusal."""
        match self:
            case RefusalKind.RULE:
                return 1
            case RefusalKind.DECLARATION | RefusalKind.LIVE | RefusalKind.OPERATION:
                return 2
            case RefusalKind.APPROVAL | RefusalKind.STREAMS:
                return 4
            case _:
                assert_never(self)


@frozen
class Refusal:
    """A reason why a table gets no steps: a rule, a missing approval, or a limit of the planner.

    Attributes:
        kind: The source of the refusal.
        code: The rule's code; None if no rule forbids the plan.
        finding: The rule's finding; None if no rule forbids the plan.
        awaits: The missing approval; None if no approval helps.
        about: The object of the refusal, if a rule may report the same object.
    """

    kind: RefusalKind
    reason: str
    help: str = ""
    code: str | None = None
    finding: Finding | None = None
    awaits: Approval | None = None
    about: ObjectRef | None = None


@frozen
class TablePlan:
    """The steps from a live table to its declaration.

    Attributes:
        uri: The table's location.
        table_id: The id of the live table; None if the plan creates it.
        version: The version of the live table at planning time.
        live: The state of the live table at planning time; None if the plan creates it.
        features: The features that the live table supported at planning time.
        hash: The hash of the declaration.
        writes_marker: Whether `apply` writes the marker.
        refusals: The refusals; if there are any, there are no steps.
        name: The full catalog name that the statements use; None if they use the location.
        needs_replanning: Whether to plan once more after these steps: they finish an interrupted run.
        waiting: The steps that wait for the table's next change (``cosmetic = "ride-along"``); there are then
            no other steps.
        clients: What the clients of the declared consumers do with the table before and after the plan.
    """

    table: str
    uri: str
    hash: str
    table_id: str | None = None
    version: int | None = None
    live: TableState | None = None
    features: frozenset[str] = frozenset()
    steps: tuple[Step, ...] = ()
    writes_marker: bool = False
    refusals: tuple[Refusal, ...] = ()
    name: str | None = None
    needs_replanning: bool = False
    waiting: tuple[Step, ...] = ()
    clients: tuple[ClientSupport, ...] = ()

    @property
    def needs(self) -> frozenset[Approval]:
        """The approvals that the steps need."""
        return frozenset(step.needs for step in self.steps if step.needs is not None)

    @property
    def adds_features(self) -> frozenset[str]:
        """The protocol upgrade: the features that the steps add to an existing table."""
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
        """Whether the plan has no steps; writing a marker alone does not count."""
        return not any(table.steps for table in self.tables)

    @property
    def hash(self) -> str:
        """The hash of the target and of each table's id, statements and requirements.

        Revision, time and table version are not part of it, so an approval of the hash outlives them.
        """
        content = [
            self.target,
            [
                [table.table, table.uri, table.table_id, [[step.sql, step.requires] for step in table.steps]]
                for table in self.tables
                if table.steps
            ],
        ]
        return f"{PLAN_FORMAT}:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"
