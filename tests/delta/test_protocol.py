"""The protocol that Delta gives a table, by its contents and by requests (measured on Delta 4.4.0)."""

from __future__ import annotations

import pytest

from schemalint.delta.datatype import (
    INTEGER,
    TIMESTAMP_NTZ,
    VARIANT,
    Array,
    Atomic,
    DataType,
    Field,
    Identity,
    Map,
    Struct,
)
from schemalint.delta.feature import FEATURES, implied_by
from schemalint.delta.protocol import (
    DEFAULT_FEATURES,
    Protocol,
    activated,
    feature_causes,
    features_of_new_table,
    features_of_versions,
    minimum_versions,
    needed_features,
    needed_to_alter,
    requested_versions,
)

Properties = dict[str, str | None]
PLAIN = Field("a", INTEGER)
WIDENING: Properties = {"delta.enableTypeWidening": "true"}
MAPPING: Properties = {"delta.columnMapping.mode": "name"}

NORMAL_FORMS = [
    ((1, 1), (1, 1)),
    ((1, 2), (1, 2)),
    ((1, 3), (1, 3)),
    ((1, 4), (1, 4)),
    ((1, 5), (1, 4)),
    ((1, 6), (1, 6)),
    ((2, 2), (1, 2)),
    ((2, 3), (1, 3)),
    ((2, 4), (1, 4)),
    ((2, 5), (2, 5)),
    ((2, 6), (2, 6)),
]

# Properties, requested features, columns -> versions, and features besides appendOnly and invariants.
NEW_TABLES = [
    ({}, (), [PLAIN], (1, 2), ""),
    ({}, (), [Field("a", INTEGER, nullable=False)], (1, 2), ""),
    ({}, (), [Field("t", TIMESTAMP_NTZ)], (3, 7), "timestampNtz"),
    ({}, (), [Field("v", VARIANT)], (3, 7), "variantType"),
    ({}, (), [Field("g", INTEGER, generated="a + 1")], (1, 7), "generatedColumns"),
    ({}, (), [Field("i", INTEGER, identity=Identity())], (1, 7), "identityColumns"),
    (MAPPING, (), [PLAIN], (2, 7), "columnMapping"),
    ({"delta.columnMapping.mode": "none"}, (), [PLAIN], (1, 2), ""),
    (WIDENING, (), [PLAIN], (3, 7), "typeWidening"),
    ({"delta.enableTypeWidening": "TRUE"}, (), [PLAIN], (3, 7), "typeWidening"),
    ({"delta.enableTypeWidening": "false"}, (), [PLAIN], (1, 2), ""),
    ({"delta.enableChangeDataFeed": "true"}, (), [PLAIN], (1, 7), "changeDataFeed"),
    ({"delta.enableChangeDataCapture": "true"}, (), [PLAIN], (1, 7), "changeDataFeed"),
    ({"delta.enableRowTracking": "true"}, (), [PLAIN], (1, 7), "rowTracking domainMetadata"),
    ({"delta.enableInCommitTimestamps": "true"}, (), [PLAIN], (1, 7), "inCommitTimestamp"),
    ({"delta.enableDeletionVectors": "true"}, (), [PLAIN], (3, 7), "deletionVectors"),
    ({"delta.checkpointPolicy": "v2"}, (), [PLAIN], (3, 7), "v2Checkpoint"),
    ({"delta.enableIcebergCompatV2": "true"}, (), [PLAIN], (2, 7), "icebergCompatV2 columnMapping"),
    ({}, ("TYPEWIDENING",), [PLAIN], (3, 7), "typeWidening"),
    (WIDENING, ("typeWidening-preview",), [PLAIN], (3, 7), "typeWidening-preview"),
    (
        WIDENING,
        ("allowColumnDefaults",),
        [Field("g", INTEGER, generated="a")],
        (3, 7),
        "generatedColumns typeWidening allowColumnDefaults",
    ),
]

# Versions before, properties, requested features, a new column -> versions after, and added features.
ALTERED = [
    ((1, 2), WIDENING, (), PLAIN, (3, 7), "typeWidening"),
    ((1, 3), {}, ("typeWidening",), PLAIN, (3, 7), "typeWidening"),
    ((1, 1), WIDENING, (), PLAIN, (3, 7), "typeWidening"),
    ((1, 2), {"delta.enableChangeDataFeed": "true"}, (), PLAIN, (1, 7), "changeDataFeed"),
    ((1, 4), {"delta.enableChangeDataFeed": "true"}, (), PLAIN, (1, 4), ""),
    ((1, 4), MAPPING, (), PLAIN, (2, 5), "columnMapping"),
    ((1, 2), MAPPING, (), PLAIN, (2, 7), "columnMapping"),
    ((1, 2), {}, (), Field("v", VARIANT), (3, 7), "variantType"),
    ((1, 2), {}, (), Field("t", TIMESTAMP_NTZ), (1, 2), ""),
    ((1, 2), {}, ("timestampNtz",), Field("t", TIMESTAMP_NTZ), (3, 7), "timestampNtz"),
    ((1, 2), {"delta.enableRowTracking": "true"}, (), PLAIN, (1, 7), "rowTracking domainMetadata"),
]


@pytest.mark.parametrize(("versions", "normal"), NORMAL_FORMS)
def test_a_legacy_protocol_has_the_minimum_versions_of_its_features(
    versions: tuple[int, int], normal: tuple[int, int]
) -> None:
    features = Protocol(*versions).features
    assert minimum_versions(features) == normal
    assert Protocol(*normal).features == features


