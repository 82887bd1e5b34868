"""Plans for live tables: ordered statements, each with the changes it makes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, assert_never

from schemalint.base.errors import Location
from schemalint.base.redaction import without_uri_secrets
from schemalint.base.values import frozen, replace
from schemalint.delta.change import Change
from schemalint.delta.datatype import DataType, Struct
from schemalint.delta.path import Path
from schemalint.delta.table import TableState
from schemalint.delta.way_out import WayOut
from schemalint.model.client import ClientSupport
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Backfill, WaysOut
from schemalint.model.finding import Consequence, Finding, ObjectRef
from schemalint.model.json_forms import consumer_to_json
from schemalint.model.marker import Marker
from schemalint.model.rewrite import Rewrites

PLAN_FORMAT: Final = 2


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
    CLUSTER = "cluster"
    ADD_CONSTRAINT = "add a constraint"
    FILL = "fill a column"
    REWRITE = "rewrite the table"
    DROP_FEATURE = "drop a feature"
    RECORD = "write the marker"


class Cost(Enum):
    """The cost of a statement in addition to its commit."""

    METADATA = "metadata only"
    SCAN = "scans the data"
    REWRITE = "rewrites data files"


class Approval(Enum):
    """An approval that a step needs: of its kind, of its table's plan, or of the whole plan."""

    UPGRADE = "upgrade"
    DESTRUCTIVE = "destructive"
    DATA = "data"
    REWRITE = "rewrite"


@frozen
class Fill:
    """A column to fill from others of its row, under the names at that moment.

    Attributes:
        column: The column.
        type: Its type.
        source: The column that has the values so far.
        expression: The value of the row in SQL, as `delta.fill_expressions` allows it.
        columns: The columns that the expression can read.
        others: The other columns that the expression reads, and that go with the source.
        ways_out: What may be lost.
        time_zone: The time zone of the session that evaluates the expression; None for UTC.
    """

    column: Path
    type: DataType
    source: Path
    expression: str
    columns: Struct = Struct()
    others: tuple[Path, ...] = ()
    ways_out: WaysOut = WaysOut()
    time_zone: str | None = None

    @property
    def sources(self) -> tuple[Path, ...]:
        """The columns whose values the fill has to keep."""
        return (self.source, *self.others)


@frozen
class DropToProve:
    """A column that may have been dropped before anybody proved that its values are in another one.

    Attributes:
        column: The declared path of the other column.
        backfill: How it was filled.
    """

    column: Path
    backfill: Backfill


@frozen
class TableRewrite:
    """A table to write anew from its own rows, in one commit.

    Attributes:
        before: Its columns before.
        after: Its columns afterwards: the same names in the same order.
        values: The columns and fields that get other values, each from itself.
        partitioned_by: The partition columns afterwards.
    """

    before: Struct
    after: Struct
    values: tuple[Fill, ...] = ()
    partitioned_by: tuple[str, ...] = ()

    @property
    def time_zone(self) -> str | None:
        """The time zone of the session that evaluates the values; None for UTC."""
        return next((value.time_zone for value in self.values if value.time_zone), None)


@frozen
class RewriteScript:
    """What somebody runs to write a table anew, where one commit of `apply` would lose something.

    Attributes:
        statements: The statements, in order.
        rewrite: What they write.
    """

    statements: tuple[str, ...]
    rewrite: TableRewrite


@frozen
class Step:
    """One statement; a fill repeats it, each time for other rows, until none is left.

    Attributes:
        changes: The changes that the statement makes, for the simulation and the check after it.
        reasons: The declarations that cause the step, one sentence each.
        adds_features: The table features that Delta adds with the statement.
        undo: The statement that reverts the step; None if there is none.
        undo_note: What the undo does not restore, or why there is no undo.
        commits: The minimum number of versions that the statement adds to the log.
        needs: The approvals that the step needs.
        requires: The state that the step requires, one sentence for each object that it affects.
        sources: The locations of the causing declarations in the contract, as far as known.
        fills: The column that the step fills; of a step that drops columns, those that were filled from them;
            of one that adds a constraint, those that it waits for.
        rewrite: What the step writes anew; its SQL reads the rows, and proves each of them.
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
    needs: frozenset[Approval] = frozenset()
    requires: tuple[str, ...] = ()
    sources: tuple[Location, ...] = ()
    fills: tuple[Fill, ...] = ()
    rewrite: TableRewrite | None = None


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
    REWRITE = "the table waits for a rewrite outside of schemalint"
    ORDER = "the statements wait for an earlier target"

    @property
    def exit_status(self) -> int:
        """The exit status of a run with such a refusal."""
        match self:
            case RefusalKind.RULE:
                return 1
            case RefusalKind.DECLARATION | RefusalKind.LIVE | RefusalKind.OPERATION:
                return 2
            case RefusalKind.APPROVAL | RefusalKind.STREAMS | RefusalKind.REWRITE | RefusalKind.ORDER:
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
        awaits: The missing approvals; none if no approval helps.
        about: The object of the refusal, if a rule may report the same object.
    """

    kind: RefusalKind
    reason: str
    help: str = ""
    code: str | None = None
    finding: Finding | None = None
    awaits: frozenset[Approval] = frozenset()
    about: ObjectRef | None = None

    @property
    def location(self) -> Location | None:
        """The location of the finding, if a rule refuses."""
        return self.finding.location if self.finding else None

    @property
    def then(self) -> tuple[Consequence, ...]:
        """What the help of the finding brings, if a rule refuses."""
        return self.finding.then if self.finding else ()

    @property
    def ways(self) -> tuple[WayOut, ...]:
        """The ways out of the finding, if a rule refuses."""
        return self.finding.ways if self.finding else ()


