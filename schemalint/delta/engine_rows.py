"""Since when the engines do what: one row for each thing that not all of them do.

A release of Delta Spark is the first that does it. Sources: the records of ``tests/engine/answers``; else the
files of delta-io/delta at the tags 2.4.0 to 4.4.0, of which 4.3 was read as 4.3.1 alone. A runtime of
Databricks is the lowest that a page of its vendor names; without one it is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.engine import Release, release_of


@frozen
class Page:
    """A page of a vendor that names the lowest version that does something.

    Attributes:
        since: The version.
        address: The page.
        date: The day on which it was read.
    """

    since: str
    address: str
    date: str


@frozen
class Span:
    """The releases of Delta Spark that do something, and the runtimes of Databricks.

    Attributes:
        since: The first release that does it; None if none does.
        until: The first release that no longer does it.
        not_before: The last release that is known not to do it, if those between it and `since` are unknown.
        asked: Whether the recorded questions ask for it.
        databricks: The page about Databricks.
    """

    since: str | None
    until: str | None = None
    not_before: str | None = None
    asked: bool = True
    databricks: Page | None = None

    def does(self, delta: Release) -> bool | None:
        """Whether a release of Delta Spark does it; None if that is unknown."""
        if self.until is not None and delta >= release_of(self.until):
            return False
        if self.since is not None and delta >= release_of(self.since):
            return True
        if self.since is not None and self.not_before is not None and delta > release_of(self.not_before):
            return None
        return False


def _page(since: str, path: str) -> Page:
    return Page(since, f"docs.databricks.com/{path}", "2026-11-26")


_WIDENING_PREVIEW: Final = _page("15.2", "delta/type-widening.html")
_WIDENING: Final = _page("15.4", "delta/type-widening.html")
_COMPATIBILITY: Final = "delta/feature-compatibility"

SMALL_INTEGERS: Final = Span("3.2", databricks=_WIDENING_PREVIEW)
"""``byte`` to ``short`` or ``int``, ``short`` to ``int``."""

SAME_KIND: Final = Span("4.0", databricks=_WIDENING_PREVIEW)
"""Integers to ``long``, ``float`` to ``double``, ``date`` to ``timestamp_ntz``, more digits of a decimal."""

OTHER_KIND: Final = Span("4.0", databricks=_WIDENING)
"""An integer to ``double`` or a decimal, and a decimal to one of another scale."""

FROM_VOID: Final = Span(
    "4.4",
    not_before="4.0.1",
    databricks=Page(
        "18.2", "learn.microsoft.com/azure/databricks/tables/features/type-widening", "2026-11-26"
    ),
)
"""``void`` to another type."""

STREAMS_PASS_WIDENING: Final = Span("4.1")
"""Streams without a ``schemaTrackingLocation`` go on after a widening (``SchemaUtils.isReadCompatible``, and
the default of ``typeWidening.enableStreamingSchemaTracking`` in DeltaSQLConf)."""

STREAMS_BLOCK_WIDENING: Final = Span("4.0")
"""Streams with a ``schemaTrackingLocation`` wait until their reader allows a widening; those without one end
before 4.1 as after a rename, and not as after another type."""

FEATURE_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "appendOnly": Span("2.4", databricks=_page("9.1", _COMPATIBILITY)),
        "invariants": Span("2.4", databricks=_page("9.1", _COMPATIBILITY)),
        "checkConstraints": Span("2.4", databricks=_page("9.1", _COMPATIBILITY)),
        "changeDataFeed": Span("2.4", databricks=_page("9.1", _COMPATIBILITY)),
        "generatedColumns": Span("2.4", databricks=_page("9.1", _COMPATIBILITY)),
        "columnMapping": Span("2.4", databricks=_page("10.4", _COMPATIBILITY)),
        "identityColumns": Span("3.3", databricks=_page("10.4", _COMPATIBILITY)),
        "timestampNtz": Span("2.4", databricks=_page("13.3", _COMPATIBILITY)),
        "deletionVectors": Span("2.4", databricks=_page("12.2", _COMPATIBILITY)),
        "v2Checkpoint": Span("3.0", databricks=_page("13.3", _COMPATIBILITY)),
        "clustering": Span("3.1", databricks=_page("13.3", _COMPATIBILITY)),
        "typeWidening": Span("3.3", databricks=_WIDENING),
        "typeWidening-preview": Span("3.2", databricks=_WIDENING_PREVIEW),
        "rowTracking": Span("3.2"),
        "domainMetadata": Span("3.0"),
        "icebergCompatV1": Span("3.0"),
        "icebergCompatV2": Span("3.1"),
        "icebergCompatV3": Span("4.3.1", not_before="4.2"),
        "allowColumnDefaults": Span("3.1"),
        "vacuumProtocolCheck": Span("3.2"),
        "variantType-preview": Span("3.3"),
        "variantType": Span("4.0"),
        "variantShredding-preview": Span("4.0"),
        "variantShredding": Span("4.1"),
        "coordinatedCommits-preview": Span("3.3"),
        "inCommitTimestamp": Span("3.3"),
        "checkpointProtection": Span("3.3"),
        "catalogManaged": Span("4.0.1"),
        "materializePartitionColumns": Span("4.1"),
        "geospatial-dev": Span("4.3.1", not_before="4.2"),
        "geospatial": Span("4.3.1", not_before="4.2"),
        "adaptiveMetadata-preview": Span("4.4", not_before="4.3.1"),
        # Registered by older releases alone; `schemalint.delta.feature` has no row for them.
        "inCommitTimestamp-preview": Span("3.2", until="3.3", asked=False),
        "catalogOwned-preview": Span("4.0", until="4.0.1", asked=False),
    }
)
"""The engines that know a feature, by its name (``TableFeature.allSupportedFeaturesMap`` at each tag)."""

DROP_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "v2Checkpoint": Span("3.1", asked=False),
        "typeWidening-preview": Span("3.2", asked=False),
        "checkConstraints": Span("3.3", asked=False),
        "columnMapping": Span("3.3", asked=False),
        "vacuumProtocolCheck": Span("3.3", asked=False),
        "coordinatedCommits-preview": Span("3.3", asked=False),
        "typeWidening": Span("3.3", asked=False),
        "inCommitTimestamp": Span("3.3", asked=False),
        "checkpointProtection": Span("3.3", asked=False),
        "deletionVectors": Span("4.0", asked=False),
        "rowTracking": Span("4.1", asked=False),
        "domainMetadata": Span("4.1", asked=False),
        "materializePartitionColumns": Span("4.1", asked=False),
        "geospatial": Span("4.3.1", not_before="4.2", asked=False),
        "geospatial-dev": Span("4.3.1", not_before="4.2", asked=False),
    }
)
"""The engines that drop a feature (``RemovableFeature`` at each tag); none drops one without a row."""

MANUAL_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "variantType-preview": Span("3.3", until="4.1", asked=False),
        "variantType": Span("4.0", until="4.1"),
    }
)
"""The engines that add a feature to an existing table only where ``delta.feature.<name>`` asks for it, beside
those that `schemalint.delta.feature` has as not automatic."""

PROPERTY_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "delta.autoOptimize.autoCompact": Span("3.1"),
        "delta.autoOptimize.optimizeWrite": Span("3.1"),
        "delta.castIcebergTimeType": Span("4.0"),
        "delta.checkpointPolicy": Span("3.0"),
        "delta.coordinatedCommits.commitCoordinator-preview": Span("3.3"),
        "delta.coordinatedCommits.commitCoordinatorConf-preview": Span("3.3"),
        "delta.coordinatedCommits.tableConf-preview": Span("3.3"),
        "delta.dataSkippingStatsColumns": Span("3.0"),
        "delta.dataSkippingStringPrefixLength": Span("4.1"),
        "delta.dropFeatureTruncateHistory.retentionDuration": Span("3.0"),
        "delta.enableIcebergCompatV1": Span("3.0"),
        "delta.enableIcebergCompatV2": Span("3.1"),
        "delta.enableIcebergCompatV3": Span("4.3.1", not_before="4.2"),
        "delta.enableInCommitTimestamps": Span("3.3"),
        "delta.enableMaterializePartitionColumnsFeature": Span("4.1"),
        "delta.enableRowTracking": Span("3.0"),
        "delta.enableTypeWidening": Span("3.2", databricks=_WIDENING_PREVIEW),
        "delta.enableVariantShredding": Span("4.0"),
        "delta.ignoreIcebergBucketPartition": Span("4.0"),
        "delta.inCommitTimestampEnablementTimestamp": Span("3.3"),
        "delta.inCommitTimestampEnablementVersion": Span("3.3"),
        "delta.parquet.format.version": Span("4.3.1", not_before="4.2"),
        "delta.redirectReaderWriter-preview": Span("3.3"),
        "delta.redirectWriterOnly-preview": Span("3.3"),
        "delta.requireCheckpointProtectionBeforeVersion": Span("3.3"),
        "delta.rowTrackingSuspended": Span("4.1"),
        # All keys that begin with it.
        "delta.universalformat.config.": Span("3.3"),
        "delta.universalFormat.enabledFormats": Span("3.0"),
        "delta.universalFormat.iceberg.atomicConversion.supported": Span("4.2"),
        "delta.writePartitionColumnsToParquet": Span("4.4"),
    }
)
"""The engines that know a property (``DeltaConfigs`` at each tag); all know those of `properties` that have
no row here, apart from the properties of another engine."""

EXISTING_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "delta.columnMapping.mode": Span("3.3"),
        "delta.enableIcebergCompatV2": Span("3.3"),
        "delta.enableRowTracking": Span("3.3"),
    }
)
"""The engines that set a property of an existing table; before, Delta maps the columns of one only if its
reader version is 2 or higher, never stops, tracks the rows of new tables alone, and makes a table compatible
with Iceberg by REORG alone."""

OLDER_PROPERTIES: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "delta.enableInCommitTimestamps-preview": Span("3.2", until="3.3", asked=False),
        "delta.inCommitTimestampEnablementTimestamp-preview": Span("3.2", until="3.3", asked=False),
        "delta.inCommitTimestampEnablementVersion-preview": Span("3.2", until="3.3", asked=False),
        "delta.managedCommits.commitOwner-dev": Span("3.2", until="3.3", asked=False),
        "delta.managedCommits.commitOwnerConf-dev": Span("3.2", until="3.3", asked=False),
        "delta.managedCommits.tableConf-dev": Span("3.2", until="3.3", asked=False),
        "delta.enableRowIds": Span("2.4", until="3.0", asked=False),
    }
)
"""The engines that know a property which the newest Delta does not know."""

FINAL_TYPE_WIDENING: Final = Span("4.0", databricks=_WIDENING)
"""``delta.enableTypeWidening`` adds typeWidening, not its preview."""

RETENTIONS_COMPARED: Final = Span("4.4", not_before="4.0.1")
"""A statement that keeps deleted files longer than the log is refused."""

VARIANT_STATISTICS: Final = Span("4.4", not_before="4.0.1")
"""``delta.dataSkippingStatsColumns`` names a variant column."""

STRUCT_STATISTICS: Final = Span("3.3")
"""``delta.dataSkippingStatsColumns`` names a struct, of which a field has a type without statistics."""

READER_VERSION_3_ALONE: Final = Span("3.3")
"""``CREATE TABLE`` takes reader version 3 without writer version 7, and makes that 7."""

ICEBERG_PARTITIONS: Final = Span("3.3", until="4.5")
"""Iceberg compatibility refuses partition columns of type decimal.

