"""The order of the steps that alter a table, and the lines of its contract that ask for each step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint.base.errors import Location
from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    Renames,
    TypeChanged,
    renames_of,
)
from schemalint.model.change_kind import anchors_of, column_anchors, kind_of
from schemalint.model.contract import Anchor
from schemalint.model.table_plan import Step
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.column_steps import (
    columns_added,
    columns_added_first,
    columns_dropped,
    columns_dropped_last,
    columns_renamed,
    columns_set_aside,
)
from schemalint.planner.columns_in_place import columns_altered
from schemalint.planner.constraint_steps import constraints_added, constraints_dropped, constraints_of_filled
from schemalint.planner.data_skipping_steps import clustering_removed, clustering_set, statistics_removed
from schemalint.planner.fills.steps import filled_before_drops, filled_last
from schemalint.planner.property_steps import (
    features_dropped,
    pending_noted,
    policy_removed_last,
    properties_first,
    properties_last,
)


def alter_steps(context: AlterContext) -> Iterator[Step]:
    """Yield the steps in an order in which each step finds what it needs.

    Properties and features precede the columns that need them. Constraints, clustering and a list of
    statistics columns that block a change of columns are removed first and restored afterwards.
    """
    yield from properties_first(context)
    yield from pending_noted(context)
    yield from constraints_dropped(context)
    yield from clustering_removed(context)
    yield from statistics_removed(context)
    yield from columns_added_first(context)
    yield from filled_before_drops(context)
    yield from columns_dropped(context)
    yield from columns_set_aside(context)
    yield from columns_renamed(context)
    yield from columns_added(context)
    yield from columns_dropped_last(context)
    yield from columns_altered(context)
    yield from constraints_added(context)
    yield from properties_last(context)
    yield from features_dropped(context)
    yield from policy_removed_last(context)
    yield from clustering_set(context)
    yield from filled_last(context)
    yield from constraints_of_filled(context)


def with_sources(
    steps: Iterable[Step], changes: Iterable[Change], anchors: Mapping[Anchor, Location]
) -> tuple[Step, ...]:
    """Return the steps, each with the locations in the contract that declare its changes.

    Args:
        steps: The steps; their changes use the names that the columns have at that moment.
        changes: All changes of the table.
        anchors: The locations of the contract's anchors.
    """
    renames = renames_of(changes)
    return tuple(
        replace(step, sources=tuple(dict.fromkeys(_sources(step, renames, anchors)))) for step in steps
    )


def _sources(step: Step, renames: Renames, anchors: Mapping[Anchor, Location]) -> Iterator[Location]:
    for change in step.changes:
        locations = (anchors.get(anchor) for anchor in _candidates(change, renames))
        location = next((location for location in locations if location is not None), None)
        if location is not None:
            yield location


def _candidates(change: Change, renames: Renames) -> Iterator[Anchor]:
    """Yield anchors with the names in the contract; a deletion can be listed under old names."""
    match change:
        case FieldRenamed(path=path, old_name=old):
            # The contract knows only the final name of a rename through a temporary name.
            yield from column_anchors(kind_of(change).anchor, renames.forward((*path[:-1], old)))
        case FieldRemoved(path=path):
            yield from anchors_of(replace(change, path=(*renames.forward(path[:-1]), path[-1])))
        case FieldAdded(path=path) | TypeChanged(path=path):
            yield from column_anchors(kind_of(change).anchor, renames.forward(path))
    yield from anchors_of(change)
