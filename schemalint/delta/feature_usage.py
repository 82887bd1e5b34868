"""Find the reasons for a table's features: the properties, columns and constraints that need each one.

A feature that works without any of these, and a feature of a newer Delta, is never called idle; data files
are not read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, TypeAlias

from schemalint.base.values import frozen
from schemalint.delta import protocol
from schemalint.delta.datatype import walk_fields
from schemalint.delta.feature import FEATURES
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable, TableState

Reason: TypeAlias = tuple[str, str]
"""A kind and a name. The kind is ``property``, ``column``, ``constraint``, ``clustering`` or ``feature``."""

# Features that act by their presence in the protocol: no property or column shows whether they are needed.
_ACT_BY_THEMSELVES: Final = frozenset(
    {"vacuumProtocolCheck", "checkpointProtection", "catalogManaged", "adaptiveMetadata-preview"}
)


@frozen
class FeatureUse:
    """A feature of a table, with the reasons for it.

    Attributes:
        name: The feature's name.
        supported: Whether the protocol has the feature, by name or by a legacy version.
        binds_readers: Whether readers must support the feature too.
        needed_by: The objects that enable the feature, and the features that require it.
        acts_by_itself: Whether the feature can be in use without a reason in the log: because it acts by its
            presence in the protocol, or because this version of schemalint does not know it.
    """

    name: str
    supported: bool
    binds_readers: bool
    needed_by: tuple[Reason, ...] = ()
    acts_by_itself: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether the table supports the feature and nothing in the log needs it."""
        return self.supported and not self.needed_by and not self.acts_by_itself

    @property
    def binds(self) -> str:
        """Who must support the feature, in words."""
        return "readers and writers" if self.binds_readers else "writers"

    @property
    def is_preview(self) -> bool:
        """Whether Delta may still change the feature incompatibly."""
        row = FEATURES.get(self.name)
        return row.preview if row else False

    @property
    def is_known(self) -> bool:
        """Whether this version of schemalint knows the feature."""
        return self.name in FEATURES


def feature_uses(table: LiveTable) -> tuple[FeatureUse, ...]:
    """Return all features that the table supports or needs, sorted by name."""
    supported = table.protocol.features
    reasons = _with_required(_reasons(table.state, supported))
    uses = []
    for name in sorted(supported | reasons.keys()):
        row = FEATURES.get(name)
        use = FeatureUse(
            name,
            supported=name in supported,
            binds_readers=row.reader if row else name in table.protocol.reader_features,
            needed_by=tuple(dict.fromkeys(reasons.get(name, ()))),
            acts_by_itself=row is None or name in _ACT_BY_THEMSELVES,
        )
        uses.append(use)
    return tuple(uses)


def _reasons(state: TableState, supported: frozenset[str]) -> dict[str, list[Reason]]:
    reasons: dict[str, list[Reason]] = defaultdict(list)
    for reason, name in _activations(state):
        row = FEATURES.get(name)
        # A supported preview replaces the feature (`TableFeature.unless`).
        preview = row.unless if row and row.unless in supported and name not in supported else None
        reasons[preview or name].append(reason)
    return reasons


def _activations(state: TableState) -> Iterator[tuple[Reason, str]]:
    for kind, name, features in protocol.feature_causes(
        state.columns, state.set_properties, (), sorted(state.constraints)
    ):
        for feature in sorted(features):
            yield (kind, name), feature
    for path, field in walk_fields(state.columns):
        if field.type_changes:
            yield ("column", format_path(path)), "typeWidening"
        if isinstance(field.default, str):
            yield ("column", format_path(path)), "allowColumnDefaults"
    if state.clustering_columns:
        yield ("clustering", ", ".join(map(format_path, state.clustering_columns))), "clustering"


def _with_required(reasons: dict[str, list[Reason]]) -> dict[str, list[Reason]]:
    """Add the features that these features require, directly or not."""
    pending = sorted(reasons)
    while pending:
        name = pending.pop()
        for required in sorted(FEATURES[name].requires) if name in FEATURES else ():
            if required not in reasons:
                pending.append(required)
            reasons[required].append(("feature", name))
    return reasons
