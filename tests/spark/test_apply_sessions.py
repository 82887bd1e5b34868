"""`apply` makes the same tables whatever the settings of its session, and leaves the settings alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import SparkSession

from schemalint.base.errors import ApplyError
from schemalint.delta.type_text import print_type
from schemalint.deploy.results import Outcome
from schemalint.model.table_plan import StepKind
from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import apply
from schemalint.spark.session import FITS_SNAPSHOTS, SNAPSHOT_PARTITIONS, start
from schemalint.spark.session_settings import (
    DEFAULTS_OF_NEW_TABLES,
    REQUIRED,
    required_settings,
    required_values,
)
from schemalint.spark.snapshot_partitions import partitions_for
from schemalint.tables.storage import read_table
from support.builders import Builder
from support.faulty_sessions import Interrupted
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import TableState
    from schemalint.spark.statements import SqlSession
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

NEW = """\
schemalint: 1
table: sales.orders
description: "${spark.sql.session.timeZone} a\\\\b"
columns:
  - {name: id, type: bigint}
  - {name: at, type: timestamp, default: "timestamp'2020-01-01 12:00:00'"}
  - {name: now, type: timestamp, default: current_timestamp()}
  - {name: code, type: char(5)}
  - {name: name, type: varchar(6), default: '"ab"'}
  - {name: day, type: date, generated: cast(at AS date)}
features: [allowColumnDefaults]
properties: {delta.enableTypeWidening: true, delta.columnMapping.mode: name}
"""
AT = "2026-01-01 01:00:00+00:00"
ALTERED = NEW.replace("name: name, type: varchar(6)", "name: name, type: varchar(9)").replace(
    "features:",
    """\
  - {name: later, type: timestamp}
  - {name: short, type: char(2)}
constraints: {named: 'ID > 0 AND name = "ab"', padded: "code = 'x'", late: "at > timestamp'2026-01-01'"}
features:""",
)

OTHER = {
    "spark.sql.sources.default": "csv",
    f"{DEFAULTS_OF_NEW_TABLES}enableDeletionVectors": "true",
    f"{DEFAULTS_OF_NEW_TABLES}feature.timestampNtz": "supported",
    f"{DEFAULTS_OF_NEW_TABLES}minWriterVersion": "7",
    "spark.databricks.delta.schema.autoMerge.enabled": "true",
    "spark.databricks.delta.typeWidening.allowAutomaticWidening": "NEVER",
}
"""Settings that the statements must not depend on, beside those in `REQUIRED`."""

_VALUES = {
    "true": "false",
    "false": "true",
    "TIMESTAMP_LTZ": "TIMESTAMP_NTZ",
    "AUTO": "STRICT",
    "UTC": "America/Los_Angeles",
    "ANSI": "LEGACY",
    "CORRECTED": "LEGACY",
}


def _changed(session: SqlSession) -> dict[str, str]:
    """Give all settings other values than schemalint's statements need."""
    settings = {key: _VALUES[setting.value] for key, setting in REQUIRED.items()} | OTHER
    for key, value in settings.items():
        session.conf.set(key, value)
    return settings


def _made(lakehouse: Lakehouse, session: SqlSession) -> tuple[TableState, TableState]:
    """Create the table and alter it; return both states."""
    states = []
    for text in (NEW, ALTERED):
        lakehouse.declare(text)
        applied = lakehouse.apply(session, allow=["upgrade"])
        assert (applied.outcome, applied.error) == (Outcome.APPLIED, None)
        states.append(lakehouse.table().state)
        if text == NEW:
            columns = "(id, at, code, name)"
            lakehouse.session.sql(
                f"INSERT INTO delta.`{lakehouse.uri}` {columns} VALUES (1, timestamp'{AT}', 'x', 'ab')"
            )
    return states[0], states[1]


