"""Statements for the clustering, which gives way where columns are dropped or column mapping goes."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta import change
from schemalint.delta.datatype import Managed, type_at
from schemalint.delta.path import Path
from schemalint.delta.protocol import CLUSTERING
from schemalint.delta.table import TableState
from schemalint.model.plan import Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import AlterContext
from schemalint.values import replace


def clustered_anew(context: AlterContext, declared: TableState) -> AlterContext:
    """With the declared clustering, where it gives way and comes back."""
    if context.of(change.ClusteringChanged) or not (
        _gives_way(context) and isinstance(declared.clustered_by, tuple)
    ):
        return context
    anew = change.ClusteringChanged(context.live.clustered_by, declared.clustered_by)
    return replace(context, changes=(*context.changes, anew))


def clustering_off(context: AlterContext) -> Iterator[Step]:
    """What cannot stay while other statements run.

    A clustering column cannot be dropped (DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN). And the clustering names
    columns as the files do: without column mapping nothing has these names, and then every OPTIMIZE, DESCRIBE
    DETAIL and CLUSTER BY fails for good (measured on Delta 4.4.0).
    """
    if _gives_way(context):
        why = "columns are dropped that it is clustered by" if _leaves(context) else "column mapping goes"
        for one in _early(context) or [change.ClusteringChanged(context.live.clustered_by, ())]:
            yield _cluster(context, one.new, why, one.old)


def clustering_on(context: AlterContext) -> Iterator[Step]:
    """The declared clustering, once its columns are there."""
    gave_way = _gives_way(context)
    if gave_way and _early(context):
        return
    for one in context.of(change.ClusteringChanged):
        yield _cluster(context, one.new, "the clustering is declared", () if gave_way else one.old)


def _gives_way(context: AlterContext) -> bool:
    return _leaves(context) or bool(context.unmaps and context.live.clustered_by)


def _leaves(context: AlterContext) -> bool:
    return isinstance(context.live.clustered_by, tuple) and any(map(context.goes, context.live.clustered_by))


def _early(context: AlterContext) -> list[change.ClusteringChanged]:
    """The declared clustering, where all its columns are there already under their names, and keep them."""
    if context.unmaps:
        return []
    wanted = context.of(change.ClusteringChanged)
    keys = [path for one in wanted if isinstance(one.new, tuple) for path in one.new]
    return wanted if all(_stays(context, path) for path in keys) else []


def _stays(context: AlterContext, path: Path) -> bool:
    """Whether a column is there under its name, and it is not another one that gets the name."""
    is_itself = context.renames.back(path) == path == context.renames.forward(path)
    return is_itself and type_at(context.live.columns, path) is not None and not context.goes(path)


def _cluster(
    context: AlterContext, declared: Managed[tuple[Path, ...]], why: str, old: Managed[tuple[Path, ...]]
) -> Step:
    before = old if isinstance(old, tuple) else ()
    new = declared if isinstance(declared, tuple) else ()
    return Step(
        StepKind.CLUSTER,
        sql.cluster_by(context.table, new),
        (change.ClusteringChanged(before, new),),
        (why,),
        context.needed(CLUSTERING) if new else frozenset(),
        undo=sql.cluster_by(context.table, before),
        undo_note="files that are there are clustered anew by OPTIMIZE only",
    )
