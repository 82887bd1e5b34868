"""What the guard reads of a statement, without Spark."""

from __future__ import annotations

import pytest

from schemalint.delta.writes import Method, Mode
from schemalint.guard.session import NotSeen
from schemalint.guard.sql import SqlWrite, parsed_statement

MERGE = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

READ = {
    "INSERT INTO sales.orders SELECT 1": SqlWrite("sales.orders", "SELECT 1", Method.INSERT),
    "insert into table t values (1, 'a;b');": SqlWrite("t", "values (1, 'a;b')", Method.INSERT),
    "INSERT OVERWRITE t TABLE u": SqlWrite("t", "TABLE u", Method.INSERT, Mode.OVERWRITE),
    "INSERT INTO t (SELECT 1)": SqlWrite("t", "(SELECT 1)", Method.INSERT),
    "INSERT INTO t BY NAME SELECT 1 AS a": SqlWrite("t", "SELECT 1 AS a", Method.INSERT_BY_NAME),
    "INSERT INTO t (a, `b,c`) VALUES (1, 2)": SqlWrite(
        "t", "VALUES (1, 2)", Method.INSERT_BY_NAME, columns=("a", "b,c")
    ),
    "INSERT WITH SCHEMA EVOLUTION INTO t SELECT 1": SqlWrite("t", "SELECT 1", Method.INSERT, evolves=True),
    "INSERT INTO t REPLACE WHERE a = 'select' SELECT 1": SqlWrite(
        "t", "SELECT 1", Method.INSERT, Mode.OVERWRITE, options={"replacewhere": "a = 'select'"}
    ),
    "INSERT INTO delta.`/lake/my orders` SELECT 1": SqlWrite("/lake/my orders", "SELECT 1", Method.INSERT),
    "/* by night */ INSERT INTO t -- all\nSELECT 1": SqlWrite("t", "SELECT 1", Method.INSERT),
    f"MERGE INTO t USING u ON t.id = u.id {MERGE}": SqlWrite("t", "u", Method.MERGE),
    f"MERGE INTO t AS a USING `my lake`.u b ON a.id = b.id {MERGE}": SqlWrite(
        "t", "`my lake`.u", Method.MERGE
    ),
    f"MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT (1) AS id) s ON t.id = s.id {MERGE}": SqlWrite(
        "t", "SELECT (1) AS id", Method.MERGE, evolves=True
    ),
}


@pytest.mark.parametrize("statement", READ)
def test_a_statement_is_read(statement: str) -> None:
    assert parsed_statement(statement) == READ[statement]


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "DELETE FROM t",
        "UPDATE t SET a = 1",
        "CREATE OR REPLACE TABLE t AS SELECT 1",
        "WITH v AS (SELECT 1) INSERT INTO t SELECT * FROM v",
        "INSERT INTO t PARTITION (a = 1) SELECT 1",
        "INSERT INTO t DROP TABLE u",
        "INSERT INTO t",
        "INSERT INTO t (a b) SELECT 1",
        "INSERT INTO t (a",
        "INSERT INTO 'text' SELECT 1",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET a = 'INSERT *'",
        "MERGE INTO t",
        "FROM u INSERT INTO t SELECT 1",
    ],
)
def test_other_statements_are_not_guessed_at(statement: str) -> None:
    with pytest.raises(NotSeen):
        parsed_statement(statement)
