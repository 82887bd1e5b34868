"""Delta's table features: one row for each, with what enables it and which features it requires.

Sources: ``TableFeature.scala`` of Delta Spark 4.4.0, with every row compared with the registry of the
released jar; ``TableFeatures.java`` of Delta Kernel 4.4.0; PROTOCOL.md, whose appendix "Valid Feature Names
in Table Features" is incomplete: it lacks typeWidening, variantType, checkpointProtection and others.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from schemalint.base.values import frozen

TABLE_FEATURES_READER: Final = 3
"""The reader version that lists reader features by name."""

TABLE_FEATURES_WRITER: Final = 7
"""The writer version that lists features by name."""

CATALOG_MANAGED: Final = "catalogManaged"
"""The feature of a table whose catalog decides which commits are part of it."""

CHECKPOINT_PROTECTION: Final = "checkpointProtection"
"""The feature that DROP FEATURE adds instead of waiting; only ``TRUNCATE HISTORY`` removes it."""


class SchemaTrigger(Enum):
    """A part of a table's metadata, other than a property, that enables a feature."""

    NOT_NULL = "a NOT NULL column or an invariant"
    CONSTRAINT = "a CHECK constraint"
    GENERATED = "a generated column"
    IDENTITY = "an identity column"
    TIMESTAMP_NTZ = "a timestamp_ntz column"
    VARIANT = "a variant column"
    GEOSPATIAL = "a geometry or geography column"


@frozen
class TableFeature:
    """A table feature of Delta's protocol.

    Attributes:
        name: The name in the protocol action, where case matters.
        reader: Whether readers must support the feature too; false for a writer-only feature.
        legacy: The lowest (reader, writer) versions that imply the feature, below writer version 7. None if
            the protocol always lists the feature by name; this requires writer version 7, and reader version
            3 if `reader` is true.
        enabled_by_property: The property key and the values, in lower case, that enable the feature; an empty
            set means any value.
        enabled_by_schema: The part of the metadata that enables the feature.
        automatic: Whether Delta adds the feature to an existing table when a property or the schema enables
            it. Otherwise the statement fails with ``DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT``. False if
            nothing enables the feature.
        requires: The features that this one requires directly; Delta adds them too.
        unless: The feature that replaces this one: if the table supports it, Delta does not add this one.
        removable: Whether ``ALTER TABLE … DROP FEATURE`` succeeds.
        drop_needs_history: Whether older versions of the table still use the feature after DROP FEATURE.
            Delta then adds checkpointProtection, or waits until the history expires.
        drop_commits: The commits of DROP FEATURE on a table that does not use the feature any more; more if
            Delta must remove its traces first. 0 if the feature is not removable. Measured on Delta 4.4.0.
        drop_removes_property: Whether DROP FEATURE removes the property of `enabled_by_property` even if it
            is false (measured on Delta 4.4.0). typeWidening's goes only from a table with type changes.
        preview: Whether Delta may still change the feature incompatibly.
        settable: Whether ``delta.feature.<name>`` adds the feature to an existing table.
        in_spark: Whether Delta Spark 4.4.0 knows the feature; otherwise it refuses tables that list it.
        source: The file that defines the feature, in Delta Spark (Scala), Delta Kernel (Java), or the text of
            a proposal.
    """

    name: str
    reader: bool = False
    legacy: tuple[int, int] | None = None
    enabled_by_property: tuple[str, frozenset[str]] | None = None
    enabled_by_schema: SchemaTrigger | None = None
    automatic: bool = False
    requires: frozenset[str] = frozenset()
    unless: str | None = None
    removable: bool = False
    drop_needs_history: bool = False
    drop_commits: int = 0
    drop_removes_property: bool = False
    preview: bool = False
    settable: bool = True
    in_spark: bool = True
    source: str = "TableFeature.scala"


def find_feature(name: str) -> TableFeature | None:
    """Return the feature with this name, or None; ignores case, as ``delta.feature.<name>`` does."""
    return _BY_LOWER_CASE.get(name.lower())


def implied_by(min_reader: int, min_writer: int) -> frozenset[str]:
    """Return the features that a legacy protocol supports without listing them.

    The set is empty from writer version 7 on (``implicitlySupportedFeatures`` in TableFeatureSupport.scala;
    PROTOCOL.md, "Table Features"), and from reader version 3 on, which is invalid with a lower writer
    version.
    """
    if min_reader >= TABLE_FEATURES_READER or min_writer >= TABLE_FEATURES_WRITER:
        return frozenset()
    return frozenset(
        row.name
        for row in FEATURES.values()
        if row.legacy and row.legacy[0] <= min_reader and row.legacy[1] <= min_writer
    )


def closure(names: Iterable[str]) -> frozenset[str]:
    """Return the features and all features that they require, directly or not; unknown names are kept."""
    names_with_dependencies: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in names_with_dependencies:
            names_with_dependencies.add(name)
            pending.extend(FEATURES[name].requires if name in FEATURES else ())
    return frozenset(names_with_dependencies)


