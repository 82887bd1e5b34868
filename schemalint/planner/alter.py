"""The statements that alter a table, in an order in which each finds what it needs, in the fewest commits."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.model.plan import Step
from schemalint.planner.alteration import AlterContext
from schemalint.planner.altering import columns_altered
from schemalint.planner.clustering import clustering_off, clustering_on
from schemalint.planner.columns import (
    columns_added,
    columns_added_first,
    columns_dropped,
    columns_moved,
    columns_renamed,
)
from schemalint.planner.constraints import constraints_off, constraints_on
from schemalint.planner.properties import features_dropped, pending_noted, properties_first, properties_last


def alter_steps(context: AlterContext) -> Iterator[Step]:
    """Properties and features before what needs them; what would be in the way goes off first."""
    yield from properties_first(context)
    yield from pending_noted(context)
    yield from constraints_off(context)
    yield from clustering_off(context)
    yield from columns_added_first(context)
    yield from columns_dropped(context)
    yield from columns_renamed(context)
    yield from columns_added(context)
    yield from columns_altered(context)
    yield from columns_moved(context)
    yield from constraints_on(context)
    yield from properties_last(context)
    yield from features_dropped(context)
    yield from clustering_on(context)
