"""`audit` with Spark: executors find the same, `--into` appends each run once, data files are checked."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.datatype import LONG, Field
from schemalint.spark.findings_sink import COLUMNS
from schemalint.spark.statements import StatementError, ask
from support.logs import commit_info, metadata, protocol, write_commit, write_log
from support.project import Project, Run
from support.repo import Repo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LOGS = Path(__file__).parents[1] / "delta_log" / "logs"


@dataclass(frozen=True)
class Lake:
    """A project and a folder of tables outside it."""

    project: Project
    root: Path
    session: SparkSession

    def audit(self, *arguments: str) -> Run:
        return self.project.run("audit", *arguments)

    def report(self, *arguments: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.audit(*arguments, "--output-format", "json").out)
        return document

    def sql(self, statement: str, **names: str) -> list[Any]:
        return ask(self.session, statement.format(**names, root=self.root))

    def error_class(self, query: str) -> str | None:
        """Run a query, and return the error class if the engine refuses it."""
        try:
            ask(self.session, query)
        except StatementError as error:
            match = re.search(r"\[([A-Z_.]+)\]", str(error.__context__))
            return match[1] if match else error.message
        return None

    def table(self, name: str, *statements: str) -> str:
        """Run statements with ``{t}`` for a table of this name, and return its location."""
        path = str(self.root / name)
        for statement in statements:
            self.session.sql(statement.replace("{t}", f"delta.`{path}`")).collect()
        return path

    def file_findings(self, path: str, *arguments: str) -> list[tuple[str, str]]:
        """Return the codes and messages of the findings on a table's data files."""
        findings = self.report(path, "--files", "--select", "TH011,TH012", *arguments)["findings"]
        return [(finding["code"], finding["message"]) for finding in findings]


@pytest.fixture
def lake(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Lake:
    repo = Repo(tmp_path / "repository")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, repo.env[name])
    monkeypatch.chdir(repo.path)
    # `start` sets this; the tests' session was started without it.
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    root = tmp_path / "lake"
    root.mkdir()
    return Lake(Project(repo, capsys), root, spark)


@pytest.mark.each_time
def test_executors_give_the_same_findings_for_every_log(lake: Lake) -> None:
    for log in LOGS.iterdir():
        if log.is_dir():
            shutil.copytree(log, lake.root / log.name)
    write_commit(lake.root / "broken", 0, "{")
    arguments = ("--root", str(lake.root), str(lake.root / "missing"), "--files")
    local, on_executors = lake.report(*arguments), lake.report(*arguments, "--via", "spark")
    assert len(local["run"]["compared"]) >= 20
    assert local["findings"]
    assert on_executors == local


def test_damaged_table_is_reported_and_the_others_are_audited(lake: Lake) -> None:
    lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    write_commit(lake.root / "broken", 0, "{")
    run = lake.audit("--root", str(lake.root), "--via", "spark", "--output-format", "json")
    document = json.loads(run.out)
    assert run.status == 2
    assert document["run"]["compared"] == [str(lake.root / "orders")]
    assert [error["message"].split(":")[0] for error in document["errors"]] == [
        f"{lake.root / 'broken'}/_delta_log/00000000000000000000.json, line 1"
    ]


def test_relative_path_means_the_same_on_executors(lake: Lake) -> None:
    write_log(lake.project.repo.path / "near", [[commit_info(), protocol(), metadata(Field("id", LONG))]])
    arguments = ("near", "--select", "ALL")
    assert lake.report(*arguments, "--via", "spark") == lake.report(*arguments)


def test_environment_variables_are_resolved_on_executors(lake: Lake) -> None:
    from schemalint.project.config import Target  # noqa: PLC0415
    from schemalint.project.config.trust import TrustedTarget  # noqa: PLC0415
    from schemalint.spark import executors  # noqa: PLC0415 (only with Spark)
    from schemalint.spark.executor_audit import TableToRead, read_tables  # noqa: PLC0415

    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    storage = executors.storage_text(TrustedTarget(Target("prod", storage={"token": "${NOT_SET_ANYWHERE}"})))
    (read,) = read_tables(lake.session, [TableToRead(path, storage=storage)])
    assert "NOT_SET_ANYWHERE is not set" in getattr(read.found, "message", "")


