"""Paths before and after renames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemalint.delta.change import Change, FieldRenamed
from schemalint.delta.path import Part, Path, Step, lowercased
from schemalint.values import frozen


@frozen
class Renames:
    """All renames of one difference, made at once.

    Attributes:
        new_names: By the path with the new names of all parents and the old name at its end, folded.
        old_names: By the new path, folded.
    """

    new_names: Mapping[Path, str]
    old_names: Mapping[Path, str]

    def forward(self, path: Path) -> Path:
        """Where a field is after the renames."""
        renamed: list[Step] = []
        for step in path:
            renamed.append(self.new_names.get(lowercased((*renamed, step)), step))
        return tuple(renamed)

    def back(self, path: Path) -> Path:
        """Where a field was before the renames; `path` has the new names."""
        return tuple(
            step if isinstance(step, Part) else self.old_names.get(lowercased(path[: place + 1]), step)
            for place, step in enumerate(path)
        )


def renames_of(changes: Iterable[Change]) -> Renames:
    """The renames among changes, whose paths have the new names of their parents."""
    found = [one for one in changes if isinstance(one, FieldRenamed)]
    return Renames(
        new_names={lowercased((*one.path[:-1], one.old_name)): str(one.path[-1]) for one in found},
        old_names={lowercased(one.path): one.old_name for one in found},
    )
