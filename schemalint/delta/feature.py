"""The table features of Delta: one row each, with what switches it on and what it needs.

Sources: ``TableFeature.scala`` of Delta Spark 4.4.0, each row compared with the registry of the released jar;
``TableFeatures.java`` of Delta Kernel 4.4.0; PROTOCOL.md, whose appendix "Valid Feature Names in Table
Features" is not complete: it lacks typeWidening, variantType, checkpointProtection and others.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from schemalint.values import frozen


class SchemaTrigger(Enum):
    """What in a table's metadata, other than a property, switches a feature on."""

    NOT_NULL = "a NOT NULL column"
    CONSTRAINT = "a CHECK constraint"
    GENERATED = "a generated column"
    IDENTITY = "an identity column"
    TIMESTAMP_NTZ = "a timestamp_ntz column"
    VARIANT = "a variant column"
    GEOSPATIAL = "a geometry or geography column"


@frozen
class TableFeature:
    """One feature of Delta's protocol.

    Attributes:
        name: As the protocol action stores it; compared there with regard to case.
        reader: Whether readers must know it too; False is a writer feature.
        legacy: The (reader, writer) versions that imply it below writer version 7; None if it always stands
            by name, with writer version 7, and reader version 3 if readers must know it.
        enabled_by_property: The key, and the values in lower case that switch it on; none: any value.
        enabled_by_schema: What else switches it on.
        automatic: Whether Delta adds it to an existing table that switches it on; if not, the statement fails
            with ``DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT``. False where nothing switches it on.
        requires: The features that Delta adds with it, without what those require in their turn.
        unless: The feature that stands in for it: where that one is supported, this one is not added.
        removable: Whether ``ALTER TABLE … DROP FEATURE`` takes it off.
        drop_needs_history: Whether taking it off leaves traces in the history, so that Delta adds
            checkpointProtection, or waits for the history to expire.
        preview: Whether Delta may still change what it means.
        settable: Whether ``delta.feature.<name>`` adds it to an existing table.
        in_spark: Whether Delta Spark 4.4.0 knows it; if not, it refuses a table that lists it.
        since: The first release of Delta Spark with it, empty where that is not known.
        source: Where the row is written.
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
    preview: bool = False
    settable: bool = True
    in_spark: bool = True
    since: str = ""
    source: str = "TableFeature.scala"


def find(name: str) -> TableFeature | None:
    """The feature of that name, ignoring case, as ``delta.feature.<name>`` and DROP FEATURE do."""
    return _BY_LOWER_CASE.get(name.lower())


def implied_by(min_reader: int, min_writer: int) -> frozenset[str]:
    """The features that a legacy protocol supports without naming them.

    From writer version 7 on nothing is implied, whatever the reader version (``implicitlySupportedFeatures``
    in TableFeatureSupport.scala; PROTOCOL.md, "Table Features"); nor by reader version 3, which is illegal
    with a lower writer version.
    """
    if min_reader >= _TABLE_FEATURES_READER or min_writer >= _TABLE_FEATURES_WRITER:
        return frozenset()
    return frozenset(
        row.name
        for row in FEATURES.values()
        if row.legacy and row.legacy[0] <= min_reader and row.legacy[1] <= min_writer
    )


def closure(names: Iterable[str]) -> frozenset[str]:
    """The features with all that they require, at any depth; a name that is not known stands for itself."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(FEATURES[name].requires if name in FEATURES else ())
    return frozenset(found)


def suggest(name: str) -> str | None:
    """The feature whose name is nearest, None if none is near."""
    near = difflib.get_close_matches(name.lower(), _BY_LOWER_CASE, n=1, cutoff=0.75)
    return _BY_LOWER_CASE[near[0]].name if near else None


_TABLE_FEATURES_READER: Final = 3
_TABLE_FEATURES_WRITER: Final = 7

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
        since="0.8.0",
    ),
    # The older key delta.enableChangeDataCapture does the same: `properties.value_of` reads both.
    TableFeature(
        "changeDataFeed",
        legacy=(1, 4),
        enabled_by_property=("delta.enableChangeDataFeed", _TRUE),
        automatic=True,
        since="2.0.0",
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
        since="1.2.0",
    ),
    TableFeature(
        "identityColumns",
        legacy=(1, 6),
        enabled_by_schema=SchemaTrigger.IDENTITY,
        automatic=True,
        since="3.3.0",
    ),
)

