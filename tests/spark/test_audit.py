"""`audit` with Spark: the same findings from the executors, kept once per run, and what data files hold."""

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
from schemalint.spark.findings import COLUMNS
from schemalint.spark.session import StatementError, ask
from support.logs import commit_info, metadata, protocol, write_commit, write_log
from support.project import Project, Run
from support.repo import Repo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LOGS = Path(__file__).parents[1] / "delta_log" / "logs"


@dataclass(frozen=True)
class Lake:
    """A project beside a folder of tables."""

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

    def refused(self, query: str) -> str | None:
        """The error class of a query, None if it succeeds."""
        try:
            ask(self.session, query)
        except StatementError as error:
            found = re.search(r"\[([A-Z_.]+)\]", str(error.__cause__))
            return found[1] if found else error.message
        return None

    def table(self, name: str, *statements: str) -> str:
        path = str(self.root / name)
        for statement in statements:
            self.session.sql(statement.replace("{t}", f"delta.`{path}`")).collect()
        return path

    def codes(self, path: str, *arguments: str) -> list[tuple[str, str]]:
        found = self.report(path, "--files", "--select", "TH011,TH012", *arguments)["findings"]
        return [(one["code"], one["message"]) for one in found]


@pytest.fixture
def lake(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Lake:
    repo = Repo(tmp_path / "repository")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, repo.env[name])
    monkeypatch.chdir(repo.path)
    # As `start` has it: the tests' session was started without it.
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    root = tmp_path / "lake"
    root.mkdir()
    return Lake(Project(repo, capsys), root, spark)


def test_findings_are_the_same_for_every_log(lake: Lake) -> None:
    for log in LOGS.iterdir():
        if log.is_dir():
            shutil.copytree(log, lake.root / log.name)
    write_commit(lake.root / "broken", 0, "{")
    arguments = ("--root", str(lake.root), str(lake.root / "missing"), "--preview", "--files")
    here, there = lake.report(*arguments), lake.report(*arguments, "--via", "spark")
    assert len(here["run"]["compared"]) >= 20
    assert here["findings"]
    assert there == here


def test_one_bad_table_fails_no_job(lake: Lake) -> None:
    lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    write_commit(lake.root / "broken", 0, "{")
    run = lake.audit("--root", str(lake.root), "--via", "spark", "--output-format", "json")
    document = json.loads(run.out)
    assert run.status == 2
    assert document["run"]["compared"] == [str(lake.root / "orders")]
    assert [error["message"].split(":")[0] for error in document["errors"]] == [
        f"{lake.root / 'broken'}/_delta_log/00000000000000000000.json, line 1"
    ]


def test_a_relative_path_is_what_it_is_here(lake: Lake) -> None:
    write_log(lake.project.repo.path / "near", [[commit_info(), protocol(), metadata(Field("id", LONG))]])
    arguments = ("near", "--select", "ALL", "--preview")
    assert lake.report(*arguments, "--via", "spark") == lake.report(*arguments)


def test_variables_are_looked_up_where_the_tables_are_read(lake: Lake) -> None:
    from schemalint.config import Target  # noqa: PLC0415
    from schemalint.spark import executors  # noqa: PLC0415 (only with Spark)
    from schemalint.spark.audit import TableToRead, read_tables  # noqa: PLC0415

    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    storage = executors.storage_text(Target("prod", storage={"token": "${NOT_SET_ANYWHERE}"}))
    (read,) = read_tables(lake.session, [TableToRead(path, storage=storage)])
    assert "NOT_SET_ANYWHERE is not set" in getattr(read.found, "message", "")