@pytest.mark.each_time("{root}/findings")
@pytest.mark.parametrize("into", ["{root}/findings", "audit_findings"])
def test_repeated_run_id_appends_nothing(lake: Lake, into: str) -> None:
    lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    lake.sql("DROP TABLE IF EXISTS audit_findings")
    table = into.format(root=lake.root)
    write_commit(lake.root / "broken", 0, "{")
    arguments = ("--root", str(lake.root / "orders"), str(lake.root / "broken"), "--into", table)
    first = lake.audit(*arguments, "--run-id", "build-7")
    second = lake.audit(*arguments, "--run-id", "build-7", "--via", "spark")
    name = f"delta.`{table}`" if "/" in table else table
    rows = lake.sql("SELECT * FROM {name} ORDER BY run_id, severity", name=name)
    assert [run.status for run in (first, second)] == [2, 2]
    assert [(row["run_id"], row["severity"]) for row in rows] == [
        ("build-7", "failure"),
        ("build-7", "none"),
    ]
    assert rows[1]["uri"] == str(lake.root / "orders")
    assert rows[1]["table_version"] == 0
    assert "run build-7: 2 rows in" in second.err
    history = lake.sql("DESCRIBE HISTORY {name}", name=name)
    assert [row["operation"] for row in history] == ["WRITE", "CREATE TABLE"]


def test_findings_are_appended_with_the_documented_columns(lake: Lake) -> None:
    path = lake.table(
        "orders",
        "CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES (delta.enableTypeWidening = true)",
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
    )
    into = str(lake.root / "kept/findings")
    (expected,) = lake.report(path, "--files", "--select", "TH012", "--into", into)["findings"]
    (row,) = lake.sql("SELECT * FROM delta.`{into}`", into=into)
    assert list(row.asDict()) == [column.name for column in COLUMNS]
    assert (row["code"], row["rule"], row["severity"]) == ("TH012", "type-history-in-files", "info")
    assert (row["object_kind"], row["object_name"]) == ("column", "id")
    assert (row["fingerprint"], row["message"]) == (expected["fingerprint"], expected["message"])
    assert (row["table"], row["uri"], row["table_version"], row["existing"]) == (path, path, 2, False)


def test_documented_queries_return_the_trend_and_the_open_findings(lake: Lake) -> None:
    broken = write_log(lake.root / "t", [[commit_info(), protocol(2, 9), metadata(Field("id", LONG))]])
    clean = lake.table("clean", "CREATE TABLE {t} (id INT) USING delta")
    into = str(lake.root / "findings")
    for tables in ((str(broken), clean), (clean,), (str(broken),)):
        lake.audit(*tables, "--into", into)
    text = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    trend, open_findings = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    errors = [
        (row["errors"] > 0, row["tables"])
        for row in lake.sql(trend.replace("ops.findings", f"delta.`{into}`"))
    ]
    assert errors == [(True, 2), (False, 1), (True, 1)]
    first = lake.sql(f"SELECT min(run_at) AS at FROM delta.`{into}`")[0]["at"]
    rows = lake.sql(open_findings.replace("ops.findings", f"delta.`{into}`"))
    assert {(row["uri"], row["since"]) for row in rows} == {(str(broken), first)}


def test_documented_schema_is_that_of_the_findings_table() -> None:
    text = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", text, re.MULTILINE)
    assert rows == [tuple(column) for column in COLUMNS]


@pytest.mark.each_time
def test_table_with_another_schema_is_refused_and_not_written(lake: Lake) -> None:
    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    other = lake.table("other", "CREATE TABLE {t} (run_id INT, message STRING) USING delta")
    run = lake.audit(path, "--into", other)
    assert run.status == 2
    assert "run_id is int, not string; run_at is missing" in run.out
    assert [row["version"] for row in lake.sql("DESCRIBE HISTORY delta.`{other}`", other=other)] == [0]


