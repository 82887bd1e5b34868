"""What the guard reads of a statement, without Spark."""

from __future__ import annotations

from typing import Final

import pytest

from schemalint.base.values import replace
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
    "INSERT INTO t PARTITION (a = 1, `b` = 'x', c) SELECT 1": SqlWrite(
        "t", "SELECT 1", Method.INSERT, static=("a", "b")
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


NAMED: Final = SqlWrite("t", "u", Method.MERGE, keeps_rest=True)
CLAUSES = {
    "UPDATE SET a = 'INSERT *'": replace(
        NAMED, source="SELECT 'INSERT *' AS `a` FROM t CROSS JOIN u", assigned=("a",)
    ),
    "UPDATE SET t.a = CASE WHEN t.a > 1 THEN u.b ELSE f(1, 2) END, `b,c` = u.c": replace(
        NAMED,
        source="SELECT CASE WHEN t.a > 1 THEN u.b ELSE f(1, 2) END AS `a`, u.c AS `b,c` FROM t CROSS JOIN u",
        assigned=("a", "b,c"),
    ),
    "UPDATE SET a = DEFAULT, b = 1": replace(
        NAMED, source="SELECT 1 AS `b` FROM t CROSS JOIN u", assigned=("b",)
    ),
    "INSERT (a, b) VALUES (u.a, default)": replace(
        NAMED, source="SELECT u.a AS `a` FROM u", assigned=("a",), keeps_rest=False
    ),
    "DELETE": replace(NAMED, assigned=()),
}


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_clause_of_a_merge_is_read(clause: str) -> None:
    merge = "MERGE INTO t USING u ON t.id = CASE WHEN t.a = 1 THEN u.id END WHEN MATCHED AND t.a = 1 THEN"
    assert parsed_statement(f"{merge} {clause}") == (CLAUSES[clause],)


def test_each_clause_of_a_merge_is_a_write_and_stars_are_one() -> None:
    merge = (
        f"MERGE INTO lake.t AS a USING (SELECT 1 AS id) b ON a.id = b.id {MERGE} "
        "WHEN NOT MATCHED BY SOURCE AND a.c = 1 THEN UPDATE SET a.c = 2"
    )
    star = SqlWrite("lake.t", "SELECT 1 AS id", Method.MERGE)
    query = "SELECT 2 AS `c` FROM lake.t AS a CROSS JOIN (SELECT 1 AS id) b"
    assert parsed_statement(merge) == (star, replace(star, source=query, assigned=("c",), keeps_rest=True))


@pytest.mark.parametrize("statement", READ)
def test_a_statement_is_read(statement: str) -> None:
    assert parsed_statement(statement) == (READ[statement],)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "DELETE FROM t",
        "UPDATE t SET a = 1",
        "CREATE OR REPLACE TABLE t AS SELECT 1",
        "WITH v AS (SELECT 1) INSERT INTO t SELECT * FROM v",
        "INSERT INTO t PARTITION (a > 1) SELECT 1",
        "INSERT INTO t DROP TABLE u",
        "INSERT INTO t",
        "INSERT INTO t (a b) SELECT 1",
        "INSERT INTO t (a",
        "INSERT INTO 'text' SELECT 1",
        "MERGE INTO t USING u ON t.id = u.id",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET t.s.a = 1",
        "MERGE INTO t AS x USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET t.a = 1",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET a",
        "MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)",
        "MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT a VALUES (1)",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DO NOTHING",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE OR NOT",
        "MERGE INTO t",
        "FROM u INSERT INTO t SELECT 1",
    ],
)
def test_other_statements_are_not_guessed_at(statement: str) -> None:
    with pytest.raises(NotSeen):
        parsed_statement(statement)
