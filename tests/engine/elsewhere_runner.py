"""Ask the engine of a running Spark session what schemalint wants to know of it.

A notebook of Databricks (classic or serverless) or Fabric runs this file as one cell; it needs nothing but
the session. Set the three values below first. All tables are made in a schema of their own, which must not
exist, and is dropped at the end. The answers are lines of JSON, one for each table; `make engine
ANSWERS=FILE` makes records of them. Run the cell again if it was interrupted: it goes on where the file
ends, so keep that where it survives the session, such as in a volume.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

ENGINE = "databricks 16.4"
SCHEMA = "schemalint_questions"
ANSWERS = "/tmp/schemalint_answers.jsonl"  # noqa: S108 (whoever runs it sets another)

QUESTIONS: list[dict[str, Any]] = []
TABLES_AT_ONCE = 24
THREADS = 8  # most of the time a statement waits, on a cluster


def run(spark: Any) -> None:  # noqa: ANN401
    """Ask what the answers file does not answer yet, and write that after every few tables."""
    asked = {"engine": ENGINE, "spark": spark.version, "schema": SCHEMA, "questions": digest()}
    lines = read(ANSWERS)
    if not lines:
        spark.sql(f"CREATE SCHEMA {SCHEMA}")
        lines = [{**asked, "asked": time.strftime("%Y-%m-%d", time.gmtime())}]
        write(ANSWERS, lines)
    elif any(lines[0].get(key) != value for key, value in asked.items()):
        raise ValueError(f"{ANSWERS} has answers of another engine or to other questions: {lines[0]}")
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")  # some catalogs end with their session
    done = len(lines) - 1
    for start in range(done, len(QUESTIONS), TABLES_AT_ONCE):
        tables = range(start, min(start + TABLES_AT_ONCE, len(QUESTIONS)))
        with ThreadPoolExecutor(THREADS) as pool:
            answers = [*pool.map(lambda number: ask(spark, QUESTIONS[number], f"{SCHEMA}.t{number}"), tables)]
        # A session that has ended refuses everything: then this raises, and these answers are forgotten.
        spark.sql("SELECT 1").collect()
        lines += ({"table": number, "answers": each} for number, each in zip(tables, answers, strict=True))
        write(ANSWERS, lines)
        print(f"{len(lines) - 1} of {len(QUESTIONS)} tables")  # noqa: T201 (what the cell shows)
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


def read(path: str) -> list[dict[str, Any]]:
    """Return the lines of an answers file; none if there is no file."""
    if not os.path.exists(path):  # noqa: PTH110 (as simple as a notebook)
        return []
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return [json.loads(line) for line in file]


def write(path: str, lines: list[dict[str, Any]]) -> None:
    """Replace the answers file: a volume lets no file be appended to, and no run may end within a line."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.writelines(json.dumps(line) + "\n" for line in lines)
    os.replace(f"{path}.new", path)  # noqa: PTH105


def digest() -> str:
    """Return what tells these questions from those of another script."""
    return hashlib.sha256(json.dumps(QUESTIONS).encode()).hexdigest()[:16]


def ask(spark: Any, of_table: dict[str, Any], table: str) -> list[dict[str, Any]]:  # noqa: ANN401
    """Return the answers about a table; if the engine does not make it, there are none.

    ``make`` has the statements that make the table, and each of ``asks`` has those to ask, with what to look
    at afterwards if the engine carries them out.
    """
    answers = []
    refusal(spark, "DROP TABLE IF EXISTS {table}", table)  # an interrupted run may have left it
    if any(refusal(spark, statement, table) for statement in of_table["make"]):
        return []
    for question in of_table["asks"]:
        refused = (refusal(spark, statement, table) for statement in question["statements"])
        error = next(filter(None, refused), None)
        answer = {"error": error} if error else look(spark, table, question["column"])
        answers.append({"part": question["part"], "key": question["key"], **answer})
    refusal(spark, "DROP TABLE IF EXISTS {table}", table)
    return answers


def look(spark: Any, table: str, column: str | None) -> dict[str, Any]:  # noqa: ANN401
    """Return the type of a column, or without one the protocol of the table."""
    if column is not None:
        rows = spark.sql(f"DESCRIBE TABLE {table}").collect()
        found = next(row["data_type"] for row in rows if row["col_name"] == column)
        if found != "string":
            return {"type": found}
        # Delta stores char and varchar as strings, and DESCRIBE says so (measured on Delta 4.4.0).
        metadata = spark.table(table).schema[column].metadata
        return {"type": metadata.get("__CHAR_VARCHAR_TYPE_STRING", found)}
    row = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0].asDict()
    return {
        "reader": row["minReaderVersion"],
        "writer": row["minWriterVersion"],
        "features": row["tableFeatures"],
    }


def refusal(spark: Any, statement: str, table: str) -> str | None:  # noqa: ANN401
    """Run a statement, and return the error class if the engine refuses it; without one its first line."""
    try:
        spark.sql(statement.replace("{table}", table)).collect()
    except Exception as error:  # noqa: BLE001 (py4j, pyspark and Connect raise several)
        condition = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
        text = str(error)
        found = re.search(r"\[([A-Z][A-Z0-9_.]+)\]", text)
        return str((condition and condition()) or (found and found[1]) or text.partition("\n")[0])
    return None
