"""The table of properties, and how Delta reads keys and values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.delta import properties
from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import PROPERTIES
from schemalint.delta.property_values import Kind, parse_interval

# DeltaConfigs' entries by kind of value, read by reflection from the released jar of Delta Spark 4.4.0.
BOOLEANS = [
    "appendOnly",
    "castIcebergTimeType",
    "checkpoint.writeStatsAsJson",
    "checkpoint.writeStatsAsStruct",
    "compatibility.symlinkFormatManifest.enabled",
    "enableChangeDataCapture",
    "enableChangeDataFeed",
    "enableDeletionVectors",
    "enableExpiredLogCleanup",
    "enableFullRetentionRollback",
    "enableInCommitTimestamps",
    "enableRowTracking",
    "enableTypeWidening",
    "enableVariantShredding",
    "ignoreIcebergBucketPartition",
    "ignoreProtocolDefaults",
    "randomizeFilePrefixes",
    "rowTrackingSuspended",
    "universalFormat.iceberg.atomicConversion.supported",
]
OPTIONAL_BOOLEANS = [
    "autoOptimize",
    "autoOptimize.autoCompact",
    "autoOptimize.optimizeWrite",
    "enableIcebergCompatV1",
    "enableIcebergCompatV2",
    "enableIcebergCompatV3",
    "enableMaterializePartitionColumnsFeature",
    "writePartitionColumnsToParquet",
]
INTERVALS = [
    "checkpointRetentionDuration",
    "deletedFileRetentionDuration",
    "dropFeatureTruncateHistory.retentionDuration",
    "logRetentionDuration",
    "sampleRetentionDuration",
    "setTransactionRetentionDuration",
]
INTEGERS = [
    "checkpointInterval",
    "dataSkippingNumIndexedCols",
    "dataSkippingStringPrefixLength",
    "minReaderVersion",
    "minWriterVersion",
    "randomPrefixLength",
]
LONGS = [
    "columnMapping.maxColumnId",
    "inCommitTimestampEnablementTimestamp",
    "inCommitTimestampEnablementVersion",
    "requireCheckpointProtectionBeforeVersion",
]
WORDS = ["checkpointPolicy", "columnMapping.mode", "isolationLevel"]
OTHER_KINDS = [
    "coordinatedCommits.commitCoordinator-preview",
    "coordinatedCommits.commitCoordinatorConf-preview",
    "coordinatedCommits.tableConf-preview",
    "dataSkippingStatsColumns",
    "parquet.format.version",
    "redirectReaderWriter-preview",
    "redirectWriterOnly-preview",
    "universalFormat.enabledFormats",
]
# Delta writes these keys for row tracking, but no registry lists them.
MATERIALIZED = [
    "rowTracking.materializedRowCommitVersionColumnName",
    "rowTracking.materializedRowIdColumnName",
]

# Delta Spark refuses these keys as unknown: see engine/test_other_engines.py.
DATABRICKS = ["parquet.compression.codec", "targetFileSize", "tuneFileSizesForRewrites"]

DEFAULTS = {
    "checkpointInterval": "10",
    "checkpointPolicy": "classic",
    "checkpointRetentionDuration": "interval 2 days",
    "columnMapping.maxColumnId": "0",
    "columnMapping.mode": "none",
    "dataSkippingNumIndexedCols": "32",
    "deletedFileRetentionDuration": "interval 1 week",
    "dropFeatureTruncateHistory.retentionDuration": "interval 24 hours",
    "isolationLevel": "Serializable",
    "logRetentionDuration": "interval 30 days",
    "parquet.format.version": "1.0.0",
    "randomPrefixLength": "2",
    "requireCheckpointProtectionBeforeVersion": "0",
    "sampleRetentionDuration": "interval 7 days",
    "universalFormat.enabledFormats": "",
}
TRUE_BY_DEFAULT = {
    "checkpoint.writeStatsAsJson",
    "checkpoint.writeStatsAsStruct",
    "enableExpiredLogCleanup",
    "enableFullRetentionRollback",
}

DAY = 86_400_000_000
UNITS = {
    "week": 7 * DAY,
    "day": DAY,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}


def keys(*names: list[str]) -> set[str]:
    return {f"delta.{name}" for group in names for name in group}


def of_kind(*kinds: Kind) -> set[str]:
    return {key for key, row in PROPERTIES.items() if row.kind in kinds} - keys(DATABRICKS)


def test_every_property_of_delta_has_a_row() -> None:
    registry = keys(BOOLEANS, OPTIONAL_BOOLEANS, INTERVALS, INTEGERS, LONGS, WORDS, OTHER_KINDS)
    assert len(registry) == 54
    assert set(PROPERTIES) == registry | keys(MATERIALIZED, DATABRICKS)
    assert {key for key, row in PROPERTIES.items() if row.engine == "databricks"} == keys(DATABRICKS)
    assert all(key == row.key for key, row in PROPERTIES.items())


def test_properties_have_the_value_kinds_of_delta() -> None:
    assert of_kind(Kind.BOOLEAN) == keys(BOOLEANS)
    assert of_kind(Kind.OPTIONAL_BOOLEAN) == keys(OPTIONAL_BOOLEANS)
    assert of_kind(Kind.INTERVAL) == keys(INTERVALS)
    assert of_kind(Kind.INTEGER) == keys(INTEGERS)
    assert of_kind(Kind.LONG) == keys(LONGS)
    assert of_kind(Kind.ENUM, Kind.ENUM_ANY_CASE) == keys(WORDS)


def test_properties_have_the_defaults_of_delta() -> None:
    booleans = {f"delta.{name}": str(name in TRUE_BY_DEFAULT).lower() for name in BOOLEANS}
    other_defaults = {f"delta.{name}": value for name, value in DEFAULTS.items()}
    assert {key: row.default for key, row in PROPERTIES.items() if row.default is not None} == (
        booleans | other_defaults
    )


def test_default_values_are_valid() -> None:
    assert [
        properties.property_problem(key, row.default)
        for key, row in PROPERTIES.items()
        if row.default is not None
    ] == [None] * (len(BOOLEANS) + len(DEFAULTS))


def test_properties_that_delta_writes_itself_are_marked() -> None:
    written = {key for key, row in PROPERTIES.items() if row.written_by_delta}
    assert written == keys(
        MATERIALIZED,
        [
            "columnMapping.maxColumnId",
            "inCommitTimestampEnablementTimestamp",
            "inCommitTimestampEnablementVersion",
            "requireCheckpointProtectionBeforeVersion",
            "universalFormat.iceberg.atomicConversion.supported",
        ],
    )


def test_properties_that_users_cannot_set_are_not_editable() -> None:
    refused = {key for key, row in PROPERTIES.items() if not row.editable}
    assert refused == keys(MATERIALIZED, ["columnMapping.maxColumnId"])


def test_only_change_data_feed_has_an_older_key() -> None:
    assert {key: row.older_key for key, row in PROPERTIES.items() if row.older_key} == {
        "delta.enableChangeDataFeed": "delta.enableChangeDataCapture"
    }


@pytest.mark.parametrize(
    ("key", "stored"),
    [
        ("DELTA.ENABLETYPEWIDENING", "delta.enableTypeWidening"),
        ("delta.columnmapping.MODE", "delta.columnMapping.mode"),
        ("delta.feature.TYPEWIDENING", "delta.feature.typeWidening"),
        ("DELTA.Feature.timestampntz", "delta.feature.timestampNtz"),
        ("delta.feature.fooBar", "delta.feature.fooBar"),
        ("delta.universalFormat.config.iceberg.X", "delta.universalformat.config.iceberg.x"),
        ("delta.constraints.Positive", "delta.constraints.Positive"),
        ("delta.myOwn", "delta.myOwn"),
        ("enableTypeWidening", "enableTypeWidening"),
        ("Team", "Team"),
    ],
)
def test_a_key_is_stored_in_its_canonical_spelling(key: str, stored: str) -> None:
    assert properties.canonical(key) == stored


@given(st.one_of(st.sampled_from(sorted(PROPERTIES)), st.text()), st.booleans())
def test_canonical_keys_are_stable(key: str, upper: bool) -> None:  # noqa: FBT001 - drawn, not passed
    stored = properties.canonical(key.upper() if upper else key)
    assert properties.canonical(stored) == stored


@pytest.mark.parametrize("key", sorted(PROPERTIES))
def test_a_known_key_is_found_in_any_case(key: str) -> None:
    assert properties.find_property(key.upper()) is PROPERTIES[key]
    assert properties.canonical(key.lower()) == key


@pytest.mark.parametrize("key", ["enableTypeWidening", "delta.parquet.compression.level", "delta.", ""])
def test_an_unknown_key_is_not_found(key: str) -> None:
    assert properties.find_property(key) is None


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("delta.appendonly", True),
        ("delta.constraints.anything", True),
        ("delta.feature.anything", True),
        ("delta.universalFormat.config.iceberg.x", True),
        ("team", True),
        ("deltaforce", True),
        ("delta.unknownProp", False),
        ("DELTA.unknownProp", False),
        ("delta.parquet.compression.codec", True),
        ("delta.", False),
    ],
)
def test_only_delta_keys_without_a_row_are_unknown(key: str, known: bool) -> None:  # noqa: FBT001
    assert properties.is_known(key) is known


@pytest.mark.parametrize(
    ("key", "is_protocol_key"),
    [
        ("delta.minReaderVersion", True),
        ("delta.minWriterVersion", True),
        ("DELTA.MINWRITERVERSION", True),
        ("delta.ignoreProtocolDefaults", True),
        ("delta.feature.typeWidening", True),
        ("Delta.Feature.fooBar", True),
        ("delta.enableTypeWidening", False),
        ("minReaderVersion", False),
        ("delta.features", False),
    ],
)
def test_protocol_keys_are_recognized(key: str, is_protocol_key: bool) -> None:  # noqa: FBT001
    assert properties.is_protocol_key(key) is is_protocol_key


@pytest.mark.parametrize(
    ("value", "true"),
    [
        ("true", True),
        ("TRUE", True),
        ("True", True),
        ("false", False),
        ("yes", False),
        ("1", False),
        ("", False),
        (" true", False),
        (None, False),
    ],
)
def test_only_the_word_true_is_true(value: str | None, true: bool) -> None:  # noqa: FBT001
    assert properties.is_true(value) is true


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ({}, "false"),
        ({"delta.enableChangeDataCapture": "true"}, "true"),
        ({"delta.enableChangeDataFeed": None, "delta.enableChangeDataCapture": "true"}, "true"),
        ({"delta.enableChangeDataFeed": "false", "delta.enableChangeDataCapture": "true"}, "false"),
        ({"delta.enableChangeDataFeed": "TRUE"}, "TRUE"),
    ],
)
def test_a_value_comes_from_the_key_then_the_older_key_then_the_default(
    declared: dict[str, str | None], value: str
) -> None:
    assert properties.property_value("delta.enableChangeDataFeed", declared) == value


def test_a_user_property_has_no_default() -> None:
    assert properties.property_value("team", {"team": "sales"}) == "sales"
    assert properties.property_value("team", {}) is None
    assert properties.property_value("delta.enableIcebergCompatV2", {}) is None


@pytest.mark.parametrize(
    ("key", "a", "b"),
    [
        ("delta.enableTypeWidening", "true", "TRUE"),
        ("DELTA.enabletypewidening", "False", "false"),
        ("delta.autoOptimize", "True", "true"),
        ("delta.logRetentionDuration", "interval 7 days", "INTERVAL 1 WEEK"),
        ("delta.logRetentionDuration", "168 hours", "interval 7 days"),
        ("delta.checkpointInterval", "10", "+010"),
        ("delta.columnMapping.mode", "name", "NAME"),
        ("delta.isolationLevel", "Serializable", "serializable"),
        ("delta.universalFormat.enabledFormats", "iceberg,hudi", "hudi,iceberg"),
        ("team", "sales", "sales"),
    ],
)
def test_equivalent_values_are_the_same(key: str, a: str, b: str) -> None:
    assert properties.same_value(key, a, b)


@pytest.mark.parametrize(
    ("key", "a", "b"),
    [
        ("delta.enableTypeWidening", "true", "false"),
        ("delta.enableTypeWidening", "yes", "YES"),
        ("delta.logRetentionDuration", "7 days", "8 days"),
        ("delta.logRetentionDuration", "x", "y"),
        ("delta.checkpointInterval", "10", "11"),
        ("delta.checkpointPolicy", "v2", "V2"),
        ("delta.columnMapping.mode", "name", "id"),
        ("team", "true", "TRUE"),
        ("enableTypeWidening", "true", "TRUE"),
        ("retention", "7 days", "1 week"),
    ],
)
def test_values_with_other_meanings_differ(key: str, a: str, b: str) -> None:
    assert not properties.same_value(key, a, b)


@given(st.sampled_from(sorted(PROPERTIES)), st.text())
def test_any_value_equals_itself_even_if_delta_refuses_it(key: str, value: str) -> None:
    assert properties.same_value(key, value, value)


# Measured with DeltaConfigs.validateConfigurations of Delta 4.4.0.
ACCEPTED = [
    ("delta.enableTypeWidening", "TRUE"),
    ("delta.autoOptimize.autoCompact", "True"),
    ("delta.checkpointInterval", "1"),
    ("delta.checkpointInterval", "+5"),
    ("delta.checkpointInterval", "2147483647"),
    ("delta.dataSkippingNumIndexedCols", "-1"),
    ("delta.dataSkippingStringPrefixLength", "0"),
    ("delta.requireCheckpointProtectionBeforeVersion", "3000000000"),
    ("delta.inCommitTimestampEnablementVersion", "-7"),
    ("delta.minReaderVersion", "3"),
    ("delta.minReaderVersion", "+3"),
    ("delta.minWriterVersion", "7"),
    ("delta.columnMapping.mode", "NAME"),
    ("delta.isolationLevel", "SERIALIZABLE"),
    ("delta.checkpointPolicy", "v2"),
    ("delta.parquet.format.version", "1.0.0"),
    ("delta.parquet.format.version", "2.12.0"),
    ("delta.parquet.format.version", "3.0.0"),
    ("delta.universalFormat.enabledFormats", ""),
    ("delta.universalFormat.enabledFormats", "iceberg"),
    ("delta.universalFormat.enabledFormats", "iceberg,hudi,"),
    ("delta.universalFormat.enabledFormats", ","),
    ("delta.logRetentionDuration", "2 weeks"),
    ("delta.logRetentionDuration", "interval 0 months 30 days"),
    ("delta.setTransactionRetentionDuration", "0 seconds"),
    ("delta.dataSkippingStatsColumns", ""),
    ("delta.dataSkippingStatsColumns", "a,b"),
    ("delta.dataSkippingStatsColumns", " a , b "),
    ("delta.dataSkippingStatsColumns", "`a b`, c.d"),
    ("delta.dataSkippingStatsColumns", "`a`.`b.c`"),
    ("delta.dataSkippingStatsColumns", "`a``b`"),
    ("delta.dataSkippingStatsColumns", "1a"),
    ("delta.dataSkippingStatsColumns", "a b"),
    ("delta.dataSkippingStatsColumns", "a.1"),
    ("delta.coordinatedCommits.tableConf-preview", '{"a": "b"}'),
    ("delta.constraints.x", "a >"),
    ("team", "anything"),
]
REFUSED = [
    ("delta.enableTypeWidening", "yes"),
    ("delta.enableTypeWidening", "1"),
    ("delta.enableTypeWidening", ""),
    ("delta.enableTypeWidening", " true"),
    ("delta.autoOptimize.autoCompact", "auto"),
    ("delta.enableIcebergCompatV2", "x"),
    ("delta.checkpointInterval", "0"),
    ("delta.checkpointInterval", " 5"),
    ("delta.checkpointInterval", "1_0"),
    ("delta.checkpointInterval", "5.0"),
    ("delta.checkpointInterval", ""),
    ("delta.checkpointInterval", "2147483648"),
    ("delta.checkpointInterval", "9" * 5000),
    ("delta.randomPrefixLength", "0"),
    ("delta.dataSkippingNumIndexedCols", "-2"),
    ("delta.dataSkippingStringPrefixLength", "-1"),
    ("delta.requireCheckpointProtectionBeforeVersion", "-1"),
    ("delta.requireCheckpointProtectionBeforeVersion", "9223372036854775808"),
    ("delta.inCommitTimestampEnablementVersion", "x"),
    ("delta.minReaderVersion", "4"),
    ("delta.minReaderVersion", "0"),
    ("delta.minWriterVersion", "8"),
    ("delta.minWriterVersion", "x"),
    ("delta.columnMapping.mode", "x"),
    ("delta.columnMapping.mode", " name"),
    ("delta.checkpointPolicy", "V2"),
    ("delta.isolationLevel", "WriteSerializable"),
    ("delta.parquet.format.version", "1.0"),
    ("delta.parquet.format.version", "0.9.0"),
    ("delta.universalFormat.enabledFormats", "ICEBERG"),
    ("delta.universalFormat.enabledFormats", "iceberg, hudi"),
    ("delta.universalFormat.enabledFormats", "iceberg,iceberg"),
    ("delta.universalFormat.enabledFormats", ",iceberg"),
    ("delta.universalFormat.enabledFormats", "delta"),
    ("delta.logRetentionDuration", "1 month"),
    ("delta.logRetentionDuration", "-3 days"),
    ("delta.logRetentionDuration", "x"),
    ("delta.logRetentionDuration", ""),
    ("delta.setTransactionRetentionDuration", "-1 second"),
    ("delta.setTransactionRetentionDuration", "-1 microsecond"),
    ("delta.dataSkippingStatsColumns", "a,"),
    ("delta.dataSkippingStatsColumns", "a,,b"),
    ("delta.dataSkippingStatsColumns", ",a"),
    ("delta.dataSkippingStatsColumns", "a-b"),
    ("delta.dataSkippingStatsColumns", "a,b-c"),
    ("delta.dataSkippingStatsColumns", "aé"),
    ("delta.dataSkippingStatsColumns", "`a"),
    ("delta.dataSkippingStatsColumns", "`a``b`-c"),
    ("delta.dataSkippingStatsColumns", "12"),
    ("delta.dataSkippingStatsColumns", "*"),
    ("delta.coordinatedCommits.tableConf-preview", "x"),
    ("delta.coordinatedCommits.tableConf-preview", "[1]"),
]


@pytest.mark.parametrize(("key", "value"), ACCEPTED)
def test_a_value_that_delta_accepts_has_no_problem(key: str, value: str) -> None:
    assert properties.property_problem(key, value) is None


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_a_value_that_delta_refuses_has_a_problem(key: str, value: str) -> None:
    assert (properties.property_problem(key, value) or "").startswith(f"{key} needs to be ")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        (
            "DELTA.enableTypeWidening",
            "yes",
            "delta.enableTypeWidening needs to be true or false, not 'yes'",
        ),
        (
            "delta.checkpointInterval",
            "0",
            "delta.checkpointInterval needs to be an integer of at least 1, not '0'",
        ),
        (
            "delta.minReaderVersion",
            "9",
            "delta.minReaderVersion needs to be an integer out of 1, 2, 3, not '9'",
        ),
        (
            "delta.checkpointPolicy",
            "V2",
            "delta.checkpointPolicy needs to be one word out of classic, v2, not 'V2'",
        ),
        (
            "delta.logRetentionDuration",
            "1 month",
            f"delta.logRetentionDuration needs to be {Kind.INTERVAL.value}, not '1 month'",
        ),
    ],
)
def test_a_problem_names_the_valid_values(key: str, value: str, sentence: str) -> None:
    assert properties.property_problem(key, value) == sentence


@given(st.sampled_from(sorted(PROPERTIES)), st.text())
def test_any_value_is_valid_or_quoted_in_the_problem(key: str, value: str) -> None:
    problem = properties.property_problem(key, value)
    assert problem is None or repr(value) in problem


@pytest.mark.parametrize(
    ("key", "suggestion"),
    [
        ("delta.enableTypeWidning", "delta.enableTypeWidening"),
        ("delta.apendOnly", "delta.appendOnly"),
        ("delta.columnMappingMode", "delta.columnMapping.mode"),
        ("DELTA.LOGRETENTION", "delta.logRetentionDuration"),
        ("enableTypeWidening", "delta.enableTypeWidening"),
        ("ENABLETYPEWIDENING", "delta.enableTypeWidening"),
        ("columnMapping.mode", "delta.columnMapping.mode"),
        ("delta.feature.typeWidning", "delta.feature.typeWidening"),
        ("delta.feature.zzz", None),
        ("delta.zzz", None),
        ("team", None),
        ("comment", None),
        ("enableTypeWidning", None),
    ],
)
def test_a_misspelt_key_has_a_suggestion(key: str, suggestion: str | None) -> None:
    assert properties.suggest_property(key) == suggestion


def test_every_feature_can_be_suggested_under_its_prefix() -> None:
    assert {properties.suggest_property(f"delta.feature.{name}") for name in FEATURES} == {
        f"delta.feature.{name}" for name in FEATURES
    }


# Measured with DeltaConfigs.parseCalendarInterval of Delta 4.4.0 and Spark 4.2.0.
@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("interval 7 days", 7 * DAY),
        ("INTERVAL 1 WEEK", 7 * DAY),
        ("168 hours", 7 * DAY),
        (" interval  1 day 2 hours\t3 minutes ", DAY + 2 * 3_600_000_000 + 180_000_000),
        ("1.5 seconds", 1_500_000),
        (".5 second", 500_000),
        ("-1.5 seconds", -1_500_000),
        ("1. second", 1_000_000),
        ("0.123456789 seconds", 123_456),
        ("- 5 weeks", -35 * DAY),
        ("+7 microseconds", 7),
        ("3 milliseconds", 3_000),
        ("1 month -1 month 3 days", 3 * DAY),
        ("1 year -12 months", 0),
    ],
)
def test_an_interval_is_parsed_to_microseconds(text: str, microseconds: int) -> None:
    assert parse_interval(text) == microseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "interval",
        "interval\t7 days",
        "interval7 days",
        "interval '7' day",
        "'7 days'",
        "7",
        "7days",
        "days",
        "7 dayss",
        "7 nanoseconds",
        "1.5 hours",
        "0.1234567891 seconds",
        ". seconds",
        "--1 day",
        "1e3 seconds",
        "\N{ARABIC-INDIC DIGIT SEVEN} days",
        "7 days,",
        "1 month",
        "1 year 3 days",
        "9223372036854775808 microseconds",
        "9" * 5000 + " days",
    ],
)
def test_an_invalid_interval_has_no_length(text: str) -> None:
    assert parse_interval(text) is None


@st.composite
def written_intervals(draw: st.DrawFn) -> tuple[str, int]:
    """The text of an interval, and its length in microseconds by plain arithmetic."""
    pairs = draw(
        st.lists(st.tuples(st.integers(-5000, 5000), st.sampled_from(sorted(UNITS))), min_size=1, max_size=5)
    )
    blanks = st.text(" \t\n", min_size=1, max_size=3)
    words = [draw(st.sampled_from(["", "interval ", "INTERVAL "]))]
    for number, unit in pairs:
        spelling = draw(st.sampled_from([unit, unit + "s", unit.upper(), unit.title() + "s"]))
        words += [str(number), draw(blanks), spelling, draw(blanks)]
    return "".join(words), sum(number * UNITS[unit] for number, unit in pairs)


@given(written_intervals())
def test_the_length_of_an_interval_is_the_sum_of_its_parts(interval: tuple[str, int]) -> None:
    text, microseconds = interval
    assert parse_interval(text) == microseconds


@given(written_intervals(), written_intervals())
def test_valid_retentions_of_equal_length_are_the_same(
    first: tuple[str, int], second: tuple[str, int]
) -> None:
    (a, length), (b, other) = first, second
    same = properties.same_value("delta.logRetentionDuration", a, b)
    assert same == (a == b or (length == other and length >= 0))


@given(written_intervals())
def test_a_retention_equals_its_length_in_microseconds(interval: tuple[str, int]) -> None:
    text, length = interval
    assert properties.same_value("delta.logRetentionDuration", text, f"{length} microseconds") == (
        length >= 0
    )


@given(written_intervals())
def test_a_retention_is_a_problem_only_if_it_is_negative(interval: tuple[str, int]) -> None:
    text, length = interval
    assert (properties.property_problem("delta.logRetentionDuration", text) is None) == (length >= 0)


@given(st.text("0123456789+-. \tintervaldyshourmeckw'", max_size=40))
def test_text_similar_to_an_interval_is_parsed_or_refused(text: str) -> None:
    length = parse_interval(text)
    assert length is None or parse_interval(f"{length} microseconds") == length
