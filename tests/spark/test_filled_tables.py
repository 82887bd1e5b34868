"""Columns that are filled from others, over several merges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.deploy.results import Outcome
from schemalint.spark import statements
from schemalint.spark.fills import fill
from schemalint.spark.fills import shares as fill_shares
from support.faulty_sessions import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.delta.datatype import Struct
    from schemalint.model.table_plan import Fill
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

OLD = "{name: id, type: int}, {name: amount_text, type: string}"
FILLED = 'name: amount, type: "decimal(12,2)"'
BACKFILL = 'backfill: {from: amount_text, with: "cast(amount_text as decimal(12,2))"'
MAPPED = "delta.columnMapping.mode: name"


def contract(columns: str, more: str = "", properties: str = MAPPED) -> str:
    """Return a contract of ``sales.orders``."""
    return f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\nproperties: {{{properties}}}\n{more}"


@pytest.fixture
def orders(lakehouse: Lakehouse) -> Lakehouse:
    """Return a lakehouse with an old column that has a text, a null and what is no number."""
    lakehouse.declare(contract(OLD))
    lakehouse.apply()
    lakehouse.insert("(1, '1.50'), (2, NULL), (3, 'n/a')")
    return lakehouse


def declare_expanded(lakehouse: Lakehouse, tail: str = "}") -> None:
    """Declare the new column, with `tail` as the end of its `backfill`."""
    lakehouse.declare(contract(f"{OLD}, {{{FILLED}, {BACKFILL}{tail}}}"))


def declare_contracted(lakehouse: Lakehouse, tail: str = "}") -> None:
    """Declare that the old column goes."""
    columns = f"{{name: id, type: int}}, {{{FILLED}, {BACKFILL}{tail}}}"
    lakehouse.declare(contract(columns, "dropped: [amount_text]\n"))


def amounts(lakehouse: Lakehouse) -> dict[object, str]:
    """Return the new values by id."""
    return {row["id"]: str(row["amount"]) for row in lakehouse.rows()}


@pytest.mark.each_time
def test_fill_waits_for_its_approval_and_the_column_is_added(orders: Lakehouse) -> None:
    declare_expanded(orders)
    applied = orders.apply()
    assert applied.outcome is Outcome.FILLING
    assert [done.step.kind.name for done in applied.done] == ["ADD_COLUMNS"]
    filled = orders.apply(allow=["data"])
    assert filled.outcome is Outcome.APPLIED
    assert "1 row filled" in filled.done[0].note
    assert "1 not converted" in filled.done[0].note
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None"}


@pytest.mark.each_time
def test_rows_that_do_not_convert_keep_the_old_column(orders: Lakehouse) -> None:
    declare_expanded(orders)
    orders.apply()
    orders.insert("(4, '19.999', NULL), (5, '5', 6)")
    declare_contracted(orders)
    samples = orders.repo.path.parent / "samples.txt"
    applied = orders.apply(allow=["data", "destructive"], samples_to=samples)
    assert applied.outcome is Outcome.FAILED
    assert "1 not converted, 1 differing, 1 inexact" in applied.done[0].note
    assert samples.read_text().splitlines() == [
        "sales.orders: amount_text: some values that do not convert: 'n/a'",
        "sales.orders: amount_text: some values that are other ones in amount: '19.999' ('20.00')",
        "sales.orders: amount_text: some values that amount differs from: '5' ('6.00')",
    ]
    assert not any(value in f"{applied}" for value in ("n/a", "19.999", "6.00"))
    assert "1 not converted, 1 inexact, 1 differing of amount_text" in str(applied.error)
    assert "amount_text" in orders.table().state.columns.names
    declare_contracted(orders, ", unfilled: keep_null, inexact: keep_converted, differing: keep_new}")
    assert orders.apply(allow=["data", "destructive"]).outcome is Outcome.APPLIED
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None", 4: "20.00", 5: "6.00"}


def test_without_the_approval_of_data_nothing_is_filled_and_nothing_lost(orders: Lakehouse) -> None:
    declare_contracted(orders, ", unfilled: keep_null}")
    applied = orders.apply(allow=["destructive"])
    assert applied.outcome is Outcome.FILLING
    assert "1 to fill of amount_text" in str(applied.error)
    assert orders.apply(allow=["data", "destructive"]).outcome is Outcome.APPLIED


def test_a_constraint_on_the_new_column_waits_for_its_values(orders: Lakehouse) -> None:
    """Delta refuses it while rows have a null there, and takes it when the fill has ended."""
    more = "protocol: {allow_upgrade: true}\nconstraints: {known: amount > 0 OR id = 2}\n"
    orders.declare(contract(f"{OLD}, {{{FILLED}, {BACKFILL}}}}}", more))
    refused = orders.apply(allow=["data"])
    assert refused.outcome is Outcome.REFUSED
    assert "1 row against known (amount = NULL, id = 3)" in str(refused.error)
    assert "amount" not in orders.table().state.columns.names
    orders.session.sql(f"UPDATE delta.`{orders.uri}` SET amount_text = '3' WHERE id = 3")
    waiting = orders.apply()
    assert waiting.outcome is Outcome.FILLING
    assert "known waits for rows to fill: 2 of amount" in str(waiting.error)
    assert [done.step.kind.name for done in waiting.done] == ["ADD_COLUMNS"]
    with pytest.raises(Exception, match="DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"):
        orders.sql("ADD CONSTRAINT known CHECK (amount > 0 OR id = 2)")
    added = orders.apply(allow=["data"])
    assert added.outcome is Outcome.APPLIED, added.error
    assert [done.step.kind.name for done in added.done] == ["FILL", "ADD_CONSTRAINT"]
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "3.00"}
    assert orders.apply(allow=["data"]).version == added.version


def test_a_constraint_waits_for_the_values_of_a_column_that_goes(orders: Lakehouse) -> None:
    orders.session.sql(f"UPDATE delta.`{orders.uri}` SET amount_text = '3' WHERE id = 3")
    columns = f"{{name: id, type: int}}, {{{FILLED}, {BACKFILL}}}}}"
    more = "protocol: {allow_upgrade: true}\nconstraints: {known: amount > 0 OR id = 2}\n"
    orders.declare(contract(columns, f"{more}dropped: [amount_text]\n"))
    waiting = orders.apply(allow=["destructive"])
    assert waiting.outcome is Outcome.FILLING, waiting.error
    assert "2 to fill of amount_text" in str(waiting.error)
    applied = orders.apply(allow=["data", "destructive"])
    assert applied.outcome is Outcome.APPLIED, applied.error
    kinds = ["FILL", "DROP_COLUMNS", "ADD_CONSTRAINT"]
    assert [done.step.kind.name for done in applied.done] == kinds
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "3.00"}


@pytest.mark.each_time
def test_no_value_is_overwritten_and_late_rows_are_filled_by_the_next_run(orders: Lakehouse) -> None:
    declare_expanded(orders)
    orders.apply()
    orders.insert("(4, '4', 40.00)")
    orders.apply(allow=["data"])
    orders.session.sql(f"INSERT INTO delta.`{orders.uri}` (id, amount_text) VALUES (5, '5')")
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None", 4: "40.00", 5: "None"}
    orders.apply(allow=["data"])
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None", 4: "40.00", 5: "5.00"}
    version = orders.table().version
    assert orders.apply(allow=["data"]).version == version


def test_a_row_that_comes_between_the_count_and_the_drop_is_told_with_the_way_back(orders: Lakehouse) -> None:
    declare_expanded(orders, ", unfilled: keep_null}")
    orders.apply(allow=["data"])
    declare_contracted(orders, ", unfilled: keep_null}")
    late = f"INSERT INTO delta.`{orders.uri}` (id, amount_text) VALUES (9, '9')"

    def write_late(_number: int) -> None:
        if not session.statements:
            orders.session.sql(late)

    session = Interrupted(orders.session, before=write_late)
    applied = orders.apply(session, allow=["data", "destructive"])
    assert applied.outcome is Outcome.FAILED
    assert "had 1 to fill of amount_text" in str(applied.error)
    assert applied.error is not None
    statement = applied.error.help.partition(" brings")[0]
    orders.session.sql(statement)
    assert orders.apply(allow=["data", "destructive"]).outcome is Outcome.APPLIED
    assert amounts(orders)[9] == "9.00"


def test_a_drop_is_refused_if_somebody_commits_after_each_count(
    orders: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare_expanded(orders, ", unfilled: keep_null}")
    orders.apply(allow=["data"])
    declare_contracted(orders, ", unfilled: keep_null}")
    count = fill.TableFills.proved_count

    def count_and_write(self: fill.TableFills, one: Fill, version: int, columns: Struct) -> fill.Rows:
        rows = count(self, one, version, columns)
        orders.insert("(7, '7', 7.00)")
        return rows

    monkeypatch.setattr(fill.TableFills, "proved_count", count_and_write)
    monkeypatch.setattr("schemalint.spark.fills.guard.ATTEMPTS", 2)
    applied = orders.apply(allow=["destructive"])
    assert applied.outcome is Outcome.FAILED
    assert "other writers commit after each count" in str(applied.error)


def test_a_fill_that_meets_an_append_is_tried_again_a_few_times(
    orders: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delta refuses the UPDATE; here its refusal is made up, because a race is won by chance."""
    declare_expanded(orders)
    orders.apply()
    monkeypatch.setattr(statements, "_FIRST_PAUSE_SECONDS", 0)
    refusals = iter(range(statements.ATTEMPTS))

    def refuse(_number: int) -> None:
        if next(refusals, None) is not None:
            raise ConflictError

    applied = orders.apply(Interrupted(orders.session, before=refuse), allow=["data"])
    assert applied.outcome is Outcome.FAILED
    assert "during each of 6 attempts" in str(applied.error)
    refusals = iter(range(2))
    applied = orders.apply(Interrupted(orders.session, before=refuse), allow=["data"])
    assert applied.outcome in (Outcome.APPLIED, Outcome.FILLING)
    assert amounts(orders)[1] == "1.50"