@pytest.mark.parametrize(("versions", "normal"), NORMAL_FORMS)
def test_listed_features_equal_to_a_legacy_version_have_that_minimum_version(
    versions: tuple[int, int], normal: tuple[int, int]
) -> None:
    listed = Protocol(3, 7, frozenset(), implied_by(*versions))
    assert listed.features == Protocol(*versions).features
    assert minimum_versions(listed.features) == normal


def test_a_protocol_with_table_features_implies_no_others() -> None:
    assert Protocol(3, 7, frozenset(), frozenset({"rowTracking"})).features == {"rowTracking"}
    assert minimum_versions({"rowTracking"}) == (1, 7)
    assert minimum_versions({"columnMapping", "appendOnly"}) == (2, 7)
    assert minimum_versions({"columnMapping", "deletionVectors"}) == (3, 7)
    assert minimum_versions({"appendOnly"}) == (1, 7)
    assert minimum_versions({"someday"}) == (1, 7)
    assert minimum_versions(()) == (1, 1)


@pytest.mark.parametrize(("properties", "requested", "columns", "versions", "features"), NEW_TABLES)
def test_a_new_table_gets_the_features_that_it_needs(
    properties: Properties,
    requested: tuple[str, ...],
    columns: list[Field],
    versions: tuple[int, int],
    features: str,
) -> None:
    result = features_of_new_table(activated(Struct(tuple(columns)), properties), requested)
    assert result == DEFAULT_FEATURES | set(features.split())
    assert minimum_versions(result) == versions


def test_a_new_table_with_a_check_constraint_gets_writer_version_3() -> None:
    result = features_of_new_table(activated(Struct((PLAIN,)), {}, ["positive"]))
    assert minimum_versions(result) == (1, 3)


@pytest.mark.parametrize(("before", "properties", "requested", "column", "versions", "features"), ALTERED)
def test_an_altered_table_gets_the_features_that_it_needs(
    before: tuple[int, int],
    properties: Properties,
    requested: tuple[str, ...],
    column: Field,
    versions: tuple[int, int],
    features: str,
) -> None:
    """An upgrade adds only needed features; timestampNtz must be requested."""
    current = Protocol(*before).features
    result = needed_to_alter(current, activated(Struct((column,)), properties), requested)
    assert result == current | set(features.split())
    assert minimum_versions(result) == versions


def test_a_supported_preview_replaces_the_stable_feature() -> None:
    current = frozenset({"typeWidening-preview"})
    assert needed_to_alter(current, activated(Struct(), WIDENING)) == current
    assert needed_features(current, frozenset(), ["typeWidening"]) == {"typeWidening", "typeWidening-preview"}


@pytest.mark.parametrize(
    "type_",
    [
        TIMESTAMP_NTZ,
        Array(TIMESTAMP_NTZ),
        Map(INTEGER, TIMESTAMP_NTZ),
        Map(TIMESTAMP_NTZ, INTEGER),
        Array(Struct((Field("x", TIMESTAMP_NTZ),))),
    ],
)
def test_a_type_at_any_depth_activates_its_feature(type_: DataType) -> None:
    assert activated(Struct((Field("a", type_),)), {}) == {"timestampNtz"}


def test_a_not_null_field_of_a_struct_activates_invariants() -> None:
    inner = Struct((Field("x", INTEGER, nullable=False),))
    assert activated(Struct((Field("s", inner),)), {}) == {"invariants"}


def test_geometry_activates_geospatial() -> None:
    assert activated(Struct((Field("g", Atomic("geometry(4326)")),)), {}) == {"geospatial"}


def test_the_causes_of_features_are_listed() -> None:
    columns = Struct((PLAIN, Field("t", TIMESTAMP_NTZ)))
    properties: Properties = {**WIDENING, "team": "sales", "delta.appendOnly": None}
    assert feature_causes(columns, properties, ["deletionvectors"]) == (
        ("property", "delta.enableTypeWidening", frozenset({"typeWidening"})),
        ("feature", "deletionvectors", frozenset({"deletionVectors"})),
        ("column", "t", frozenset({"timestampNtz"})),
    )


def test_timestamp_ntz_is_the_only_feature_added_only_to_new_tables() -> None:
    triggered = [row for row in FEATURES.values() if row.enabled_by_schema or row.enabled_by_property]
    assert [row.name for row in triggered if not row.automatic] == ["timestampNtz"]


@pytest.mark.parametrize(
    ("declared", "supported", "versions"),
    [
        ({}, DEFAULT_FEATURES, None),
        ({"delta.ignoreProtocolDefaults": "true"}, DEFAULT_FEATURES, None),
        ({"delta.minWriterVersion": "5"}, DEFAULT_FEATURES, (1, 5)),
        ({"delta.minWriterVersion": "5"}, DEFAULT_FEATURES | {"columnMapping"}, (2, 5)),
        ({"delta.minReaderVersion": "2"}, implied_by(1, 6), (2, 6)),
        ({"delta.minReaderVersion": "2", "delta.minWriterVersion": "5"}, frozenset(), (2, 5)),
        ({"delta.minReaderVersion": "9", "delta.minWriterVersion": "5"}, DEFAULT_FEATURES, None),
    ],
)
def test_a_version_that_is_not_declared_comes_from_the_table(
    declared: dict[str, str], supported: frozenset[str], versions: tuple[int, int] | None
) -> None:
    assert requested_versions(declared, supported) == versions
    assert features_of_versions(declared, supported) == (implied_by(*versions) if versions else frozenset())


def test_declared_versions_of_a_new_table_imply_exactly_their_features() -> None:
    assert features_of_new_table(frozenset(), (), {"delta.minWriterVersion": "1"}) == frozenset()
    assert features_of_new_table(frozenset(), (), {"delta.minWriterVersion": "x"}) == DEFAULT_FEATURES
