"""How a table came to be what it is: its history, commit by commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta import properties
from schemalint.delta.change import (
    Change,
    FeatureChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    TypeChanged,
)
from schemalint.delta.datatype import Array, DataType, Field, Map, Struct, parts, with_parts
from schemalint.delta.diff import diff
from schemalint.delta.path import Path, lowercased
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import History, HistoryEntry, Metadata, TableState
from schemalint.values import frozen, replace

# The keys of identity columns change with the data (IdentityColumn.scala, highWaterMark).
_IGNORED_BY_STREAMS: Final = "delta.identity."


@frozen
class HistoryStep:
    """A commit that changed metadata or protocol, and the table as it was before.

    Attributes:
        before: None if this is the table's first commit, or the first one that is known.
        superseded: Whether a later commit replaced all that the table holds.
    """

    entry: HistoryEntry
    before: Metadata | None = None
    protocol_before: Protocol | None = None
    superseded: bool = False

    @property
    def title(self) -> str:
        """The commit, for people: ``version 5 (CHANGE COLUMN)``."""
        operation = f" ({self.entry.operation})" if self.entry.operation else ""
        return f"version {self.entry.version}{operation}"


@frozen
class TypeStep:
    """A change of a type, and the commit that made it."""

    old: DataType
    new: DataType
    entry: HistoryEntry


def steps(history: History) -> Iterator[HistoryStep]:
    """Each commit of a history with the table as it was before, oldest first."""
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    for entry in history.entries:
        yield HistoryStep(entry, metadata, protocol)
        metadata = entry.metadata or metadata
        protocol = entry.protocol or protocol


def changes(step: HistoryStep) -> tuple[Change, ...]:
    """What a commit changed; nothing where the state before is not known."""
    if step.before is None or step.protocol_before is None:
        return ()
    old = step.protocol_before.features
    new = step.entry.protocol.features if step.entry.protocol else old
    added, removed = sorted(new - old), sorted(old - new)
    features = [FeatureChanged(name, name in new) for name in (*added, *removed)]
    if step.entry.metadata is None:
        return tuple(features)
    # Features stand in the protocol; a state repeats them.
    before, after = (replace(one.state, features=new) for one in (step.before, step.entry.metadata))
    return (*diff(before, after), *features)


def stops_tracked_streams(step: HistoryStep) -> bool:
    """Whether the commit stops a stream that tracks the schema, once.

    Any other protocol, schema, partitioning or ``delta.*`` property does; generation expressions and identity
    do not count (DeltaSourceMetadataEvolutionSupport.scala; measured on Delta 4.4.0).
    """
    if step.before is None or step.protocol_before is None:
        return False
    if step.entry.protocol is not None and step.entry.protocol != step.protocol_before:
        return True
    after = step.entry.metadata
    return after is not None and _tracked(after.state) != _tracked(step.before.state)


def type_history(history: History) -> dict[Path, tuple[TypeStep, ...]]:
    """The changes of types by the path that the type has now, in lower case, oldest first."""
    found: dict[Path, tuple[TypeStep, ...]] = {}
    for step in steps(history):
        for change in changes(step):
            match change:
                case FieldAdded(path=path) | FieldRemoved(path=path):
                    found = {
                        key: value for key, value in found.items() if not _is_below(key, lowercased(path))
                    }
                case FieldRenamed(path=path, old_name=name):
                    found = _renamed(found, lowercased((*path[:-1], name)), lowercased(path))
                case TypeChanged(path=path, old=old, new=new):
                    key = lowercased(path)
                    found[key] = (*found.get(key, ()), TypeStep(old, new, step.entry))
                case _:
                    pass
    return found


def _renamed(
    found: dict[Path, tuple[TypeStep, ...]], old: Path, new: Path
) -> dict[Path, tuple[TypeStep, ...]]:
    return {(*new, *key[len(old) :]) if _is_below(key, old) else key: value for key, value in found.items()}


def _is_below(path: Path, ancestor: Path) -> bool:
    return path[: len(ancestor)] == ancestor


def _tracked(state: TableState) -> object:
    """What of a state a stream compares; constraints are ``delta.*`` properties too."""
    configuration = {
        key: value for key, value in state.properties.items() if key.startswith(properties.PREFIX)
    }
    return _plain(state.columns), state.partitioned_by, dict(state.constraints), configuration


def _plain(type_: DataType) -> DataType:
    if isinstance(type_, Struct):
        return Struct(tuple(_plain_field(field) for field in type_.fields))
    if isinstance(type_, Array | Map):
        return with_parts(type_, {part: _plain(inner) for part, inner in parts(type_)})
    return type_


def _plain_field(field: Field) -> Field:
    kept = tuple(one for one in field.extra if not one[0].startswith(_IGNORED_BY_STREAMS))
    return replace(field, type=_plain(field.type), generated=None, identity=None, extra=kept)
