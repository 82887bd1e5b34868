"""Delta's table properties: one row for each, with its default and the values that Delta accepts.

Sources: ``DeltaConfig.scala`` of Delta Spark 4.4.0, with every row compared with the registry of the released
jar; for the properties of other engines, the document that the row names.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta import feature
from schemalint.delta.datatype import Managed
from schemalint.delta.engine import DATABRICKS, DELTA_SPARK, Engine
from schemalint.delta.property_values import Kind, Stops, value_reader

# Prefixes of property keys, in lower case; all but the first accept any name.
PREFIX: Final = "delta."
FEATURE_PREFIX: Final = "delta.feature."
CONSTRAINT_PREFIX: Final = "delta.constraints."
UNIVERSAL_FORMAT_PREFIX: Final = "delta.universalformat.config."

VERSION_KEYS: Final = ("delta.minReaderVersion", "delta.minWriterVersion")
"""The properties that request a protocol version instead of a feature: reader, writer."""
IGNORE_DEFAULTS: Final = "delta.ignoreProtocolDefaults"
"""The property that creates a table with protocol (1, 1) unless something needs more.

It has no effect on an existing table (measured on Delta 4.4.0).
"""
COLUMN_MAPPING_MODE: Final = "delta.columnMapping.mode"
APPEND_ONLY: Final = "delta.appendOnly"
CHANGE_DATA_FEED: Final = "delta.enableChangeDataFeed"
DELETION_VECTORS: Final = "delta.enableDeletionVectors"
ICEBERG_COMPAT_KEYS: Final = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))


@frozen
class TableProperty:
    """A property that Delta Spark or another engine registers.

    Attributes:
        key: The key as Delta stores it.
        kind: The kind of its value.
        default: The value that applies if the property is absent; None if there is no default.
        minimum: The smallest number that Delta accepts; None if there is no limit.
        choices: The values that Delta accepts; empty if they are not enumerable.
        editable: Whether Delta lets users set the property.
        written_by_delta: Whether Delta writes the property itself, so contracts do not declare it.
        older_key: An older key that Delta reads if this one is absent.
        stops: What fails on a table with a value that Delta Spark cannot read, as another writer leaves one;
            measured on Delta 4.4.0.
        engine: The engine that knows the property; Delta Spark refuses the properties of other engines as
            unknown.
        source: The file of Delta Spark, or the document, that defines the property.
    """

    key: str
    kind: Kind
    default: str | None = None
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    editable: bool = True
    written_by_delta: bool = False
    older_key: str | None = None
    stops: Stops = Stops.NOTHING
    engine: str = DELTA_SPARK
    source: str = "DeltaConfig.scala"


KEPT_BY_REPLACE: Final = frozenset(("delta.checkpointPolicy", DELETION_VECTORS, "delta.enableRowTracking"))
"""The properties that ``CREATE OR REPLACE TABLE … AS SELECT`` leaves on the table without naming them; eleven
others that were asked go (Delta 4.4.0)."""


def find_property(key: str) -> TableProperty | None:
    """Return the property with this key, or None; ignores case, as Delta does for ``delta.`` keys."""
    return _BY_LOWER_CASE.get(key.lower())


def canonical(key: str) -> str:
    """Return the key in the spelling that Delta stores (``DeltaConfigs.validateConfigurations``).

    Known ``delta.`` keys get the spelling of the registry, ``delta.universalformat.config.*`` becomes lower
    case, and other keys stay unchanged. Delta never stores ``delta.feature.<name>``; the name gets the
    feature's spelling.
    """
    lower = key.lower()
    if lower.startswith(FEATURE_PREFIX):
        row = feature.find_feature(key[len(FEATURE_PREFIX) :])
        return FEATURE_PREFIX + (row.name if row else key[len(FEATURE_PREFIX) :])
    if lower.startswith(UNIVERSAL_FORMAT_PREFIX):
        return lower
    known_property = find_property(key)
    if known_property:
        return known_property.key
    return key


def is_known(key: str) -> bool:
    """Whether Delta Spark or another engine accepts the key.

    True for keys in their registries, for keys with a prefix that accepts any name (``delta.feature.``,
    ``delta.constraints.``, ``delta.universalformat.config.``), and for keys without the prefix ``delta.``.
    """
    lower = key.lower()
    return not lower.startswith(PREFIX) or lower.startswith(_PASSED_THROUGH) or lower in _BY_LOWER_CASE


def is_refused_by(engine: Engine | None, key: str) -> bool:
    """Whether an engine refuses to set a property because only another engine knows it.

    False if the engine is unknown. Every engine removes any property.
    """
    row = find_property(key)
    return engine is not None and engine.name == DELTA_SPARK and row is not None and row.engine != DELTA_SPARK


def is_protocol_key(key: str) -> bool:
    """Whether the key changes the protocol: Delta acts on it and never stores it as a property.

    Only a faulty writer stores such a key (``Protocol.assertMetadataContainsNoProtocolProps``). Source:
    ``TableFeatureProtocolUtils.isTableProtocolProperty``.
    """
    return key.lower().startswith(FEATURE_PREFIX) or key.lower() in _PROTOCOL_KEYS


def split_configuration(configuration: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties and the CHECK constraints in the ``configuration`` of a ``metaData`` action.

    Constraints have their names in lower case, without `CONSTRAINT_PREFIX`.
    """
    table_properties: dict[str, str] = {}
    constraints: dict[str, str] = {}
    for key, value in configuration.items():
        if key.lower().startswith(CONSTRAINT_PREFIX):
            constraints[key[len(CONSTRAINT_PREFIX) :].lower()] = value
        else:
            table_properties[key] = value
    return table_properties, constraints


