"""The keys of a contract that declare the object of a change."""

from __future__ import annotations

from typing import assert_never

from schemalint.delta import change
from schemalint.delta.change import Change, ColumnChange
from schemalint.delta.path import Path, lowercased
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.model.change_kind import kind_of
from schemalint.model.contract import Anchor


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
