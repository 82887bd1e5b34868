"""Engines by name and version, and the one place that answers what they do."""

from __future__ import annotations

import pytest

from schemalint.delta.engine import DELTA_LINES, Engine, parse_engine, release_of
from schemalint.delta.engine_answers import (
    Evidence,
    activated_by,
    changes_type,
    drops_feature,
    error_of,
    knows_feature,
    knows_older_property,
    knows_property,
    makes_column,
)
from schemalint.delta.engine_rows import DROP_SPANS, FEATURE_SPANS, PROPERTY_SPANS, Span
from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import PROPERTIES, UNIVERSAL_FORMAT_PREFIX
from schemalint.delta.type_text import parse_type

INT, LONG, SHORT, VOID = (parse_type(name) for name in ("int", "bigint", "smallint", "void"))


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("delta-spark 2.4.0", (2, 4)),
        ("delta-spark 3.3.2", (3, 3, 2)),
        ("delta-spark 3.3", (3, 3)),
        ("delta-spark 9.1.0", (9, 1)),
        ("fabric 1.3", (3, 2, 1)),
        ("fabric 2.0", (3, 2, 1)),
        ("databricks 16.4", None),
    ],
)
def test_an_engine_has_the_release_of_delta_that_it_is_made_from(
    text: str, delta: tuple[int, ...] | None
) -> None:
    assert parse_engine(text).delta == delta
    assert str(parse_engine(text)) == text


@pytest.mark.parametrize(
    ("text", "judged_as"),
    [
        ("delta-spark 4.4.1", None),
        ("delta-spark 4.5.0", "4.4.0"),
        ("databricks 17.3", None),
        ("databricks 19.1", "18.2"),
        ("fabric 1.3", None),
        ("fabric 2.0", "1.3"),
    ],
)
def test_a_newer_version_than_the_newest_is_judged_as_the_newest(text: str, judged_as: str | None) -> None:
    assert parse_engine(text).judged_as == judged_as


def test_versions_are_compared_as_numbers() -> None:
    assert release_of("4.10") > release_of("4.9.3") > release_of("4.9") == release_of("4.9.0")


@pytest.mark.parametrize(
    ("engine", "does", "evidence"),
    [
        ("delta-spark 2.4.0", False, Evidence.DOCUMENTED),
        ("delta-spark 3.3.2", False, Evidence.MEASURED),
        ("delta-spark 3.3.3", False, Evidence.DOCUMENTED),
        ("delta-spark 4.0.1", True, Evidence.MEASURED),
        ("delta-spark 4.5.0", True, Evidence.DOCUMENTED),
        ("fabric 1.3", False, Evidence.DOCUMENTED),
        ("databricks 14.3", False, Evidence.DOCUMENTED),
        ("databricks 15.4", True, Evidence.DOCUMENTED),
    ],
)
def test_widening_an_int_to_a_long(engine: str, does: bool, evidence: Evidence) -> None:  # noqa: FBT001
    answer = changes_type(parse_engine(engine), INT, LONG)
    assert (answer.does, answer.evidence) == (does, evidence)
    assert bool(answer.since) == (not does)


def test_what_lies_between_two_asked_releases_is_unknown() -> None:
    answers = [changes_type(Engine("delta-spark", version), VOID, INT).does for version in ("4.0.1", "4.1.0")]
    assert answers == [False, None]


def test_without_an_engine_the_newest_delta_answers() -> None:
    assert changes_type(None, INT, LONG).does
    assert knows_property(None, "delta.parquet.format.version").does
    assert drops_feature(None, "deletionVectors").does
    assert makes_column(None, "identity").does
    assert knows_feature(None, "collations").does is False
    assert not knows_older_property(None, "delta.enableRowIds")
    assert error_of(None, "DELTA_METADATA_MISMATCH") == "DELTA_METADATA_MISMATCH"


def test_nobody_knows_what_databricks_does_without_a_page() -> None:
    engine = parse_engine("databricks 16.4")
    assert knows_feature(engine, "collations").does is None
    assert knows_property(engine, "delta.parquet.format.version").does is None


def test_type_widening_is_a_preview_before_delta_4() -> None:
    active = frozenset({"typeWidening", "appendOnly"})
    old, new = parse_engine("delta-spark 3.3.2"), parse_engine("delta-spark 4.0.1")
    assert activated_by(old, active) == {"typeWidening-preview", "appendOnly"}
    assert activated_by(new, active) == active


def test_an_error_class_has_the_name_of_its_release() -> None:
    name = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"
    assert error_of(parse_engine("delta-spark 3.1.0"), name) is None
    assert error_of(parse_engine("delta-spark 3.2.0"), name) == name


def test_rows_are_about_things_that_exist_and_spans_are_ordered() -> None:
    assert {name for name, row in FEATURES.items() if row.in_spark} <= FEATURE_SPANS.keys()
    assert {name for name, row in FEATURES.items() if row.removable} == DROP_SPANS.keys()
    assert PROPERTY_SPANS.keys() <= PROPERTIES.keys() | {UNIVERSAL_FORMAT_PREFIX}
    spans: list[Span] = [*FEATURE_SPANS.values(), *DROP_SPANS.values(), *PROPERTY_SPANS.values()]
    for span in spans:
        versions = [version for version in (span.not_before, span.since, span.until) if version]
        assert versions == sorted(versions, key=release_of)
        assert all(".".join(version.split(".")[:2]) in DELTA_LINES for version in versions)
