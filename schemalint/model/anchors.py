"""Which part of a contract says what a change is about."""

from __future__ import annotations

from typing import Final

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.path import Path, lowercased
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.model.contract import Anchor

# The part of a column that a change is about: the anchor's first word.
_PARTS: Final[dict[type, str]] = {
    change.FieldAdded: "column",
    change.FieldRemoved: "column",
    change.FieldMoved: "column",
    change.FieldRenamed: "renamed_from",
    change.TypeChanged: "type",
    change.TypeHistoryChanged: "type_changes",
    change.NullabilityChanged: "nullable",
    change.CommentChanged: "comment",
    change.DefaultChanged: "default",
    change.GeneratedChanged: "generated",
    change.IdentityChanged: "identity",
    change.DeletionListed: "dropped",
    change.DeletionUnlisted: "dropped",
}


def column_anchors(kind: type, path: Path) -> tuple[Anchor, ...]:
    """Where a contract speaks of a column, the best place first.

    Args:
        kind: Of the fact about it.
        path: As the contract names it.
    """
    own = lowercased(path)
    return ((_PARTS.get(kind, "column"), own), ("type", own), ("column", own))


def anchors_of(one: Change) -> tuple[Anchor, ...]:
    """Where a contract asks for a change of a live table, the best place first."""
    match one:
        case change.FieldRemoved(path=path):
            return (("dropped", lowercased(path)),)
        case change.PropertyChanged(key=key):
            return (("property", key),)
        case change.ConstraintChanged(name=name):
            return (("constraint", name),)
        case change.FeatureChanged(name=name):
            return (("feature", name), ("property", FEATURE_PREFIX + name))
        case change.DescriptionChanged():
            return (("description",),)
        case change.PartitioningChanged():
            return (("partitioned_by",),)
        case change.ClusteringChanged():
            return (("clustered_by",),)
        case change.TableAdded():
            return (("table",),)
        case change.TableRemoved():
            return ()
        case _:
            return column_anchors(type(one), one.path)