def test_tables_are_the_same_in_every_session_and_its_settings_stay(
    lakehouse: Lakehouse, tmp_path: Path
) -> None:
    other = lakehouse.copy(tmp_path / "other")
    changed = lakehouse.another_session()
    settings = _changed(changed)
    made = [
        [_comparable(state) for state in _made(house, session)]
        for house, session in ((lakehouse, lakehouse.session), (other, changed))
    ]
    assert made[1] == made[0]
    assert {key: changed.conf.get(key) for key in settings} == settings


def _comparable(state: TableState) -> object:
    columns = [
        (column.name, print_type(column.type), column.default, column.generated)
        for column in state.columns.fields
    ]
    return columns, state.constraints, state.description, state.features, state.properties


class _Refusing:
    """A session that does not allow one of its settings to be changed, as some servers do."""

    def __init__(self, session: SqlSession, key: str) -> None:
        self._session = session
        self._key = key

    @property
    def conf(self) -> Any:  # noqa: ANN401 (pyspark's)
        return self

    def get(self, *arguments: Any) -> Any:  # noqa: ANN401 (as above)
        return self._session.conf.get(*arguments)

    def set(self, key: str, value: str) -> None:
        if key == self._key:
            raise ValueError(key)
        self._session.conf.set(key, value)

    def unset(self, key: str) -> None:
        self._session.conf.unset(key)

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (as above)
        return self._session.sql(sqlQuery)


@pytest.mark.each_time
def test_session_that_keeps_another_setting_is_refused_before_the_first_statement(
    lakehouse: Lakehouse,
) -> None:
    session = lakehouse.another_session()
    settings = _changed(session)
    lakehouse.declare(NEW)
    with pytest.raises(ApplyError, match=r"spark\.sql\.timestampType") as error:
        lakehouse.apply(_Refusing(session, "spark.sql.timestampType"), allow=["upgrade"])
    assert "set it to TIMESTAMP_LTZ" in error.value.help
    assert error.value.exit_status == 2
    assert list(lakehouse.root.iterdir()) == []
    assert {key: session.conf.get(key) for key in settings} == settings


def _with_default_catalog(session: SqlSession, catalog: str) -> SqlSession:
    """Choose a default catalog: that of a database in memory, or one that does not exist."""
    plugin = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    session.conf.set("spark.sql.catalog.other", plugin)
    session.conf.set("spark.sql.catalog.other.url", "jdbc:derby:memory:other;create=true")
    session.conf.set("spark.sql.catalog.other.driver", "org.apache.derby.jdbc.EmbeddedDriver")
    session.conf.set("spark.sql.defaultCatalog", catalog)
    return session


@pytest.mark.parametrize("schema", ["", "`my-schema`"])
def test_tables_at_paths_are_made_in_a_session_with_another_default_catalog(
    lakehouse: Lakehouse, schema: str
) -> None:
    session = _with_default_catalog(lakehouse.another_session(), "other")
    if schema:
        session.sql(f"CREATE NAMESPACE other.{schema}").collect()
        session.sql(f"USE other.{schema}").collect()
    lakehouse.declare(NEW)
    assert lakehouse.apply(session, allow=["upgrade"]).outcome is Outcome.APPLIED
    assert lakehouse.table().state.description is not None
    (current,) = session.sql("SELECT current_catalog(), current_schema()").collect()
    assert tuple(current) == ("other", schema)


@pytest.mark.each_time
def test_all_sessions_of_a_run_have_the_settings_and_the_catalog(lakehouse: Lakehouse) -> None:
    session = _with_default_catalog(lakehouse.another_session(), "other")
    _changed(session)
    names = ("orders", "items")
    for name in names:
        lakehouse.declare(NEW.replace("orders", name), name)
    applied = apply(session, lakehouse.repo.path, ApplyOptions(allow=["upgrade"], jobs=len(names)))
    assert [(each.outcome, each.error) for each in applied] == [(Outcome.APPLIED, None)] * len(names)
    first, second = (_comparable(read_table(str(lakehouse.root / "sales" / name)).state) for name in names)
    assert first == second