def is_true(value: Managed[str | None]) -> bool:
    """Whether Delta reads the value as true (Scala's ``toBoolean``): only ``true``, in any case."""
    return isinstance(value, str) and value.lower() == "true"


def property_value(key: str, properties: Mapping[str, str | None]) -> str | None:
    """Return the effective value of a property: its own, else that of its older key, else the default.

    Args:
        key: The key as Delta stores it.
        properties: Values by key as Delta stores them; None means that the property is absent.
    """
    value = properties.get(key)
    row = PROPERTIES.get(key)
    if value is not None or row is None:
        return value
    older = properties.get(row.older_key) if row.older_key else None
    return row.default if older is None else older


def same_value(key: str, a: str, b: str) -> bool:
    """Whether Delta gives two values the same meaning, for example ``TRUE`` and ``true``."""
    row = find_property(key)
    if a == b or row is None:
        return a == b
    value = _read(row, a)
    return value is not None and value == _read(row, b)


def property_problem(key: str, value: str) -> str | None:
    """Return the reason why Delta refuses a property's value, in one sentence; None if Delta accepts it.

    None also for unknown keys. Dependencies on other properties, features or columns are not checked.
    """
    row = find_property(key)
    if row is None or _read(row, value) is not None:
        return None
    expected = row.kind.value
    if row.choices:
        expected = f"{expected} out of {', '.join(row.choices)}"
    if row.minimum is not None:
        expected = f"{expected} of at least {row.minimum}"
    return f"{row.key} needs to be {expected}, not {value!r}"


def suggest_property(key: str) -> str | None:
    """Return the known key that is most similar; None if no known key is similar.

    Delta accepts any key without ``delta.``, so such a key gets a suggestion only if exactly the prefix is
    missing.
    """
    lower = key.lower()
    if lower.startswith(FEATURE_PREFIX):
        name = feature.suggest_feature(key[len(FEATURE_PREFIX) :])
        return FEATURE_PREFIX + name if name else None
    if not lower.startswith(PREFIX):
        row = find_property(PREFIX + key)
        return row.key if row else None
    names = [lowercase.removeprefix(PREFIX) for lowercase in _BY_LOWER_CASE]
    nearest = difflib.get_close_matches(lower.removeprefix(PREFIX), names, n=1, cutoff=0.75)
    if nearest:
        return _BY_LOWER_CASE[PREFIX + nearest[0]].key
    return None


def _read(row: TableProperty, text: str) -> object | None:
    """Return a value as Delta interprets it; None if Delta refuses it."""
    value = value_reader(row.kind)(text)
    if isinstance(value, frozenset):
        if value <= set(row.choices):
            return value
        return None
    if row.choices and str(value) not in _choices(row):
        return None
    if row.minimum is not None and isinstance(value, int) and value < row.minimum:
        return None
    return value


def _choices(row: TableProperty) -> tuple[str, ...]:
    any_case = row.kind is Kind.ENUM_ANY_CASE
    if any_case:
        return tuple(choice.lower() for choice in row.choices)
    return row.choices


_DATABRICKS_REFERENCE: Final = (
    "docs.databricks.com, Table properties reference; table_properties.rs of Delta Kernel"
)