class ConflictError(Exception):
    """What Delta raises."""

    def __str__(self) -> str:
        return "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected"


def test_a_budget_ends_a_run_between_partitions_and_the_next_run_goes_on(lakehouse: Lakehouse) -> None:
    old = "{name: day, type: date}, {name: amount_text, type: string}"
    lakehouse.declare(contract(old, "partitioned_by: [day]\n"))
    lakehouse.apply()
    lakehouse.insert("(date'2026-01-02', '2'), (date'2026-01-01', '1'), (NULL, '0')")
    lakehouse.declare(contract(f"{old}, {{{FILLED}, {BACKFILL}}}}}", "partitioned_by: [day]\n"))
    files = [file.stat().st_size for file in (lakehouse.root / "sales/orders").rglob("*.parquet")]
    filled = []
    for _run in range(3):
        applied = lakehouse.apply(allow=["data"], max_bytes=max(files))
        left = [row for row in lakehouse.rows() if row["amount"] is None]
        filled.append((applied.outcome, len(left)))
    assert filled == [(Outcome.FILLING, 2), (Outcome.FILLING, 1), (Outcome.APPLIED, 0)]
    assert {str(row["day"]): str(row["amount"]) for row in lakehouse.rows()} == {
        "2026-01-02": "2.00",
        "2026-01-01": "1.00",
        "None": "0.00",
    }
    lakehouse.insert("(date'2026-01-03', '3', NULL)")
    too_small = lakehouse.apply(allow=["data"], max_bytes=1)
    assert too_small.outcome is Outcome.FAILED
    assert "cannot be filled within --max-bytes 1" in str(too_small.error)


