"""Many tables together: which protocols they have, and what of these nobody uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from schemalint.delta.feature_usage import FeatureUse, feature_uses
from schemalint.delta.protocol import DEFAULT_FEATURES
from schemalint.delta.table import LiveTable
from schemalint.values import frozen


@frozen
class TableSummary:
    """A table as one of many.

    Attributes:
        table: What findings call it.
        versions: The minimum (reader, writer) versions of its protocol.
        idle: Supported features that nothing in the log needs, without those that every table has.
        preview: Supported features that Delta may still change.
    """

    table: str
    uri: str
    version: int
    versions: tuple[int, int]
    idle: tuple[str, ...] = ()
    preview: tuple[str, ...] = ()


@frozen
class Inventory:
    """All tables that a run looked at."""

    tables: tuple[TableSummary, ...] = ()

    @property
    def versions(self) -> tuple[tuple[tuple[int, int], int], ...]:
        """How many tables have each pair of versions, the oldest pair first."""
        return tuple(sorted(Counter(one.versions for one in self.tables).items()))

    @property
    def idle(self) -> tuple[tuple[str, int], ...]:
        """How many tables support each feature without using it, most first."""
        return _counted(one.idle for one in self.tables)

    @property
    def preview(self) -> tuple[tuple[str, int], ...]:
        """How many tables support each feature in preview, most first."""
        return _counted(one.preview for one in self.tables)


def summary_of(name: str, live: LiveTable) -> TableSummary:
    """A table's summary."""
    uses = [use for use in feature_uses(live) if use.supported]
    return TableSummary(
        name,
        live.uri,
        live.version,
        (live.protocol.min_reader, live.protocol.min_writer),
        _names(use for use in uses if use.is_idle and use.name not in DEFAULT_FEATURES),
        _names(use for use in uses if use.is_preview),
    )


def _names(uses: Iterable[FeatureUse]) -> tuple[str, ...]:
    return tuple(use.name for use in uses)


def _counted(names: Iterable[tuple[str, ...]]) -> tuple[tuple[str, int], ...]:
    counts = Counter(name for some in names for name in some)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