_ROWS: Final = (
    TableProperty(APPEND_ONLY, Kind.BOOLEAN, "false", stops=Stops.CHANGES),
    TableProperty("delta.autoOptimize", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.autoOptimize.autoCompact", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.autoOptimize.optimizeWrite", Kind.OPTIONAL_BOOLEAN, stops=Stops.WRITES),
    TableProperty("delta.castIcebergTimeType", Kind.BOOLEAN, "false"),
    TableProperty("delta.checkpoint.writeStatsAsJson", Kind.BOOLEAN, "true", stops=Stops.WRITES_AND_CHANGES),
    # PROTOCOL.md says that the default is false; in Delta Spark it is true.
    TableProperty("delta.checkpoint.writeStatsAsStruct", Kind.BOOLEAN, "true", stops=Stops.CHECKPOINTS),
    TableProperty("delta.checkpointInterval", Kind.INTEGER, "10", minimum=1, stops=Stops.WRITES_AND_CHANGES),
    TableProperty(
        "delta.checkpointPolicy", Kind.ENUM, "classic", choices=("classic", "v2"), stops=Stops.CHANGES
    ),
    TableProperty("delta.checkpointRetentionDuration", Kind.INTERVAL, "interval 2 days"),
    TableProperty("delta.columnMapping.maxColumnId", Kind.LONG, "0", editable=False, written_by_delta=True),
    TableProperty(
        COLUMN_MAPPING_MODE, Kind.ENUM_ANY_CASE, "none", choices=("none", "id", "name"), stops=Stops.ALL
    ),
    TableProperty(
        "delta.compatibility.symlinkFormatManifest.enabled",
        Kind.BOOLEAN,
        "false",
        stops=Stops.WRITES_AND_CHANGES,
    ),
    TableProperty("delta.coordinatedCommits.commitCoordinator-preview", Kind.TEXT),
    TableProperty(
        "delta.coordinatedCommits.commitCoordinatorConf-preview", Kind.JSON, stops=Stops.WRITES_AND_CHANGES
    ),
    TableProperty("delta.coordinatedCommits.tableConf-preview", Kind.JSON, stops=Stops.WRITES_AND_CHANGES),
    TableProperty(
        "delta.dataSkippingNumIndexedCols", Kind.INTEGER, "32", minimum=-1, stops=Stops.WRITES_AND_CHANGES
    ),
    TableProperty("delta.dataSkippingStatsColumns", Kind.COLUMNS, stops=Stops.WRITES),
    TableProperty("delta.dataSkippingStringPrefixLength", Kind.INTEGER, minimum=0, stops=Stops.WRITES),
    TableProperty("delta.deletedFileRetentionDuration", Kind.INTERVAL, "interval 1 week", stops=Stops.ALL),
    TableProperty("delta.dropFeatureTruncateHistory.retentionDuration", Kind.INTERVAL, "interval 24 hours"),
    TableProperty("delta.enableChangeDataCapture", Kind.BOOLEAN, "false", stops=Stops.WRITES_AND_CHANGES),
    TableProperty(
        CHANGE_DATA_FEED,
        Kind.BOOLEAN,
        "false",
        older_key="delta.enableChangeDataCapture",
        stops=Stops.WRITES_AND_CHANGES,
    ),
    TableProperty(DELETION_VECTORS, Kind.BOOLEAN, "false", stops=Stops.CHANGES),
    TableProperty("delta.enableExpiredLogCleanup", Kind.BOOLEAN, "true"),
    TableProperty("delta.enableFullRetentionRollback", Kind.BOOLEAN, "true"),
    TableProperty("delta.enableIcebergCompatV1", Kind.OPTIONAL_BOOLEAN, stops=Stops.WRITES_AND_CHANGES),
    TableProperty("delta.enableIcebergCompatV2", Kind.OPTIONAL_BOOLEAN, stops=Stops.WRITES_AND_CHANGES),
    TableProperty("delta.enableIcebergCompatV3", Kind.OPTIONAL_BOOLEAN, stops=Stops.WRITES_AND_CHANGES),
    TableProperty("delta.enableInCommitTimestamps", Kind.BOOLEAN, "false", stops=Stops.WRITES_AND_CHANGES),
    TableProperty(
        "delta.enableMaterializePartitionColumnsFeature", Kind.OPTIONAL_BOOLEAN, stops=Stops.CHANGES
    ),
    TableProperty("delta.enableRowTracking", Kind.BOOLEAN, "false", stops=Stops.ALL),
    TableProperty("delta.enableTypeWidening", Kind.BOOLEAN, "false", stops=Stops.WRITES_AND_CHANGES),
    TableProperty("delta.enableVariantShredding", Kind.BOOLEAN, "false", stops=Stops.WRITES_AND_CHANGES),
    TableProperty("delta.ignoreIcebergBucketPartition", Kind.BOOLEAN, "false"),
    TableProperty(IGNORE_DEFAULTS, Kind.BOOLEAN, "false"),
    TableProperty("delta.inCommitTimestampEnablementTimestamp", Kind.LONG, written_by_delta=True),
    TableProperty("delta.inCommitTimestampEnablementVersion", Kind.LONG, written_by_delta=True),
    # Delta accepts this level only.
    TableProperty(
        "delta.isolationLevel",
        Kind.ENUM_ANY_CASE,
        "Serializable",
        choices=("Serializable",),
        stops=Stops.WRITES_AND_CHANGES,
    ),
    TableProperty("delta.logRetentionDuration", Kind.INTERVAL, "interval 30 days"),
    TableProperty("delta.minReaderVersion", Kind.INTEGER, choices=("1", "2", "3")),
    TableProperty("delta.minWriterVersion", Kind.INTEGER, choices=("1", "2", "3", "4", "5", "6", "7")),
    TableProperty("delta.parquet.format.version", Kind.VERSION, "1.0.0", stops=Stops.WRITES),
    TableProperty("delta.randomPrefixLength", Kind.INTEGER, "2", minimum=1),
    TableProperty("delta.randomizeFilePrefixes", Kind.BOOLEAN, "false", stops=Stops.WRITES),
    TableProperty("delta.redirectReaderWriter-preview", Kind.JSON),
    TableProperty("delta.redirectWriterOnly-preview", Kind.JSON),
    TableProperty(
        "delta.requireCheckpointProtectionBeforeVersion", Kind.LONG, "0", minimum=0, written_by_delta=True
    ),
    # Not in Delta's registry: Delta writes these properties itself and refuses them from users as unknown.
    TableProperty(
        "delta.rowTracking.materializedRowCommitVersionColumnName",
        Kind.TEXT,
        editable=False,
        written_by_delta=True,
        source="MaterializedRowTrackingColumn.scala",
    ),
    TableProperty(
        "delta.rowTracking.materializedRowIdColumnName",
        Kind.TEXT,
        editable=False,
        written_by_delta=True,
        source="MaterializedRowTrackingColumn.scala",
    ),
    TableProperty("delta.rowTrackingSuspended", Kind.BOOLEAN, "false"),
    TableProperty("delta.sampleRetentionDuration", Kind.INTERVAL, "interval 7 days"),
    TableProperty("delta.setTransactionRetentionDuration", Kind.INTERVAL, stops=Stops.ALL),
    TableProperty("delta.universalFormat.enabledFormats", Kind.FORMATS, "", choices=("hudi", "iceberg")),
    TableProperty(
        "delta.universalFormat.iceberg.atomicConversion.supported",
        Kind.BOOLEAN,
        "false",
        written_by_delta=True,
    ),
    TableProperty("delta.writePartitionColumnsToParquet", Kind.OPTIONAL_BOOLEAN, stops=Stops.WRITES),
    # Delta Spark refuses these with DELTA_UNKNOWN_CONFIGURATION (measured on Delta 4.4.0).
    TableProperty(
        "delta.parquet.compression.codec",
        Kind.TEXT,
        engine=DATABRICKS,
        source='PROTOCOL.md, "Table Properties"',
    ),
    TableProperty("delta.targetFileSize", Kind.TEXT, engine=DATABRICKS, source=_DATABRICKS_REFERENCE),
    TableProperty(
        "delta.tuneFileSizesForRewrites", Kind.BOOLEAN, engine=DATABRICKS, source=_DATABRICKS_REFERENCE
    ),
)

