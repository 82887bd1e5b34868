"""Delta's table properties: one row for each, with its default and the values that Delta accepts.

Sources: ``DeltaConfig.scala`` of Delta Spark 4.4.0, with every row compared with the registry of the released
jar and the values of every kind tested against it; ``SparkIntervalUtils.scala`` of Spark 4.2 for intervals.
PROTOCOL.md, "Table Properties", lists ``delta.parquet.compression.codec``, but Delta Spark refuses it as
unknown (measured on 4.4.0: ``DELTA_UNKNOWN_CONFIGURATION``), so it has no row.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, assert_never

from schemalint.delta import feature
from schemalint.values import frozen

# Prefixes of property keys, in lower case. The last three accept any name.
PREFIX: Final = "delta."
FEATURE_PREFIX: Final = "delta.feature."
CONSTRAINT_PREFIX: Final = "delta.constraints."
COLUMN_MAPPING_MODE: Final = "delta.columnMapping.mode"
CHANGE_DATA_FEED: Final = "delta.enableChangeDataFeed"
ICEBERG_COMPAT_KEYS: Final = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))
UNIVERSAL_FORMAT_PREFIX: Final = "delta.universalformat.config."


class Kind(Enum):
    """The kind of a property's value. The text of a member completes the sentence "<key> needs to be …"."""

    BOOLEAN = "true or false"
    OPTIONAL_BOOLEAN = "true or false, or absent"
    INTEGER = "an integer"
    LONG = "an integer of 64 bits"
    INTERVAL = "an interval such as '2 weeks', not negative, without months and years"
    ENUM = "one word"
    ENUM_ANY_CASE = "one word, in any case,"
    FORMATS = "a comma-separated list of formats, without blanks or repetitions,"
    COLUMNS = "a comma-separated list of columns, with special names in back-quotes"
    VERSION = "a version such as 1.0.0"
    JSON = "a JSON object"
    TEXT = "text"


@frozen
class TableProperty:
    """A property in Delta's registry.

    Attributes:
        key: The key as Delta stores it.
        kind: The kind of its value.
        default: The value that applies if the property is absent; None if there is no default.
        minimum: The smallest number that Delta accepts; None if there is no limit.
        choices: The values that Delta accepts; empty if they are not enumerable.
        editable: Whether Delta lets users set the property.
        written_by_delta: Whether Delta writes the property itself, so contracts do not declare it.
        older_key: An older key that Delta reads if this one is absent.
        source: The file of Delta Spark that defines the property.
    """

    key: str
    kind: Kind
    default: str | None = None
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    editable: bool = True
    written_by_delta: bool = False
    older_key: str | None = None
    source: str = "DeltaConfig.scala"


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
    known = find_property(key)
    return known.key if known else key


def is_known(key: str) -> bool:
    """Whether Delta accepts the key.

    True for keys in Delta's registry, for keys with a prefix that accepts any name (``delta.feature.``,
    ``delta.constraints.``, ``delta.universalformat.config.``), and for keys without the prefix ``delta.``.
    """
    lower = key.lower()
    return not lower.startswith(PREFIX) or lower.startswith(_PASSED_THROUGH) or lower in _BY_LOWER_CASE


def is_protocol_key(key: str) -> bool:
    """Whether the key changes the protocol: Delta acts on it and never stores it as a property.

    Only a faulty writer stores such a key (``Protocol.assertMetadataContainsNoProtocolProps``). Source:
    ``TableFeatureProtocolUtils.isTableProtocolProperty``.
    """
    return key.lower().startswith(FEATURE_PREFIX) or key.lower() in _PROTOCOL_KEYS


def is_true(value: str | None) -> bool:
    """Whether Delta reads the value as true (Scala's ``toBoolean``): only ``true``, in any case."""
    return value is not None and value.lower() == "true"


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
    names = [known.removeprefix(PREFIX) for known in _BY_LOWER_CASE]
    nearest = difflib.get_close_matches(lower.removeprefix(PREFIX), names, n=1, cutoff=0.75)
    return _BY_LOWER_CASE[PREFIX + nearest[0]].key if nearest else None


def parse_interval(text: str) -> int | None:
    """Return an interval such as ``interval 1 week 12 hours`` in microseconds; None if Delta cannot use it.

    Follows ``DeltaConfigs.parseCalendarInterval``: the text ignores case, may begin with ``interval`` and a
    blank, and consists of pairs of a number and a unit from microsecond to week. Numbers may have a sign;
    only seconds may have a fraction. Quotes are invalid. Months and years are valid only if they add up to
    zero.
    """
    pairs = text.strip(_TRIMMED).lower().removeprefix("interval ").lstrip(_BLANKS)
    months, microseconds, position = 0, 0, 0
    while position < len(pairs) or not pairs:
        pair = _PAIR.match(pairs, position)
        if pair is None:
            return None
        sign, whole, fraction, unit = pair.groups(default="")
        number = int(f"{sign}{whole or 0}")
        if unit in _MONTHS:
            months += number * _MONTHS[unit]
        else:
            microseconds += number * _MICROSECONDS[unit] + int(f"{sign}{fraction[:6]:0<6}")
        position = pair.end()
    return microseconds if months == 0 and abs(microseconds) < 2**63 else None


