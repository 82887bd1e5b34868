"""How Delta classifies requested properties and features."""

from __future__ import annotations

import pytest

from schemalint.delta.column_names import invalid_characters
from schemalint.delta.properties import PROPERTIES
from schemalint.delta.requests import (
    FeatureRequest,
    FeatureVerdict,
    PropertyVerdict,
    feature_requests,
    judge_feature,
    judge_property,
    lacks_writer_version,
    value_refusal,
)
from schemalint.delta.table import TableState

ENTRY = ("property", "entry")


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("delta.appendOnly", "TRUE", PropertyVerdict.VALID),
        ("team", "sales", PropertyVerdict.VALID),
        ("delta.universalformat.config.x", "y", PropertyVerdict.VALID),
        ("delta.feature.bogus", "on", PropertyVerdict.FEATURE),
        ("DELTA.FEATURE.x", "on", PropertyVerdict.FEATURE),
        ("delta.constraints.c", "", PropertyVerdict.CONSTRAINT),
        ("delta.minReaderVersion", "3", PropertyVerdict.VERSION),
        ("delta.minReaderVersion", "4", PropertyVerdict.INVALID_VERSION),
        ("delta.ignoreProtocolDefaults", "x", PropertyVerdict.INVALID_VERSION),
        ("delta.columnMapping.maxColumnId", "x", PropertyVerdict.INTERNAL),
        ("delta.columnMapping.id", "1", PropertyVerdict.INTERNAL),
        ("delta.requireCheckpointProtectionBeforeVersion", "1", PropertyVerdict.INTERNAL),
        ("delta.requireCheckpointProtectionBeforeVersion", "-1", PropertyVerdict.INVALID),
        ("delta.unknown", "1", PropertyVerdict.UNKNOWN),
        ("delta.", "1", PropertyVerdict.UNKNOWN),
        ("enableTypeWidening", "true", PropertyVerdict.NO_PREFIX),
        ("delta.appendOnly", "yes", PropertyVerdict.INVALID),
    ],
)
def test_a_requested_property_gets_its_verdict(key: str, value: str, verdict: PropertyVerdict) -> None:
    assert judge_property(key, value) == verdict


@pytest.mark.parametrize("key", PROPERTIES)
def test_every_property_of_delta_is_known(key: str) -> None:
    assert judge_property(key, "x") not in (PropertyVerdict.UNKNOWN, PropertyVerdict.NO_PREFIX)


@pytest.mark.parametrize(
    ("name", "status", "new_table", "verdict"),
    [
        ("typeWidening", "supported", False, FeatureVerdict.VALID),
        ("TYPEWIDENING", "supported", False, FeatureVerdict.VALID),
        ("typeWidening", "enabled", False, FeatureVerdict.DEPRECATED_STATUS),
        ("typeWidening", "true", False, FeatureVerdict.INVALID_STATUS),
        ("bogus", "true", False, FeatureVerdict.INVALID_STATUS),
        ("bogus", "enabled", False, FeatureVerdict.UNKNOWN),
        ("collations", "supported", False, FeatureVerdict.UNKNOWN),
        ("clustering", "supported", True, FeatureVerdict.NOT_SETTABLE),
        ("adaptiveMetadata-preview", "supported", False, FeatureVerdict.NOT_SETTABLE),
        ("adaptiveMetadata-preview", "supported", True, FeatureVerdict.PREVIEW),
        ("geospatial-dev", "enabled", False, FeatureVerdict.PREVIEW),
    ],
)
def test_a_requested_feature_gets_its_verdict(
    name: str, status: str, *, new_table: bool, verdict: FeatureVerdict
) -> None:
    assert judge_feature(FeatureRequest(*ENTRY, name, status), None, new_table=new_table) == verdict


def test_features_are_requested_by_list_or_by_property() -> None:
    state = TableState(
        features=frozenset({"typeWidening"}),
        properties={"delta.feature.rowTracking": "SUPPORTED", "delta.feature.x": None, "team": "sales"},
    )
    assert list(feature_requests(state)) == [
        FeatureRequest("feature", "typeWidening", "typeWidening"),
        FeatureRequest("property", "delta.feature.rowTracking", "rowTracking", "supported"),
    ]


@pytest.mark.parametrize(
    ("value", "refusal"),
    [
        ("", "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"),
        ("x", "DELTA_INVALID_INTERVAL"),
        ("20", "DELTA_INVALID_INTERVAL"),
        ("1 monthly", "DELTA_INVALID_INTERVAL"),
        ("1 month", "UNSUPPORTED_TABLE_CHANGE"),
        ("interval 2 YEARS 1 day", "UNSUPPORTED_TABLE_CHANGE"),
        ("-1 day", "UNSUPPORTED_TABLE_CHANGE"),
    ],
)
def test_an_invalid_interval_has_the_error_class_of_delta(value: str, refusal: str) -> None:
    assert value_refusal("delta.logRetentionDuration", value) == refusal


@pytest.mark.parametrize(
    ("declared", "supported", "lacks"),
    [
        ({"delta.minReaderVersion": "3"}, frozenset({"appendOnly", "invariants"}), True),
        ({"delta.minReaderVersion": "3"}, frozenset({"deletionVectors"}), False),
        ({"delta.minWriterVersion": "6"}, frozenset({"deletionVectors"}), True),
        ({"delta.minWriterVersion": "6"}, frozenset({"rowTracking"}), False),
        ({"delta.minReaderVersion": "3", "delta.minWriterVersion": "7"}, frozenset(), False),
        ({}, frozenset({"deletionVectors"}), False),
    ],
)
def test_a_declared_version_can_lack_the_writer_version_of_the_features(
    declared: dict[str, str], supported: frozenset[str], *, lacks: bool
) -> None:
    assert lacks_writer_version(declared, supported) == lacks


def test_invalid_characters_are_listed_once_in_order() -> None:
    assert invalid_characters("a b,c d") == " ,"
    assert invalid_characters("a.b-c'd\rä") == ""
