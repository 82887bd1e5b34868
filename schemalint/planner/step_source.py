"""Find the lines of the contract that a step comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint.base.errors import Location
from schemalint.base.values import replace
from schemalint.delta.change import Change, FieldAdded, FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.renames import Renames, renames_of
from schemalint.model.anchors import anchors_of, column_anchors
from schemalint.model.change_kind import kind_of
from schemalint.model.contract import Anchor
from schemalint.model.plan import Step


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
