"""Let one Delta write tables, and another one read, fill and alter them; record what it answers.

``python -m engine.record_lake write FOLDER`` writes them with the Delta of that Python, and
``python -m engine.record_lake ask FOLDER`` asks the Delta of another Python.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.answers import new_record, record_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ACCEPTED: Final = "accepted"
_ROWS: Final = "INSERT INTO {table} VALUES (1)"
_WIDENING: Final = "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
LAKE: Final = {
    "plain": ["CREATE TABLE {table} (id INT) USING delta", _ROWS],
    "widened": [
        f"CREATE TABLE {{table}} (id INT) USING delta {_WIDENING}",
        _ROWS,
        "ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT",
    ],
    "widened_small": [
        f"CREATE TABLE {{table}} (id TINYINT) USING delta {_WIDENING}",
        _ROWS,
        "ALTER TABLE {table} ALTER COLUMN id TYPE INT",
    ],
    "widened_nested": [
        f"CREATE TABLE {{table}} (id INT, a ARRAY<INT>) USING delta {_WIDENING}",
        "INSERT INTO {table} VALUES (1, array(1))",
        "ALTER TABLE {table} ALTER COLUMN a.element TYPE BIGINT",
    ],
    "widening_on": [f"CREATE TABLE {{table}} (id INT) USING delta {_WIDENING}", _ROWS],
    "variant": [
        "CREATE TABLE {table} (id INT, v VARIANT) USING delta",
        "INSERT INTO {table} SELECT 1, parse_json('1')",
    ],
    "props": [
        (
            "CREATE TABLE {table} (id INT) USING delta "
            "TBLPROPERTIES ('delta.parquet.format.version' = '2.12.0', "
            "'delta.dataSkippingStringPrefixLength' = '10', 'delta.writePartitionColumnsToParquet' = 'true')"
        ),
        _ROWS,
    ],
    "generated": [
        "CREATE TABLE {table} (id INT, g INT GENERATED ALWAYS AS (id * 2)) USING delta",
        "INSERT INTO {table} (id) VALUES (1)",
    ],
    "identity": [
        "CREATE TABLE {table} (id INT, k BIGINT GENERATED ALWAYS AS IDENTITY) USING delta",
        "INSERT INTO {table} (id) VALUES (1)",
    ],
    "rowtracking": [
        (
            "CREATE TABLE {table} (id INT) USING delta CLUSTER BY (id) "
            "TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
        ),
        _ROWS,
    ],
    "dropped": [
        "CREATE TABLE {table} (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        _ROWS,
        "ALTER TABLE {table} DROP FEATURE deletionVectors",
    ],
    "shredding": [
        "CREATE TABLE {table} (id INT) USING delta TBLPROPERTIES ('delta.enableVariantShredding' = 'true')",
        _ROWS,
    ],
    "matpart": [
        (
            "CREATE TABLE {table} (id INT, d DATE) USING delta PARTITIONED BY (d) "
            "TBLPROPERTIES ('delta.feature.materializePartitionColumns' = 'supported')"
        ),
        "INSERT INTO {table} VALUES (1, current_date())",
    ],
    "voidwas": [
        "CREATE TABLE {table} (id INT, v VOID) USING delta",
        "INSERT INTO {table} VALUES (1, NULL)",
        "ALTER TABLE {table} ALTER COLUMN v TYPE INT",
    ],
    "ntz": [
        "CREATE TABLE {table} (id INT, n TIMESTAMP_NTZ) USING delta",
        "INSERT INTO {table} VALUES (1, TIMESTAMP_NTZ'2020-01-01')",
    ],
}
"""The statements that make each table."""

QUESTIONS: Final = {
    "read": "SELECT * FROM {table}",
    "append": "INSERT INTO {table} SELECT * FROM {table}",
    "delete": "DELETE FROM {table} WHERE id > 100",
    "rewrite": "UPDATE {table} SET id = 2",
    "prop": "ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'x')",
    "addcol": "ALTER TABLE {table} ADD COLUMNS (z INT)",
    "comment": "ALTER TABLE {table} ALTER COLUMN id COMMENT 'x'",
}
_COMPUTED: Final = ("generated", "identity")


def write(spark: SparkSession, folder: Path) -> None:
    """Write the tables."""
    for name, statements in LAKE.items():
        for statement in statements:
            spark.sql(statement.format(table=f"delta.`{folder / name}`"))


def ask(spark: SparkSession, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield table, statement and answer; the statements run on a copy."""
    shutil.copytree(folder, copy := folder.with_name(f"{folder.name}-copy"))
    for name in LAKE:
        for question, statement in QUESTIONS.items():
            is_computed = question == "append" and name in _COMPUTED
            asked = "INSERT INTO {table} (id) SELECT 5" if is_computed else statement
            try:
                spark.sql(asked.format(table=f"delta.`{copy / name}`")).collect()
            except Exception as error:  # noqa: BLE001 (py4j and pyspark raise several)
                yield name, question, _error_class(str(error))
            else:
                yield name, question, ACCEPTED


def read_record(version: str) -> dict[tuple[str, str], str]:
    """Return the recorded answers by table and statement."""
    with record_path("lake", version).open(encoding="utf-8", newline="") as file:
        return {(row["table"], row["statement"]): row["answer"] for row in csv.DictReader(file)}


def _error_class(message: str) -> str:
    found = re.search(r"\[([A-Z_.]+)\]", message)
    return found[1] if found else "no class"


def main() -> None:
    """Write or ask, as the arguments say."""
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    task, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    spark = start_session(folder.with_name(f"{folder.name}-warehouse"))
    if task == "write":
        write(spark, folder)
        return
    with new_record("lake").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["table", "statement", "answer"])
        rows.writerows(ask(spark, folder))


if __name__ == "__main__":
    main()
