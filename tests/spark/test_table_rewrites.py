"""Tables that are written anew from their own rows, in one commit."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import Mock

import pytest

from schemalint.base.values import frozen, replace
from schemalint.deploy.results import AppliedTable, Outcome
from schemalint.planner.rewrites import statements as rewrite_statements
from schemalint.spark.rewrites import rewrite
from support.faulty_sessions import Killed

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.spark.statements import SqlSession
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ALLOW: Final = ("rewrite", "destructive")
WITH: Final = 'rewrite: {from: string, with: "cast(amount as decimal(12,2))"}'
UPGRADE: Final = "protocol: {allow_upgrade: true}\n"


@frozen
class Shape:
    """A table that is rewritten.

    Attributes:
        more: What the contract says beside the columns.
        comment: What stands behind the type of the column in it.
        then: Statements about the table before the rewrite.
        commits: How many commits `apply` makes, without the marker.
    """

    more: str = ""
    comment: str = ""
    then: tuple[str, ...] = ()
    commits: int = 1


MAPPED: Final = "properties: {delta.columnMapping.mode: name}\n"
SHAPES: Final = {
    "plain": Shape(),
    "comments": Shape("description: all orders\n", ", comment: 'in euros, with tax'"),
    "partitioned": Shape("partitioned_by: [day, shop]\n"),
    "clustered": Shape("clustered_by: [shop]\n" + UPGRADE, commits=2),
    "mapped": Shape(MAPPED + UPGRADE, ", comment: money"),
    "mapped and partitioned": Shape(f"partitioned_by: [shop]\n{MAPPED}{UPGRADE}"),
    "change feed": Shape("properties: {delta.enableChangeDataFeed: true}\n" + UPGRADE),
    "deletion vectors": Shape(
        "properties: {delta.enableDeletionVectors: true}\n" + UPGRADE,
        then=("DELETE FROM {t} WHERE id = 3",),
    ),
    "row tracking": Shape("properties: {delta.enableRowTracking: true}\n" + UPGRADE),
    "constraints": Shape(
        "constraints: {known: id > 0, short: amount IS NULL OR length(amount) < 20}\n"
        f"properties: {{team: sales}}\n{UPGRADE}"
    ),
}
COLUMNS: Final = "{name: id, type: int, comment: number}, {name: shop, type: string}, {name: day, type: date}"
ROWS: Final = {
    1: ("1.50", "a", "2026-01-01"),
    2: (None, "a", None),
    3: ("-3", None, "2026-01-02"),
    4: (" 007.1 ", "b c", "2026-01-02"),
    5: ("9999999999.99", "a", "2026-01-01"),
}


def contract(shape: Shape, *, rewritten: bool = False, tail: str = "") -> str:
    """Return a contract of ``sales.orders``, whose column ``amount`` is text or a number."""
    type_ = f'"decimal(12,2)", {WITH.removesuffix("}")}{tail}}}' if rewritten else "string"
    amount = f"{{name: amount, type: {type_}{shape.comment}}}"
    return f"schemalint: 1\ntable: sales.orders\ncolumns: [{COLUMNS}, {amount}]\n{shape.more}"


def metadata(orders: Lakehouse) -> dict[str, Any]:
    """Return the newest metadata of the table as the log has it, without what Delta numbers."""
    found: dict[str, Any] = {}
    for file in sorted(Path(orders.uri, "_delta_log").glob("*.json")):
        for line in file.read_text().splitlines():
            found = json.loads(line).get("metaData", found)
    schema = json.loads(found["schemaString"])
    for field in schema["fields"]:
        if field["name"] == "amount":
            field["metadata"] = {
                key: value for key, value in field["metadata"].items() if "columnMapping" not in key
            }
    found["configuration"].pop("delta.columnMapping.maxColumnId", None)
    return {**found, "schemaString": schema}


def made(orders: Lakehouse, shape: Shape) -> None:
    """Create the table with its rows."""
    orders.declare(contract(shape))
    assert orders.apply(allow=["upgrade"]).outcome is Outcome.APPLIED
    rows = ", ".join(
        f"({id_}, {literal(shop)}, {literal(day)}, {literal(amount)})"
        for id_, (amount, shop, day) in ROWS.items()
    )
    orders.session.sql(
        f"INSERT INTO delta.`{orders.uri}` SELECT id, shop, CAST(day AS date), amount "
        f"FROM VALUES {rows} AS v(id, shop, day, amount)"
    )
    for statement in shape.then:
        orders.session.sql(statement.replace("{t}", f"delta.`{orders.uri}`"))


def literal(text: str | None) -> str:
    """Return a text in SQL."""
    return "NULL" if text is None else f"'{text}'"


def found_rows(orders: Lakehouse) -> dict[int, tuple[object, ...]]:
    """Return the rows by id."""
    return {
        int(str(row["id"])): (row["amount"], row["shop"], row["day"] and str(row["day"]))
        for row in orders.rows()
    }


def converted(gone: int | None = None) -> dict[int, tuple[object, ...]]:
    """Return the rows by id as they must be, computed without Spark."""
    return {
        id_: (None if amount is None else Decimal(amount.strip()).quantize(Decimal("0.01")), shop, day)
        for id_, (amount, shop, day) in ROWS.items()
        if id_ != gone
    }


@pytest.mark.each_time("plain")
@pytest.mark.parametrize("name", SHAPES)
def test_a_column_gets_another_type_and_nothing_else_changes(lakehouse: Lakehouse, name: str) -> None:
    shape = SHAPES[name]
    made(lakehouse, shape)
    before, version = metadata(lakehouse), lakehouse.table().version
    lakehouse.declare(contract(shape, rewritten=True))
    waiting = lakehouse.apply()
    assert waiting.outcome is Outcome.REWRITING, waiting.error
    assert lakehouse.table().version == version
    applied = lakehouse.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert [done.version for done in applied.done] == [version + n + 1 for n in range(shape.commits)]
    assert found_rows(lakehouse) == converted(3 if shape.then else None)
    after = metadata(lakehouse)
    fields = after["schemaString"]["fields"]
    (amount,) = (field for field in fields if field["name"] == "amount")
    assert amount["type"] == "decimal(12,2)"
    amount["type"] = "string"
    assert after == before
    assert lakehouse.apply(allow=ALLOW).outcome is Outcome.NOTHING


def test_a_value_that_does_not_convert_ends_it_without_a_commit(lakehouse: Lakehouse) -> None:
    shape = SHAPES["plain"]
    made(lakehouse, shape)
    lakehouse.session.sql(
        f"INSERT INTO delta.`{lakehouse.uri}` VALUES (6, 'a', NULL, 'n/a'), (7, 'a', NULL, '1.999')"
    )
    version = lakehouse.table().version
    lakehouse.declare(contract(shape, rewritten=True))
    samples = lakehouse.repo.path.parent / "samples.txt"
    failed = lakehouse.apply(allow=ALLOW, samples_to=samples)
    assert failed.outcome is Outcome.FAILED
    assert "of the values of amount 1 do not convert, 1 would become another value" in str(failed.error)
    assert "n/a" not in str(failed)
    assert samples.read_text() == "sales.orders: amount: some values that do not convert: 'n/a'\n"
    assert lakehouse.table().version == version
    for tail, left in (
        (", unfilled: keep_null", "1 would become another"),
        (", inexact: keep_converted", "1 do not"),
    ):
        lakehouse.declare(contract(shape, rewritten=True, tail=tail))
        assert f"of the values of amount {left}" in str(lakehouse.apply(allow=ALLOW).error)
    lakehouse.declare(contract(shape, rewritten=True, tail=", unfilled: keep_null, inexact: keep_converted"))
    assert lakehouse.apply(allow=ALLOW).outcome is Outcome.APPLIED
    expected = {6: (None, "a", None), 7: (Decimal("2.00"), "a", None)}
    assert found_rows(lakehouse) == {**converted(), **expected}


def test_a_value_that_does_not_convert_becomes_null_where_the_contract_says_so(lakehouse: Lakehouse) -> None:
    """It is no inexact value too."""
    made(lakehouse, SHAPES["plain"])
    lakehouse.insert("(6, 'a', NULL, 'n/a')")
    lakehouse.declare(contract(SHAPES["plain"], rewritten=True, tail=", unfilled: keep_null"))
    applied = lakehouse.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert found_rows(lakehouse) == {**converted(), 6: (None, "a", None)}


@pytest.fixture
def declared(lakehouse: Lakehouse) -> Lakehouse:
    """Return a plain table whose rewrite is declared."""
    made(lakehouse, SHAPES["plain"])
    lakehouse.declare(contract(SHAPES["plain"], rewritten=True))
    return lakehouse


@pytest.mark.each_time
def test_only_the_statement_decides_about_a_row_that_comes_after_the_count(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = rewrite.count_values

    def then_appended(*given: Any) -> str:  # noqa: ANN401
        text = count(*given)
        declared.insert("(6, 'a', NULL, 'n/a')")
        return text

    monkeypatch.setattr(rewrite, "count_values", then_appended)
    version = declared.table().version
    failed = declared.apply(allow=ALLOW)
    assert failed.outcome is Outcome.FAILED
    assert "nothing was rewritten: a value of amount does not convert" in str(failed.error)
    assert declared.table().version == version + 1
    assert "amount: string" not in str(failed.error)


def beside(session: SqlSession, between: Callable[[], None]) -> SqlSession:
    """Return a session in which something happens once, after the rows are planned and before the write."""
    left = [between]

    class Beside:
        conf = session.conf

        def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's)
            frame = session.sql(sqlQuery)
            if sqlQuery.startswith("-- apply") and left:
                left.pop()()
            return frame

    return Beside()


@pytest.mark.each_time
def test_a_row_that_comes_before_the_write_is_in_it(declared: Lakehouse) -> None:
    """With ``VERSION AS OF`` in the query it would be lost, without an error (measured on Delta 4.4.0)."""
    session = beside(declared.session, lambda: declared.insert("(6, 'a', NULL, '6')"))
    applied = declared.apply(session, allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert found_rows(declared) == {**converted(), 6: (Decimal("6.00"), "a", None)}


def during(lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, times: int, action: str) -> None:
    """Let another writer commit while a row of the rewrite is read, so many times."""
    statements = rewrite_statements.proved_value
    slow = "if(id = 1 AND reflect('java.lang.Thread', 'sleep', 5000L) <> 'null', NULL, {})"
    monkeypatch.setattr(rewrite_statements, "proved_value", lambda fill: slow.format(statements(fill)))
    overwrite, left = rewrite.overwrite, [*range(times)]

    def disturbed(*given: Any) -> None:  # noqa: ANN401
        if not left:
            overwrite(*given)
            return
        other = lakehouse.another_session()
        timer = Timer(2, lambda: other.sql(action.format(t=f"delta.`{lakehouse.uri}`", n=6 + left.pop())))
        timer.start()
        try:
            overwrite(*given)
        finally:
            timer.join()

    monkeypatch.setattr(rewrite, "overwrite", disturbed)


@pytest.mark.parametrize(
    "action",
    [
        "INSERT INTO {t} VALUES ({n}, 'a', NULL, '6')",
        "UPDATE {t} SET amount = '{n}' WHERE id = 1",
        "DELETE FROM {t} WHERE id = 1",
        "ALTER TABLE {t} SET TBLPROPERTIES ('team' = 'x{n}')",
        "OPTIMIZE {t}",
    ],
)
def test_a_commit_during_the_write_makes_it_fail_without_effect(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    declared.insert("(9, 'a', NULL, '9')")  # a second file, for OPTIMIZE
    during(declared, monkeypatch, 1, action)
    version = declared.table().version
    failed = declared.apply(allow=ALLOW)
    assert failed.outcome is Outcome.FAILED, failed
    assert "DELTA_" in str(failed.error)
    assert declared.table().version == version + 1
    assert {row["amount"] is None or isinstance(row["amount"], str) for row in declared.rows()} == {True}


def add_column(orders: Lakehouse) -> None:
    """Add a column, and a row with a value in it."""
    orders.sql("ADD COLUMNS (theirs int)")
    orders.insert("(6, 'a', NULL, '6', 7)")


def apply_and_add_column_after(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch, function: str
) -> AppliedTable:
    """Apply, while somebody adds a column right after a function of the rewrite has run."""
    known = getattr(rewrite, function)

    def then_added(*given: Any) -> Any:  # noqa: ANN401
        result = known(*given)
        add_column(declared)
        return result

    with monkeypatch.context() as patched:
        patched.setattr(rewrite, function, then_added)
        return declared.apply(allow=ALLOW)


def require_rewritten_with_their_column(declared: Lakehouse) -> None:
    assert {row["id"]: row["theirs"] for row in declared.rows()}[6] == 7
    applied = declared.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert {row["id"]: (row["amount"], row["theirs"]) for row in declared.rows()}[6] == (Decimal("6.00"), 7)


def test_a_column_that_comes_while_values_are_counted_ends_it_without_a_commit(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = apply_and_add_column_after(declared, monkeypatch, "count_values")
    assert "nothing was rewritten: it changed since it was planned: field added: theirs" in str(failed.error)
    require_rewritten_with_their_column(declared)


def test_a_column_that_comes_between_the_query_and_its_write_is_told_with_the_way_back(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delta writes the columns of the query, and finds no conflict (measured on Delta 4.0.1 and 4.4.0)."""
    failed = apply_and_add_column_after(declared, monkeypatch, "require_no_more_columns")
    version = declared.table().version
    restore = f"RESTORE TABLE delta.`{declared.uri}` TO VERSION AS OF {version - 1}"
    for told in (failed, declared.apply(allow=ALLOW)):
        assert told.outcome is Outcome.FAILED
        assert "changed what it must not: field removed: theirs" in str(told.error)
        assert restore in str(told.error)
    declared.session.sql(restore)
    require_rewritten_with_their_column(declared)