def _read(row: TableProperty, text: str) -> object | None:
    """Return a value as Delta interprets it; None if Delta refuses it."""
    value = _reader(row.kind)(text)
    if isinstance(value, frozenset):
        return value if value <= set(row.choices) else None
    if row.choices and str(value) not in _choices(row):
        return None
    if row.minimum is not None and isinstance(value, int) and value < row.minimum:
        return None
    return value


def _choices(row: TableProperty) -> tuple[str, ...]:
    any_case = row.kind is Kind.ENUM_ANY_CASE
    return tuple(choice.lower() for choice in row.choices) if any_case else row.choices


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _integer(bits: int) -> Callable[[str], int | None]:
    bound = 2 ** (bits - 1)

    def read(text: str) -> int | None:
        value = int(text) if _INTEGER.fullmatch(text) else None
        return value if value is not None and -bound <= value < bound else None

    return read


def _interval(text: str) -> int | None:
    value = parse_interval(text)
    return value if value is not None and value >= 0 else None


def _formats(text: str) -> frozenset[str] | None:
    # Java's split drops empty strings at the end only.
    names = text.rstrip(",").split(",") if text.strip(",") else []
    return frozenset(names) if len(set(names)) == len(names) else None


def _columns(text: str) -> str | None:
    return text if not text.strip() or _COLUMNS.match(text) else None


def _version(text: str) -> str | None:
    return text if _VERSION.match(text) else None


