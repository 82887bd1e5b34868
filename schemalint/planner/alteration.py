"""What is to be done to a live table: what the makers of statements have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from schemalint.delta import change, protocol
from schemalint.delta.change import Change
from schemalint.delta.datatype import Field, Managed, Struct
from schemalint.delta.path import Path, lowercased
from schemalint.delta.renames import Renames, renames_of
from schemalint.delta.table import TableState
from schemalint.model.marker import Pending

MAPPING: Final = "delta.columnMapping.mode"

NO_WAY_BACK: Final = "cannot be undone in place: RESTORE TABLE takes the data back too"

T = TypeVar("T", bound=Change)


@dataclass(frozen=True)
class AlterContext:
    """Changes of a live table.

    Attributes:
        table: As SQL names it.
        live: As it is.
        changes: Their paths have the new names of all parents.
        pending: To be noted before names are given up and taken; None where none is.
        drop_features: To be dropped in the end.
    """

    table: str
    live: TableState
    changes: tuple[Change, ...]
    pending: Pending | None = None
    drop_features: tuple[str, ...] = ()

    def of(self, kind: type[T]) -> list[T]:
        """The changes of one kind."""
        return [one for one in self.changes if isinstance(one, kind)]

    @cached_property
    def renames(self) -> Renames:
        """All that there are."""
        return renames_of(self.changes)

    def before_renames(self, path: Path) -> Path:
        """A path of a change with the live names of the parents."""
        return (*self.renames.back(path[:-1]), path[-1])

    def goes(self, path: Path) -> bool:
        """Whether a live column is, or is inside of, one that is to be dropped."""
        return any(lowercased(path)[: len(above)] == above for above in self._gone)

    @cached_property
    def _gone(self) -> frozenset[Path]:
        return frozenset(lowercased(self.before_renames(one.path)) for one in self.of(change.FieldRemoved))

    @cached_property
    def will_be_mapped(self) -> bool:
        """Whether the table has column mapping once its properties are set."""
        new = [one.new for one in self.of(change.PropertyChanged) if one.key == MAPPING]
        modes = [self.live.properties.get(MAPPING), *new]
        return any(isinstance(mode, str) and mode.lower() != "none" for mode in modes)

    @cached_property
    def unmaps(self) -> bool:
        """Whether column mapping goes: columns then have the names in the files that they have here."""
        off = (one.new for one in self.of(change.PropertyChanged) if one.key == MAPPING)
        goes = "columnMapping" in self.drop_features or any(_is_off(mode) for mode in off)
        return goes and not _is_off(self.live.properties.get(MAPPING))

    def added_features(self, changes: Iterable[Change]) -> frozenset[str]:
        """What Delta adds to the protocol for these changes, beside what was asked for by name."""
        found = list(changes)
        columns = Struct(
            tuple(_new_field(one) for one in found if isinstance(one, change.FieldAdded | change.TypeChanged))
        )
        properties: Mapping[str, str] = {
            one.key: one.new
            for one in found
            if isinstance(one, change.PropertyChanged) and isinstance(one.new, str)
        }
        return self.needed(protocol.activated(columns, properties), asked_features(found))

    def needed(self, active: frozenset[str], asked: Iterable[str] = ()) -> frozenset[str]:
        """What Delta adds to the protocol for these features."""
        return protocol.needed_to_alter(self.live.features, active, asked) - self.live.features


def _is_off(mode: Managed[str | None]) -> bool:
    return not isinstance(mode, str) or mode.lower() == "none"


def asked_features(changes: Iterable[Change]) -> list[str]:
    """The features that are asked for by name."""
    return [one.name for one in changes if isinstance(one, change.FeatureChanged)]


def _new_field(one: change.FieldAdded | change.TypeChanged) -> Field:
    return one.field if isinstance(one, change.FieldAdded) else Field("changed", one.new)
