"""The table of features, compared with Delta's registries."""

from __future__ import annotations

import pytest

from schemalint.delta import feature, properties
from schemalint.delta.feature import FEATURES, SchemaTrigger

# The registry of the released jars, read by reflection (TableFeature.allSupportedFeaturesMap of Delta Spark
# 4.4.0 and TableFeatures.TABLE_FEATURES of Delta Kernel 4.4.0).
SPARK_WRITER = [
    "allowColumnDefaults",
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "checkpointProtection",
    "clustering",
    "coordinatedCommits-preview",
    "domainMetadata",
    "generatedColumns",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "identityColumns",
    "inCommitTimestamp",
    "invariants",
    "materializePartitionColumns",
    "rowTracking",
]
SPARK_READER_WRITER = [
    "adaptiveMetadata-preview",
    "catalogManaged",
    "columnMapping",
    "deletionVectors",
    "geospatial",
    "geospatial-dev",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantShredding",
    "variantShredding-preview",
    "variantType",
    "variantType-preview",
]
SPARK_TESTS_ONLY = ["redirectReaderWriter-preview", "redirectWriterOnly-preview"]
# Named in proposals of Delta's repository (protocol_rfcs), and registered by no release.
PROPOSED = {
    "adaptiveMetadata": "iceberg-v4-metadata.md",
    "columnMappingUsageTracking": "column-mapping-usage-tracking.md",
    "timestampNanos": "nanosecond-timestamps.md",
}
KERNEL_ONLY = ["collations", "collations-preview", "icebergWriterCompatV1", "icebergWriterCompatV3"]

WRITER_4 = "appendOnly invariants checkConstraints changeDataFeed generatedColumns"
BUNDLES = [
    ((1, 1), ""),
    ((1, 2), "appendOnly invariants"),
    ((1, 3), "appendOnly invariants checkConstraints"),
    ((1, 4), WRITER_4),
    ((1, 5), WRITER_4),
    ((1, 6), f"{WRITER_4} identityColumns"),
    ((2, 2), "appendOnly invariants"),
    ((2, 3), "appendOnly invariants checkConstraints"),
    ((2, 4), WRITER_4),
    ((2, 5), f"{WRITER_4} columnMapping"),
    ((2, 6), f"{WRITER_4} columnMapping identityColumns"),
    ((1, 7), ""),
    ((2, 7), ""),
    ((3, 7), ""),
    ((3, 6), ""),
]

# The property or schema trigger of every feature that Delta adds automatically (measured on Delta 4.4.0).
SWITCHED_ON_BY_PROPERTY = {
    "appendOnly": ("delta.appendOnly", {"true"}),
    "changeDataFeed": ("delta.enableChangeDataFeed", {"true"}),
    "columnMapping": ("delta.columnMapping.mode", {"name", "id"}),
    "deletionVectors": ("delta.enableDeletionVectors", {"true"}),
    "rowTracking": ("delta.enableRowTracking", {"true"}),
    "v2Checkpoint": ("delta.checkpointPolicy", {"v2"}),
    "inCommitTimestamp": ("delta.enableInCommitTimestamps", {"true"}),
    "icebergCompatV1": ("delta.enableIcebergCompatV1", {"true"}),
    "icebergCompatV2": ("delta.enableIcebergCompatV2", {"true"}),
    "icebergCompatV3": ("delta.enableIcebergCompatV3", {"true"}),
    "typeWidening": ("delta.enableTypeWidening", {"true"}),
    "variantShredding-preview": ("delta.enableVariantShredding", {"true"}),
    "coordinatedCommits-preview": ("delta.coordinatedCommits.commitCoordinator-preview", set[str]()),
    "materializePartitionColumns": ("delta.enableMaterializePartitionColumnsFeature", {"true"}),
}
SWITCHED_ON_BY_SCHEMA = {
    "invariants": SchemaTrigger.NOT_NULL,
    "checkConstraints": SchemaTrigger.CONSTRAINT,
    "generatedColumns": SchemaTrigger.GENERATED,
    "identityColumns": SchemaTrigger.IDENTITY,
    "timestampNtz": SchemaTrigger.TIMESTAMP_NTZ,
    "variantType": SchemaTrigger.VARIANT,
    "geospatial": SchemaTrigger.GEOSPATIAL,
}
REQUIRED = {
    "rowTracking": "domainMetadata",
    "clustering": "domainMetadata",
    "icebergCompatV1": "columnMapping",
    "icebergCompatV2": "columnMapping",
    "icebergCompatV3": "columnMapping rowTracking",
    "variantShredding": "variantType",
    "catalogManaged": "inCommitTimestamp vacuumProtocolCheck",
    "coordinatedCommits-preview": "inCommitTimestamp vacuumProtocolCheck",
    "adaptiveMetadata-preview": "catalogManaged columnMapping deletionVectors domainMetadata rowTracking",
    "icebergWriterCompatV1": "icebergCompatV2",
    "icebergWriterCompatV3": "icebergCompatV3",
}
DROPPED_WITHOUT_HISTORY = [
    "checkConstraints",
    "rowTracking",
    "domainMetadata",
    "inCommitTimestamp",
    "checkpointProtection",
    "coordinatedCommits-preview",
    "materializePartitionColumns",
]
DROPPED_WITH_HISTORY = [
    "columnMapping",
    "deletionVectors",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "typeWidening",
    "typeWidening-preview",
    "geospatial",
    "geospatial-dev",
]


