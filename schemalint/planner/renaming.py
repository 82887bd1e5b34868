"""Order renames so that each new name is free; a swap uses a temporary name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby

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
    parent: Path, waiting: list[FieldRenamed], names: Sequence[str]
) -> Iterator[FieldRenamed]:
    taken = {name.lower() for name in names}
    while waiting:
        free = next((renamed for renamed in waiting if _new_name(renamed).lower() not in taken), None)
        if free is None:
            first = waiting.pop(0)
            new_names = {_new_name(renamed).lower() for renamed in (first, *waiting)}
            temporary = unused_name(taken | new_names)
            free = FieldRenamed((*parent, temporary), first.old_name)
            waiting.append(FieldRenamed(first.path, temporary))
        else:
            waiting.remove(free)
        taken.discard(free.old_name.lower())
        taken.add(_new_name(free).lower())
        yield free


def _new_name(renamed: FieldRenamed) -> str:
    return str(renamed.path[-1])


def unused_name(taken: Collection[str]) -> str:
    """Return a temporary name that is not among these names in lower case."""
    return next(name for number in count(1) if (name := f"schemalint_{number}") not in taken)
