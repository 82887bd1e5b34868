"""Statements for the clustering, which gives way where columns are dropped or column mapping goes."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta import change
from schemalint.delta.datatype import Managed, at
from schemalint.delta.path import Path
from schemalint.delta.protocol import CLUSTERING
from schemalint.delta.table import TableState
from schemalint.model.plan import Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import Alteration
from schemalint.values import replace


def clustered_anew(todo: Alteration, declared: TableState) -> Alteration:
    """With the declared clustering, where it gives way and comes back."""
    if todo.of(change.ClusteringChanged) or not (
        _gives_way(todo) and isinstance(declared.clustered_by, tuple)
    ):
        return todo
    anew = change.ClusteringChanged(todo.live.clustered_by, declared.clustered_by)
    return replace(todo, changes=(*todo.changes, anew))


def clustering_off(todo: Alteration) -> Iterator[Step]:
    """What cannot stay while other statements run.

    A clustering column cannot be dropped (DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN). And the clustering names
    columns as the files do: without column mapping nothing has these names, and then every OPTIMIZE, DESCRIBE
    DETAIL and CLUSTER BY fails for good (measured on Delta 4.4.0).
    """
    if _gives_way(todo):
        why = "columns are dropped that it is clustered by" if _leaves(todo) else "column mapping goes"
        for one in _early(todo) or [change.ClusteringChanged(todo.live.clustered_by, ())]:
            yield _cluster(todo, one.new, why, one.old)


def clustering_on(todo: Alteration) -> Iterator[Step]:
    """The declared clustering, once its columns are there."""
    gave_way = _gives_way(todo)
    if gave_way and _early(todo):
        return
    for one in todo.of(change.ClusteringChanged):
        yield _cluster(todo, one.new, "the clustering is declared", () if gave_way else one.old)


def _gives_way(todo: Alteration) -> bool:
    return _leaves(todo) or bool(todo.unmaps and todo.live.clustered_by)


def _leaves(todo: Alteration) -> bool:
    return isinstance(todo.live.clustered_by, tuple) and any(map(todo.goes, todo.live.clustered_by))


def _early(todo: Alteration) -> list[change.ClusteringChanged]:
    """The declared clustering, where all its columns are there already under their names, and keep them."""
    if todo.unmaps:
        return []
    wanted = todo.of(change.ClusteringChanged)
    keys = [path for one in wanted if isinstance(one.new, tuple) for path in one.new]
    return wanted if all(_stays(todo, path) for path in keys) else []


def _stays(todo: Alteration, path: Path) -> bool:
    """Whether a column is there under its name, and it is not another one that gets the name."""
    is_itself = todo.renames.back(path) == path == todo.renames.forward(path)
    return is_itself and at(todo.live.columns, path) is not None and not todo.goes(path)


def _cluster(
    todo: Alteration, declared: Managed[tuple[Path, ...]], why: str, old: Managed[tuple[Path, ...]]
) -> Step:
    before = old if isinstance(old, tuple) else ()
    new = declared if isinstance(declared, tuple) else ()
    return Step(
        StepKind.CLUSTER,
        sql.cluster_by(todo.table, new),
        (change.ClusteringChanged(before, new),),
        (why,),
        todo.needed(CLUSTERING) if new else frozenset(),
        undo=sql.cluster_by(todo.table, before),
        undo_note="files that are there are clustered anew by OPTIMIZE only",
    )