def test_every_feature_of_delta_spark_and_kernel_has_a_row() -> None:
    registered = {*SPARK_WRITER, *SPARK_READER_WRITER, *SPARK_TESTS_ONLY, *KERNEL_ONLY}
    assert set(FEATURES) == {*registered, *PROPOSED}


def test_in_spark_marks_the_features_that_delta_spark_registers() -> None:
    in_spark = {row.name for row in FEATURES.values() if row.in_spark}
    assert in_spark == {*SPARK_WRITER, *SPARK_READER_WRITER}


def test_reader_features_match_those_of_delta() -> None:
    readers = {row.name for row in FEATURES.values() if row.reader and row.name not in PROPOSED}
    assert readers == {*SPARK_READER_WRITER, "redirectReaderWriter-preview"}


def test_rows_are_keyed_by_name_and_immutable() -> None:
    assert all(name == row.name for name, row in FEATURES.items())
    with pytest.raises(AttributeError):
        FEATURES["appendOnly"].name = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        FEATURES["x"] = FEATURES["appendOnly"]  # type: ignore[index]


@pytest.mark.parametrize(("versions", "names"), BUNDLES)
def test_a_legacy_protocol_version_implies_its_features(versions: tuple[int, int], names: str) -> None:
    assert feature.implied_by(*versions) == frozenset(names.split())


def test_legacy_features_have_the_versions_that_delta_gives_them() -> None:
    assert {row.name: row.legacy for row in FEATURES.values() if row.legacy} == {
        "appendOnly": (1, 2),
        "invariants": (1, 2),
        "checkConstraints": (1, 3),
        "changeDataFeed": (1, 4),
        "generatedColumns": (1, 4),
        "columnMapping": (2, 5),
        "identityColumns": (1, 6),
    }


def test_features_have_the_properties_that_enable_them() -> None:
    rows = {
        row.name: (row.enabled_by_property[0], set(row.enabled_by_property[1]))
        for row in FEATURES.values()
        if row.enabled_by_property
    }
    assert rows == SWITCHED_ON_BY_PROPERTY


def test_properties_that_enable_features_are_known_and_accept_these_values() -> None:
    for row in FEATURES.values():
        if row.enabled_by_property:
            key, values = row.enabled_by_property
            assert properties.canonical(key) == key
            assert key in properties.PROPERTIES
            assert [properties.property_problem(key, value) for value in values] == [None] * len(values)


def test_features_have_the_schema_triggers_that_enable_them() -> None:
    rows = {row.name: row.enabled_by_schema for row in FEATURES.values() if row.enabled_by_schema}
    assert rows == SWITCHED_ON_BY_SCHEMA