def test_additional_columns_in_the_findings_table_are_allowed(lake: Lake) -> None:
    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    into = str(lake.root / "findings")
    lake.audit(path, "--into", into)
    lake.sql("ALTER TABLE delta.`{into}` ADD COLUMN team STRING FIRST", into=into)
    assert lake.audit(path, "--into", into).status == 0
    assert lake.sql("SELECT count(*) FROM delta.`{into}` WHERE team IS NULL", into=into)[0][0] == 2


def test_parquet_table_is_refused_for_findings(lake: Lake) -> None:
    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    lake.sql("DROP TABLE IF EXISTS audit_parquet")
    lake.sql("CREATE TABLE audit_parquet (id INT) USING parquet")
    run = lake.audit(path, "--into", "audit_parquet")
    assert run.status == 2
    assert "`audit_parquet` is a parquet table, not a Delta table" in run.out


WIDENED = """
CREATE TABLE {t} (id INT, s STRUCT<a: SHORT>, list ARRAY<INT>, m MAP<INT, DECIMAL(6,2)>, day DATE, p INT)
    USING delta PARTITIONED BY (p)
    TBLPROPERTIES (delta.enableTypeWidening = true, delta.feature.timestampNtz = 'supported');
INSERT INTO {t} SELECT 1, named_struct('a', 1S), array(1), map(1, 1.5), DATE'2026-01-01', 1;
ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT, s.a TYPE INT, list.element TYPE BIGINT, m.key TYPE BIGINT,
    m.value TYPE DECIMAL(10,4), day TYPE TIMESTAMP_NTZ
"""
INSERT = (
    "INSERT INTO {t} SELECT 2L, named_struct('a', 2), array(2L), map(2L, 2.5), TIMESTAMP_NTZ'2026-01-01', 2"
)


@pytest.mark.each_time("via0")
@pytest.mark.parametrize("via", [(), ("--via", "spark")])
def test_data_files_older_than_a_widening_are_reported_by_column(lake: Lake, via: tuple[str, ...]) -> None:
    path = lake.table("wide", *WIDENED.split(";"), INSERT)
    findings = lake.file_findings(path, *via)
    assert {code for code, _message in findings} == {"TH012"}
    assert [message.partition(":")[0] for _code, message in findings] == [
        "1 of 2 data files still hold day as date",
        "1 of 2 data files still hold id as int",
        "1 of 2 data files still hold list.element as int",
        "1 of 2 data files still hold m.key as int",
        "1 of 2 data files still hold m.value as decimal(6,2)",
        "1 of 2 data files still hold s.a as smallint",
    ]
    assert all("p=1/part-" in message for _code, message in findings)


def test_feature_drop_after_an_overwrite_rewrites_no_files(lake: Lake) -> None:
    path = lake.table("wide", *WIDENED.split(";"), INSERT, "INSERT OVERWRITE {t} SELECT * FROM {t}")
    assert [code for code, _message in lake.file_findings(path)] == ["TH012"]
    before = lake.sql("DESCRIBE DETAIL delta.`{path}`", path=path)[0]["numFiles"]
    lake.table(
        "wide",
        "ALTER TABLE {t} UNSET TBLPROPERTIES (delta.enableTypeWidening)",
        "ALTER TABLE {t} DROP FEATURE typeWidening",
    )
    actions = [
        json.loads(line)
        for commit in sorted((lake.root / "wide/_delta_log").glob("*.json"))[5:]
        for line in commit.read_text().splitlines()
    ]
    assert not [action for action in actions if "add" in action or "remove" in action]
    assert lake.sql("DESCRIBE DETAIL delta.`{path}`", path=path)[0]["numFiles"] == before
    assert lake.file_findings(path) == []


