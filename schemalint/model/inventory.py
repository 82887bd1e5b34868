"""Many tables at once: their protocol versions, and the features that no table uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from schemalint.base.values import field, frozen
from schemalint.delta.feature_usage import FeatureUse, feature_uses
from schemalint.delta.protocol import DEFAULT_FEATURES
from schemalint.delta.table import LiveTable


@frozen
class TableSummary:
    """One table in an inventory.

    Attributes:
        table: The table's name in findings.
        versions: The minimum (reader, writer) versions of its protocol.
        idle: The supported features that nothing in the log needs, without those that every table has.
        preview: The supported features that Delta may still change.
        writers: Who wrote the table lately, as `LiveTable.writers`.
    """

    table: str
    uri: str
    version: int
    versions: tuple[int, int]
    idle: tuple[str, ...] = ()
    preview: tuple[str, ...] = ()
    writers: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)


@frozen
class Inventory:
    """All tables that a run read."""

    tables: tuple[TableSummary, ...] = ()

    @property
    def versions(self) -> tuple[tuple[tuple[int, int], int], ...]:
        """The number of tables with each pair of versions, the oldest pair first."""
        return tuple(sorted(Counter(table.versions for table in self.tables).items()))

    @property
    def idle(self) -> tuple[tuple[str, int], ...]:
        """The number of tables that support each feature without using it, most first."""
        return _counted(table.idle for table in self.tables)

    @property
    def preview(self) -> tuple[tuple[str, int], ...]:
        """The number of tables that support each preview feature, most first."""
        return _counted(table.preview for table in self.tables)


def summary_of(name: str, live: LiveTable) -> TableSummary:
    """Return a table's summary."""
    uses = [use for use in feature_uses(live) if use.supported]
    return TableSummary(
        name,
        live.uri,
        live.version,
        (live.protocol.min_reader, live.protocol.min_writer),
        _names(use for use in uses if use.is_idle and use.name not in DEFAULT_FEATURES),
        _names(use for use in uses if use.is_preview),
        live.writers,
    )


def _names(uses: Iterable[FeatureUse]) -> tuple[str, ...]:
    return tuple(use.name for use in uses)


def _counted(features_by_table: Iterable[tuple[str, ...]]) -> tuple[tuple[str, int], ...]:
    counts = Counter(name for feature_names in features_by_table for name in feature_names)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
