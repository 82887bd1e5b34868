"""Spark drops exactly the features that have no obstacle, with the commits of the table of features."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from schemalint.delta.feature import FEATURES, TableFeature
from schemalint.delta.feature_drop import DropRequests, drop_obstacles, rewrites_files
from schemalint.delta.table import LiveTable, TableState
from schemalint.model.contract import Contract
from schemalint.planner import plan_table
from support.effective import counting
from support.logs import read_live
from support.sampling import left_to, some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PROPERTY = {row.name: f"'delta.feature.{row.name}' = 'supported'" for row in FEATURES.values()}
SETTABLE = [row for row in FEATURES.values() if row.in_spark and row.settable]
SAMPLE = 1
ERROR_CLASS = re.compile(r"\[(DELTA_\w+)\]")

NOT_DROPPED = {
    "a constraint stays": ("a INT", "", ["ADD CONSTRAINT c CHECK (a > 0)"], "checkConstraints"),
    "a clustering stays": ("a INT", "CLUSTER BY (a)", [], "domainMetadata"),
    "row tracking stays": (
        "a INT",
        "TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        [],
        "domainMetadata",
    ),
    "Iceberg needs the mapping": (
        "a INT",
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true')",
        [],
        "columnMapping",
    ),
    "a name needs the mapping": (
        "`a b` INT",
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        [],
        "columnMapping",
    ),
}
DROPPED = {
    "a renamed column": (
        "a INT, b INT",
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        ["RENAME COLUMN a TO c", "DROP COLUMN b"],
        "columnMapping",
    ),
    "an enabled property": ("a INT", "TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')", [], "v2Checkpoint"),
    "no constraint any more": (
        "a INT",
        "",
        ["ADD CONSTRAINT c CHECK (a > 0)", "DROP CONSTRAINT c"],
        "checkConstraints",
    ),
}


@pytest.mark.spark
@pytest.mark.parametrize("truncates", [pytest.param(False, marks=pytest.mark.engine), True])
def test_each_feature_is_dropped_or_refused_as_its_row_says(
    spark: SparkSession, tmp_path: Path, *, truncates: bool
) -> None:
    """Without traces in the history, a drop that truncates it succeeds at once.

    Each of the commits of a drop that keeps the history has a checkpoint: this asks about some of each kind.
    """
    properties = ", ".join(PROPERTY[row.name] for row in SETTABLE if not row.removable)
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/permanent` (a INT) USING delta TBLPROPERTIES ({properties})")
    answers, expected = {}, {}
    for row in some_of_each(SETTABLE, _kind_of_drop, SAMPLE):
        location = f"{tmp_path}/{row.name if row.removable else 'permanent'}"
        if row.removable:
            properties = f"TBLPROPERTIES ({PROPERTY[row.name]})"
            spark.sql(f"CREATE TABLE delta.`{location}` (a INT) USING delta {properties}")
        table = existing(location)
        predicted, commits = prediction(table, row.name, truncates=truncates)
        expected[row.name] = (predicted, 0 if predicted else commits)
        answers[row.name] = drop(spark, table, row.name, truncates=truncates)
    assert answers == expected


@pytest.mark.spark
@pytest.mark.each_time("a clustering stays")
@pytest.mark.parametrize(
    "name",
    left_to(
        pytest.mark.engine,
        {name: name for name in (*NOT_DROPPED, *DROPPED)},
        except_for=(*NOT_DROPPED, "a renamed column"),
    ),
)
def test_table_keeps_or_loses_its_feature_as_predicted(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    columns, options, alterations, feature = (NOT_DROPPED | DROPPED)[name]
    location = f"{tmp_path}/table"
    spark.sql(f"CREATE TABLE delta.`{location}` ({columns}) USING delta {options}")
    for alteration in alterations:
        spark.sql(f"ALTER TABLE delta.`{location}` {alteration}")
    table = existing(location)
    predicted, _commits = prediction(table, feature, truncates=False)
    assert (predicted is None) == (name in DROPPED)
    assert drop(spark, table, feature, truncates=False)[0] == predicted


@pytest.mark.spark
def test_unknown_feature_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/t` (a INT) USING delta")
    table = existing(f"{tmp_path}/t")
    for name in ("deletionVectros", "collations"):
        predicted, _commits = prediction(table, name, truncates=False)
        assert (predicted, 0) == drop(spark, table, name, truncates=False)


@pytest.mark.spark
def test_drop_from_a_table_without_the_feature_has_no_other_error_class(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/t` (a INT) USING delta")
    table = existing(f"{tmp_path}/t")
    lacking = {row.name for row in FEATURES.values() if row.in_spark} - table.protocol.features
    for truncates in (False, True):
        requests = DropRequests(
            frozenset(lacking),
            frozenset(lacking if truncates else ()),
            table.protocol.features,
            TableState(),
            table.state,
            table.state,
        )
        assert {obstacle.delta_error for obstacle in drop_obstacles(requests)} == {None}
        answers = {drop(spark, table, name, truncates=truncates) for name in lacking}
        assert answers == {("DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", 0)}


@pytest.mark.spark
@pytest.mark.engine
def test_only_some_drops_remove_a_property_that_is_false(spark: SparkSession, tmp_path: Path) -> None:
    removed = {}
    enabled = [row for row in SETTABLE if row.removable and row.enabled_by_property]
    for row in some_of_each(enabled, lambda row: (_kind_of_drop(row), row.drop_removes_property), SAMPLE):
        assert row.enabled_by_property is not None
        if row.enabled_by_property[1] != {"true"}:
            continue
        key, location = row.enabled_by_property[0], f"{tmp_path}/{row.name}"
        properties = f"TBLPROPERTIES ({PROPERTY[row.name]}, '{key}' = 'true')"
        spark.sql(f"CREATE TABLE delta.`{location}` (a INT) USING delta {properties}")
        if row.name == "typeWidening":
            spark.sql(f"ALTER TABLE delta.`{location}` ALTER COLUMN a TYPE BIGINT")
        spark.sql(f"ALTER TABLE delta.`{location}` SET TBLPROPERTIES ('{key}' = 'false')")
        assert drop(spark, existing(location), row.name, truncates=False)[0] is None
        removed[row.name] = key not in existing(location).state.properties
    assert removed == {name: FEATURES[name].drop_removes_property for name in removed}
    assert len(removed) > len({*removed.values()}) > 1


def _kind_of_drop(row: TableFeature) -> tuple[object, ...]:
    return (
        row.removable,
        row.drop_needs_history,
        row.drop_commits,
        row.reader,
        row.enabled_by_property is None,
    )


def prediction(table: LiveTable, name: str, *, truncates: bool) -> tuple[str | None, int]:
    """Return the error class that schemalint predicts, and the commits of the step if there is none."""
    truncated = frozenset({name}) if truncates else frozenset()
    requests = DropRequests(
        frozenset({name}), truncated, table.protocol.features, TableState(), table.state, table.state
    )
    for obstacle in drop_obstacles(requests):
        assert obstacle.delta_error is not None
        return obstacle.delta_error, 0
    text = f"{{feature: {name}, truncate_history: {str(truncates).lower()}}}"
    plan = plan_table(counting(contract(f"drop_features: [{text}]")), table, table.uri)
    (step,) = plan.steps
    return None, step.commits


def drop(spark: SparkSession, table: LiveTable, name: str, *, truncates: bool) -> tuple[str | None, int]:
    """Drop a feature; return the error class if the engine refuses it, and the number of new versions."""
    history = " TRUNCATE HISTORY" if truncates else ""
    try:
        spark.sql(f"ALTER TABLE delta.`{table.uri}` DROP FEATURE `{name}`{history}")
    except Exception as error:  # noqa: BLE001 (Delta raises some of them through py4j alone)
        found = ERROR_CLASS.search(str(error))
        return found[1] if found else type(error).__name__, existing(table.uri).version - table.version
    return None, existing(table.uri).version - table.version


def existing(location: str) -> LiveTable:
    table = read_live(location)
    assert table is not None
    return table


def contract(text: str) -> Contract:
    result = contracts.read("t.yaml", f"schemalint: 1\ntable: t\ncolumns: []\n{text}\n")
    assert result.errors == ()
    return result.contracts[0]


FILES = {
    "v2Checkpoint": ("'delta.checkpointPolicy' = 'v2'", "v2Checkpoint"),
    "vacuumProtocolCheck": ("'delta.feature.vacuumProtocolCheck' = 'supported'", "vacuumProtocolCheck"),
    "rowTracking": ("'delta.enableRowTracking' = 'true'", "rowTracking"),
    "typeWidening": ("'delta.enableTypeWidening' = 'true'", "typeWidening"),
    "typeWidening after a widening": ("'delta.enableTypeWidening' = 'true'", "typeWidening"),
    "checkConstraints": ("'delta.feature.checkConstraints' = 'supported'", "checkConstraints"),
    "inCommitTimestamp": ("'delta.enableInCommitTimestamps' = 'true'", "inCommitTimestamp"),
    "columnMapping": ("'delta.columnMapping.mode' = 'name'", "columnMapping"),
    "columnMapping without a mode": ("'delta.feature.columnMapping' = 'supported'", "columnMapping"),
    "checkpointProtection": ("'delta.feature.checkpointProtection' = 'supported'", "checkpointProtection"),
}


@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    left_to(
        pytest.mark.engine, {name: name for name in FILES}, except_for=("typeWidening after a widening",)
    ),
)
def test_a_drop_rewrites_data_files_exactly_where_the_plan_says_so(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    properties, feature = FILES[name]
    location = tmp_path / "table"
    spark.sql(f"CREATE TABLE delta.`{location}` (a INT) USING delta TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO delta.`{location}` VALUES (1)")
    if "after" in name:
        spark.sql(f"ALTER TABLE delta.`{location}` ALTER COLUMN a TYPE BIGINT")
    table = existing(str(location))
    history = " TRUNCATE HISTORY" if feature == "checkpointProtection" else ""
    spark.sql(f"ALTER TABLE delta.`{location}` DROP FEATURE {feature}{history}")
    commits = sorted((location / "_delta_log").glob("*[0-9].json"))[table.version + 1 :]
    removes = any('{"remove":' in commit.read_text() for commit in commits)
    assert removes == rewrites_files(feature, table.state, ())