def edit_schema(table: Path, old: str, new: str) -> None:
    """Write a commit that replaces a part of the schema's text."""
    version = len(list((table / "_delta_log").glob("*.json")))
    lines = (table / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (line,) = (line for line in lines if '"metaData"' in line)
    action = json.loads(line)
    assert old in action["metaData"]["schemaString"]
    action["metaData"]["schemaString"] = action["metaData"]["schemaString"].replace(old, new)
    write_commit(table, version, json.dumps(action) + "\n")


@pytest.mark.parametrize(
    ("stored", "declared", "message", "is_readable"),
    [
        ("BIGINT", "integer", "1 data file holds id as bigint, which cannot be widened to int", False),
        ("INT", "string", "1 data file holds id as int, which cannot be widened to string", False),
        ("INT", "long", "1 data file holds id as int, and no recorded type change leads to bigint", True),
        ("TINYINT", "integer", "", True),
    ],
)
def test_verdict_on_a_schema_edited_by_hand_agrees_with_spark(
    lake: Lake,
    stored: str,
    declared: str,
    message: str,
    is_readable: bool,  # noqa: FBT001
) -> None:
    path = lake.table("t", f"CREATE TABLE {{t}} (id {stored}) USING delta", "INSERT INTO {t} VALUES (1)")
    names = {"BIGINT": "long", "INT": "integer", "TINYINT": "byte"}
    edit_schema(Path(path), f'"type":"{names[stored]}"', f'"type":"{declared}"')
    findings = lake.report(path, "--files", "--select", "TH011")["findings"]
    assert [finding["message"].startswith(message) for finding in findings] == ([True] if message else [])
    error_class = lake.error_class(f"SELECT sum(length(cast(id AS STRING))) FROM delta.`{path}`")
    assert (error_class is None) == is_readable
    assert [finding["delta_error"] for finding in findings] == [error_class] * len(findings)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_renamed_columns_are_found_in_data_files_by_column_mapping(lake: Lake, mode: str) -> None:
    path = lake.table(
        "mapped",
        "CREATE TABLE {t} (id INT, gone STRING, s STRUCT<a: INT, b: INT>) USING delta TBLPROPERTIES"
        f" (delta.columnMapping.mode = '{mode}', delta.enableTypeWidening = true)",
        "INSERT INTO {t} SELECT 1, 'x', named_struct('a', 1, 'b', 1)",
        "ALTER TABLE {t} RENAME COLUMN id TO number",
        "ALTER TABLE {t} RENAME COLUMN s.a TO first",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} ADD COLUMN gone BIGINT",
        "ALTER TABLE {t} ALTER COLUMN number TYPE BIGINT, s.first TYPE BIGINT",
    )
    assert [message.partition(":")[0] for _code, message in lake.file_findings(path)] == [
        "1 of 1 data files still hold number as int",
        "1 of 1 data files still hold s.first as int",
    ]


def test_missing_and_damaged_data_files_are_reported_locally_and_by_executors(lake: Lake) -> None:
    path = lake.table(
        "t",
        "CREATE TABLE {t} (id INT) USING delta",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
    )
    first, second = sorted(Path(path).glob("*.parquet"))
    first.unlink()
    second.write_bytes(b"PAR1")
    local = lake.file_findings(path)
    assert [message.split(":")[0] for _code, message in local] == [
        "1 data file cannot be read, it is gone",
        "1 data file cannot be read, it is not a readable Parquet file",
    ]
    assert lake.file_findings(path, "--via", "spark") == local


def test_live_files_are_found_with_deletion_vectors_clones_and_checkpoints(lake: Lake) -> None:
    path = lake.table(
        "t",
        "CREATE TABLE {t} (id INT, `ü %` STRING) USING delta PARTITIONED BY (`ü %`) TBLPROPERTIES"
        " (delta.enableTypeWidening = true, delta.enableDeletionVectors = true,"
        " delta.checkpointPolicy = 'v2', delta.checkpointInterval = 2, delta.columnMapping.mode = 'name')",
        "INSERT INTO {t} VALUES (1, 'a b/%'), (2, 'a b/%'), (3, 'a b/%')",
        "DELETE FROM {t} WHERE id = 1",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "INSERT INTO {t} VALUES (5, 'd')",
    )
    clone = lake.table("clone", f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{path}`")
    for table in (path, clone):
        ((_code, message),) = lake.file_findings(table)
        assert message.startswith("1 of 2 data files still hold id as int: ")