def drop_order(names: Iterable[str]) -> tuple[str, ...]:
    """Order features to drop: first those that require others, last checkpointProtection, which drops add."""
    return tuple(sorted(names, key=lambda name: (name == CHECKPOINT_PROTECTION, -len(closure({name})), name)))


def suggest_feature(name: str) -> str | None:
    """Return the name of the feature that is most similar; None if no feature is similar."""
    nearest = difflib.get_close_matches(name.lower(), _BY_LOWER_CASE, n=1, cutoff=0.75)
    return _BY_LOWER_CASE[nearest[0]].name if nearest else None


_TRUE: Final = frozenset({"true"})
_ANY: Final[frozenset[str]] = frozenset()

_LEGACY: Final = (
    TableFeature(
        "appendOnly", legacy=(1, 2), enabled_by_property=("delta.appendOnly", _TRUE), automatic=True
    ),
    TableFeature("invariants", legacy=(1, 2), enabled_by_schema=SchemaTrigger.NOT_NULL, automatic=True),
    TableFeature(
        "checkConstraints",
        legacy=(1, 3),
        enabled_by_schema=SchemaTrigger.CONSTRAINT,
        automatic=True,
        removable=True,
        drop_commits=1,
    ),
    # The older key delta.enableChangeDataCapture has the same effect; `properties.property_value` reads both.
    TableFeature(
        "changeDataFeed",
        legacy=(1, 4),
        enabled_by_property=("delta.enableChangeDataFeed", _TRUE),
        automatic=True,
    ),
    TableFeature(
        "generatedColumns", legacy=(1, 4), enabled_by_schema=SchemaTrigger.GENERATED, automatic=True
    ),
    TableFeature(
        "columnMapping",
        reader=True,
        legacy=(2, 5),
        enabled_by_property=("delta.columnMapping.mode", frozenset({"id", "name"})),
        automatic=True,
        removable=True,
        drop_needs_history=True,
        drop_commits=4,
    ),
    TableFeature(
        "identityColumns",
        legacy=(1, 6),
        enabled_by_schema=SchemaTrigger.IDENTITY,
        automatic=True,
    ),
)

_BY_NAME: Final = (
    # The only feature that Delta adds automatically to a new table, but not to an existing one.
    TableFeature("timestampNtz", reader=True, enabled_by_schema=SchemaTrigger.TIMESTAMP_NTZ),
    TableFeature("allowColumnDefaults"),
    TableFeature(
        "deletionVectors",
        reader=True,
        enabled_by_property=("delta.enableDeletionVectors", _TRUE),
        automatic=True,
        removable=True,
        drop_needs_history=True,
        drop_commits=5,
    ),
    TableFeature(
        "rowTracking",
        enabled_by_property=("delta.enableRowTracking", _TRUE),
        automatic=True,
        requires=frozenset({"domainMetadata"}),
        removable=True,
        drop_commits=2,
        drop_removes_property=True,
    ),
    TableFeature("domainMetadata", removable=True, drop_commits=1),
    TableFeature("clustering", requires=frozenset({"domainMetadata"}), settable=False),
    TableFeature(
        "v2Checkpoint",
        reader=True,
        enabled_by_property=("delta.checkpointPolicy", frozenset({"v2"})),
        automatic=True,
        removable=True,
        drop_needs_history=True,
        drop_commits=4,
    ),
    TableFeature(
        "inCommitTimestamp",
        enabled_by_property=("delta.enableInCommitTimestamps", _TRUE),
        automatic=True,
        removable=True,
        drop_commits=1,
    ),
    TableFeature("vacuumProtocolCheck", reader=True, removable=True, drop_needs_history=True, drop_commits=4),
    # DROP FEATURE adds it; only DROP FEATURE … TRUNCATE HISTORY removes it.
    TableFeature(CHECKPOINT_PROTECTION, removable=True, drop_commits=2),
    TableFeature(
        "icebergCompatV1",
        enabled_by_property=("delta.enableIcebergCompatV1", _TRUE),
        automatic=True,
        requires=frozenset({"columnMapping"}),
    ),
    TableFeature(
        "icebergCompatV2",
        enabled_by_property=("delta.enableIcebergCompatV2", _TRUE),
        automatic=True,
        requires=frozenset({"columnMapping"}),
    ),
    TableFeature(
        "icebergCompatV3",
        enabled_by_property=("delta.enableIcebergCompatV3", _TRUE),
        automatic=True,
        requires=frozenset({"columnMapping", "rowTracking"}),
    ),
    TableFeature(
        "typeWidening",
        reader=True,
        enabled_by_property=("delta.enableTypeWidening", _TRUE),
        automatic=True,
        unless="typeWidening-preview",
        removable=True,
        drop_needs_history=True,
        drop_commits=4,
        drop_removes_property=True,
    ),
    TableFeature(
        "variantType",
        reader=True,
        enabled_by_schema=SchemaTrigger.VARIANT,
        automatic=True,
        unless="variantType-preview",
    ),
    # delta.enableVariantShredding adds the preview (below); delta.feature.variantShredding adds this one.
    TableFeature("variantShredding", reader=True, requires=frozenset({"variantType"})),
    # Delta Spark 4.4.0 refuses spatial columns (DELTA_GEOSPATIAL_NOT_SUPPORTED) without a preview setting.
    TableFeature(
        "geospatial",
        reader=True,
        enabled_by_schema=SchemaTrigger.GEOSPATIAL,
        automatic=True,
        removable=True,
        drop_needs_history=True,
        drop_commits=4,
    ),
    # TableFeature.scala declares it removable, but Delta refuses to drop it.
    TableFeature(
        CATALOG_MANAGED,
        reader=True,
        requires=frozenset({"inCommitTimestamp", "vacuumProtocolCheck"}),
        settable=False,
    ),
    TableFeature(
        "materializePartitionColumns",
        enabled_by_property=("delta.enableMaterializePartitionColumnsFeature", _TRUE),
        automatic=True,
        removable=True,
        drop_commits=1,
        drop_removes_property=True,
    ),
)

