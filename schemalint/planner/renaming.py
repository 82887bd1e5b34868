"""Order renames so that each new name is free; a swap uses a temporary name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count, groupby

from schemalint.base.values import grouped
from schemalint.delta.change import FieldRenamed
from schemalint.delta.path import Path, lowercased


def ordered_renames(
    renames: Iterable[FieldRenamed], siblings: Mapping[Path, Sequence[str]]
) -> Iterator[FieldRenamed]:
    """Yield renames that have the same result and can run one after the other.

    Delta refuses a name that exists already, ignoring case, so a change of case alone needs two steps too
    (FIELD_ALREADY_EXISTS, measured on Delta 4.4.0).

    Args:
        renames: The renames; parents come before their fields.
        siblings: The remaining live names by the lowercased path of the parent.
    """
    for parent, found in groupby(renames, key=lambda renamed: renamed.path[:-1]):
        yield from _among_siblings(parent, list(found), siblings.get(lowercased(parent), ()))


def _among_siblings(
    parent: Path, renames: Sequence[FieldRenamed], names: Sequence[str]
) -> Iterator[FieldRenamed]:
    """Yield the first rename whose new name is free, again and again; a temporary name breaks a circle."""
    taken = {name.lower() for name in names}
    waiting = dict(enumerate(renames))
    by_new_name = grouped((_new_name(renamed).lower(), number) for number, renamed in waiting.items())
    free = [number for name, numbers in by_new_name.items() if name not in taken for number in numbers]
    heapify(free)
    for following in count(len(renames)):
        while free and (free[0] not in waiting or _new_name(waiting[free[0]]).lower() in taken):
            heappop(free)
        if free:
            renamed = waiting.pop(heappop(free))
        elif waiting:
            first = waiting.pop(next(iter(waiting)))
            temporary = unused_name(taken | by_new_name.keys())
            renamed = FieldRenamed((*parent, temporary), first.old_name)
            waiting[following] = FieldRenamed(first.path, temporary)
            by_new_name[_new_name(first).lower()] += (following,)
        else:
            return
        old_name = renamed.old_name.lower()
        taken.discard(old_name)
        taken.add(_new_name(renamed).lower())
        for number in by_new_name.get(old_name, ()):
            heappush(free, number)
        yield renamed


def _new_name(renamed: FieldRenamed) -> str:
    return str(renamed.path[-1])


def unused_name(taken: Collection[str]) -> str:
    """Return a temporary name that is not among these names in lower case."""
    return next(name for number in count(1) if (name := f"schemalint_{number}") not in taken)