@pytest.mark.parametrize("into", ["{root}/findings", "audit_findings"])
def test_a_run_is_kept_once(lake: Lake, into: str) -> None:
    lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    lake.sql("DROP TABLE IF EXISTS audit_findings")
    table = into.format(root=lake.root)
    write_commit(lake.root / "broken", 0, "{")
    arguments = ("--root", str(lake.root / "orders"), str(lake.root / "broken"), "--into", table)
    first = lake.audit(*arguments, "--run-id", "build-7")
    again = lake.audit(*arguments, "--run-id", "build-7", "--via", "spark")
    name = f"delta.`{table}`" if "/" in table else table
    rows = lake.sql("SELECT * FROM {name} ORDER BY run_id, severity", name=name)
    assert [run.status for run in (first, again)] == [2, 2]
    assert [(row["run_id"], row["severity"]) for row in rows] == [
        ("build-7", "failure"),
        ("build-7", "none"),
    ]
    assert rows[1]["uri"] == str(lake.root / "orders")
    assert rows[1]["table_version"] == 0
    assert "run build-7: 2 rows in" in again.err
    history = lake.sql("DESCRIBE HISTORY {name}", name=name)
    assert [row["operation"] for row in history] == ["WRITE", "CREATE TABLE"]


def test_findings_are_rows_as_documented(lake: Lake) -> None:
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


def test_queries_in_the_text_tell_the_trend_and_the_debt(lake: Lake) -> None:
    broken = write_log(lake.root / "t", [[commit_info(), protocol(2, 9), metadata(Field("id", LONG))]])
    clean = lake.table("clean", "CREATE TABLE {t} (id INT) USING delta")
    into = str(lake.root / "findings")
    for tables in ((str(broken), clean), (clean,), (str(broken),)):
        lake.audit(*tables, "--into", into, "--preview")
    text = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    trend, debt = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    errors = [
        (row["errors"] > 0, row["tables"])
        for row in lake.sql(trend.replace("ops.findings", f"delta.`{into}`"))
    ]
    assert errors == [(True, 2), (False, 1), (True, 1)]
    first = lake.sql(f"SELECT min(run_at) AS at FROM delta.`{into}`")[0]["at"]
    rows = lake.sql(debt.replace("ops.findings", f"delta.`{into}`"))
    assert {(row["uri"], row["since"]) for row in rows} == {(str(broken), first)}


def test_the_schema_in_the_text_is_that_of_the_table() -> None:
    text = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", text, re.MULTILINE)
    assert rows == [tuple(column) for column in COLUMNS]


def test_a_table_of_another_schema_is_left_alone(lake: Lake) -> None:
    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    other = lake.table("other", "CREATE TABLE {t} (run_id INT, message STRING) USING delta")
    run = lake.audit(path, "--into", other)
    assert run.status == 2
    assert "run_id is int, not string; run_at is missing" in run.out
    assert [row["version"] for row in lake.sql("DESCRIBE HISTORY delta.`{other}`", other=other)] == [0]


def test_columns_of_ones_own_are_allowed(lake: Lake) -> None:
    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    into = str(lake.root / "findings")
    lake.audit(path, "--into", into)
    lake.sql("ALTER TABLE delta.`{into}` ADD COLUMN team STRING FIRST", into=into)
    assert lake.audit(path, "--into", into).status == 0
    assert lake.sql("SELECT count(*) FROM delta.`{into}` WHERE team IS NULL", into=into)[0][0] == 2


def test_what_is_no_delta_table_is_left_alone(lake: Lake) -> None:
    path = lake.table("orders", "CREATE TABLE {t} (id INT) USING delta")
    lake.sql("DROP TABLE IF EXISTS audit_parquet")
    lake.sql("CREATE TABLE audit_parquet (id INT) USING parquet")
    run = lake.audit(path, "--into", "audit_parquet")
    assert run.status == 2
    assert "`audit_parquet` is a table of parquet, not of Delta" in run.out


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