def test_all_triggered_features_but_timestamp_ntz_are_added_to_existing_tables() -> None:
    automatic = {row.name for row in FEATURES.values() if row.automatic}
    assert automatic == {*SWITCHED_ON_BY_PROPERTY, *SWITCHED_ON_BY_SCHEMA} - {"timestampNtz"}


def test_requirements_are_those_of_delta() -> None:
    rows = {row.name: row.requires for row in FEATURES.values() if row.requires}
    required = {name: frozenset(names.split()) for name, names in REQUIRED.items()}
    assert rows == required | {
        "columnMappingUsageTracking": frozenset({"columnMapping"}),
        "timestampNanos": frozenset({"timestampNtz"}),
    }


def test_removable_features_are_those_that_delta_can_drop() -> None:
    removable = {row.name for row in FEATURES.values() if row.removable}
    assert removable == {*DROPPED_WITHOUT_HISTORY, *DROPPED_WITH_HISTORY}
    assert {row.name for row in FEATURES.values() if row.drop_needs_history} == set(DROPPED_WITH_HISTORY)


def test_some_features_are_not_added_if_the_preview_or_stable_one_is_supported() -> None:
    assert {row.name: row.unless for row in FEATURES.values() if row.unless} == {
        "typeWidening": "typeWidening-preview",
        "variantType": "variantType-preview",
        "variantShredding-preview": "variantShredding",
    }


def test_preview_features_have_a_preview_or_dev_suffix() -> None:
    previews = {row.name for row in FEATURES.values() if row.preview}
    assert previews == {name for name in FEATURES if name.endswith(("-preview", "-dev"))}


def test_some_features_cannot_be_set_by_property() -> None:
    unsettable = {row.name for row in FEATURES.values() if not row.settable}
    assert unsettable == {
        "clustering",
        "catalogManaged",
        "adaptiveMetadata-preview",
        *SPARK_TESTS_ONLY,
        *KERNEL_ONLY,
        *PROPOSED,
    }


def test_every_row_names_its_source() -> None:
    sources = {row.name: row.source for row in FEATURES.values()}
    assert {name for name, source in sources.items() if source == "TableFeatures.java"} == set(KERNEL_ONLY)
    assert set(sources.values()) == {"TableFeature.scala", "TableFeatures.java", *PROPOSED.values()}
    assert {name: sources[name] for name in PROPOSED} == PROPOSED


@pytest.mark.parametrize("name", ["typeWidening", "TYPEWIDENING", "typewidening"])
def test_a_feature_is_found_in_any_case(name: str) -> None:
    assert feature.find_feature(name) is FEATURES["typeWidening"]


def test_an_unknown_feature_is_not_found() -> None:
    assert feature.find_feature("fooBar") is None


@pytest.mark.parametrize(
    ("names", "closed"),
    [
        ("", ""),
        ("appendOnly", "appendOnly"),
        ("rowTracking", "rowTracking domainMetadata"),
        ("icebergCompatV3", "icebergCompatV3 columnMapping rowTracking domainMetadata"),
        (
            "icebergWriterCompatV3",
            "icebergWriterCompatV3 icebergCompatV3 columnMapping rowTracking domainMetadata",
        ),
        ("catalogManaged", "catalogManaged inCommitTimestamp vacuumProtocolCheck"),
        ("clustering rowTracking", "clustering rowTracking domainMetadata"),
        ("fooBar variantShredding", "fooBar variantShredding variantType"),
    ],
)
def test_the_closure_contains_all_required_features(names: str, closed: str) -> None:
    assert feature.closure(names.split()) == frozenset(closed.split())


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_a_closure_is_complete_and_contains_only_known_features(name: str) -> None:
    closed = feature.closure([name])
    assert name in closed
    assert closed <= set(FEATURES)
    assert feature.closure(closed) == closed


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("typeWidning", "typeWidening"),
        ("deletionVector", "deletionVectors"),
        ("TIMESTAMPNTZ", "timestampNtz"),
        ("changeDataFeeds", "changeDataFeed"),
        ("nothing like it", None),
    ],
)
def test_a_misspelt_feature_has_a_suggestion(name: str, suggestion: str | None) -> None:
    assert feature.suggest_feature(name) == suggestion
