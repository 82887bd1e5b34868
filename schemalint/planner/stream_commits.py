"""The commits that a plan will make, as streams look at them (measured on Delta 4.4.0).

Steps that only change comments or the order of columns, which can wait where they would stop a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, TypeAlias

from schemalint.base.values import replace
from schemalint.delta.change import (
    CommentChanged,
    DescriptionChanged,
    FeatureChanged,
    FieldMoved,
    TypeChanged,
)
from schemalint.delta.datatype import Field, RecordedChange, Struct, map_fields, walk_fields
from schemalint.delta.feature import FEATURES
from schemalint.delta.patch import update_field
from schemalint.delta.path import Path
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.schema_history import MAX_COLUMN_ID
from schemalint.delta.streams import StreamCommit, StreamVerdict, effect_on_stream
from schemalint.delta.table import TableState
from schemalint.delta.type_history import carrier_of, record_of
from schemalint.model.consumer import Consumer
from schemalint.model.stream_report import is_tracked
from schemalint.model.table_plan import Cost, Step, StepKind, TablePlan
from schemalint.planner.property_steps import WIDENING
from schemalint.planner.simulate import simulate

_Commit: TypeAlias = tuple[TableState, bool]
"""The state after a commit, and whether the commit has metadata or a protocol, but no file."""


def planned_commits(plan: TablePlan) -> tuple[StreamCommit, ...]:
    """Return the commits of the steps of a live table, and that of the marker, which stops no stream.

    Their versions are those that the table gets if nobody else writes meanwhile.
    """
    if plan.live is None or plan.version is None:
        return ()
    before = replace(plan.live, features=plan.features)
    rewritten = any(step.rewrite is not None for step in plan.steps)
    commits: list[StreamCommit] = []
    for number, (after, metadata_only) in enumerate(_states(before, plan)):
        is_rewrite = rewritten and number == 0  # it comes before all other steps
        version = plan.version + number + 1
        commits.append(
            StreamCommit(
                before, after, metadata_only=metadata_only, version=version, replaces_rows=is_rewrite
            )
        )
        before = after
    return tuple(commits)


def _states(state: TableState, plan: TablePlan) -> Iterator[_Commit]:
    for number, step in enumerate(plan.steps):
        for commit in _of_step(state, step, number):
            state = commit[0]
            yield commit
    if plan.writes_marker:
        yield state, False
    if any(step.kind is StepKind.NOTE_PENDING for step in plan.steps):
        yield state, True


def _of_step(before: TableState, step: Step, number: int) -> Iterator[_Commit]:
    after = _with_delta_metadata(before, simulate(before, [step]), step, number)
    match step.kind:
        case StepKind.DROP_FEATURE:
            yield from _of_drop(before, after, step)
        case StepKind.SET_PROPERTIES if step.commits > 1:
            # Row tracking: the protocol, the row ids of the files, the properties.
            upgraded = replace(before, features=after.features)
            yield upgraded, True
            yield upgraded, False
            yield after, True
        case _:
            # On a table that has the feature, CLUSTER BY writes domain metadata alone.
            only_clusters = step.kind is StepKind.CLUSTER and not step.adds_features
            yield after, step.cost is not Cost.REWRITE and not only_clusters


def _of_drop(before: TableState, after: TableState, step: Step) -> Iterator[_Commit]:
    """Yield the commits of DROP FEATURE: traces are removed first, then the feature."""
    (name,) = (change.name for change in step.changes if isinstance(change, FeatureChanged))
    row, state = FEATURES[name], before
    key = row.enabled_by_property[0] if row.enabled_by_property else None
    if key == COLUMN_MAPPING_MODE and before.column_mapping != "none":
        state = _unmapped(_without_property(before, key))
        yield state, False
    elif key is not None and key in before.properties:
        state = _without_property(before, key)
        yield state, True
    if key == WIDENING and any(field.type_changes for _path, field in walk_fields(before.columns)):
        yield state, False
        forgotten = map_fields(state.columns, lambda _path, field: replace(field, type_changes=()))
        state = replace(state, columns=forgotten)
        yield state, True
    if name == "rowTracking":
        yield state, False  # the row ids of the files are removed
    if row.drop_needs_history:
        yield from ((state, False) for _ in range(step.commits - 1))  # empty commits
    yield replace(state, features=after.features), True


def _with_delta_metadata(before: TableState, after: TableState, step: Step, number: int) -> TableState:
    """Add the metadata of columns that Delta writes: physical names, and recorded type changes."""
    if after.column_mapping == "none":
        after = _unmapped(after) if before.column_mapping != "none" else after
    else:
        prefix = "" if before.column_mapping == "none" else f"col-{number}-"
        after = replace(after, columns=_with_physical_names(after.columns, prefix))
    if step.rewrite is not None:
        forgotten = map_fields(after.columns, lambda _path, field: replace(field, type_changes=()))
        after = replace(after, columns=forgotten)
    elif after.enabled(WIDENING):
        widened = (change for change in step.changes if isinstance(change, TypeChanged))
        after = replace(after, columns=_with_recorded(after.columns, widened))
    return after


def _with_physical_names(columns: Struct, prefix: str) -> Struct:
    """Name what is new in data files; where column mapping begins, the names stay."""

    def named(_path: Path, field: Field) -> Field:
        if field.physical_name:
            return field
        return replace(field, physical_name=prefix + field.name)

    return map_fields(columns, named)


def _with_recorded(columns: Struct, changes: Iterable[TypeChanged]) -> Struct:
    for change in changes:
        path, at = carrier_of(change.path)
        columns = update_field(
            columns, path, partial(_with_entry, entry=RecordedChange(change.old, change.new, at))
        )
    return columns


def _with_entry(field: Field, *, entry: RecordedChange) -> Field:
    return replace(field, type_changes=(*record_of(field), entry))


def _unmapped(state: TableState) -> TableState:
    bare = map_fields(state.columns, lambda _path, field: replace(field, physical_name=None, column_id=None))
    return replace(_without_property(state, MAX_COLUMN_ID), columns=bare)


def _without_property(state: TableState, key: str) -> TableState:
    return replace(state, properties={name: value for name, value in state.properties.items() if name != key})


_COSMETIC: Final = (CommentChanged, DescriptionChanged, FieldMoved)


def only_stops_streams(plan: TablePlan, consumers: Iterable[Consumer]) -> bool:
    """Return whether all steps of a live table are cosmetic, and they stop one of its tracked streams."""
    if plan.live is None or not any(map(is_tracked, consumers)):
        return False
    changes = [change for step in plan.steps for change in step.changes]
    if plan.adds_features or not all(isinstance(change, _COSMETIC) for change in changes):
        return False
    effect = effect_on_stream(planned_commits(plan), tracked=True, running=True)
    return effect.verdict is not StreamVerdict.CONTINUES