def test_it_is_written_again_as_often_as_the_user_says(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    during(declared, monkeypatch, 1, "INSERT INTO {t} VALUES ({n}, 'a', NULL, '6')")
    applied = declared.apply(allow=ALLOW, attempts=2)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert found_rows(declared) == {**converted(), 6: (Decimal("6.00"), "a", None)}


@pytest.mark.each_time
def test_a_run_that_is_killed_before_its_proof_leaves_the_proof_to_the_next(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(rewrite, "prove_rewrite", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            declared.apply(allow=ALLOW)
    proofs = Mock(wraps=rewrite.prove_rewrite)
    monkeypatch.setattr(rewrite, "prove_rewrite", proofs)
    assert declared.apply(allow=ALLOW).outcome is Outcome.RECORDED
    assert proofs.call_count == 1
    assert found_rows(declared) == converted()
    assert declared.apply(allow=ALLOW).outcome is Outcome.NOTHING
    assert proofs.call_count == 1


def test_a_run_that_is_killed_before_its_write_leaves_all_to_the_next(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(rewrite, "overwrite", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            declared.apply(allow=ALLOW)
    assert declared.apply(allow=ALLOW).outcome is Outcome.APPLIED
    assert found_rows(declared) == converted()


def test_a_difference_is_told_by_each_run_until_it_is_taken_back(
    declared: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is made to write another value: no value that it writes by itself is one."""
    version = declared.table().version
    with monkeypatch.context() as patched:
        overwrite = rewrite.overwrite
        patched.setattr(
            rewrite,
            "overwrite",
            lambda fills, step, *given: overwrite(
                fills, replace(step, sql=f"{step.sql.replace('`shop`', 'upper(`shop`) AS `shop`')}"), *given
            ),
        )
        failed = declared.apply(allow=ALLOW)
    restore = f"RESTORE TABLE delta.`{declared.uri}` TO VERSION AS OF {version}"
    for told in (failed, declared.apply(allow=ALLOW)):
        assert told.outcome is Outcome.FAILED
        assert f"the rewrite at version {version + 1} changed what it must not: the values of rows" in str(
            told.error
        )
        assert restore in str(told.error)
    assert declared.table().version == version + 1
    declared.session.sql(restore)
    assert declared.apply(allow=ALLOW).outcome is Outcome.APPLIED
    assert found_rows(declared) == converted()


def test_without_the_approval_all_other_steps_run(declared: Lakehouse) -> None:
    text = contract(SHAPES["plain"], rewritten=True).replace(
        "columns: [", "columns: [{name: note, type: string}, "
    )
    declared.declare(text)
    applied = declared.apply()
    assert applied.outcome is Outcome.REWRITING
    assert [done.step.kind.name for done in applied.done] == ["ADD_COLUMNS"]
    assert "--allow destructive --allow rewrite" in str(applied.error)
    assert declared.apply(allow=ALLOW).outcome is Outcome.APPLIED
    assert found_rows(declared) == converted()


NESTED: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: int}
  - name: s
    type: struct
    comment: the sums
    columns:
      - {name: amount, type: AMOUNT, comment: 'in euros'REWRITE}
      - {name: note, type: string, comment: free}
      - {name: more, type: struct, columns: [{name: x, type: int, comment: inside}]}
  - {name: l, type: LISTLISTED}
  - {name: m, type: "map<string,double>"}
"""


@pytest.mark.parametrize("is_mapped", [True, False], ids=str)
def test_a_field_and_an_array_get_another_type(lakehouse: Lakehouse, *, is_mapped: bool) -> None:
    text = NESTED + (f"{MAPPED}{UPGRADE}" if is_mapped else "")
    old = {"AMOUNT": "string", "REWRITE": "", "LISTED": "", "LIST": "array<string>"}
    new = {
        "AMOUNT": '"decimal(12,2)"',
        "REWRITE": ', rewrite: {from: string, with: "cast(s.amount as decimal(12,2))"}',
        "LISTED": ', rewrite: {from: array<string>, with: "cast(l as array<int>)"}',
        "LIST": "array<int>",
    }
    lakehouse.declare(filled(text, old))
    lakehouse.apply()
    lakehouse.insert(
        "(1, named_struct('amount', '1.5', 'note', 'a', 'more', named_struct('x', 1)), array('1', NULL), "
        "map('k', double('NaN'), 'z', -0.0D)), (2, NULL, NULL, NULL), "
        "(3, named_struct('amount', NULL, 'note', NULL, 'more', NULL), array(), map())"
    )
    lakehouse.declare(filled(text, new))
    applied = lakehouse.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    rows = {row.pop("id"): row for row in lakehouse.rows()}
    assert str(rows[1]["m"]) in {"{'k': nan, 'z': -0.0}", "{'z': -0.0, 'k': nan}"}
    assert rows[1]["s"] == {"amount": Decimal("1.50"), "note": "a", "more": {"x": 1}}
    assert rows[1]["l"] == [1, None]
    assert rows[2] == {"s": None, "l": None, "m": None}
    assert rows[3] == {"s": {"amount": None, "note": None, "more": None}, "l": [], "m": {}}
    struct = metadata(lakehouse)["schemaString"]["fields"][1]
    assert struct["metadata"]["comment"] == "the sums"
    amount, note, more = struct["type"]["fields"]
    assert [field["metadata"]["comment"] for field in (amount, note)] == ["in euros", "free"]
    assert more["type"]["fields"][0]["metadata"]["comment"] == "inside"


def filled(text: str, parts: dict[str, str]) -> str:
    """Return a text with its placeholders filled."""
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


LAYOUT: Final = "partitioned_by: []\nclustered_by: [shop]\nrewrite: {from: {partitioned_by: [day, shop]}}\n"


def test_a_partitioned_table_becomes_a_clustered_one(lakehouse: Lakehouse) -> None:
    made(lakehouse, SHAPES["partitioned"])
    before = metadata(lakehouse)
    lakehouse.declare(contract(Shape(LAYOUT + UPGRADE)))
    assert lakehouse.apply(allow=["upgrade"]).outcome is Outcome.REWRITING
    applied = lakehouse.apply(allow=[*ALLOW, "upgrade"])
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert [done.step.kind.name for done in applied.done] == ["REWRITE", "CLUSTER"]
    assert found_rows(lakehouse) == {id_: (amount, shop, day) for id_, (amount, shop, day) in ROWS.items()}
    assert metadata(lakehouse) == {**before, "partitionColumns": []}
    assert lakehouse.table().state.clustered_by == (("shop",),)
    (detail,) = lakehouse.session.sql(f"DESCRIBE DETAIL delta.`{lakehouse.uri}`").collect()
    removed = [
        (row["metrics"]["numFilesRemoved"], row["metrics"]["filesRemoved"]["totalSize"])
        for full in ("", " FULL")
        for row in lakehouse.session.sql(f"OPTIMIZE delta.`{lakehouse.uri}`{full}").collect()
    ]
    assert removed == [(detail["numFiles"], detail["sizeInBytes"]), (0, 0)]
