"""The statements that alter a table, in an order in which each finds what it needs, in the fewest commits."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.model.plan import Step
from schemalint.planner.alteration import Alteration
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


def alter_steps(todo: Alteration) -> Iterator[Step]:
    """Properties and features before what needs them; what would be in the way goes off first."""
    yield from properties_first(todo)
    yield from pending_noted(todo)
    yield from constraints_off(todo)
    yield from clustering_off(todo)
    yield from columns_added_first(todo)
    yield from columns_dropped(todo)
    yield from columns_renamed(todo)
    yield from columns_added(todo)
    yield from columns_altered(todo)
    yield from columns_moved(todo)
    yield from constraints_on(todo)
    yield from properties_last(todo)
    yield from features_dropped(todo)
    yield from clustering_on(todo)