_PREVIEWS: Final = (
    TableFeature(
        "typeWidening-preview",
        reader=True,
        removable=True,
        drop_needs_history=True,
        drop_commits=4,
        preview=True,
    ),
    TableFeature("variantType-preview", reader=True, preview=True),
    # Measured on Delta 4.4.0: …variantShredding.forceUsePreviewTableFeature is on by default. In Delta Kernel
    # the feature requires variantType, in Delta Spark it does not.
    TableFeature(
        "variantShredding-preview",
        reader=True,
        enabled_by_property=("delta.enableVariantShredding", _TRUE),
        automatic=True,
        unless="variantShredding",
        preview=True,
    ),
    TableFeature(
        "geospatial-dev", reader=True, removable=True, drop_needs_history=True, drop_commits=4, preview=True
    ),
    TableFeature(
        "coordinatedCommits-preview",
        enabled_by_property=("delta.coordinatedCommits.commitCoordinator-preview", _ANY),
        automatic=True,
        requires=frozenset({"inCommitTimestamp", "vacuumProtocolCheck"}),
        removable=True,
        drop_commits=1,
        preview=True,
    ),
    # New tables only (DELTA_ADAPTIVE_METADATA_UPGRADE_NOT_SUPPORTED).
    TableFeature(
        "adaptiveMetadata-preview",
        reader=True,
        requires=frozenset(
            {"catalogManaged", "columnMapping", "deletionVectors", "domainMetadata", "rowTracking"}
        ),
        preview=True,
        settable=False,
    ),
)

# Features that a protocol may list and Delta Spark 4.4.0 refuses: registered only in its tests, or only in
# Delta Kernel.
_NOT_IN_SPARK: Final = (
    TableFeature("redirectReaderWriter-preview", reader=True, preview=True, settable=False, in_spark=False),
    TableFeature("redirectWriterOnly-preview", preview=True, settable=False, in_spark=False),
    TableFeature(
        "icebergWriterCompatV1",
        requires=frozenset({"icebergCompatV2"}),
        settable=False,
        in_spark=False,
        source="TableFeatures.java",
    ),
    TableFeature(
        "icebergWriterCompatV3",
        requires=frozenset({"icebergCompatV3"}),
        settable=False,
        in_spark=False,
        source="TableFeatures.java",
    ),
    TableFeature("collations", settable=False, in_spark=False, source="TableFeatures.java"),
    TableFeature(
        "collations-preview", preview=True, settable=False, in_spark=False, source="TableFeatures.java"
    ),
    # Proposals, whose code is in neither (protocol_rfcs/ of delta-io/delta, read at bb1057f4).
    TableFeature(
        "columnMappingUsageTracking",
        requires=frozenset({"columnMapping"}),
        settable=False,
        in_spark=False,
        source="column-mapping-usage-tracking.md",
    ),
    TableFeature(
        "adaptiveMetadata", reader=True, settable=False, in_spark=False, source="iceberg-v4-metadata.md"
    ),
    TableFeature(
        "timestampNanos",
        reader=True,
        requires=frozenset({"timestampNtz"}),
        settable=False,
        in_spark=False,
        source="nanosecond-timestamps.md",
    ),
)

OTHER_NAMES: Final[Mapping[str, str]] = MappingProxyType({"timestampWithoutTimezone": "timestampNtz"})
"""Names that writers gave features before these had theirs, in logs that stay as they are.

delta-io/delta-kernel-rs#2842 (July 2026) reads such a table; Delta Spark 4.4.0 does not know the name.
"""

FEATURES: Final[Mapping[str, TableFeature]] = MappingProxyType(
    {row.name: row for row in (*_LEGACY, *_BY_NAME, *_PREVIEWS, *_NOT_IN_SPARK)}
)
"""All table features, by name."""

_BY_LOWER_CASE: Final = {name.lower(): row for name, row in FEATURES.items()}