The check compares with the companion of DecimalType, which no column has; delta-io/delta#7429 mends that on
master, and the branches up to 4.4 do not have it.
"""

ICEBERG_JAR_FIRST: Final = Span("4.4", not_before="4.0.1")
"""Without the jar delta-iceberg, a statement that asks for Iceberg is refused before its commit."""

COLUMN_LISTS: Final = Span("4.0", asked=False)
"""``ALTER COLUMN`` names several columns: Spark 3.5 parses one alone (measured on Delta 3.3.2)."""

DEFAULTS_OF_LENGTHS: Final = Span("4.0", asked=False)
"""``CREATE TABLE`` takes the default of a ``char`` or ``varchar`` column: a string is another type for Spark
3.5.7 (measured on Delta 3.3.2 and 4.0.1)."""

SESSION_VARIABLES: Final = Span("4.0", asked=False)
"""``SET VARIABLE``: Spark 3.5.7 does not parse it (measured on Delta 3.3.2; 4.0.1 and 4.4.0 do)."""

SPARK_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {"4.0": Span("4.0", asked=False), "4.2": Span("4.4", not_before="4.0.1", asked=False)}
)
"""The engines whose Spark has what a version of Spark brought: Delta 3.0 to 3.3 run on Spark 3.5, Delta 4.0
on Spark 4.0, and Delta 4.1 to 4.3 on several."""

COLUMN_SPANS: Final[Mapping[str, Span]] = MappingProxyType(
    {
        "generated": Span("4.4", databricks=_page("9.1", _COMPATIBILITY)),
        "identity": Span("4.4", databricks=_page("10.4", _COMPATIBILITY)),
        "default": Span("3.1", asked=False),
    }
)
"""The engines whose ``CREATE TABLE`` makes such a column. Before, only the builder of the API makes a
generated or an identity column (``AbstractDeltaCatalog.capabilities``)."""


@frozen
class ErrorName:
    """An error class that not all releases have.

    Attributes:
        since: The first release with the name.
        older: What the releases before it answer; None if their error has no class.
    """

    since: str
    older: str | None = None


ERROR_NAMES: Final[Mapping[str, ErrorName]] = MappingProxyType(
    {
        "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP": ErrorName("3.2"),
        "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED": ErrorName(
            "3.3", "DELTA_ALTER_TABLE_CLUSTER_BY_NOT_ALLOWED"
        ),
        # Of Spark; what 4.1 to 4.3 answer was not asked. The first is about an invalid value.
        "UNSUPPORTED_TABLE_CHANGE": ErrorName("4.4"),
        "INVALID_DEFAULT_VALUE.NON_DETERMINISTIC": ErrorName("4.4", "INVALID_DEFAULT_VALUE.NOT_CONSTANT"),
        "FIELD_ALREADY_EXISTS": ErrorName("4.0", "FIELDS_ALREADY_EXISTS"),
        "DELTA_METADATA_MISMATCH": ErrorName("4.1", "_LEGACY_ERROR_TEMP_DELTA_0007"),
        **{
            f"DELTA_DUPLICATE_COLUMNS_FOUND.{name}": ErrorName("4.3", "DELTA_DUPLICATE_COLUMNS_FOUND")
            for name in (
                "ADDING_COLUMNS",
                "CLUSTER_BY",
                "DATA",
                "EXISTING_SCHEMA",
                "METADATA_UPDATE",
                "READ_SCHEMA",
            )
        },
        "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION": ErrorName(
            "4.1", "DELTA_UNSUPPORTED_CATALOG_OWNED_TABLE_CREATION"
        ),
        "DELTA_ICEBERG_COMPAT_VIOLATION": ErrorName("3.1", "DELTA_ICEBERG_COMPAT_V1_VIOLATION"),
    }
)
"""Error classes by their newest name (``delta-error-classes.json`` at each tag)."""
