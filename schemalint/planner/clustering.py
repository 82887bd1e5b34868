"""Statements for the clustering; some drops and the removal of column mapping suspend it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.base.values import replace
from schemalint.delta.change import ClusteringChanged, FieldMoved
from schemalint.delta.datatype import Managed, type_at
from schemalint.delta.path import Path, format_path, path_key
from schemalint.delta.protocol import CLUSTERING
from schemalint.delta.statistics import paths_with_statistics
from schemalint.delta.table import TableState
from schemalint.model.finding import ObjectRef
from schemalint.model.plan import Refusal, RefusalKind, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.simulate import simulate


def with_clustering_restored(context: AlterContext, declared: TableState) -> AlterContext:
    """Add the declared clustering to the changes if other statements suspend it."""
    if context.of(ClusteringChanged) or not (
        _must_be_removed(context) and isinstance(declared.clustered_by, tuple)
    ):
        return context
    restored = ClusteringChanged(context.live.clustered_by, declared.clustered_by)
    return replace(context, changes=(*context.changes, restored))


def clustering_removed(context: AlterContext) -> Iterator[Step]:
    """Remove a clustering that blocks other statements, or replace it by the declared one at once.

    Delta cannot drop a clustering column (DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN). The clustering refers to
    columns by their physical names: without column mapping no column has these names, and then every
    OPTIMIZE, DESCRIBE DETAIL and CLUSTER BY fails for good (measured on Delta 4.4.0).
    """
    if _must_be_removed(context):
        drops_key = _drops_clustering_column(context)
        reason = "clustering columns are dropped" if drops_key else "column mapping is removed"
        for changed in _settable_first(context) or [ClusteringChanged(context.live.clustered_by, ())]:
            yield _cluster(context, changed.new, reason, changed.old)


def clustering_set(context: AlterContext) -> Iterator[Step]:
    """Set the declared clustering, after its columns exist."""
    was_removed = _must_be_removed(context)
    if was_removed and _settable_first(context):
        return
    for changed in context.of(ClusteringChanged):
        yield _cluster(context, changed.new, "the clustering is declared", () if was_removed else changed.old)


def moves_beyond_statistics(live: TableState, steps: Sequence[Step]) -> Iterator[Refusal]:
    """Refuse moves that leave a clustering column without statistics, or come where one has none.

    Delta makes the move, and new files have no statistics for the column. Every move after it is refused with
    DELTA_CLUSTERING_COLUMN_MISSING_STATS, also the one back (measured on Delta 4.4.0).
    """
    if not (live.clustered_by and any(_moves(step) for step in steps)):
        return
    state = live
    for step in steps:
        before, state = state, simulate(state, [step])
        if not _moves(step):
            continue
        for path in (*_without_statistics(before), *_without_statistics(state))[:1]:
            name = format_path(path)
            yield Refusal(
                RefusalKind.OPERATION,
                f"{name} clusters the table, and would be moved where Delta collects no statistics for it: "
                "Delta then refuses each other move, also back",
                f"plan without --reorder, or name {name} in delta.dataSkippingStatsColumns",
                about=ObjectRef("clustering", "clustered_by"),
            )
            return


def _moves(step: Step) -> bool:
    return any(isinstance(change, FieldMoved) for change in step.changes)


def _without_statistics(state: TableState) -> list[Path]:
    if not isinstance(state.clustered_by, tuple):
        return []
    indexed = paths_with_statistics(state.columns, state.properties)
    return [path for path in state.clustered_by if path_key(path) not in indexed]


def _must_be_removed(context: AlterContext) -> bool:
    return _drops_clustering_column(context) or bool(context.unmaps and context.live.clustered_by)


def _drops_clustering_column(context: AlterContext) -> bool:
    return isinstance(context.live.clustered_by, tuple) and any(map(context.drops, context.live.clustered_by))


def _settable_first(context: AlterContext) -> list[ClusteringChanged]:
    """Return the declared clustering if all its columns exist already and keep their names."""
    if context.unmaps:
        return []
    declared = context.of(ClusteringChanged)
    keys = [path for changed in declared if isinstance(changed.new, tuple) for path in changed.new]
    return declared if all(_stays(context, path) for path in keys) else []


def _stays(context: AlterContext, path: Path) -> bool:
    """Whether a column exists under its declared name before and after all changes."""
    keeps_name = context.renames.back(path) == path == context.renames.forward(path)
    return keeps_name and type_at(context.live.columns, path) is not None and not context.drops(path)


def _cluster(
    context: AlterContext, declared: Managed[tuple[Path, ...]], reason: str, old: Managed[tuple[Path, ...]]
) -> Step:
    before = old if isinstance(old, tuple) else ()
    new = declared if isinstance(declared, tuple) else ()
    return Step(
        StepKind.CLUSTER,
        sql.cluster_by(context.table, new),
        (ClusteringChanged(before, new),),
        (reason,),
        context.needed(CLUSTERING) if new else frozenset(),
        undo=sql.cluster_by(context.table, before),
        undo_note="only OPTIMIZE clusters existing files again",
    )
