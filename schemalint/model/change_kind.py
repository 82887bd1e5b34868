"""A table of the kinds of changes, and the keys of a contract that declare what changed.

A `match` over changes, facts or refusals ends in `assert_never`, so mypy names every place that must decide
about a new kind; a test adds a kind and compares the list of errors.
"""

from __future__ import annotations

from typing import assert_never

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


def kind_of(changed: Change) -> ChangeKind:  # noqa: C901, PLR0911, PLR0912 (a row per kind)
    """Return the row of a change's kind."""
    match changed:
        case change.TableAdded():
            return ChangeKind("table added", "table", "table")
        case change.TableRemoved():
            return ChangeKind("table removed", "table", "table")
        case change.FieldAdded():
            return ChangeKind("field added", "column", "column")
        case change.FieldRemoved():
            return ChangeKind("field removed", "column", "column")
        case change.FieldRenamed():
            return ChangeKind("field renamed", "column", "renamed_from")
        case change.FieldMoved():
            return ChangeKind("field moved", "column", "column")
        case change.TypeChanged():
            return ChangeKind("type changed", "column", "type")
        case change.TypeHistoryChanged():
            return ChangeKind("type history changed", "column", "type_changes")
        case change.NullabilityChanged():
            return ChangeKind("nullability changed", "column", "nullable")
        case change.CommentChanged():
            return ChangeKind("comment changed", "column", "comment")
        case change.DefaultChanged():
            return ChangeKind("default changed", "column", "default")
        case change.GeneratedChanged():
            return ChangeKind("generation expression changed", "column", "generated")
        case change.IdentityChanged():
            return ChangeKind("identity changed", "column", "identity")
        case change.DescriptionChanged():
            return ChangeKind("description changed", "table", "description")
        case change.PropertyChanged():
            return ChangeKind("property changed", "property", "property")
        case change.ConstraintChanged():
            return ChangeKind("constraint changed", "constraint", "constraint")
        case change.FeatureChanged():
            return ChangeKind("feature changed", "feature", "feature")
        case change.DeletionListed():
            return ChangeKind("deletion listed", "column", "dropped")
        case change.DeletionUnlisted():
            return ChangeKind("deletion no longer listed", "column", "dropped")
        case change.PartitioningChanged():
            return ChangeKind("partitioning changed", "partitioning", "partitioned_by")
        case change.ClusteringChanged():
            return ChangeKind("clustering changed", "clustering", "clustered_by")
        case _:
            assert_never(changed)


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
