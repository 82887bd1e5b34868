"""The effect of table changes on the streams that read the table.

Sources: DeltaSourceMetadataEvolutionSupport.scala of Delta Spark; measured on Delta 4.4.0.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, assert_never

from schemalint.delta import change, properties
from schemalint.delta.change import Change
from schemalint.delta.datatype import Array, DataType, Field, Map, Struct, parts, with_parts
from schemalint.delta.history import HistoryStep
from schemalint.delta.table import TableState
from schemalint.delta.widening import TypeStep, step
from schemalint.values import replace

# The keys of identity columns change with the data (IdentityColumn.scala, highWaterMark).
_IGNORED_KEYS: Final = "delta.identity."


class Blocking(Enum):
    """A kind of change that a stream passes only when its reader allows it.

    The value holds the key of ``unblock`` in a contract, and the reader's option.
    """

    RENAME = ("rename", "allowSourceColumnRename")
    DROP = ("drop", "allowSourceColumnDrop")
    TYPE_CHANGE = ("type_change", "allowSourceColumnTypeChange")

    @property
    def key(self) -> str:
        """The key in a contract."""
        return self.value[0]

    @property
    def option(self) -> str:
        """The option of Delta's streaming source."""
        return self.value[1]


def blocking_of(changed: Change) -> Blocking | None:
    """Return the option that a stream needs to pass a change; None if it needs none."""
    match changed:
        case change.FieldRenamed():
            return Blocking.RENAME
        case change.FieldRemoved():
            return Blocking.DROP
        case change.TypeChanged(old=old, new=new) if step(old, new) is TypeStep.WIDENING:
            return Blocking.TYPE_CHANGE
        case (
            change.TypeChanged()
            | change.FieldAdded()
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
            | change.PropertyChanged()
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


def stops_tracked_streams(changed: Change) -> bool:
    """Return whether a change stops, once, the streams that track the schema.

    Changes of the protocol, the schema or a ``delta.*`` property stop them; a constraint is such a property.
    """
    match changed:
        case change.PropertyChanged(key=key):
            return key.startswith(properties.PREFIX)
        case change.DescriptionChanged() | change.ClusteringChanged() | change.TableAdded():
            return False
        case (
            change.FieldAdded()
            | change.FieldRemoved()
            | change.FieldRenamed()
            | change.FieldMoved()
            | change.TypeChanged()
            | change.TypeHistoryChanged()
            | change.NullabilityChanged()
            | change.CommentChanged()
            | change.DefaultChanged()
            | change.GeneratedChanged()
            | change.IdentityChanged()
            | change.TableRemoved()
            | change.ConstraintChanged()
            | change.FeatureChanged()
            | change.DeletionListed()
            | change.DeletionUnlisted()
            | change.PartitioningChanged()
        ):
            return True
        case _:
            assert_never(changed)


def commit_stops_tracked_streams(commit: HistoryStep) -> bool:
    """Return whether a commit of a table's history stops, once, a stream that tracks the schema.

    Generation expressions and identity do not count.
    """
    if commit.before is None or commit.protocol_before is None:
        return False
    if commit.entry.protocol is not None and commit.entry.protocol != commit.protocol_before:
        return True
    after = commit.entry.metadata
    return after is not None and _tracked(after.state) != _tracked(commit.before.state)


def _tracked(state: TableState) -> object:
    """Return the values that a stream compares; constraints are ``delta.*`` properties too."""
    configuration = {
        key: value for key, value in state.properties.items() if key.startswith(properties.PREFIX)
    }
    return _without_ignored(state.columns), state.partitioned_by, dict(state.constraints), configuration


def _without_ignored(type_: DataType) -> DataType:
    if isinstance(type_, Struct):
        return Struct(tuple(_field_without_ignored(field) for field in type_.fields))
    if isinstance(type_, Array | Map):
        return with_parts(type_, {part: _without_ignored(inner) for part, inner in parts(type_)})
    return type_


def _field_without_ignored(field: Field) -> Field:
    kept = tuple(pair for pair in field.extra if not pair[0].startswith(_IGNORED_KEYS))
    return replace(field, type=_without_ignored(field.type), generated=None, identity=None, extra=kept)
