"""What the guard and the parser of expressions say in a session, also in a process with Spark Connect alone.

``python -m support.guard_client REMOTE PATH`` prints it as JSON: the process has no JVM.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemalint.delta.datatype import INTEGER, STRING, Field, Struct
from schemalint.guard import WriteRefused, check_sql, check_write, guard
from schemalint.spark.session_questions import ExpressionParser
from support.guard_tables import packed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MERGE = {"mergeSchema": "true"}
_AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"

STATEMENTS = (
    "INSERT INTO sales.orders SELECT 1L, 2, 'a'",
    "INSERT INTO sales.orders SELECT 1L, 2",
    "INSERT INTO sales.orders SELECT 1L, 2, nothing",
    "INSERT INTO sales.orders SELECT 1L, array(2), 'a'",
    "INSERT INTO sales.orders BY NAME SELECT 1L AS id, 2 AS c, 'a' AS s, 3 AS x",
    "INSERT INTO sales.orders DROP TABLE sales.orders",
    "MERGE INTO sales.orders t USING changes s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
    "MERGE INTO sales.orders t USING changes s ON t.id = s.id WHEN MATCHED THEN UPDATE SET c = s.x + 1",
    "MERGE INTO sales.orders t USING nowhere s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
)
EXPRESSIONS = ("id > 0", "upper(name)", "id > ", "customer > 0", "id + array(1)", "upper(name, 1)")


def row(session: Any, **more: str) -> Any:  # noqa: ANN401 (sessions of two kinds)
    """Return a DataFrame of one order; a keyword adds a column, or replaces one."""
    columns = {"id": "1L", "c": "2", "s": "'a'"} | more
    return session.range(1).selectExpr(*(f"{value} AS {name}" for name, value in columns.items()))


def answers(session: Any, path: Path) -> dict[str, str]:  # noqa: ANN401 (as above)
    """Return what is said of writes into ``sales.orders`` at the path, and of expressions."""
    return dict((*_of_dataframes(session, path), *_of_statements(session, path), *_of_expressions(session)))


def _of_dataframes(session: Any, path: Path) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (as above)
    contracts: Mapping[str, Any] = packed(path)
    wider, table = row(session, x="3"), "sales.orders"
    yield "another column", str(check_write(wider, table, contracts=contracts, options=MERGE))
    opened = packed(path, columns=True)
    yield "which is allowed", str(check_write(wider, table, contracts=opened, options=MERGE))
    unlocated: Any = packed(path)
    unlocated["tables"][0]["location"] = None
    yield "by the session", str(check_write(wider, table, contracts=unlocated, options=MERGE))
    texts = row(session, c="'2'")
    yield "a cast", str(check_write(texts, table, contracts=contracts, method="insertInto"))
    overwrite = {"overwriteSchema": "true"}
    replaced = check_write(row(session), table, contracts=contracts, save_mode="overwrite", options=overwrite)
    yield "an overwrite", str(replaced)
    source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    stream = source.selectExpr("1L AS id", "2 AS c", "'a' AS s", "3 AS x")
    yield "a stream", str(check_write(stream, table, contracts=contracts, options=MERGE))
    session.conf.set(_AUTO_MERGE, "true")
    yield "a setting", str(check_write(wider, table, contracts=contracts))
    session.conf.unset(_AUTO_MERGE)
    try:
        guard(wider, table, contracts=contracts, options=MERGE)
    except WriteRefused as refused:
        yield "the guard", str(refused)
    session.conf.set("spark.schemalint.guard", "warn")
    yield "the switch", str(guard(wider, table, contracts=contracts, options=MERGE))
    session.conf.unset("spark.schemalint.guard")


def _of_statements(session: Any, path: Path) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (as above)
    row(session, x="3").createOrReplaceTempView("changes")
    for statement in STATEMENTS:
        yield statement, str(check_sql(session, statement, contracts=packed(path)))


def _of_expressions(session: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (as above)
    ask = ExpressionParser(session)
    columns = Struct((Field("id", INTEGER), Field("name", STRING)))
    for text in EXPRESSIONS:
        yield text, str(ask(columns, text))


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    remote, table_path = sys.argv[1:]
    connected = SparkSession.builder.remote(remote).getOrCreate()
    said = answers(connected, Path(table_path))
    data = row(connected, x="nothing")  # which a client of Connect analyzes late
    said["no such column"] = str(check_write(data, "sales.orders", contracts=packed(Path(table_path))))
    print(json.dumps(said))  # noqa: T201 (the answer)
