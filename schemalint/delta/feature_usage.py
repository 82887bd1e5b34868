"""What a table's features are there for: which property, column or constraint makes each one active."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, TypeAlias

from schemalint.delta import protocol
from schemalint.delta.datatype import Unmanaged, walk_fields
from schemalint.delta.feature import FEATURES
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable, TableState
from schemalint.values import frozen

Reason: TypeAlias = tuple[str, str]
"""A kind and a name: ``property``, ``column``, ``constraint``, ``clustering`` or ``feature``."""

# Features that act by standing in the protocol: no property and no column shows whether they are needed.
_ACT_BY_THEMSELVES: Final = frozenset(
    {"vacuumProtocolCheck", "checkpointProtection", "catalogManaged", "adaptiveMetadata-preview"}
)


@frozen
class FeatureUse:
    """A feature of a table.

    Attributes:
        supported: Whether it stands in the protocol, by name or by a legacy version.
        binds_readers: Whether readers must know it too.
        needed_by: What makes it active, or requires it.
        acts_by_itself: Whether that can be seen at all: some features act by being supported, and of those
            that this version does not know, nothing can be said.
    """

    name: str
    supported: bool
    binds_readers: bool
    needed_by: tuple[Reason, ...] = ()
    acts_by_itself: bool = False

    @property
    def is_idle(self) -> bool:
        """Supported, and nothing that the log shows needs it."""
        return self.supported and not self.needed_by and not self.acts_by_itself

    @property
    def is_preview(self) -> bool:
        """Whether Delta may still change what it means."""
        row = FEATURES.get(self.name)
        return row.preview if row else False

    @property
    def is_known(self) -> bool:
        """Whether this version of schemalint knows what it means."""
        return self.name in FEATURES


def feature_uses(table: LiveTable) -> tuple[FeatureUse, ...]:
    """All features that the table supports, or should, by name."""
    supported = table.protocol.features
    reasons = _closed(_reasons(table.state, supported))
    return tuple(
        FeatureUse(
            name,
            name in supported,
            FEATURES[name].reader if name in FEATURES else name in table.protocol.reader_features,
            tuple(dict.fromkeys(reasons.get(name, ()))),
            name in _ACT_BY_THEMSELVES or name not in FEATURES,
        )
        for name in sorted(supported | reasons.keys())
    )


def _reasons(state: TableState, supported: frozenset[str]) -> dict[str, list[Reason]]:
    found: dict[str, list[Reason]] = defaultdict(list)
    for reason, name in _activations(state):
        row = FEATURES.get(name)
        # A preview that is supported serves instead of the feature (`TableFeature.unless`).
        stand_in = row.unless if row and row.unless in supported and name not in supported else None
        found[stand_in or name].append(reason)
    return found


def _activations(state: TableState) -> Iterator[tuple[Reason, str]]:
    for kind, name, features in protocol.causes(
        state.columns, state.set_properties, (), sorted(state.constraints)
    ):
        for feature in sorted(features):
            yield (kind, name), feature
    for path, field in walk_fields(state.columns):
        if field.type_changes:
            yield ("column", format_path(path)), "typeWidening"
        if isinstance(field.default, str):
            yield ("column", format_path(path)), "allowColumnDefaults"
    if state.clustered_by and not isinstance(state.clustered_by, Unmanaged):
        yield ("clustering", ", ".join(map(format_path, state.clustered_by))), "clustering"


def _closed(reasons: dict[str, list[Reason]]) -> dict[str, list[Reason]]:
    """With the features that these require, at any depth."""
    waiting = sorted(reasons)
    while waiting:
        name = waiting.pop()
        for required in sorted(FEATURES[name].requires) if name in FEATURES else ():
            if required not in reasons:
                waiting.append(required)
            reasons[required].append(("feature", name))
    return reasons
