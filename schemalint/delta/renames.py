"""Convert field paths across renames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemalint.base.values import frozen
from schemalint.delta.change import Change, FieldRenamed
from schemalint.delta.path import Part, Path, Step, lowercased


@frozen
class Renames:
    """All renames of one diff, applied at once.

    Attributes:
        new_names: The new names by lower-case path: the parents' new names, then the field's old name.
        old_names: The old names by lower-case new path.
    """

    new_names: Mapping[Path, str]
    old_names: Mapping[Path, str]

    def forward(self, path: Path) -> Path:
        """Return a field's path after the renames."""
        renamed: list[Step] = []
        for step in path:
            renamed.append(self.new_names.get(lowercased((*renamed, step)), step))
        return tuple(renamed)

    def back(self, path: Path) -> Path:
        """Return a field's path before the renames; `path` has the new names."""
        return tuple(
            step if isinstance(step, Part) else self.old_names.get(lowercased(path[: index + 1]), step)
            for index, step in enumerate(path)
        )


def renames_of(changes: Iterable[Change]) -> Renames:
    """Return the renames among changes; their paths have the new names of all parents."""
    renames = [change for change in changes if isinstance(change, FieldRenamed)]
    return Renames(
        new_names={
            lowercased((*rename.path[:-1], rename.old_name)): str(rename.path[-1]) for rename in renames
        },
        old_names={lowercased(rename.path): rename.old_name for rename in renames},
    )
