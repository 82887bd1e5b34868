"""Order the statements that alter a table, in the fewest commits."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.model.plan import Step
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.clustering import clustering_removed, clustering_set
from schemalint.planner.columns import (
    columns_added,
    columns_added_first,
    columns_dropped,
    columns_dropped_last,
    columns_renamed,
    columns_set_aside,
)
from schemalint.planner.columns_in_place import columns_altered
from schemalint.planner.constraints import constraints_added, constraints_dropped, constraints_of_filled
from schemalint.planner.fills import filled_before_drops, filled_last
from schemalint.planner.properties import (
    features_dropped,
    pending_noted,
    policy_removed_last,
    properties_first,
    properties_last,
)
from schemalint.planner.statistics import statistics_removed


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
