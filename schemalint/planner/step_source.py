"""Where in the contract each step comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.renames import Renames, renames_of
from schemalint.errors import Location
from schemalint.model.anchors import anchors_of, column_anchors
from schemalint.model.contract import Anchor
from schemalint.model.plan import Step
from schemalint.values import replace


def with_sources(
    steps: Iterable[Step], changes: Iterable[Change], anchors: Mapping[Anchor, Location]
) -> tuple[Step, ...]:
    """The steps, each with the places of the contract that ask for it.

    Args:
        steps: Their changes name columns as the table does at that moment.
        changes: What is to be done to the table as a whole.
        anchors: Of the contract.
    """
    renames = renames_of(changes)
    return tuple(
        replace(step, places=tuple(dict.fromkeys(_places(step, renames, anchors)))) for step in steps
    )


def _places(step: Step, renames: Renames, anchors: Mapping[Anchor, Location]) -> Iterator[Location]:
    for one in step.changes:
        found = (anchors.get(anchor) for anchor in _candidates(one, renames))
        place = next((place for place in found if place is not None), None)
        if place is not None:
            yield place


def _candidates(one: Change, renames: Renames) -> Iterator[Anchor]:
    """By the names that the contract has; a deletion may be listed by those of before."""
    match one:
        case change.FieldRenamed(path=path, old_name=old):
            # Of a rename over a name in between, the contract knows the end.
            yield from column_anchors(type(one), renames.forward((*path[:-1], old)))
        case change.FieldRemoved(path=path):
            yield from anchors_of(replace(one, path=(*renames.forward(path[:-1]), path[-1])))
        case change.FieldAdded(path=path) | change.TypeChanged(path=path):
            yield from column_anchors(type(one), renames.forward(path))
    yield from anchors_of(one)