class Contended(Interrupted):
    """A session whose updates of some partition conflict with the commits of others."""

    hot = "'3'"

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's)
        if sqlQuery.startswith("UPDATE") and self.hot in sqlQuery:
            raise ConflictError
        return super().sql(sqlQuery)


def test_a_partition_that_others_write_all_the_time_keeps_no_other_from_its_values(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "_FIRST_PAUSE_SECONDS", 0)
    monkeypatch.setattr(fill_shares, "_MOST_PARTITIONS", 4)
    old, parted = "{name: part, type: int}, {name: amount_text, type: string}", "partitioned_by: [part]\n"
    lakehouse.declare(contract(old, parted))
    lakehouse.apply()
    lakehouse.insert(", ".join(f"({part}, '{part}')" for part in range(6)))
    lakehouse.declare(contract(f"{old}, {{{FILLED}, {BACKFILL}}}}}", parted))
    contended = Contended(lakehouse.session)
    applied = lakehouse.apply(contended, allow=["data"])
    assert applied.outcome is Outcome.FAILED
    assert "5 rows filled, 1 left: other writers committed" in str(applied.error)
    updates = [text for text in contended.statements if text.startswith("UPDATE")]
    assert [[part for part in range(6) if f"'{part}'" in text] for text in updates] == [[0, 1], [2], [4, 5]]
    assert lakehouse.apply(allow=["data"]).outcome is Outcome.APPLIED
    assert {row["part"]: str(row["amount"]) for row in lakehouse.rows()} == {n: f"{n}.00" for n in range(6)}


