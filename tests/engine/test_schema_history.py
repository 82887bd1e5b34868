"""A commit that misfits older files is a finding exactly if Spark then reads them wrongly, or may.

Each faulty commit is appended by hand to a table that Spark wrote; its lawful twins are statements of Spark.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from schemalint.tables.storage import read_table
from support.judging import judge_table
from support.rule_judging import built_in
from support.sampling import some_of_each

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

RULES = tuple(built_in().values())
OF_HISTORY = ("TH001", "TH002", "TH013", "TH014", "CM012", "CM013", "CM014", "CM017")
FAILS = "fails"

ID, NAME = "delta.columnMapping.id", "delta.columnMapping.physicalName"
MODE, MAX_ID = "delta.columnMapping.mode", "delta.columnMapping.maxColumnId"

PLAIN = ("CREATE TABLE {t} (a INT, b INT) USING delta", "INSERT INTO {t} VALUES (1, 2)")
BY_NAME = (PLAIN[0] + f" TBLPROPERTIES ('{MODE}' = 'name')", PLAIN[1])
BY_ID = (PLAIN[0] + f" TBLPROPERTIES ('{MODE}' = 'id')", PLAIN[1])
UPGRADED = (*PLAIN, f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'name')")
PARTITIONED = (PLAIN[0] + " PARTITIONED BY (b)", PLAIN[1])
DROP = "ALTER TABLE {t} DROP COLUMN b"
NAME_OF_B = "{the first physical name of b}"

Metadata = dict[str, Any]


class Case(NamedTuple):
    """Statements, an edit of the metadata by hand, what ``SELECT *`` then returns, and the findings."""

    statements: Sequence[str]
    edit: Callable[[Metadata, list[Metadata]], object] | None
    rows: list[tuple[object, ...]] | str
    codes: tuple[str, ...] = ()
    then: Sequence[str] = ()


def configured(key: str, value: str) -> Callable[[Metadata, list[Metadata]], object]:
    return lambda metadata, _fields: metadata["configuration"].update({key: value})


def second(**changes: object) -> Callable[[Metadata, list[Metadata]], object]:
    return lambda _metadata, fields: fields[1].update(changes)


def mapped(key: str, value: object) -> Callable[[Metadata, list[Metadata]], object]:
    return lambda _metadata, fields: fields[1]["metadata"].update({key: value})


def partitioned(*columns: str) -> Callable[[Metadata, list[Metadata]], object]:
    return lambda metadata, _fields: metadata.update(partitionColumns=list(columns))


def added(column_id: int, stored: str = "col-c") -> Callable[[Metadata, list[Metadata]], object]:
    column = {"name": "c", "type": "integer", "nullable": True, "metadata": {ID: column_id, NAME: stored}}

    def edit(metadata: Metadata, fields: list[Metadata]) -> None:
        fields.append(column)
        highest = max(column_id, int(metadata["configuration"][MAX_ID]))
        metadata["configuration"][MAX_ID] = str(highest)

    return edit


def turned_off(metadata: Metadata, fields: list[Metadata]) -> None:
    metadata["configuration"].pop(MODE)
    for field in fields:
        field["metadata"] = {}


def by_id_too_late(metadata: Metadata, fields: list[Metadata]) -> None:
    metadata["configuration"].update({MODE: "id", MAX_ID: "2"})
    for number, field in enumerate(fields, 1):
        field["metadata"] = {ID: number, NAME: field["name"]}


FAULTY: Final = {
    "column gone": Case(PLAIN, lambda _, fields: fields.pop(), [(1,)], ("CM012 error",)),
    "column renamed": Case(PLAIN, second(name="c"), [(1, None)], ("CM012 error",)),
    "another physical name": Case(BY_NAME, mapped(NAME, "x"), [(1, None)], ("CM013 error",)),
    "another id": Case(
        BY_ID,
        lambda metadata, fields: (mapped(ID, 7)(metadata, fields), configured(MAX_ID, "7")(metadata, fields)),
        [(1, None)],
        ("CM013 error",),
    ),
    "mapping off": Case(BY_NAME, turned_off, [(None, None)], ("CM013 error",)),
    "ids that files lack": Case(UPGRADED, configured(MODE, "id"), FAILS, ("CM013 error",)),
    "ids at once": Case(PLAIN, by_id_too_late, FAILS, ("CM013 error",)),
    "from name to id": Case(BY_NAME, configured(MODE, "id"), [(1, 2)], ("CM013 warning",)),
    "from id to name": Case(BY_ID, configured(MODE, "name"), [(1, 2)], ("CM013 warning",)),
    "id reused": Case((*BY_ID, DROP), added(2), [(1, 2)], ("CM014 error",)),
    "id reused by name": Case((*BY_NAME, DROP), added(2), [(1, None)], ("CM014 warning",)),
    "highest id lowered": Case(
        (*BY_ID, DROP),
        configured(MAX_ID, "1"),
        [(1, 2)],
        ("CM014 error", "CM014 warning"),
        ("ALTER TABLE {t} ADD COLUMN c INT",),
    ),
    "physical name reused": Case((*BY_NAME, DROP), added(3, NAME_OF_B), [(1, 2)], ("CM017 error",)),
    "physical name reused by id": Case((*BY_ID, DROP), added(3, NAME_OF_B), [(1, None)], ("CM017 error",)),
    "physical name reused, and no file": Case(
        (*BY_NAME, DROP, "INSERT OVERWRITE {t} VALUES (5)"), added(3, NAME_OF_B), [(5, None)]
    ),
    "partitioned": Case(PLAIN, partitioned("b"), [(1, None)], ("TH013 error",)),
    "unpartitioned": Case(PARTITIONED, partitioned(), [(1, 2)], ("TH013 warning",)),
    "not null": Case(
        (PLAIN[0], "INSERT INTO {t} VALUES (1, NULL)"), second(nullable=False), [(1, 0)], ("TH014 warning",)
    ),
    "undone": Case(PLAIN, second(name="c"), [(1, 2)], (), ("RESTORE TABLE {t} TO VERSION AS OF 1",)),
    "overwritten": Case(PLAIN, second(name="c"), [(3, 4)], (), ("INSERT OVERWRITE {t} VALUES (3, 4)",)),
    "no files": Case(PLAIN[:1], second(name="c"), [(3, 4)], (), ("INSERT INTO {t} VALUES (3, 4)",)),
    "another case": Case(PLAIN, second(name="B"), [(1, 2)]),
    "another order": Case(
        (
            PLAIN[0].replace("b INT", "b INT, c INT") + " PARTITIONED BY (a, b)",
            "INSERT INTO {t} VALUES (1, 2, 3)",
        ),
        partitioned("b", "a"),
        [(1, 2, 3)],
    ),
}

LAWFUL: Final = {
    "replaced": (*PLAIN, "CREATE OR REPLACE TABLE {t} USING delta PARTITIONED BY (d) AS SELECT 1 c, 2 d"),
    "replaced with mapping": (*BY_ID, DROP, "CREATE OR REPLACE TABLE {t} USING delta AS SELECT 1 x, 2 y",
                              "ALTER TABLE {t} ADD COLUMN z INT"),
    "restored": (*BY_NAME, DROP, "ALTER TABLE {t} ADD COLUMN c INT", "INSERT INTO {t} VALUES (3, 4)",
                 "RESTORE TABLE {t} TO VERSION AS OF 1", "ALTER TABLE {t} ADD COLUMN d INT"),
    "restored without mapping": (*PLAIN, "ALTER TABLE {t} ADD COLUMN c INT",
                                 "INSERT INTO {t} VALUES (3, 4, 5)", "RESTORE TABLE {t} TO VERSION AS OF 1"),
    "mapping on and off": (*UPGRADED, "ALTER TABLE {t} RENAME COLUMN b TO c",
                           f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'none')"),
    "dropped and renamed": (*UPGRADED, DROP, "ALTER TABLE {t} ADD COLUMN b INT",
                            "ALTER TABLE {t} RENAME COLUMN a TO z"),
    "nullable": ("CREATE TABLE {t} (a INT NOT NULL) USING delta", "INSERT INTO {t} VALUES (1)",
                 "ALTER TABLE {t} ALTER COLUMN a DROP NOT NULL"),
    "partition column renamed": (*PARTITIONED, UPGRADED[-1], "ALTER TABLE {t} RENAME COLUMN b TO day"),
}  # fmt: skip


@pytest.mark.spark
def test_a_finding_of_the_history_says_what_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    answers = {}
    asked = dict(some_of_each(FAULTY.items(), lambda named: bool(named[1].codes), 4))
    for name, case in asked.items():
        table = tmp_path / name.replace(" ", "-")
        run(spark, table, case.statements)
        if case.edit:
            edit_by_hand(table, case.edit)
        run(spark, table, case.then)
        answers[name] = (selected(spark, table), codes(table))
    assert answers == {name: (case.rows, case.codes) for name, case in asked.items()}


@pytest.mark.spark
def test_spark_skips_files_by_the_statistics_of_a_dropped_column(spark: SparkSession, tmp_path: Path) -> None:
    """Though it reads NULL from them: the physical name has another id."""
    case, reused = FAULTY["physical name reused by id"], tmp_path / "table"
    run(spark, reused, case.statements)
    assert case.edit is not None
    edit_by_hand(reused, case.edit)
    assert spark.sql(f"SELECT * FROM delta.`{reused}` WHERE c IS NULL").collect() == []


@pytest.mark.spark
def test_statements_of_spark_give_no_finding(spark: SparkSession, tmp_path: Path) -> None:
    """Also an overwrite with overwriteSchema, which only the writer of DataFrames has."""
    for name, statements in some_of_each(LAWFUL.items(), lambda _: None, 3):
        run(spark, tmp_path / name.replace(" ", "-"), statements)
    run(spark, tmp_path / "overwritten", PLAIN)
    other = spark.sql("SELECT 1 AS c, 'x' AS d").write.format("delta").mode("overwrite")
    other.option("overwriteSchema", "true").partitionBy("d").save(str(tmp_path / "overwritten"))
    assert {folder.name: codes(folder) for folder in tmp_path.iterdir() if codes(folder)} == {}


def run(spark: SparkSession, table: Path, statements: Sequence[str]) -> None:
    for statement in statements:
        spark.sql(statement.replace("{t}", f"delta.`{table}`")).collect()


def selected(spark: SparkSession, table: Path) -> list[tuple[object, ...]] | str:
    try:
        return [tuple(row) for row in spark.sql(f"SELECT * FROM delta.`{table}`").collect()]
    except Exception:  # noqa: BLE001 (of py4j or of pyspark)
        return FAILS


def codes(table: Path) -> tuple[str, ...]:
    findings = judge_table(read_table(str(table)), RULES)
    return tuple(
        sorted(
            f"{finding.code} {finding.severity.label}" for finding in findings if finding.code in OF_HISTORY
        )
    )


def edit_by_hand(table: Path, edit: Callable[[Metadata, list[Metadata]], object]) -> None:
    """Append a commit with an edited ``metaData``, and the protocol that column mapping needs."""
    commits = sorted((table / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for commit in commits for line in commit.read_text().splitlines()]
    metadata: Metadata = [action["metaData"] for action in actions if "metaData" in action][-1]
    schema = json.loads(metadata["schemaString"])
    edit(metadata, schema["fields"])
    first: Metadata = next(action["metaData"] for action in actions if "metaData" in action)
    stored = json.loads(first["schemaString"])["fields"][-1]["metadata"].get(NAME, "")
    metadata["schemaString"] = json.dumps(schema).replace(NAME_OF_B, stored)
    protocol = [action["protocol"] for action in actions if "protocol" in action][-1]
    if protocol["minReaderVersion"] == 1:
        protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    info = {"timestamp": 1_800_000_000_000, "operation": "SET TBLPROPERTIES", "userName": "anna"}
    lines = [{"commitInfo": info}, {"protocol": protocol}, {"metaData": metadata}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (table / "_delta_log" / f"{len(commits):020}.json").write_text(text)
