"""The step that writes a table anew from its own rows: what Delta cannot change in place, in one commit.

It comes before all other steps, which are planned for the table as it leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from schemalint.base.errors import InternalError
from schemalint.base.values import frozen, replace
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    PartitioningChanged,
    TypeChanged,
    TypeHistoryChanged,
    subject_name,
)
from schemalint.delta.datatype import DataType, Field, Struct, field_at, map_fields, type_at, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.fill_expressions import fill_fault, reads_source
from schemalint.delta.patch import apply_changes, update_type
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.rewrites import rewrite_obstacles
from schemalint.delta.schema_history import MAX_COLUMN_ID
from schemalint.delta.table import History, Metadata, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.contract import WaysOut
from schemalint.model.effective import Effective
from schemalint.model.finding import ObjectRef
from schemalint.model.rewrite import ColumnRewrite, Rewrites
from schemalint.model.table_plan import (
    Approval,
    Cost,
    Fill,
    Refusal,
    RefusalKind,
    Step,
    StepKind,
    TableRewrite,
)
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.rewrites.statements import rewritten_rows
from schemalint.planner.simulate import describe_change

_NEEDS: Final = frozenset({Approval.REWRITE, Approval.DESTRUCTIVE})
_UNDO: Final = "RESTORE TABLE takes it back until VACUUM removes the old files, and the commits since with it"


def rewrite_step(contract: Effective, live: TableState, table: str) -> Step:
    """Return the step that rewrites a table as its contract declares; `refused_rewrites` refuses nothing."""
    due = contract.rewrites.due(live, contract.state)
    changes = tuple(_changes(due, live, contract.state))
    after = apply_changes(live, changes)
    rewrite = table_rewrite(due, live, after)
    return Step(
        StepKind.REWRITE,
        rewritten_rows(table, rewrite),
        changes,
        tuple(_reasons(due)),
        AlterContext(table, live, changes, engine=contract.engine).added_features(changes),
        undo_note=_UNDO,
        cost=Cost.REWRITE,
        needs=_NEEDS,
        rewrite=rewrite,
    )


def table_rewrite(due: Rewrites, before: TableState, after: TableState) -> TableRewrite:
    """Return what is written anew between two states of a table."""
    return TableRewrite(
        before.columns,
        after.columns,
        tuple(_value(path, rewrite, before, after) for path, rewrite in due.columns.items()),
        after.partition_columns,
    )


def refused_rewrites(contract: Effective, live: TableState) -> Iterator[Refusal]:
    """Refuse rewrites that must not run, or would lose something; BF010 reports them before the merge."""
    due = contract.rewrites.due(live, contract.state)
    if not due:
        return
    for path, rewrite in due.columns.items():
        name = format_path(path)
        about = ObjectRef("column", name)
        if fault := fill_fault(rewrite.expression, live.columns):
            reason = f"the expression that rewrites {name} {fault.what}"
            yield Refusal(RefusalKind.DECLARATION, reason, fault.help, about=about)
        elif not reads_source(rewrite.expression, path):
            reason = f"the expression that rewrites {name} does not read it"
            yield Refusal(RefusalKind.DECLARATION, reason, f"use {name} in it", about=about)
    zones = {rewrite.time_zone for rewrite in due.columns.values()}
    if len(zones) > 1:
        reason = "its columns are rewritten in different time zones, and one statement has one"
        yield Refusal(RefusalKind.DECLARATION, reason, "give all the same `time_zone`")
    obstacles = rewrite_obstacles(live, contract.state, due.columns, contract.engine, live.features)
    for obstacle in obstacles:
        about = ObjectRef("table", "")
        if obstacle.path:
            about = ObjectRef("column", format_path(obstacle.path))
        yield Refusal(
            RefusalKind.DECLARATION,
            f"the table cannot be rewritten: {obstacle.reason}",
            "take `rewrite` out, and add a column of the new type with `backfill`",
            about=about,
        )


@frozen
class MetadataCommit:
    """A commit that changes the metadata of a table, with what was in effect before and after it."""

    version: int
    before: Metadata
    after: Metadata
    features_before: frozenset[str]
    features_after: frozenset[str]
    adds_files: bool = True

    @property
    def replaces(self) -> bool:
        """Whether it replaced the table, as nothing that `apply` runs does."""
        return self.before.table_id != self.after.table_id

    @property
    def rows_at(self) -> int:
        """The version with the rows: a definition without a query has none, and an INSERT follows it."""
        return self.version + (self.replaces and not self.adds_files)


def metadata_commits(history: History) -> Iterator[MetadataCommit]:
    """Yield the commits of a history that change metadata, but for the first that is known."""
    before: Metadata | None = None
    features = frozenset[str]()
    for entry in history.entries:
        old = features
        if entry.protocol is not None:
            features = entry.protocol.features
        if entry.metadata is not None:
            if before is not None:
                yield MetadataCommit(
                    entry.version, before, entry.metadata, old, features, adds_files=entry.adds_files
                )
            before = entry.metadata


def unplanned_changes(rewrite: TableRewrite, commit: MetadataCommit) -> Iterator[str]:
    """Yield what a rewrite changed of the metadata beside its types and its layout, declared or not.

    The clustering is set again by the next commit. The record of types that columns had is lost with the
    files that had them; where the contract declares it, there is no rewrite. A replacement gives all columns
    new ids.
    """
    before, after = commit.before, commit.after
    for name in sorted(commit.features_after - commit.features_before - after.state.active_features):
        yield f"the feature {name}"
    for name in sorted(commit.features_before - commit.features_after):
        yield f"the feature {name}"
    columns = before.state.columns
    for value in rewrite.values:
        columns = update_type(columns, value.column, partial(_type_after, rewrite, value))
    made = {lowercased(value.column[:1]) for value in rewrite.values}
    columns = map_fields(
        columns,
        lambda path, field: (
            replace(field, column_id=None) if commit.replaces or lowercased(path[:1]) in made else field
        ),
    )
    expected = replace(
        before.state,
        columns=columns,
        partitioned_by=rewrite.partitioned_by,
        clustered_by=after.state.clustered_by,
    )
    for change in diff(expected, after.state):
        if not isinstance(change, TypeHistoryChanged) and subject_name(change) != MAX_COLUMN_ID:
            yield describe_change(change)
    for path, field in walk_fields(columns):
        new = field_at(after.state.columns, path)
        if lowercased(path[:1]) not in made and new is not None and field.extra != new.extra:
            yield f"metadata of {format_path(path)}"


def _type_after(rewrite: TableRewrite, value: Fill, old: DataType) -> DataType:
    return type_at(rewrite.after, value.column) or old


def _changes(due: Rewrites, live: TableState, declared: TableState) -> Iterator[Change]:
    """Yield what the commit changes; the clustering that it loses is set again by the next statement."""
    for path in due.columns:
        yield from _type_changes(path, live, declared)
    if due.partitioned_by is not None:
        yield PartitioningChanged(live.partitioned_by, declared.partitioned_by)
    if live.clustering_columns:
        yield ClusteringChanged(live.clustered_by, ())


def _type_changes(path: Path, live: TableState, declared: TableState) -> Iterator[TypeChanged]:
    """Yield the changes of types at a path and in it, as far as the live table has these columns."""
    old, new = (type_at(state.columns, path) for state in (live, declared))
    if old is None or new is None:
        return
    sides = (TableState(Struct((Field("column", type_),))) for type_ in (old, new))
    for change in diff(*sides):
        if isinstance(change, TypeChanged):
            inner = (*path, *change.path[1:])
            if type_at(live.columns, inner) is not None:
                yield replace(change, path=inner)


def _value(path: Path, rewrite: ColumnRewrite, before: TableState, after: TableState) -> Fill:
    new = type_at(after.columns, path)
    if new is None:
        raise InternalError(f"a rewrite loses {format_path(path)}")
    ways_out = WaysOut(rewrite.keeps_null, rewrite.keeps_converted)
    return Fill(
        path, new, path, rewrite.expression, before.columns, ways_out=ways_out, time_zone=rewrite.time_zone
    )


def _reasons(due: Rewrites) -> Iterator[str]:
    for path, rewrite in due.columns.items():
        yield f"{format_path(path)} is declared to be rewritten from {print_type(rewrite.source)}"
    if due.partitioned_by is not None:
        names = ", ".join(due.partitioned_by)
        yield f"the table is declared to be rewritten from partitioned_by: [{names}]"