@pytest.mark.parametrize("via", [(), ("--via", "spark")])
def test_files_from_before_a_widening_are_told_by_column(lake: Lake, via: tuple[str, ...]) -> None:
    path = lake.table("wide", *WIDENED.split(";"), INSERT)
    found = lake.codes(path, *via)
    assert {code for code, _message in found} == {"TH012"}
    assert [message.partition(":")[0] for _code, message in found] == [
        "1 of 2 data files still hold day as date",
        "1 of 2 data files still hold id as int",
        "1 of 2 data files still hold list.element as int",
        "1 of 2 data files still hold m.key as int",
        "1 of 2 data files still hold m.value as decimal(6,2)",
        "1 of 2 data files still hold s.a as smallint",
    ]
    assert all("p=1/part-" in message for _code, message in found)


def test_rewritten_files_let_the_history_go_without_a_rewrite(lake: Lake) -> None:
    path = lake.table("wide", *WIDENED.split(";"), INSERT, "INSERT OVERWRITE {t} SELECT * FROM {t}")
    assert [code for code, _message in lake.codes(path)] == ["TH012"]
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
    assert not [one for one in actions if "add" in one or "remove" in one]
    assert lake.sql("DESCRIBE DETAIL delta.`{path}`", path=path)[0]["numFiles"] == before
    assert lake.codes(path) == []


def edit_schema(table: Path, old: str, new: str) -> None:
    """A commit by hand that changes the text of the schema."""
    version = len(list((table / "_delta_log").glob("*.json")))
    first = (table / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (line,) = (one for one in first if '"metaData"' in one)
    action = json.loads(line)
    assert old in action["metaData"]["schemaString"]
    action["metaData"]["schemaString"] = action["metaData"]["schemaString"].replace(old, new)
    write_commit(table, version, json.dumps(action) + "\n")


@pytest.mark.parametrize(
    ("stored", "declared", "said", "reads"),
    [
        ("BIGINT", "integer", "1 data file holds id as bigint, from which nothing leads to int", False),
        ("INT", "string", "1 data file holds id as int, from which nothing leads to string", False),
        ("INT", "long", "1 data file holds id as int, and nothing records that it became bigint", True),
        ("TINYINT", "integer", "", True),
    ],
)
def test_a_schema_edited_by_hand_is_judged_as_spark_reads_it(
    lake: Lake,
    stored: str,
    declared: str,
    said: str,
    reads: bool,  # noqa: FBT001
) -> None:
    path = lake.table("t", f"CREATE TABLE {{t}} (id {stored}) USING delta", "INSERT INTO {t} VALUES (1)")
    names = {"BIGINT": "long", "INT": "integer", "TINYINT": "byte"}
    edit_schema(Path(path), f'"type":"{names[stored]}"', f'"type":"{declared}"')
    findings = lake.report(path, "--files", "--select", "TH011")["findings"]
    assert [one["message"].startswith(said) for one in findings] == ([True] if said else [])
    refused = lake.refused(f"SELECT sum(length(cast(id AS STRING))) FROM delta.`{path}`")
    assert (refused is None) == reads
    assert [one["delta_error"] for one in findings] == [refused] * len(findings)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_renamed_and_dropped_columns_are_followed_by_column_mapping(lake: Lake, mode: str) -> None:
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
    assert [message.partition(":")[0] for _code, message in lake.codes(path)] == [
        "1 of 1 data files still hold number as int",
        "1 of 1 data files still hold s.first as int",
    ]


def test_a_file_that_is_gone_is_told_here_and_by_executors(lake: Lake) -> None:
    path = lake.table(
        "t",
        "CREATE TABLE {t} (id INT) USING delta",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
    )
    first, second = sorted(Path(path).glob("*.parquet"))
    first.unlink()
    second.write_bytes(b"PAR1")
    here = lake.codes(path)
    assert [message.split(":")[0] for _code, message in here] == [
        "1 data file cannot be read, it is gone",
        "1 data file cannot be read, it is no Parquet file that can be read",
    ]
    assert lake.codes(path, "--via", "spark") == here


def test_deletion_vectors_clones_and_checkpoints_lead_to_the_live_files(lake: Lake) -> None:
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
        ((_code, message),) = lake.codes(table)
        assert message.startswith("1 of 2 data files still hold id as int: ")
