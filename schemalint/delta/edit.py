"""What an edit makes new: which columns it adds and renames, and which get another type or comment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from schemalint.base.values import frozen
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
        return not self._added.isdisjoint(around) or not self._retyped.isdisjoint(around[:-1])

    def renames(self, path: Path) -> bool:
        """Whether the field has another name than before, or the same one in another spelling."""
        own = lowercased(path)
        return own in self._renamed or self._spellings.get(own, path[-1]) != path[-1]

    def retypes(self, path: Path) -> bool:
        """Whether what is at the path has another type, apart from the fields inside of it."""
        own = lowercased(path)
        return any(
            changed[: len(own)] == own and all(isinstance(step, Part) for step in changed[len(own) :])
            for changed in self._retyped
        )

    def recomments(self, path: Path) -> bool:
        """Whether the field has another comment than before."""
        return lowercased(path) in self._recommented

    @cached_property
    def _changes(self) -> tuple[Change, ...]:
        return () if self.before is None else diff(self.before, self.after)

    @cached_property
    def _added(self) -> frozenset[Path]:
        return frozenset(self._paths(FieldAdded))

    @cached_property
    def _renamed(self) -> frozenset[Path]:
        return frozenset(self._paths(FieldRenamed))

    @cached_property
    def _retyped(self) -> frozenset[Path]:
        return frozenset(self._paths(TypeChanged))

    @cached_property
    def _recommented(self) -> frozenset[Path]:
        return frozenset(self._paths(CommentChanged))

    @cached_property
    def _spellings(self) -> dict[Path, object]:
        fields = () if self.before is None else walk_fields(self.before.columns)
        return {lowercased(path): path[-1] for path, _field in fields}

    def _paths(self, kind: type[Change]) -> Iterator[Path]:
        for change in self._changes:
            path = change_path(change)
            if isinstance(change, kind) and path is not None:
                yield path