_BY_NAME: Final = (
    # The one feature that Delta adds to a new table by itself and to an existing one not.
    TableFeature("timestampNtz", reader=True, enabled_by_schema=SchemaTrigger.TIMESTAMP_NTZ, since="2.4.0"),
    TableFeature("allowColumnDefaults"),
    TableFeature(
        "deletionVectors",
        reader=True,
        enabled_by_property=("delta.enableDeletionVectors", _TRUE),
        automatic=True,
        removable=True,
        drop_needs_history=True,
        since="2.3.0",
    ),
    TableFeature(
        "rowTracking",
        enabled_by_property=("delta.enableRowTracking", _TRUE),
        automatic=True,
        requires=frozenset({"domainMetadata"}),
        removable=True,
        since="3.2.0",
    ),
    TableFeature("domainMetadata", removable=True),
    TableFeature("clustering", requires=frozenset({"domainMetadata"}), settable=False, since="3.1.0"),
    TableFeature(
        "v2Checkpoint",
        reader=True,
        enabled_by_property=("delta.checkpointPolicy", frozenset({"v2"})),
        automatic=True,
        removable=True,
        drop_needs_history=True,
        since="3.0.0",
    ),
    TableFeature(
        "inCommitTimestamp",
        enabled_by_property=("delta.enableInCommitTimestamps", _TRUE),
        automatic=True,
        removable=True,
    ),
    TableFeature("vacuumProtocolCheck", reader=True, removable=True, drop_needs_history=True),
    # Added by DROP FEATURE, and taken off only with TRUNCATE HISTORY.
    TableFeature("checkpointProtection", removable=True, since="4.0.0"),
    TableFeature(
        "icebergCompatV1",
        enabled_by_property=("delta.enableIcebergCompatV1", _TRUE),
        automatic=True,
        requires=frozenset({"columnMapping"}),
        since="3.0.0",
    ),
    TableFeature(
        "icebergCompatV2",
        enabled_by_property=("delta.enableIcebergCompatV2", _TRUE),
        automatic=True,
        requires=frozenset({"columnMapping"}),
        since="3.1.0",
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
        since="4.0.0",
    ),
    TableFeature(
        "variantType",
        reader=True,
        enabled_by_schema=SchemaTrigger.VARIANT,
        automatic=True,
        unless="variantType-preview",
        since="4.0.0",
    ),
    # The property adds the preview instead (below); this one needs delta.feature.variantShredding.
    TableFeature("variantShredding", reader=True, requires=frozenset({"variantType"})),
    # Delta Spark 4.4.0 refuses such columns (DELTA_GEOSPATIAL_NOT_SUPPORTED) unless a preview setting is on.
    TableFeature(
        "geospatial",
        reader=True,
        enabled_by_schema=SchemaTrigger.GEOSPATIAL,
        automatic=True,
        removable=True,
        drop_needs_history=True,
    ),
    # Declared removable in TableFeature.scala, but the removal is refused.
    TableFeature(
        "catalogManaged",
        reader=True,
        requires=frozenset({"inCommitTimestamp", "vacuumProtocolCheck"}),
        settable=False,
        since="4.0.1",
    ),
    TableFeature(
        "materializePartitionColumns",
        enabled_by_property=("delta.enableMaterializePartitionColumnsFeature", _TRUE),
        automatic=True,
        removable=True,
    ),
)

_PREVIEWS: Final = (
    TableFeature(
        "typeWidening-preview",
        reader=True,
        removable=True,
        drop_needs_history=True,
        preview=True,
        since="3.2.0",
    ),
    TableFeature("variantType-preview", reader=True, preview=True),
    # Measured on Delta 4.4.0: …variantShredding.forceUsePreviewTableFeature is on by default. Delta Kernel
    # lets it require variantType, Delta Spark does not.
    TableFeature(
        "variantShredding-preview",
        reader=True,
        enabled_by_property=("delta.enableVariantShredding", _TRUE),
        automatic=True,
        unless="variantShredding",
        preview=True,
    ),
    TableFeature("geospatial-dev", reader=True, removable=True, drop_needs_history=True, preview=True),
    TableFeature(
        "coordinatedCommits-preview",
        enabled_by_property=("delta.coordinatedCommits.commitCoordinator-preview", _ANY),
        automatic=True,
        requires=frozenset({"inCommitTimestamp", "vacuumProtocolCheck"}),
        removable=True,
        preview=True,
    ),
    # For new tables only (DELTA_ADAPTIVE_METADATA_UPGRADE_NOT_SUPPORTED).
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

# Names that a table may list and that Delta Spark 4.4.0 does not take: registered in its own tests only, or
# known to Delta Kernel alone.
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
)

FEATURES: Final[Mapping[str, TableFeature]] = MappingProxyType(
    {row.name: row for row in (*_LEGACY, *_BY_NAME, *_PREVIEWS, *_NOT_IN_SPARK)}
)
"""Every feature by its name."""

_BY_LOWER_CASE: Final = {name.lower(): row for name, row in FEATURES.items()}