def test_what_is_computed_from_the_new_column_follows_it_and_its_constraint_holds(
    lakehouse: Lakehouse,
) -> None:
    """A constraint that a value would break fails the statement; the message has no values."""
    columns = (
        "{name: id, type: int}, {name: code, type: string}, {name: n, type: int%s}, "
        "{name: size, type: int, generated: length(code)}, {name: next, type: int, generated: n + 1}"
    )
    checked = "constraints: {known: code IS NULL OR code <> '', positive: n IS NULL OR n > 0}\n"
    lakehouse.declare(contract(columns % "", checked))
    lakehouse.apply(allow=["upgrade"])
    rows = "(1, '1', NULL), (2, '22', NULL), (3, NULL, NULL), (4, '4', 44)"
    lakehouse.session.sql(f"INSERT INTO delta.`{lakehouse.uri}` (id, code, n) VALUES {rows}")
    lakehouse.declare(contract(columns % ', backfill: {from: code, with: "cast(code as int)"}', checked))
    assert lakehouse.apply(allow=["data"]).outcome is Outcome.APPLIED
    values = [(row["id"], row["size"], row["n"], row["next"]) for row in lakehouse.rows()]
    assert values == [(1, 1, 1, 2), (2, 2, 22, 23), (3, None, None, None), (4, 1, 44, 45)]
    lakehouse.session.sql(f"INSERT INTO delta.`{lakehouse.uri}` (id, code) VALUES (5, '-98765')")
    applied = lakehouse.apply(allow=["data"])
    assert applied.outcome is Outcome.FAILED
    assert "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES" in str(applied.error)
    assert "98765" not in str(applied.error)


def test_rows_keep_their_ids_and_the_change_feed_has_only_those_that_are_filled(lakehouse: Lakehouse) -> None:
    """Sources and new columns are in structs and beside them; most are null, and some rows are deleted."""
    features = "".join(
        f", delta.enable{name}: true" for name in ("RowTracking", "ChangeDataFeed", "DeletionVectors")
    )
    inner = "{name: kept, type: int}, {name: code, type: string}"
    outer = "{name: id, type: int}, {name: zip, type: string}, {name: s, type: struct, columns: [%s]}"
    lakehouse.declare(contract(outer % inner, "", MAPPED + features))
    lakehouse.apply(allow=["upgrade"])
    lakehouse.session.sql(
        f"INSERT INTO delta.`{lakehouse.uri}` SELECT CAST(id AS int), "
        "if(id % 10 = 0, CAST(id AS string), NULL), "
        "if(id % 4 = 0, NULL, named_struct('kept', CAST(id AS int), 'code', if(id % 10 = 5, 'x', NULL))) "
        "FROM range(40)"
    )
    lakehouse.session.sql(f"DELETE FROM delta.`{lakehouse.uri}` WHERE id >= 35")
    before, version = row_ids(lakehouse), lakehouse.table().version
    inner += ', {name: zip, type: int, backfill: {from: zip, with: "cast(zip as int)"}}'
    size = '{name: size, type: int, backfill: {from: s.code, with: "length(s.code)"}}'
    lakehouse.declare(contract(f"{outer % inner}, {size}", "", MAPPED + features))
    applied = lakehouse.apply(allow=["data"])
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert row_ids(lakehouse) == before
    changes = lakehouse.session.sql(
        "SELECT _change_type, id FROM "
        f"table_changes_by_path('{lakehouse.uri}', {version + 1}, {lakehouse.table().version}) ORDER BY id"
    ).collect()
    assert [tuple(row) for row in changes if row[0] == "update_preimage"] == [
        ("update_preimage", number) for number in (0, 5, 10, 15, 20, 25, 30)
    ]
    assert len(changes) == 14
    rows = {row["id"]: row for row in lakehouse.rows()}
    assert rows[5]["size"] == 1
    assert rows[10]["s"] == {"kept": 10, "code": None, "zip": 10}
    # A struct that was null is none any more: it is where the value belongs.
    assert rows[20]["s"] == {"kept": None, "code": None, "zip": 20}
    assert rows[4]["s"] is None


def row_ids(lakehouse: Lakehouse) -> dict[int, int]:
    """Return what row tracking calls the rows."""
    rows = lakehouse.session.sql(f"SELECT id, _metadata.row_id FROM delta.`{lakehouse.uri}`").collect()
    return dict(map(tuple, rows))