PROPERTIES: Final[Mapping[str, TableProperty]] = MappingProxyType({row.key: row for row in _ROWS})
"""All properties that Delta knows, by key in the spelling that Delta stores."""

OF_KERNEL: Final = frozenset(
    {"delta.enableIcebergWriterCompatV1", "delta.enableIcebergWriterCompatV3"}
    | {"delta.columnMapping.hasDroppedOrRenamed"}
)
"""Properties of Delta Kernel (TableConfig.java), and of a proposal (column-mapping-usage-tracking.md).

Delta Spark refuses to set them (``DELTA_UNKNOWN_CONFIGURATION``, measured on Delta 4.4.0).
"""

RESERVED: Final = frozenset(
    {"collation", "comment", "external", "is_managed_location"}
    | {"location", "owner", "provider", "table_type"}
)
"""Keys that Spark reserves (``TableCatalog.RESERVED_PROPERTIES``), in exactly this spelling.

Spark stores ``comment`` as the table's description only, and refuses the other keys (measured on Spark
4.2.0).
"""

_BY_LOWER_CASE: Final = {key.lower(): row for key, row in PROPERTIES.items()}

_PROTOCOL_KEYS: Final = frozenset(key.lower() for key in (*VERSION_KEYS, IGNORE_DEFAULTS))
_PASSED_THROUGH: Final = (FEATURE_PREFIX, CONSTRAINT_PREFIX, UNIVERSAL_FORMAT_PREFIX)