@frozen
class TablePlan:
    """The steps from a live table to its declaration.

    Attributes:
        uri: The table's location.
        target: The name of the target.
        table_id: The id of the live table; None if the plan creates it.
        version: The version of the live table at planning time.
        live: The state of the live table at planning time; None if the plan creates it.
        features: The features that the live table supported at planning time.
        has_delta_rs: Whether one of the newest commits of its log is of delta-rs.
        declaration_hash: The hash of the declaration.
        writes_marker: Whether `apply` writes the marker.
        marker: The marker of the live table.
        refusals: The refusals; if there are any, there are no steps.
        known: What would refuse any statement, where the baseline has it and the table needs none.
        name: The full catalog name that the statements use; None if they use the location.
        waiting: The steps that wait for the table's next change (``cosmetic = "ride-along"``); there are then
            no other steps.
        consumers: The declared consumers of the table.
        clients: What the clients of the declared consumers do with the table before and after the plan.
        tracking: Which column is which, as the planner was told; None pairs columns by name.
        reorder: Whether the planner was told to move columns.
        done: How many steps of a plan file the table has completed; they are not among `steps`.
        filed_hash: The hash that the table had before `apply` left out steps; None if it has all of them.
        unfilled: The fills and rewrites that `apply` leaves out, because their approval is missing.
        size: The bytes of the live data files, if the plan has a fill or a rewrite; None if unknown.
        drops_to_prove: What a run proves before all else, because no marker tells that one has.
        rewrites_to_prove: The rewrites that are made, and that a run proves before all else, because no
            marker tells that one has.
        script: What writes the table anew, where it waits for somebody who runs that; None if it does not.
    """

    table: str
    uri: str
    declaration_hash: str
    target: str | None = None
    table_id: str | None = None
    version: int | None = None
    live: TableState | None = None
    features: frozenset[str] = frozenset()
    has_delta_rs: bool = False
    steps: tuple[Step, ...] = ()
    writes_marker: bool = False
    marker: Marker | None = None
    refusals: tuple[Refusal, ...] = ()
    known: tuple[Refusal, ...] = ()
    name: str | None = None
    waiting: tuple[Step, ...] = ()
    consumers: tuple[Consumer, ...] = ()
    clients: tuple[ClientSupport, ...] = ()
    tracking: ColumnTracking | None = None
    reorder: bool = False
    done: int = 0
    filed_hash: str | None = None
    unfilled: tuple[Step, ...] = ()
    size: int | None = None
    drops_to_prove: tuple[DropToProve, ...] = ()
    rewrites_to_prove: Rewrites = Rewrites()
    script: RewriteScript | None = None

    @property
    def has_work(self) -> bool:
        """Whether a run has something to do: steps to take, or a marker to write."""
        return bool(self.steps) or self.writes_marker

    @property
    def rewrite(self) -> TableRewrite | None:
        """How the table is written anew: by a step, or by a script; None if it is not."""
        if self.script is not None:
            return self.script.rewrite
        return next((step.rewrite for step in self.steps if step.rewrite is not None), None)

    def refused(self, *refusals: Refusal) -> TablePlan:
        """Return the plan without its steps, with these refusals after its own."""
        return replace(self, steps=(), writes_marker=False, refusals=(*self.refusals, *refusals))

    @property
    def needs(self) -> frozenset[Approval]:
        """The approvals that the steps need."""
        return frozenset[Approval]().union(*(step.needs for step in self.steps))

    @property
    def adds_features(self) -> frozenset[str]:
        """The protocol upgrade: the features that the steps add to an existing table."""
        if self.live is None:
            return frozenset()
        return frozenset[str]().union(*(step.adds_features for step in self.steps))

    @property
    def hash(self) -> str:
        """The hash of all that an approval of the steps is given for.

        That is the target, the table and its id, the declaration and its consumers, the statements with the
        features that they add, and the state they were planned from: what a statement changes is in its
        requirements, and all other managed objects are as declared. What streams have read, the revision, the
        time, the tool's version, the table's version and credentials do not count, so commits of data and
        other tables' changes leave the hash as it is.
        The rest of a plan file keeps the hash of the file's table.
        """
        if self.filed_hash is not None:
            return self.filed_hash
        steps = [
            [[without_uri_secrets(text) for text in (step.sql, *step.requires)], sorted(step.adds_features)]
            for step in self.steps
        ]
        consumers = [consumer_to_json(_without_credentials(consumer)) for consumer in self.consumers]
        return _hash_of([self.target, self.table, self.table_id, self.declaration_hash, consumers, steps])


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
    def only_fills(self) -> bool:
        """Whether all steps fill columns: it is unknown whether they have anything to do."""
        return all(step.kind is StepKind.FILL for table in self.tables for step in table.steps)

    @property
    def hash(self) -> str:
        """The hash of the hashes of all tables with steps, in any order."""
        return hash_of_tables(table.hash for table in self.tables if table.steps)


def hash_of_tables(hashes: Iterable[str]) -> str:
    """Return the hash of a plan from those of its tables with steps."""
    return _hash_of(sorted(hashes))


def _without_credentials(consumer: Consumer) -> Consumer:
    if (stream := consumer.stream) is None:
        return consumer
    tracking = stream.schema_tracking_location
    stream = replace(
        stream,
        checkpoint=without_uri_secrets(stream.checkpoint),
        schema_tracking_location=tracking and without_uri_secrets(tracking),
    )
    return replace(consumer, stream=stream)


def _hash_of(content: Sequence[object]) -> str:
    return f"{PLAN_FORMAT}:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"
