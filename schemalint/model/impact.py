"""The impact of a plan's statements on queries, writers and clients; PROTOCOL.md for features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from schemalint.delta import change, properties
from schemalint.delta.change import Change, subject_name
from schemalint.delta.feature import FEATURES
from schemalint.model.fill_commits import commits_of
from schemalint.model.table_plan import Cost, Step, StepKind, TablePlan

_WITHOUT_NAMES: Final = (
    "writers that name no columns fail: INSERT (DELTA_INSERT_COLUMN_ARITY_MISMATCH), MERGE with * "
    "(DELTA_MERGE_UNRESOLVED_EXPRESSION)"
)
"""What a new column means for writers that do not know it (measured on Delta 4.4.0)."""


_OF_DELTA_RS: Final = (
    "delta-rs, which wrote the table lately, appends nothing without the new column (SchemaMismatchError), "
    'unless with schema_mode="merge"'
)
"""The same for ``write_deltalake`` (measured on deltalake 1.6.6: ``tests/engine/arrow_writes.csv``)."""


def table_risks(plan: TablePlan) -> Iterator[str]:
    """Yield what all steps of a plan together mean for the writers of the table.

    A new clustering alone is no metadata, nor is a fill (measured on Delta 4.4.0).
    """
    if plan.live is not None and any(
        step.kind not in {StepKind.CLUSTER, StepKind.FILL} or step.adds_features for step in plan.steps
    ):
        yield "each MERGE, UPDATE or append in progress fails (DELTA_METADATA_CHANGED)"


def passes(step: Step, plan: TablePlan) -> int:
    """Return how often a step with fills reads the data files in one run, as `spark.fill` runs it.

    A fill counts the rows before and after, and asks for the files that they are in. Each of its commits
    finds its rows, and rewrites their files: partitions that no commit of another part reads again, or with
    deletion vectors any rows, once they are counted by share. Conflicts come on top. If the bytes are
    unknown, it is the smallest number.
    """
    if step.kind is not StepKind.FILL:
        return len(step.fills)
    live, commits = plan.live, 1
    divides = live is not None and not live.partition_keys and live.enabled(properties.DELETION_VECTORS)
    if plan.size and divides:
        commits = commits_of(plan.size)
    shares = 1 if commits > 1 else 0
    return 3 + shares + 2 * commits


def risks(step: Step, plan: TablePlan) -> Iterator[str]:
    """Yield the effects of a step on readers and writers, one sentence each.

    A table that the plan creates has no readers or writers yet.
    """
    creates = plan.live is None
    yield from _protocol_risks(step.adds_features)
    if step.cost is Cost.SCAN and not creates:
        yield "reads all data; fails if a row violates it"
    if step.rewrite is not None:
        yield from _of_rewrite(plan)
    elif step.cost is Cost.REWRITE:
        yield "rewrites data files; may conflict with concurrent writes"
    if step.fills:
        yield _fill_cost(step, plan)
    if step.kind is StepKind.FILL:
        yield "the number of rows is unknown: only `apply` counts them, and it may take several commits"
        yield "a stream without skipChangeCommits stops (DELTA_SOURCE_TABLE_IGNORE_CHANGES)"
        yield "a stream with skipChangeCommits never sees the filled values"
    if step.kind is StepKind.ADD_CONSTRAINT and not creates:
        yield "later writes of violating rows fail"
    if plan.has_delta_rs and any(map(_adds_column, step.changes)):
        yield _OF_DELTA_RS
    if not creates and step.rewrite is None:
        yield from filter(None, dict.fromkeys(map(_risk_of, step.changes)))


def _of_rewrite(plan: TablePlan) -> Iterator[str]:
    """Yield what a rewrite means for those around the table, as measured on Delta 4.4.0, and its way back."""
    live, size = plan.live, "an unknown number of" if plan.size is None else f"{plan.size:,}"
    yield (
        f"reads {size} bytes 4 times, writes about as many, and keeps the old files beside them until VACUUM"
    )
    yield (
        "a value that does not convert, or a row that Delta refuses, ends it, and nothing is written: only "
        "`plan --prove` counts them before, and says whether writers pause for so long"
    )
    yield (
        "a commit of another writer, or an OPTIMIZE, during it makes it fail, and nothing is written: "
        "pause them"
    )
    yield (
        "each stream from the table stops (DELTA_SCHEMA_CHANGED_WITH_VERSION; with a schemaTrackingLocation "
        "DELTA_SOURCE_TABLE_IGNORE_CHANGES): it needs a new checkpoint, and reads every row again"
    )
    if any(later.kind is StepKind.CLUSTER for later in plan.steps):
        yield f"the new files are not clustered: OPTIMIZE reads and writes {size} bytes once more"
    if live is not None and live.enabled(properties.CHANGE_DATA_FEED):
        yield (
            "the change data feed has every row as deleted and inserted; batch reads over this commit fail "
            "(DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE)"
        )
    if live is not None and live.enabled("delta.enableRowTracking"):
        yield "every row gets a new row id"
    if live is not None and live.column_mapping != "none":
        yield "each rewritten column gets a new id: readers that follow ids find another column"
    yield "shallow clones fail once VACUUM has removed the old files"
    yield (
        "the way back is RESTORE, until VACUUM or the retention of files and log: it also undoes all later "
        "commits; until then the old values stay in the old files"
    )


def _fill_cost(step: Step, plan: TablePlan) -> str:
    size = "an unknown number of" if plan.size is None else f"up to {plan.size:,}"
    number = passes(step, plan)
    if step.kind is not StepKind.FILL:
        does = "adds the constraint" if step.kind is StepKind.ADD_CONSTRAINT else "drops"
        return f"counts the rows before it {does}: reads {size} bytes {_times(number)}"
    least = "at least " if plan.size is None else ""
    written = "at most as many" if plan.size is None else f"{size} bytes"
    return f"each run reads {size} bytes {least}{_times(number)}, and rewrites {written}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _adds_column(changed: Change) -> bool:
    return isinstance(changed, change.FieldAdded) and len(changed.path) == 1


def _risk_of(changed: Change) -> str | None:
    """Return the effect of a change on readers and writers; None if there is none."""
    name = subject_name(changed)
    match changed:
        case change.FieldAdded(path=(_name,)):
            return _WITHOUT_NAMES
        case change.FieldRemoved():
            return f"queries that use {name} fail; its data stays in the files, unreadable"
        case change.FieldRenamed():
            return f"queries that use the old name of {name} fail"
        case change.TypeChanged():
            return f"readers get {name} in its new type"
        case change.FieldMoved():
            return "SELECT * and INSERT INTO … VALUES depend on the column order"
        case change.PropertyChanged(key=properties.CHANGE_DATA_FEED, old=str(old), new=new) if (
            properties.is_true(old) and not properties.is_true(new)
        ):
            return "changes are no longer recorded; batch reads of the change data feed over this point fail"
        case change.NullabilityChanged():
            return f"readers may find nulls in {name}"
        case (
            change.FieldAdded()
            | change.TypeHistoryChanged()
            | change.CommentChanged()
            | change.DefaultChanged()
            | change.GeneratedChanged()
            | change.IdentityChanged()
            | change.TableAdded()
            | change.TableRemoved()
            | change.DescriptionChanged()
            | change.PropertyChanged()
            | change.ConstraintChanged()
            | change.FeatureChanged()
            | change.DeletionListed()
            | change.DeletionUnlisted()
            | change.PartitioningChanged()
            | change.ClusteringChanged()
        ):
            return None
        case _:
            assert_never(changed)


def _protocol_risks(features: Iterable[str]) -> Iterator[str]:
    names = sorted(features)
    readers = [name for name in names if name not in FEATURES or FEATURES[name].reader]
    writers = [name for name in names if name not in readers]
    if readers:
        yield f"clients without {', '.join(readers)} lose access"
    if writers:
        yield f"clients without {', '.join(writers)} lose write access"
