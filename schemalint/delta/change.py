"""The kinds of changes between two states of a table: facts, without judgement.

One flat list of changes feeds the rules, which judge, and the planner, which executes. A change's path uses
the new names of its ancestors, so that changes can be applied one after the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeAlias

from schemalint.base.values import frozen
from schemalint.delta.datatype import DataType, Field, Identity, Managed, RecordedChange
from schemalint.delta.path import Part, Path, Step, format_path, lowercased
from schemalint.delta.table import TableState


@frozen
class TableAdded:
    """The table is newly declared."""

    state: TableState


@frozen
class TableRemoved:
    """The table is no longer declared."""

    state: TableState


@frozen
class FieldAdded:
    """A field is new; ``after`` is the sibling that it follows, None if it is the first."""

    path: Path
    field: Field
    after: str | None


@frozen
class FieldRemoved:
    """A field is removed."""

    path: Path
    field: Field


@frozen
class FieldRenamed:
    """A field has a new name, according to its column mapping id or to a declared rename."""

    path: Path
    old_name: str


@frozen
class FieldMoved:
    """A field has a new position among its siblings; ``after`` as in `FieldAdded`."""

    path: Path
    after: str | None


@frozen
class TypeChanged:
    """The type at a path changed: the type of a leaf, or the kind of a container."""

    path: Path
    old: DataType
    new: DataType


@frozen
class TypeHistoryChanged:
    """The recorded type changes of a field changed."""

    path: Path
    old: Managed[tuple[RecordedChange, ...]]
    new: Managed[tuple[RecordedChange, ...]]


@frozen
class NullabilityChanged:
    """The nullability of a field, an array element or a map value changed."""

    path: Path
    old: Managed[bool]
    new: Managed[bool]


@frozen
class CommentChanged:
    """A field's comment changed."""

    path: Path
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class DefaultChanged:
    """A column's default expression changed."""

    path: Path
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class GeneratedChanged:
    """A column's generation expression changed."""

    path: Path
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class IdentityChanged:
    """A column's identity definition was added, removed or changed."""

    path: Path
    old: Managed[Identity | None]
    new: Managed[Identity | None]


@frozen
class DescriptionChanged:
    """The table's comment changed."""

    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class PropertyChanged:
    """A table property changed; None means that it is absent, in a table or by declaration."""

    key: str
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class ConstraintChanged:
    """A CHECK constraint changed; None means that it is absent, in a table or by declaration."""

    name: str
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class FeatureChanged:
    """A feature is newly requested or supported (``new`` is True), or no longer."""

    name: str
    new: bool


@frozen
class DeletionListed:
    """A column is newly listed under ``dropped``."""

    path: Path
    type: DataType | None


@frozen
class DeletionUnlisted:
    """A column is no longer listed under ``dropped``."""

    path: Path


@frozen
class PartitioningChanged:
    """The partitioning changed."""

    old: Managed[tuple[str, ...]]
    new: Managed[tuple[str, ...]]


@frozen
class ClusteringChanged:
    """The clustering changed."""

    old: Managed[tuple[Path, ...]]
    new: Managed[tuple[Path, ...]]


ColumnChange: TypeAlias = (
    FieldAdded
    | FieldRemoved
    | FieldRenamed
    | FieldMoved
    | TypeChanged
    | TypeHistoryChanged
    | NullabilityChanged
    | CommentChanged
    | DefaultChanged
    | GeneratedChanged
    | IdentityChanged
)
"""A change of a column, or of a field, element, key or value inside a column."""

TableChange: TypeAlias = (
    TableAdded
    | TableRemoved
    | DescriptionChanged
    | PropertyChanged
    | ConstraintChanged
    | FeatureChanged
    | DeletionListed
    | DeletionUnlisted
    | PartitioningChanged
    | ClusteringChanged
)
"""A change of the table itself, or of its contract's ``dropped`` list."""

Change: TypeAlias = ColumnChange | TableChange
"""Any change. Add a new kind to one of the two unions; mypy names every ``match`` that must handle it."""


def change_path(change: Change) -> Path | None:
    """Return the path of a change in lower case, for comparisons; None for a change of the whole table."""
    if isinstance(change, ColumnChange | DeletionListed | DeletionUnlisted):
        return lowercased(change.path)
    return None


def subject(change: Change, path: Path | None = None) -> Hashable:
    """Return the subject of a change: equal for changes of the same object, whatever the values.

    Args:
        change: The change.
        path: The column's current path, if a later change renamed it.
    """
    return type(change), change_path(change) if path is None else lowercased(path), _name(change)


def subject_name(change: Change) -> str:
    """Return the subject for messages: a property's key or a column; empty for the table itself."""
    if isinstance(change, ColumnChange | DeletionListed | DeletionUnlisted):
        return format_path(change.path)
    return _name(change) or ""


def _name(change: Change) -> str | None:
    match change:
        case PropertyChanged(key=name) | ConstraintChanged(name=name) | FeatureChanged(name=name):
            return name
        case _:
            return None


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

    def parents_back(self, path: Path) -> Path:
        """Return the path before the renames of a field that is dropped: its parents have the new names."""
        return (*self.back(path[:-1]), path[-1])


def renames_of(changes: Iterable[Change]) -> Renames:
    """Return the renames among changes; their paths have the new names of all parents."""
    renames = [change for change in changes if isinstance(change, FieldRenamed)]
    return Renames(
        new_names={
            lowercased((*rename.path[:-1], rename.old_name)): str(rename.path[-1]) for rename in renames
        },
        old_names={lowercased(rename.path): rename.old_name for rename in renames},
    )