def test_session_without_its_default_catalog_is_refused_before_the_first_statement(
    lakehouse: Lakehouse,
) -> None:
    session = _with_default_catalog(lakehouse.another_session(), "missing")
    lakehouse.declare(NEW)
    with pytest.raises(ApplyError, match="CATALOG_NOT_FOUND") as error:
        lakehouse.apply(session, allow=["upgrade"])
    assert "spark.sql.defaultCatalog" in error.value.help
    assert list(lakehouse.root.iterdir()) == []


_MAPPED = (
    "CREATE TABLE {table} (a int, b int) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
)
_DEFAULTS = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
_PADDED = ("CREATE TABLE {table} (a char(5)) USING delta", "INSERT INTO {table} VALUES ('ab')")

STATEMENTS = {
    "spark.sql.timestampType": ("CREATE TABLE {table} (a timestamp) USING delta",),
    "spark.sql.charAsVarchar": ("CREATE TABLE {table} (a char(5)) USING delta",),
    "spark.sql.legacy.charVarcharAsString": (
        f"CREATE TABLE {{table}} (a varchar(3) DEFAULT 'abcdef') USING delta {_DEFAULTS}",
    ),
    "spark.sql.preserveCharVarcharTypeInfo": (
        f"CREATE TABLE {{table}} (a varchar(3) DEFAULT 'ab') USING delta {_DEFAULTS}",
    ),
    "spark.databricks.delta.alterTable.bypassCharVarcharToStringFix": (
        "CREATE TABLE {table} (a varchar(3)) USING delta",
        "ALTER TABLE {table} ALTER COLUMN a TYPE string",
    ),
    "spark.databricks.delta.schema.removeExistsDefault": (
        f"CREATE TABLE {{table}} (a int DEFAULT 1) USING delta {_DEFAULTS}",
    ),
    "spark.databricks.delta.schema.typeCheck.enabled": (
        "CREATE TABLE {table} (a interval year) USING delta",
    ),
    "spark.sql.ansi.enabled": ("SELECT CAST('x' AS int)",),
    "spark.sql.ansi.doubleQuotedIdentifiers": ('SELECT "a"',),
    "spark.sql.ansi.enforceReservedKeywords": ("SELECT current_timestamp() IS NULL",),
    "spark.sql.caseSensitive": (_MAPPED, "SELECT A FROM {table}"),
    "spark.sql.parser.escapedStringLiterals": (r"SELECT length('a\\b')",),
    "spark.sql.parser.quotedRegexColumnNames": ("SELECT `a.` FROM (SELECT 1 AS `ab`)",),
    "spark.sql.readSideCharPadding": (*_PADDED, "SELECT length(a) FROM {table}"),
    "spark.sql.runSQLOnFiles": ("CREATE TABLE {table} (a int) USING delta",),
    "spark.sql.session.timeZone": ("SELECT timestamp'2026-01-01' > timestamp'2026-01-01 01:00:00Z'",),
    "spark.sql.legacy.timeParserPolicy": ("SELECT try_to_date('1.2.2026', 'dd.MM.yyyy')",),
    "spark.sql.storeAssignmentPolicy": (
        "CREATE TABLE {table} (a tinyint) USING delta",
        "INSERT INTO {table} VALUES (0)",
        "UPDATE {table} SET a = 300",
        "SELECT a FROM {table}",
    ),
    "spark.sql.variable.substitute": ("SELECT '${spark.sql.charAsVarchar}'",),
    "spark.sql.defaultColumn.enabled": (f"CREATE TABLE {{table}} (a int DEFAULT 1) USING delta {_DEFAULTS}",),
    "spark.sql.legacy.notReserveProperties": (
        "CREATE TABLE {table} (a int) USING delta TBLPROPERTIES ('owner' = 'x')",
    ),
    "spark.databricks.delta.allowArbitraryProperties.enabled": (
        "CREATE TABLE {table} (a int) USING delta TBLPROPERTIES ('delta.nope' = 'x')",
    ),
    "spark.databricks.delta.alterTable.changeColumn.checkExpressions": (
        _MAPPED,
        "ALTER TABLE {table} ADD CONSTRAINT c CHECK (a > 0)",
        "ALTER TABLE {table} DROP COLUMN a",
    ),
    "spark.databricks.delta.alterTable.dropColumn.enabled": (_MAPPED, "ALTER TABLE {table} DROP COLUMN a"),
    "spark.databricks.delta.columnMapping.allowRemoval": (
        _MAPPED,
        "ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
    ),
    "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": (
        "CREATE TABLE {table} (a array<struct<b: int NOT NULL>>) USING delta",
    ),
    "spark.databricks.delta.constraints.assumesDropIfExists.enabled": (
        _MAPPED,
        "ALTER TABLE {table} DROP CONSTRAINT nope",
    ),
    "spark.databricks.delta.createEmptySchemaTable.enabled": ("CREATE TABLE {table} USING delta",),
    "spark.databricks.delta.identityColumn.enabled": (
        "CREATE TABLE {table} (a bigint GENERATED ALWAYS AS IDENTITY) USING delta",
    ),
    "spark.databricks.delta.rowTracking.backfill.enabled": (
        _MAPPED,
        "ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
    ),
    "spark.sql.files.ignoreCorruptFiles": (
        "INSERT OVERWRITE DIRECTORY '{folder}' USING text SELECT 'no Parquet'",
        "SELECT * FROM parquet.`{folder}`",
    ),
    "spark.sql.files.ignoreMissingFiles": (
        "CREATE TABLE {table} USING delta AS SELECT 1 AS a",
        "DELETE FROM {table}",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        "VACUUM {table} RETAIN 0 HOURS",
        "SELECT * FROM {table} VERSION AS OF 0",
    ),
    "spark.databricks.delta.v2.enableMode": (_MAPPED, "ALTER TABLE {table} ADD COLUMNS (c int)"),
    "spark.databricks.delta.tableFeatures.fastDropFeature.enabled": (
        "CREATE TABLE {table} (a int) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "ALTER TABLE {table} UNSET TBLPROPERTIES ('delta.enableDeletionVectors')",
        "ALTER TABLE {table} DROP FEATURE deletionVectors",
    ),
    "spark.databricks.delta.variant.forceUsePreviewTableFeature": (
        "CREATE TABLE {table} (a variant) USING delta",
    ),
    "spark.databricks.delta.variantShredding.forceUsePreviewTableFeature": (
        "CREATE TABLE {table} (a variant) USING delta",
        "ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableVariantShredding' = 'true')",
    ),
}
"""For each required setting, statements that give another result with another value."""


