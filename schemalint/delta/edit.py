"""What an edit makes new: which columns it adds and renames, and which get another type or comment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from schemalint.base.values import frozen, grouped
from schemalint.delta.change import (
    Change,
    CommentChanged,
    FieldAdded,
    FieldRenamed,
    TypeChanged,
    change_path,
)
from schemalint.delta.datatype import walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import Part, Path, lowercased, prefixes
from schemalint.delta.table import TableState


@frozen
class Edit:
    """The edit of a declared state; paths have the names after it.

    Attributes:
        before: The state before; None for a new table, of which all is new.
        after: The state after the edit.
    """

    before: TableState | None
    after: TableState

    @property
    def is_new_table(self) -> bool:
        """Whether there is no state before."""
        return self.before is None

    def has(self, *kinds: type[Change]) -> bool:
        """Whether all is new, or a change is of one of these kinds."""
        return self.before is None or any(isinstance(change, kinds) for change in self._changes)

    def adds(self, path: Path) -> bool:
        """Whether what is at the path is new, alone or inside of what is new."""
        if self.before is None:
            return True
        around = [*prefixes(lowercased(path))]
        added, retyped = self._paths_of(FieldAdded), self._paths_of(TypeChanged)
        return not added.isdisjoint(around) or not retyped.isdisjoint(around[:-1])

    def renames(self, path: Path) -> bool:
        """Whether the field has another name than before, or the same one in another spelling."""
        own = lowercased(path)
        return own in self._paths_of(FieldRenamed) or self._spellings.get(own, path[-1]) != path[-1]

    def retypes(self, path: Path) -> bool:
        """Whether what is at the path has another type, apart from the fields inside of it."""
        own = lowercased(path)
        return any(
            changed[: len(own)] == own and all(isinstance(step, Part) for step in changed[len(own) :])
            for changed in self._paths_of(TypeChanged)
        )

    def recomments(self, path: Path) -> bool:
        """Whether the field has another comment than before."""
        return lowercased(path) in self._paths_of(CommentChanged)

    @cached_property
    def _changes(self) -> tuple[Change, ...]:
        return () if self.before is None else diff(self.before, self.after)

    @cached_property
    def _spellings(self) -> dict[Path, object]:
        fields = () if self.before is None else walk_fields(self.before.columns)
        return {lowercased(path): path[-1] for path, _field in fields}

    def _paths_of(self, kind: type[Change]) -> frozenset[Path]:
        """Return the paths, in lower case, of the changes of a kind."""
        return self._paths.get(kind, frozenset())

    @cached_property
    def _paths(self) -> Mapping[type[Change], frozenset[Path]]:
        pairs = ((type(change), change_path(change)) for change in self._changes)
        paths = grouped((kind, path) for kind, path in pairs if path is not None)
        return {kind: frozenset(of_kind) for kind, of_kind in paths.items()}
