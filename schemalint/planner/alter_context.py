"""The alteration of a live table: what all makers of statements need to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, TypeVar

from schemalint.base.values import field, frozen
from schemalint.delta import protocol
from schemalint.delta.change import (
    Change,
    FeatureChanged,
    FieldAdded,
    FieldRemoved,
    PropertyChanged,
    Renames,
    TypeChanged,
    renames_of,
)
from schemalint.delta.datatype import Field, Managed, Struct
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import activated_by
from schemalint.delta.path import Path, is_within, lowercased
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.table import TableState
from schemalint.model.contract import Backfill
from schemalint.model.marker import Pending

IRREVERSIBLE: Final = "cannot be undone in place: RESTORE TABLE also reverts the data"

T = TypeVar("T", bound=Change)


@frozen
class AlterContext:
    """A live table and the changes to make.

    Attributes:
        table: The table's name in SQL.
        live: The state of the table before the changes.
        changes: The changes; their paths use the new names of all parents.
        pending: The note to write before columns swap or reuse names; None if no note is needed.
        drop_features: The features to drop at the end, in this order.
        truncated_features: Those of them whose drop truncates the history.
        moved: The state before columns move, under their final names; None if none moves.
        backfills: How columns are filled from others, by declared path.
        engine: The engine that runs the statements; None is the newest Delta.
    """

    table: str
    live: TableState
    changes: tuple[Change, ...]
    pending: Pending | None = None
    drop_features: tuple[str, ...] = ()
    truncated_features: frozenset[str] = frozenset()
    moved: TableState | None = None
    engine: Engine | None = None
    backfills: Mapping[Path, Backfill] = field(default_factory=dict)

    def of(self, kind: type[T]) -> list[T]:
        """Return the changes of one kind."""
        return [change for change in self.changes if isinstance(change, kind)]

    @cached_property
    def renames(self) -> Renames:
        """All renames among the changes."""
        return renames_of(self.changes)

    def drops(self, path: Path) -> bool:
        """Whether the changes drop a live column, or a parent of it."""
        return any(is_within(lowercased(path), removed) for removed in self._removed_paths)

    @cached_property
    def _removed_paths(self) -> frozenset[Path]:
        return frozenset(
            lowercased(self.renames.parents_back(removed.path)) for removed in self.of(FieldRemoved)
        )

    @cached_property
    def will_be_mapped(self) -> bool:
        """Whether the table has column mapping after its properties are set."""
        new = [changed.new for changed in self.of(PropertyChanged) if changed.key == COLUMN_MAPPING_MODE]
        modes = [self.live.properties.get(COLUMN_MAPPING_MODE), *new]
        return not all(map(_is_off, modes))

    @cached_property
    def unmaps(self) -> bool:
        """Whether column mapping is removed: the files then use the names that the columns have now."""
        new = (changed.new for changed in self.of(PropertyChanged) if changed.key == COLUMN_MAPPING_MODE)
        is_removed = "columnMapping" in self.drop_features or any(_is_off(mode) for mode in new)
        return is_removed and not _is_off(self.live.properties.get(COLUMN_MAPPING_MODE))

    def added_features(self, changes: Iterable[Change]) -> frozenset[str]:
        """Return the features that these changes add to the protocol, requested features included."""
        all_changes = list(changes)
        columns = Struct(
            tuple(
                _new_field(change) for change in all_changes if isinstance(change, FieldAdded | TypeChanged)
            )
        )
        properties: Mapping[str, str] = {
            change.key: change.new
            for change in all_changes
            if isinstance(change, PropertyChanged) and isinstance(change.new, str)
        }
        return self.needed(protocol.activated(columns, properties), requested_features(all_changes))

    def needed(self, active: frozenset[str], requested: Iterable[str] = ()) -> frozenset[str]:
        """Return the features that active and requested features add to the protocol."""
        supported, requested = self.live.features, frozenset(requested)
        # Delta 3.3.2 adds no preview beside a typeWidening that the same statement requests (measured).
        active = activated_by(self.engine, active, supported | requested)
        return protocol.needed_to_alter(supported, active, requested) - supported


def _is_off(mode: Managed[str | None]) -> bool:
    return not isinstance(mode, str) or mode.lower() == "none"


def requested_features(changes: Iterable[Change]) -> list[str]:
    """Return the features that the changes request by name."""
    return [change.name for change in changes if isinstance(change, FeatureChanged)]


def _new_field(change: FieldAdded | TypeChanged) -> Field:
    if isinstance(change, FieldAdded):
        return change.field
    return Field("changed", change.new)