@pytest.mark.each_time
def test_every_required_setting_changes_the_result_of_a_statement(lakehouse: Lakehouse) -> None:
    assert set(STATEMENTS) == set(REQUIRED)
    without_effect = []
    for key, statements in some_of_each(STATEMENTS.items(), lambda _: None, 4):
        changed = lakehouse.another_session()
        changed.conf.set(key, _VALUES[REQUIRED[key].value])
        required = lakehouse.another_session()
        required.conf.set(key, REQUIRED[key].value)
        results = [
            _result(session, lakehouse.root / f"{key}-{number}", statements)
            for number, session in enumerate((changed, required))
        ]
        without_effect += [key] if results[0] == results[1] else []
    assert without_effect == []


_TABLE = (
    """CREATE TABLE {table} (id bigint, a int, note string DEFAULT 'x', code char(5), at timestamp)
    USING delta TBLPROPERTIES (
      'delta.columnMapping.mode' = 'name', 'delta.feature.allowColumnDefaults' = 'supported',
      'delta.enableTypeWidening' = 'true', 'delta.enableDeletionVectors' = 'true', 'team' = 'shop'
    )""",
    "ALTER TABLE {table} ADD CONSTRAINT c CHECK (id > 0 AND note <> 'y' AND at > timestamp'2026-01-01')",
)
OF_KIND = {
    StepKind.CREATE: _TABLE[0],
    StepKind.SET_PROPERTIES: r"ALTER TABLE {table} SET TBLPROPERTIES ('comment' = 'a\\b', 'team' = 'store')",
    StepKind.UNSET_PROPERTIES: "ALTER TABLE {table} UNSET TBLPROPERTIES ('team')",
    StepKind.NOTE_PENDING: r"ALTER TABLE {table} SET TBLPROPERTIES ('schemalint.pending' = '{\'a\'}')",
    StepKind.DROP_CONSTRAINT: "ALTER TABLE {table} DROP CONSTRAINT `c`",
    StepKind.DROP_COLUMNS: "ALTER TABLE {table} DROP COLUMNS (`A`)",
    StepKind.RENAME_COLUMN: "ALTER TABLE {table} RENAME COLUMN `a` TO `${x}`",
    StepKind.ADD_COLUMNS: r"ALTER TABLE {table} ADD COLUMNS (`t` timestamp COMMENT 'a\\b', `v` varchar(3))",
    StepKind.ALTER_COLUMNS: "ALTER TABLE {table} ALTER COLUMN `a` TYPE bigint, `code` TYPE string, "
    "`note` SET DEFAULT \"it's\", `id` COMMENT 'key'",
    StepKind.CLUSTER: "ALTER TABLE {table} CLUSTER BY (`ID`)",
    StepKind.ADD_CONSTRAINT: "ALTER TABLE {table} ADD CONSTRAINT d CHECK (at > date'2026-1-2' OR \"\" = '')",
    StepKind.DROP_FEATURE: "ALTER TABLE {table} DROP FEATURE `deletionVectors`",
    StepKind.RECORD: "INSERT INTO {table} (`id`, `a`) SELECT `id`, `a` FROM {table} WHERE false",
    StepKind.FILL: r"UPDATE {table} SET `a` = (hour(`at`) * 100 + length('a\\b')) WHERE `a` IS NULL",
    StepKind.REWRITE: r"SELECT `id`, cast(hour(`at`) * 100 + length('a\\b') AS string) AS `a` FROM {table}",
}
"""A statement of each kind; of a rewrite, the query of its rows."""
_ROWS = dict.fromkeys(
    (StepKind.FILL, StepKind.REWRITE),
    (f"INSERT INTO {{table}} VALUES (1, NULL, 'x', 'ab', timestamp'{AT}')", "SELECT a FROM {table}"),
)
"""What goes before and after the statement where it reads or changes rows."""