@pytest.mark.each_time
def test_a_session_that_sees_fewer_rows_fills_nothing(orders: Lakehouse) -> None:
    """A row filter hides rows from the session, not from the log."""
    with_other_statistics(orders, lambda stats: stats | {"numRecords": stats["numRecords"] + 1})
    declare_expanded(orders)
    applied = orders.apply(allow=["data"])
    assert applied.outcome is Outcome.FAILED
    assert "sees 3 of the" in str(applied.error)
    assert set(amounts(orders).values()) == {"None"}


@pytest.mark.each_time
def test_a_session_that_sees_other_values_fills_and_drops_nothing(orders: Lakehouse) -> None:
    """A mask leaves the number of rows; here it is the log that has other values than the session."""
    declare_expanded(orders)
    orders.apply()
    masked = {"amount_text": "***"}
    with_other_statistics(orders, lambda stats: stats | {"minValues": stats["minValues"] | masked})
    applied = orders.apply(allow=["data"])
    assert applied.outcome is Outcome.FAILED
    assert "sees other values of amount_text" in str(applied.error)
    declare_contracted(orders, ", unfilled: keep_null}")
    dropped = orders.apply(allow=["destructive"])
    assert dropped.outcome is Outcome.FAILED
    assert "sees other values of amount_text" in str(dropped.error)
    assert "amount_text" in orders.table().state.columns.names


def test_databricks_needs_comparable_statistics_or_the_word_that_nothing_is_masked(orders: Lakehouse) -> None:
    """The files have none of a column that came later; of instants there are some that are not compared."""
    target = orders.repo.path / "schemalint.toml"
    unmasked = target.read_text() + 'engine = "databricks 16.4"\nunmasked = true\n'
    table = f"delta.`{orders.uri}`"

    def refused(column: str) -> None:
        target.write_text(unmasked.replace("true", "false"))
        applied = orders.apply(allow=["data", "destructive"])
        assert applied.outcome is Outcome.FAILED
        assert f"does not tell the values of {column} at version" in str(applied.error)
        assert applied.error is not None
        assert "set unmasked = true under [targets.dev]" in applied.error.help

    declare_expanded(orders)
    refused("amount")
    assert set(amounts(orders).values()) == {"None"}
    target.write_text(unmasked)
    assert orders.apply(allow=["data"]).outcome is Outcome.APPLIED
    orders.session.sql(f"ALTER TABLE {table} ADD COLUMNS (at timestamp)")
    orders.session.sql(f"UPDATE {table} SET at = current_timestamp()")
    declare_contracted(orders, ", unfilled: keep_null}")
    refused("at")
    assert "amount_text" in orders.table().state.columns.names
    orders.sql("DROP COLUMN at")
    assert orders.apply(allow=["data", "destructive"]).outcome is Outcome.APPLIED
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None"}


def with_other_statistics(lakehouse: Lakehouse, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the statistics of the only commit with data, where columns have their declared names."""
    log = lakehouse.root / "sales/orders/_delta_log"
    (commit,) = (file for file in log.glob("*.json") if '"add"' in file.read_text())
    (log / f".{commit.name}.crc").unlink(missing_ok=True)  # Hadoop's checksum
    physical = {field.physical_name or "": field.name for field in lakehouse.table().state.columns.fields}
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            stats = change(_renamed(json.loads(line["add"]["stats"]), physical))
            line["add"]["stats"] = json.dumps(_renamed(stats, {new: old for old, new in physical.items()}))
    commit.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _renamed(stats: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    parts = {key: value for key, value in stats.items() if isinstance(value, dict)}
    for key, part in parts.items():
        parts[key] = {names.get(name, name): inner for name, inner in part.items()}
    return stats | parts


@pytest.mark.each_time
def test_the_engine_refuses_what_the_parser_lets_pass(orders: Lakehouse) -> None:
    """Its analyzer knows numbers and types of arguments, and what can be stored in a column."""
    orders.declare(contract(f"{OLD}, {{{FILLED}}}"))
    version = orders.apply().version
    for expression in ("trunc(amount_text)", "cast(amount_text as map<int,int>)", "struct(amount_text)"):
        fill_of = f'backfill: {{from: amount_text, with: "{expression}"}}'
        orders.declare(contract(f"{OLD}, {{{FILLED}, {fill_of}}}"))
        applied = orders.apply(allow=["data"])
        assert (applied.outcome, applied.version) == (Outcome.REFUSED, version), expression
