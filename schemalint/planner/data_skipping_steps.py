"""Statements for what skips data: the clustering, and the list of columns with statistics.

Some drops and the removal of column mapping suspend the clustering; drops of columns suspend the list, where
Delta would break it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemalint.base.values import replace
from schemalint.delta.change import Change, ClusteringChanged, FieldMoved, PropertyChanged
from schemalint.delta.datatype import UNMANAGED, Managed, items_of, type_at
from schemalint.delta.path import Path, format_path, path_key
from schemalint.delta.protocol import CLUSTERING
from schemalint.delta.statistics import STATISTICS_COLUMNS, broken_by_drops, paths_with_statistics
from schemalint.delta.table import TableState
from schemalint.model.finding import ObjectRef
from schemalint.model.table_plan import Refusal, RefusalKind, Step, StepKind
from schemalint.planner import statements
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
    if not state.clustering_columns:
        return []
    indexed = paths_with_statistics(state.columns, state.properties)
    return [path for path in state.clustering_columns if path_key(path) not in indexed]


def _must_be_removed(context: AlterContext) -> bool:
    return _drops_clustering_column(context) or bool(context.unmaps and context.live.clustered_by)


def _drops_clustering_column(context: AlterContext) -> bool:
    return any(map(context.drops, context.live.clustering_columns))


def _settable_first(context: AlterContext) -> list[ClusteringChanged]:
    """Return the declared clustering if all its columns exist already and keep their names."""
    if context.unmaps:
        return []
    declared = context.of(ClusteringChanged)
    keys = [path for changed in declared for path in items_of(changed.new)]
    if all(_stays(context, path) for path in keys):
        return declared
    return []


def _stays(context: AlterContext, path: Path) -> bool:
    """Whether a column exists under its declared name before and after all changes."""
    keeps_name = context.renames.back(path) == path == context.renames.forward(path)
    return keeps_name and type_at(context.live.columns, path) is not None and not context.drops(path)


def _cluster(
    context: AlterContext, declared: Managed[tuple[Path, ...]], reason: str, old: Managed[tuple[Path, ...]]
) -> Step:
    before, new = items_of(old), items_of(declared)
    return Step(
        StepKind.CLUSTER,
        statements.cluster_by(context.table, new),
        (ClusteringChanged(before, new),),
        (reason,),
        context.needed(CLUSTERING) if new else frozenset(),
        undo=statements.cluster_by(context.table, before),
        undo_note="only OPTIMIZE clusters existing files again",
    )


def with_statistics_restored(context: AlterContext, declared: TableState) -> AlterContext:
    """Let the changes set the declared list again after the drops, if it is taken off before them."""
    value = declared.properties.get(STATISTICS_COLUMNS)
    if value is None or broken_by_drops(context.changes, context.live.properties) is None:
        return context
    others = (
        change
        for change in context.changes
        if not (isinstance(change, PropertyChanged) and change.key == STATISTICS_COLUMNS)
    )
    return replace(context, changes=(*others, PropertyChanged(STATISTICS_COLUMNS, UNMANAGED, value)))


def statistics_removed(context: AlterContext) -> Iterator[Step]:
    """Remove the list before columns are dropped, unless the contract removes it anyway."""
    value = broken_by_drops(context.changes, context.live.properties)
    if value is None or any(
        change.key == STATISTICS_COLUMNS and not isinstance(change.new, str)
        for change in context.of(PropertyChanged)
    ):
        return
    yield Step(
        StepKind.UNSET_PROPERTIES,
        statements.unset_properties(context.table, [STATISTICS_COLUMNS]),
        (PropertyChanged(STATISTICS_COLUMNS, value, UNMANAGED),),
        (f"Delta cannot drop columns beside {STATISTICS_COLUMNS} with these names: it is set again below",),
        undo=statements.set_properties(context.table, {STATISTICS_COLUMNS: value}),
    )


def statistics_in_the_way(
    changes: Iterable[Change], live: TableState, declared: TableState
) -> Iterator[Refusal]:
    """Refuse to drop columns beside a list that the contract does not declare.

    A run that is interrupted after the removal of the list could not put it back.
    """
    value = broken_by_drops(changes, live.properties)
    if value is not None and STATISTICS_COLUMNS not in declared.properties:
        yield Refusal(
            RefusalKind.LIVE,
            f"no column can be dropped beside {STATISTICS_COLUMNS} = {value}: Delta then writes the list "
            "again, and could not read it",
            f"declare {STATISTICS_COLUMNS} in the contract: the plan then takes it off, and sets it again",
            about=ObjectRef("property", STATISTICS_COLUMNS),
        )
