"""The order of renames: each name is free when it is taken; in a swap, over a name in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby

from schemalint.delta.change import FieldRenamed
from schemalint.delta.path import Path, lowercased


def in_order(renames: Iterable[FieldRenamed], siblings: dict[Path, Sequence[str]]) -> Iterator[FieldRenamed]:
    """Renames that can be made one after the other and come to the same.

    Delta refuses to take a name that is there, ignoring case: so a change of case alone needs two steps too
    (FIELD_ALREADY_EXISTS, measured on Delta 4.4.0).

    Args:
        renames: Parents before what is inside them.
        siblings: The live names by the folded path of the parent, of those that stay.
    """
    for parent, found in groupby(renames, key=lambda one: one.path[:-1]):
        yield from _among_siblings(parent, list(found), siblings.get(lowercased(parent), ()))


def _among_siblings(
    parent: Path, waiting: list[FieldRenamed], names: Sequence[str]
) -> Iterator[FieldRenamed]:
    taken = {name.lower() for name in names}
    while waiting:
        free = next((one for one in waiting if _target(one).lower() not in taken), None)
        if free is None:
            first = waiting.pop(0)
            between = _unused(taken | {_target(one).lower() for one in waiting} | {_target(first).lower()})
            free = FieldRenamed((*parent, between), first.old_name)
            waiting.append(FieldRenamed(first.path, between))
        else:
            waiting.remove(free)
        taken.discard(free.old_name.lower())
        taken.add(_target(free).lower())
        yield free


def _target(one: FieldRenamed) -> str:
    return str(one.path[-1])


def _unused(taken: set[str]) -> str:
    return next(name for number in count(1) if (name := f"schemalint_{number}") not in taken)
