"""Ask the engine of a running Spark session what schemalint wants to know of it.

A notebook of Databricks (classic or serverless) or Fabric runs this file as one cell; it needs nothing but
the session. Set the three values below first. All tables are made in a schema of their own, which must not
exist, and is dropped at the end. The answers are lines of JSON; `make engine ANSWERS=FILE` makes records of
them.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

ENGINE = "databricks 16.4"
SCHEMA = "schemalint_questions"
ANSWERS = "/tmp/schemalint_answers.jsonl"  # noqa: S108 (whoever runs it sets another)

QUESTIONS: list[dict[str, Any]] = []


def ask(spark: Any, questions: list[dict[str, Any]], schema: str) -> list[dict[str, Any]]:  # noqa: ANN401
    """Return the answers; questions about a table that the engine does not make have none.

    Each question is about a table: ``make`` has the statements that make it, and each of ``asks`` has those
    to ask, with what to look at afterwards if the engine carries them out.
    """
    answers = []
    spark.sql(f"CREATE SCHEMA {schema}")
    try:
        for number, of_table in enumerate(questions):
            table = f"{schema}.t{number}"
            if any(refusal(spark, statement, table) for statement in of_table["make"]):
                continue
            for question in of_table["asks"]:
                refused = (refusal(spark, statement, table) for statement in question["statements"])
                error = next(filter(None, refused), None)
                answer = {"error": error} if error else look(spark, table, question["column"])
                answers.append({"part": question["part"], "key": question["key"], **answer})
            refusal(spark, "DROP TABLE IF EXISTS {table}", table)
    finally:
        spark.sql(f"DROP SCHEMA {schema} CASCADE")
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


def run(spark: Any) -> None:  # noqa: ANN401
    """Ask everything, and write the answers."""
    head = {"engine": ENGINE, "spark": spark.version, "asked": time.strftime("%Y-%m-%d", time.gmtime())}
    with open(ANSWERS, "w", encoding="utf-8") as file:  # noqa: PTH123 (as simple as a notebook)
        file.writelines(json.dumps(line) + "\n" for line in (head, *ask(spark, QUESTIONS, SCHEMA)))