def test_other_settings_than_the_required_ones_do_not_change_a_statement(lakehouse: Lakehouse) -> None:
    """A session keeps what changes no statement of the plan; some sessions allow few settings."""
    assert set(OF_KIND) == set(StepKind)
    different = {}
    for kind, statement in some_of_each(OF_KIND.items(), lambda _: None, 6):
        required = required_values({kind})
        other = {key: _VALUES[setting.value] for key, setting in REQUIRED.items() if key not in required}
        if DEFAULTS_OF_NEW_TABLES not in required:
            other |= {key: value for key, value in OTHER.items() if key.startswith(DEFAULTS_OF_NEW_TABLES)}
        results: list[list[str]] = []
        for settings in ({}, other):
            folder = lakehouse.root / f"{kind.name}-{len(results)}"
            before, after = ((part,) for part in _ROWS[kind]) if kind in _ROWS else ((), ())
            made = () if kind is StepKind.CREATE else (*_TABLE, *before)
            plain, session = lakehouse.another_session(), lakehouse.another_session()
            with required_settings(plain, session):
                assert all(answer.endswith("]") for answer in _result(plain, folder, made)[: len(made)])
                for key, value in settings.items():
                    session.conf.set(key, value)
                results.append(_result(session, folder, (statement, *after)))
        if results[0] != results[1] or not results[0][0].endswith("]"):
            different[kind] = results
    assert different == {}