def _json(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return text if isinstance(value, dict) else None


def _reader(kind: Kind) -> Callable[[str], object | None]:
    match kind:
        case Kind.BOOLEAN | Kind.OPTIONAL_BOOLEAN:
            return _boolean
        case Kind.INTEGER:
            return _integer(32)
        case Kind.LONG:
            return _integer(64)
        case Kind.INTERVAL:
            return _interval
        case Kind.ENUM | Kind.TEXT:
            return str
        case Kind.ENUM_ANY_CASE:
            return str.lower
        case Kind.FORMATS:
            return _formats
        case Kind.COLUMNS:
            return _columns
        case Kind.VERSION:
            return _version
        case Kind.JSON:
            return _json
        case _:
            assert_never(kind)


# As in Java's parseInt, blanks and underscores are invalid. The length is limited because int() raises an
# error for thousands of digits.
_INTEGER: Final = re.compile(r"[+-]?\d{1,100}")

# The characters of Java's String.trim, and those of Character.isWhitespace within ASCII.
_TRIMMED: Final = "".join(map(chr, range(0x21)))
_BLANKS: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
_PAIR: Final = re.compile(
    rf"""(?:([+-])[{_BLANKS}]*|(?=\.?[0-9]))(?=[0-9.])
         ([0-9]{{0,100}})(?:\.([0-9]{{0,9}})(?=[{_BLANKS}]+second))?
         [{_BLANKS}]+(year|month|week|day|hour|minute|second|millisecond|microsecond)s?
         (?:[{_BLANKS}]+|\Z)""",
    re.VERBOSE,
)
_MONTHS: Final = {"year": 12, "month": 1}
_MICROSECONDS: Final = {
    "week": 7 * 86_400_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}

# Delta parses as many names as possible and ignores the rest, so a text is invalid only if parsing stops at
# the start or after a comma. Spark's grammar (ErrorIdentifier) adds two exceptions: a minus, and non-ASCII
# letters.
_PART: Final = r"(?>`(?:[^`]|``)*`|[A-Za-z0-9_]++(?!\w))"
_COLUMN: Final = rf"\s*+(?!\d++(?!\w)){_PART}(?:\.{_PART})*+"
_COLUMNS: Final = re.compile(rf"{_COLUMN}(?:\s*+,{_COLUMN})*+(?!\s*+(?:,|-\s*+[A-Za-z_]))")

# Delta uses the greatest known version up to the given one, so the version must be at least the first, 1.0.0.
_VERSION: Final = re.compile(r"0*[1-9]\d{0,8}\.\d{1,9}\.\d{1,9}")

_ROWS: Final = (
    TableProperty("delta.appendOnly", Kind.BOOLEAN, "false"),
    TableProperty("delta.autoOptimize", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.autoOptimize.autoCompact", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.autoOptimize.optimizeWrite", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.castIcebergTimeType", Kind.BOOLEAN, "false"),
    TableProperty("delta.checkpoint.writeStatsAsJson", Kind.BOOLEAN, "true"),
    # PROTOCOL.md says that the default is false; in Delta Spark it is true.
    TableProperty("delta.checkpoint.writeStatsAsStruct", Kind.BOOLEAN, "true"),
    TableProperty("delta.checkpointInterval", Kind.INTEGER, "10", minimum=1),
    TableProperty("delta.checkpointPolicy", Kind.ENUM, "classic", choices=("classic", "v2")),
    TableProperty("delta.checkpointRetentionDuration", Kind.INTERVAL, "interval 2 days"),
    TableProperty("delta.columnMapping.maxColumnId", Kind.LONG, "0", editable=False, written_by_delta=True),
    TableProperty(COLUMN_MAPPING_MODE, Kind.ENUM_ANY_CASE, "none", choices=("none", "id", "name")),
    TableProperty("delta.compatibility.symlinkFormatManifest.enabled", Kind.BOOLEAN, "false"),
    TableProperty("delta.coordinatedCommits.commitCoordinator-preview", Kind.TEXT),
    TableProperty("delta.coordinatedCommits.commitCoordinatorConf-preview", Kind.JSON),
    TableProperty("delta.coordinatedCommits.tableConf-preview", Kind.JSON),
    TableProperty("delta.dataSkippingNumIndexedCols", Kind.INTEGER, "32", minimum=-1),
    TableProperty("delta.dataSkippingStatsColumns", Kind.COLUMNS),
    TableProperty("delta.dataSkippingStringPrefixLength", Kind.INTEGER, minimum=0),
    TableProperty("delta.deletedFileRetentionDuration", Kind.INTERVAL, "interval 1 week"),
    TableProperty("delta.dropFeatureTruncateHistory.retentionDuration", Kind.INTERVAL, "interval 24 hours"),
    TableProperty("delta.enableChangeDataCapture", Kind.BOOLEAN, "false"),
    TableProperty(CHANGE_DATA_FEED, Kind.BOOLEAN, "false", older_key="delta.enableChangeDataCapture"),
    TableProperty("delta.enableDeletionVectors", Kind.BOOLEAN, "false"),
    TableProperty("delta.enableExpiredLogCleanup", Kind.BOOLEAN, "true"),
    TableProperty("delta.enableFullRetentionRollback", Kind.BOOLEAN, "true"),
    TableProperty("delta.enableIcebergCompatV1", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.enableIcebergCompatV2", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.enableIcebergCompatV3", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.enableInCommitTimestamps", Kind.BOOLEAN, "false"),
    TableProperty("delta.enableMaterializePartitionColumnsFeature", Kind.OPTIONAL_BOOLEAN),
    TableProperty("delta.enableRowTracking", Kind.BOOLEAN, "false"),
    TableProperty("delta.enableTypeWidening", Kind.BOOLEAN, "false"),
    TableProperty("delta.enableVariantShredding", Kind.BOOLEAN, "false"),
    TableProperty("delta.ignoreIcebergBucketPartition", Kind.BOOLEAN, "false"),
    TableProperty("delta.ignoreProtocolDefaults", Kind.BOOLEAN, "false"),
    TableProperty("delta.inCommitTimestampEnablementTimestamp", Kind.LONG, written_by_delta=True),
    TableProperty("delta.inCommitTimestampEnablementVersion", Kind.LONG, written_by_delta=True),
    # Delta accepts this level only.
    TableProperty("delta.isolationLevel", Kind.ENUM_ANY_CASE, "Serializable", choices=("Serializable",)),
    TableProperty("delta.logRetentionDuration", Kind.INTERVAL, "interval 30 days"),
    TableProperty("delta.minReaderVersion", Kind.INTEGER, choices=("1", "2", "3")),
    TableProperty("delta.minWriterVersion", Kind.INTEGER, choices=("1", "2", "3", "4", "5", "6", "7")),
    TableProperty("delta.parquet.format.version", Kind.VERSION, "1.0.0"),
    TableProperty("delta.randomPrefixLength", Kind.INTEGER, "2", minimum=1),
    TableProperty("delta.randomizeFilePrefixes", Kind.BOOLEAN, "false"),
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
    TableProperty("delta.setTransactionRetentionDuration", Kind.INTERVAL),
    TableProperty("delta.universalFormat.enabledFormats", Kind.FORMATS, "", choices=("hudi", "iceberg")),
    TableProperty(
        "delta.universalFormat.iceberg.atomicConversion.supported",
        Kind.BOOLEAN,
        "false",
        written_by_delta=True,
    ),
    TableProperty("delta.writePartitionColumnsToParquet", Kind.OPTIONAL_BOOLEAN),
)

PROPERTIES: Final[Mapping[str, TableProperty]] = MappingProxyType({row.key: row for row in _ROWS})
"""All properties that Delta knows, by key in the spelling that Delta stores."""

RESERVED: Final = frozenset({"comment", "external", "is_managed_location", "location", "owner", "provider"})
"""Keys that Spark reserves (``TableCatalog.RESERVED_PROPERTIES``), in exactly this spelling.

Spark stores ``comment`` as the table's description only, and refuses the other keys (measured on Spark
4.2.0).
"""

_BY_LOWER_CASE: Final = {key.lower(): row for key, row in PROPERTIES.items()}

_PROTOCOL_KEYS: Final = frozenset(
    {"delta.minreaderversion", "delta.minwriterversion", "delta.ignoreprotocoldefaults"}
)
_PASSED_THROUGH: Final = (FEATURE_PREFIX, CONSTRAINT_PREFIX, UNIVERSAL_FORMAT_PREFIX)
