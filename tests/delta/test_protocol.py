"""Measured on Delta 4.4.0: what protocol a table gets, by what it has and what is asked of it."""

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
    asked_versions,
    causes,
    features_of_versions,
    minimum_versions,
    needed,
    needed_to_alter,
    of_new_table,
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

# Properties and features asked for, columns -> versions, and the features beside appendOnly and invariants.
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

# Versions before, properties, features asked for, a new column -> versions after and features that come.
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
def test_a_legacy_protocol_is_its_features(versions: tuple[int, int], normal: tuple[int, int]) -> None:
    features = Protocol(*versions).features
    assert minimum_versions(features) == normal
    assert Protocol(*normal).features == features


@pytest.mark.parametrize(("versions", "normal"), NORMAL_FORMS)
def test_listed_features_that_are_a_whole_bundle_are_written_as_versions(
    versions: tuple[int, int], normal: tuple[int, int]
) -> None:
    listed = Protocol(3, 7, frozenset(), implied_by(*versions))
    assert listed.features == Protocol(*versions).features
    assert minimum_versions(listed.features) == normal


def test_with_table_features_nothing_is_implied() -> None:
    assert Protocol(3, 7, frozenset(), frozenset({"rowTracking"})).features == {"rowTracking"}
    assert minimum_versions({"rowTracking"}) == (1, 7)
    assert minimum_versions({"columnMapping", "appendOnly"}) == (2, 7)
    assert minimum_versions({"columnMapping", "deletionVectors"}) == (3, 7)
    assert minimum_versions({"appendOnly"}) == (1, 7)
    assert minimum_versions({"someday"}) == (1, 7)
    assert minimum_versions(()) == (1, 1)


@pytest.mark.parametrize(("properties", "asked", "columns", "versions", "features"), NEW_TABLES)
def test_a_new_table(
    properties: Properties,
    asked: tuple[str, ...],
    columns: list[Field],
    versions: tuple[int, int],
    features: str,
) -> None:
    found = of_new_table(activated(Struct(tuple(columns)), properties), asked)
    assert found == DEFAULT_FEATURES | set(features.split())
    assert minimum_versions(found) == versions


def test_a_check_constraint_of_a_new_table() -> None:
    found = of_new_table(activated(Struct((PLAIN,)), {}, ["positive"]))
    assert minimum_versions(found) == (1, 3)


@pytest.mark.parametrize(("before", "properties", "asked", "column", "versions", "features"), ALTERED)
def test_an_existing_table(
    before: tuple[int, int],
    properties: Properties,
    asked: tuple[str, ...],
    column: Field,
    versions: tuple[int, int],
    features: str,
) -> None:
    """An upgrade adds what is needed and no more; timestampNtz comes only when asked for."""
    current = Protocol(*before).features
    found = needed_to_alter(current, activated(Struct((column,)), properties), asked)
    assert found == current | set(features.split())
    assert minimum_versions(found) == versions


def test_a_preview_that_the_table_has_stands_in_for_the_feature() -> None:
    current = frozenset({"typeWidening-preview"})
    assert needed_to_alter(current, activated(Struct(), WIDENING)) == current
    assert needed(current, frozenset(), ["typeWidening"]) == {"typeWidening", "typeWidening-preview"}


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
def test_a_type_counts_at_any_depth(type_: DataType) -> None:
    assert activated(Struct((Field("a", type_),)), {}) == {"timestampNtz"}


def test_a_not_null_field_of_a_struct_counts() -> None:
    inner = Struct((Field("x", INTEGER, nullable=False),))
    assert activated(Struct((Field("s", inner),)), {}) == {"invariants"}


def test_geometry_needs_its_feature() -> None:
    assert activated(Struct((Field("g", Atomic("geometry(4326)")),)), {}) == {"geospatial"}


def test_the_causes_are_named() -> None:
    columns = Struct((PLAIN, Field("t", TIMESTAMP_NTZ)))
    properties: Properties = {**WIDENING, "team": "sales", "delta.appendOnly": None}
    assert causes(columns, properties, ["deletionvectors"]) == (
        ("property", "delta.enableTypeWidening", frozenset({"typeWidening"})),
        ("feature", "deletionvectors", frozenset({"deletionVectors"})),
        ("column", "t", frozenset({"timestampNtz"})),
    )


def test_timestamp_ntz_is_the_only_feature_that_comes_to_new_tables_alone() -> None:
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
def test_the_version_that_is_not_declared_is_the_tables_own(
    declared: dict[str, str], supported: frozenset[str], versions: tuple[int, int] | None
) -> None:
    assert asked_versions(declared, supported) == versions
    assert features_of_versions(declared, supported) == (implied_by(*versions) if versions else frozenset())


def test_a_new_table_has_what_its_versions_imply_and_no_more() -> None:
    assert of_new_table(frozenset(), (), {"delta.minWriterVersion": "1"}) == frozenset()
    assert of_new_table(frozenset(), (), {"delta.minWriterVersion": "x"}) == DEFAULT_FEATURES