def _result(session: SqlSession, folder: Path, statements: tuple[str, ...]) -> list[str]:
    """Run statements on a table; return their answers or errors, and the metadata in the log."""
    result = []
    for statement in statements:
        try:
            named = statement.replace("{table}", f"delta.`{folder}`").replace("{folder}", str(folder))
            rows = session.sql(named).collect()
            result.append(str(rows).replace(str(folder), ""))
        except Exception as error:  # noqa: BLE001 (pyspark raises many kinds)
            result.append(re.sub(r"(?s)\].*", "", str(error)))
    for file in sorted(folder.glob("_delta_log/*.json")):
        for line in file.read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            result += [str(action["protocol"])] if "protocol" in action else []
            if "metaData" in action:
                texts = action["metaData"]["schemaString"], str(action["metaData"]["configuration"])
                result += map(_without_ids, texts)
    return result


def _without_ids(text: str) -> str:
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", text)


SMALL = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int, comment: "1"}
"""


def test_own_session_rebuilds_a_snapshot_in_as_many_partitions_as_its_files_need(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = lakehouse.another_session()
    session.conf.unset(FITS_SNAPSHOTS)
    used: list[tuple[str, ...]] = []
    keys = (SNAPSHOT_PARTITIONS, "spark.sql.codegen.factoryMode")
    of_identifiers: list[str] = []

    def commit_nothing(*_identifier: object, **_options: object) -> bool:
        of_identifiers.append(session.conf.get(keys[1]))
        return False

    monkeypatch.setattr("schemalint.spark.table_run.commit_identifier", commit_nothing)
    watched = Interrupted(session, before=lambda _number: used.append(tuple(map(session.conf.get, keys))))
    lakehouse.declare(SMALL)
    lakehouse.apply(watched)
    in_other_sessions = set(used)
    compiled = "FALLBACK"  # Spark's default
    session.conf.set(FITS_SNAPSHOTS, "true")
    session.conf.set(SNAPSHOT_PARTITIONS, "8")
    assert [partitions_for(files) for files in (0, 1_000, 1_001, 40_001, 1_000_000, None)] == [
        *(1, 1, 2, 3, 50, 50)
    ]
    for files, comment in ((None, "2"), (500_000, "3")):
        used.clear()
        if files:
            monkeypatch.setattr("schemalint.spark.snapshot_partitions.told_files", lambda *_log: files)  # noqa: B023
        lakehouse.declare(SMALL.replace('"1"', f'"{comment}"'))
        assert lakehouse.apply(watched).error is None
        modes = {compiled} if files else {compiled, "NO_CODEGEN"}  # only the marker is not compiled
        assert set(used) == {(str(partitions_for(files or 0)), mode) for mode in modes}
        assert [mode for _partitions, mode in used].count("NO_CODEGEN") == (0 if files else 1)
    assert of_identifiers == [compiled, "NO_CODEGEN", compiled]
    assert session.conf.get(SNAPSHOT_PARTITIONS) == "8"
    assert in_other_sessions == {(lakehouse.session.conf.get(SNAPSHOT_PARTITIONS), compiled)}


def test_the_setting_is_that_of_local_sessions_that_schemalint_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("schemalint.spark.session.is_running", lambda: False)
    monkeypatch.setattr("delta.configure_spark_with_delta_pip", lambda builder, **_options: builder)
    monkeypatch.setattr("pyspark.sql.SparkSession.builder", Builder())

    def settings_of(**settings: Any) -> dict[str, str]:  # noqa: ANN401 (of SparkSettings)
        started: Any = start(TrustedSpark(SparkSettings(**settings)))
        return dict(started)

    assert settings_of()[FITS_SNAPSHOTS] == "true"
    assert FITS_SNAPSHOTS not in settings_of(conf={SNAPSHOT_PARTITIONS: "7"})
    assert FITS_SNAPSHOTS not in settings_of(master="spark://cluster:7077")


def test_session_that_runs_is_returned_as_it_is(spark: SparkSession) -> None:
    before = spark.conf.getAll
    settings = SparkSettings(master="local[3]", conf={"spark.sql.shuffle.partitions": "7"})
    assert start(TrustedSpark(settings)) is SparkSession.active()
    assert spark.conf.getAll == before
