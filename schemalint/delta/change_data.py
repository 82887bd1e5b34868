"""What a change takes from batch reads of the change data feed.

A read takes one schema for its whole range: that of its last version if columns are mapped, else the newest
one. It refuses a range in which files have another one (CDCReaderBase.scala; measured on Delta 4.4.0).
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.properties import CHANGE_DATA_FEED, COLUMN_MAPPING_MODE, is_true, property_value
from schemalint.delta.table import TableState
from schemalint.delta.widening import TypeStep, step

FEED_KEYS = (CHANGE_DATA_FEED, "delta.enableChangeDataCapture")
"""The property that turns the feed on, and its older name."""


class LostRange(Enum):
    """The ranges of the feed that a change makes unreadable."""

    ACROSS = "across"
    """Those that begin before the change and end at it or after it."""
    BEFORE = "before"
    """All that begin before the change."""


def has_feed(state: TableState) -> bool:
    """Return whether Delta records the changes of a table."""
    return is_true(property_value(CHANGE_DATA_FEED, state.properties))


def lost_range(changed: Change, before: TableState, after: TableState) -> LostRange | None:
    """Return the ranges that a change makes unreadable; None for a change that reads pass.

    The error is ``DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA``, and for a change inside the range
    ``DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE``.
    """
    match changed:
        case change.FieldRenamed() | change.FieldRemoved():
            return LostRange.ACROSS
        case change.TypeChanged(path=path, old=old, new=new):
            if step(old, new, nested=len(path) > 1) is not TypeStep.WIDENING:
                return None
            if after.column_mapping == "none":
                return LostRange.BEFORE
            return LostRange.ACROSS
        case change.PropertyChanged(key=key):
            is_unmapped = before.column_mapping != "none" and after.column_mapping == "none"
            if key == COLUMN_MAPPING_MODE and is_unmapped:
                return LostRange.ACROSS
            return None
        case (
            change.FieldAdded()
            | change.FieldMoved()
            | change.TypeHistoryChanged()
            | change.NullabilityChanged()
            | change.CommentChanged()
            | change.DefaultChanged()
            | change.GeneratedChanged()
            | change.IdentityChanged()
            | change.TableAdded()
            | change.TableRemoved()
            | change.DescriptionChanged()
            | change.ConstraintChanged()
            | change.FeatureChanged()
            | change.DeletionListed()
            | change.DeletionUnlisted()
            | change.PartitioningChanged()
            | change.ClusteringChanged()
        ):
            return None
        case _:
            assert_never(changed)
