"""A table of the kinds of changes, and the keys of a contract that declare what changed.

A `match` over changes, facts or refusals ends in `assert_never`, so mypy names every place that must decide
about a new kind; a test adds a kind and compares the list of errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from schemalint.base.values import frozen
from schemalint.delta import change
from schemalint.delta.change import Change, ColumnChange
from schemalint.delta.path import Path, lowercased
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.model.contract import Anchor


@frozen
class ChangeKind:
    """A kind of change.

    Attributes:
        label: The kind as text: ``type changed``.
        object: The kind of object that a finding names; see `schemalint.model.finding.ObjectRef`.
        anchor: The contract key that declares the changed object.
    """

    label: str
    object: str
    anchor: str


_KINDS: Final[Mapping[type[Change], ChangeKind]] = {
    change.TableAdded: ChangeKind("table added", "table", "table"),
    change.TableRemoved: ChangeKind("table removed", "table", "table"),
    change.FieldAdded: ChangeKind("field added", "column", "column"),
    change.FieldRemoved: ChangeKind("field removed", "column", "column"),
    change.FieldRenamed: ChangeKind("field renamed", "column", "renamed_from"),
    change.FieldMoved: ChangeKind("field moved", "column", "column"),
    change.TypeChanged: ChangeKind("type changed", "column", "type"),
    change.TypeHistoryChanged: ChangeKind("type history changed", "column", "type_changes"),
    change.NullabilityChanged: ChangeKind("nullability changed", "column", "nullable"),
    change.CommentChanged: ChangeKind("comment changed", "column", "comment"),
    change.DefaultChanged: ChangeKind("default changed", "column", "default"),
    change.GeneratedChanged: ChangeKind("generation expression changed", "column", "generated"),
    change.IdentityChanged: ChangeKind("identity changed", "column", "identity"),
    change.DescriptionChanged: ChangeKind("description changed", "table", "description"),
    change.PropertyChanged: ChangeKind("property changed", "property", "property"),
    change.ConstraintChanged: ChangeKind("constraint changed", "constraint", "constraint"),
    change.FeatureChanged: ChangeKind("feature changed", "feature", "feature"),
    change.DeletionListed: ChangeKind("deletion listed", "column", "dropped"),
    change.DeletionUnlisted: ChangeKind("deletion no longer listed", "column", "dropped"),
    change.PartitioningChanged: ChangeKind("partitioning changed", "partitioning", "partitioned_by"),
    change.ClusteringChanged: ChangeKind("clustering changed", "clustering", "clustered_by"),
}


def kind_of(changed: Change) -> ChangeKind:
    """Return the row of a change's kind."""
    return _KINDS[type(changed)]


def column_anchors(part: str, path: Path) -> tuple[Anchor, ...]:
    """Return the anchors of a part of a column, the best one first.

    Args:
        part: The key of the column that the fact is about, such as ``type``.
        path: The column's path in the contract.
    """
    own = lowercased(path)
    return ((part, own), ("type", own), ("column", own))


def anchors_of(changed: Change) -> tuple[Anchor, ...]:
    """Return the anchors of the declaration that causes a change, the best one first."""
    anchor = kind_of(changed).anchor
    match changed:
        case (
            change.FieldRemoved(path=path)
            | change.DeletionListed(path=path)
            | change.DeletionUnlisted(path=path)
        ):
            return (("dropped", lowercased(path)),)
        case change.PropertyChanged(key=name) | change.ConstraintChanged(name=name):
            return ((anchor, name),)
        case change.FeatureChanged(name=name):
            return ((anchor, name), ("property", FEATURE_PREFIX + name))
        case (
            change.TableAdded()
            | change.DescriptionChanged()
            | change.PartitioningChanged()
            | change.ClusteringChanged()
        ):
            return ((anchor,),)
        case change.TableRemoved():
            return ()
        case _ if isinstance(changed, ColumnChange):
            return column_anchors(anchor, changed.path)
        case _:
            assert_never(changed)
