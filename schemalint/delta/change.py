"""What differs between two states of a table: facts only.

One flat list of these feeds the rules, which judge, and the planner, which executes. A change's path uses the
new names of its ancestors, so that changes can be applied one after the other.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from schemalint.delta.datatype import DataType, Field, Identity, Managed, RecordedChange
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import TableState
from schemalint.values import frozen


@frozen
class TableAdded:
    """The table is declared, and was not before."""

    state: TableState


@frozen
class TableRemoved:
    """The table is declared no longer."""

    state: TableState


@frozen
class FieldAdded:
    """A field is new; ``after`` is the sibling that it follows, None if it is the first."""

    path: Path
    field: Field
    after: str | None


@frozen
class FieldRemoved:
    """A field is gone."""

    path: Path
    field: Field


@frozen
class FieldRenamed:
    """A field has another name: by its column-mapping id, or as declared."""

    path: Path
    old_name: str


@frozen
class FieldMoved:
    """A field stands elsewhere among its siblings; ``after`` as in `FieldAdded`."""

    path: Path
    after: str | None


@frozen
class TypeChanged:
    """The type at a path is another: a leaf's, or a container's kind."""

    path: Path
    old: DataType
    new: DataType


@frozen
class TypeHistoryChanged:
    """The recorded type changes of a field are others."""

    path: Path
    old: Managed[tuple[RecordedChange, ...]]
    new: Managed[tuple[RecordedChange, ...]]


@frozen
class NullabilityChanged:
    """A field, an element or a map's value may be null, or may no longer."""

    path: Path
    old: Managed[bool]
    new: Managed[bool]


@frozen
class CommentChanged:
    """A field's comment is another."""

    path: Path
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class DefaultChanged:
    """A column's default is another expression."""

    path: Path
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class GeneratedChanged:
    """A column's generation expression is another."""

    path: Path
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class IdentityChanged:
    """A column becomes, is no longer, or is another identity column."""

    path: Path
    old: Managed[Identity | None]
    new: Managed[Identity | None]


@frozen
class DescriptionChanged:
    """The table's comment is another."""

    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class PropertyChanged:
    """A table property is another; None is "absent", declared or found."""

    key: str
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class ConstraintChanged:
    """A CHECK constraint is another; None is "absent", declared or found."""

    name: str
    old: Managed[str | None]
    new: Managed[str | None]


@frozen
class FeatureChanged:
    """A feature is asked for (or supported), or no longer."""

    name: str
    new: bool


@frozen
class DeletionListed:
    """A column is listed as one that may go."""

    path: Path
    type: DataType | None


@frozen
class DeletionUnlisted:
    """A column is listed no longer as one that may go."""

    path: Path


@frozen
class PartitioningChanged:
    """The table is partitioned otherwise."""

    old: Managed[tuple[str, ...]]
    new: Managed[tuple[str, ...]]


@frozen
class ClusteringChanged:
    """The table is clustered otherwise."""

    old: Managed[tuple[Path, ...]]
    new: Managed[tuple[Path, ...]]


Change: TypeAlias = (
    TableAdded
    | TableRemoved
    | FieldAdded
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
    | DescriptionChanged
    | PropertyChanged
    | ConstraintChanged
    | FeatureChanged
    | DeletionListed
    | DeletionUnlisted
    | PartitioningChanged
    | ClusteringChanged
)


def change_path(one: Change) -> Path | None:
    """The path of a change, to compare by; None for what is of the whole table."""
    path: Path | None = getattr(one, "path", None)
    return lowercased(path) if path is not None else None


def subject(one: Change, path: Path | None = None) -> Hashable:
    """What a change is about: changes with one subject, between whatever states, are of the same object.

    Args:
        one: The change.
        path: Where its column is now, if it has been renamed since.
    """
    where = change_path(one) if path is None else lowercased(path)
    return (type(one), where, getattr(one, "key", None), getattr(one, "name", None))


def subject_name(one: Change) -> str:
    """The subject for people: a property's key, a column; empty for the table itself."""
    return getattr(one, "key", None) or getattr(one, "name", None) or format_path(getattr(one, "path", ()))
