"""Values that migrations lost once: after each of these the value is in the table, or the status is not 0.

Rows are compared by id with what the test wrote itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.results import AppliedTable, Outcome
from support.faulty_sessions import Interrupted, Killed
from support.migration import ALL, Migration

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark


@pytest.fixture
def numbers(lakehouse: Lakehouse) -> Migration:
    """Return a migration of texts to integers."""
    return Migration(lakehouse, "string", "int", "cast(a as int)")


@pytest.mark.each_time
def test_a_value_that_changed_after_its_fill_keeps_the_column_until_somebody_says_the_truth(
    numbers: Migration,
) -> None:
    numbers.begin("'1'", "'2'", "'3'")
    assert numbers.fill().outcome is Outcome.APPLIED
    numbers.sql("UPDATE {table} SET a = '20' WHERE id = 2")
    numbers.sql("UPDATE {table} SET b = 30 WHERE id = 3")
    numbers.kept(numbers.drop(), "2 differing of a")
    assert numbers.values() == {1: "1", 2: "2", 3: "30"}
    assert numbers.drop(ways="differing: refill").outcome is Outcome.APPLIED
    assert numbers.values() == {1: "1", 2: "20", 3: "3"}


def test_the_new_column_is_the_truth_if_the_contract_says_so(numbers: Migration) -> None:
    numbers.begin("'1'", "'2'", "'x'")
    numbers.fill()
    numbers.sql("UPDATE {table} SET b = 30 WHERE id >= 2")
    numbers.kept(numbers.drop(ways="differing: refill"), "1 differing of a")
    assert numbers.values() == {1: "1", 2: "2", 3: "30"}
    assert numbers.drop(ways="differing: keep_new").outcome is Outcome.APPLIED
    assert numbers.values() == {1: "1", 2: "2", 3: "30"}


def test_a_value_between_count_and_drop_ends_each_run_until_it_is_back_or_given_up(
    numbers: Migration,
) -> None:
    numbers.begin("'1'")
    numbers.fill()
    numbers.declare(old=False)

    def write_late(_number: int) -> None:
        if not session.statements:
            numbers.insert(9, "'9'")

    session = Interrupted(numbers.lakehouse.session, before=write_late)
    applied = numbers.lakehouse.apply(session, allow=ALL)
    for result in (applied, numbers.lakehouse.apply(allow=ALL), numbers.lakehouse.apply(allow=ALL)):
        assert result.outcome is Outcome.FAILED
        assert "had 1 to fill of a" in str(result.error)
    assert numbers.values() == {1: "1", 9: "None"}
    numbers.sql("DELETE FROM {table} WHERE id = 1")
    again = numbers.lakehouse.apply(allow=ALL)
    assert again.error is not None
    assert "(DELETE): rows that were deleted come back" in again.error.help
    numbers.lakehouse.session.sql(again.error.help.partition(" brings")[0])
    assert numbers.lakehouse.apply(allow=ALL).outcome is Outcome.APPLIED
    assert numbers.values() == {1: "1", 9: "9"}


def die_between_drop_and_proof(numbers: Migration, run: Callable[[Interrupted | None], AppliedTable]) -> None:
    """Lose a value that is written right before the drop; two later runs say so."""

    def die(_number: int) -> None:
        raise Killed

    def write_late(_number: int) -> None:
        numbers.insert(9, "'9'")

    with pytest.raises(Killed):
        run(Interrupted(numbers.lakehouse.session, before=write_late, after=die))
    assert "a" not in numbers.lakehouse.table().state.columns.names
    for _run in range(2):
        result = run(None)
        assert result.outcome is Outcome.FAILED
        assert "had 1 to fill of a" in str(result.error)


def test_a_run_that_dies_between_the_drop_and_its_proof_leaves_it_to_the_next(numbers: Migration) -> None:
    numbers.begin("'1'")
    numbers.fill()
    numbers.declare(old=False)

    die_between_drop_and_proof(numbers, lambda session: numbers.lakehouse.apply(session, allow=ALL))
    numbers.declare(old=False, fill=False)
    assert numbers.lakehouse.apply(allow=ALL).outcome in (Outcome.APPLIED, Outcome.RECORDED)
    assert numbers.lakehouse.apply(allow=ALL).outcome is Outcome.NOTHING


@pytest.mark.each_time
def test_a_plan_file_that_dies_between_the_drop_and_its_proof_leaves_it_to_the_next_run(
    numbers: Migration,
) -> None:
    numbers.begin("'1'")
    numbers.fill()
    numbers.declare(old=False)
    file = numbers.lakehouse.plan("data", "destructive")

    die_between_drop_and_proof(numbers, lambda session: numbers.lakehouse.go_on(file, session)[0])


@pytest.mark.kill
def test_a_drop_whose_key_went_before_is_proved_by_the_next_run_too(numbers: Migration) -> None:
    numbers.begin("'1'")
    numbers.fill()
    numbers.declare(fill=False)
    numbers.lakehouse.apply()
    numbers.declare(old=False, fill=False)

    die_between_drop_and_proof(numbers, lambda session: numbers.lakehouse.apply(session, allow=ALL))
    assert numbers.values() == {1: "1", 9: "None"}
    # Back in the contract, the key says what may be lost; taken out after the drop, it accepts the loss.
    for fill, outcome in ((True, Outcome.FAILED), (False, Outcome.RECORDED), (False, Outcome.NOTHING)):
        numbers.declare(old=False, fill=fill)
        assert numbers.lakehouse.apply(allow=ALL).outcome is outcome


def test_a_run_that_dies_after_a_drop_without_loss_is_completed(numbers: Migration) -> None:
    numbers.begin("'1'")
    numbers.fill()
    numbers.declare(old=False)

    def die(_number: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        numbers.lakehouse.apply(Interrupted(numbers.lakehouse.session, after=die), allow=ALL)
    assert numbers.lakehouse.apply(allow=ALL).outcome is Outcome.RECORDED
    assert numbers.values() == {1: "1"}


def test_each_column_that_goes_with_the_source_keeps_its_values(lakehouse: Lakehouse) -> None:
    names = Migration(lakehouse, "string", "string", "concat_ws(' ', a, g)", "{name: g, type: string}")
    names.begin("'Ada'")
    names.sql("INSERT INTO {table} (id, g) VALUES (2, 'Byron')")
    names.fill()
    assert names.values() == {1: "Ada", 2: "None"}
    assert names.drop().outcome is Outcome.APPLIED
    assert names.values() == {1: "Ada", 2: "Byron"}


@pytest.mark.each_time
def test_the_proof_outlives_the_key(numbers: Migration) -> None:
    numbers.begin("'1'", "'2'")
    numbers.declare()
    numbers.lakehouse.apply()
    numbers.declare(fill=False)
    assert numbers.lakehouse.apply(allow=ALL).outcome in (Outcome.NOTHING, Outcome.RECORDED)
    numbers.kept(numbers.drop(fill=False), "2 to fill of a")
    assert numbers.values("a") == {1: "1", 2: "2"}
    assert numbers.drop().outcome is Outcome.APPLIED
    assert numbers.values() == {1: "1", 2: "2"}


@pytest.mark.parametrize("renamed", ["new", "old"])
def test_the_proof_follows_columns_that_are_renamed_after_the_key_is_out(
    numbers: Migration, renamed: str
) -> None:
    """An expression keeps the names that it was written with: one of an older name is refused."""
    numbers.begin("'1'", "'2'")
    numbers.declare()
    numbers.lakehouse.apply()
    numbers.declare(fill=False)
    numbers.lakehouse.apply()
    old, new = {"new": ("a", "c"), "old": ("z", "b")}[renamed]
    columns = "{{name: id, type: int}}, {{name: {new}, type: int{of_new}}}"
    of_old = ", renamed_from: a" if renamed == "old" else ""
    of_new = ", renamed_from: b" if renamed == "new" else ""
    own = columns.format(new=new, of_new=of_new)
    end = "properties: {delta.columnMapping.mode: name}\nprotocol: {allow_upgrade: true}\n"
    head = "schemalint: 1\ntable: sales.orders\n"
    numbers.lakehouse.declare(f"{head}columns: [{own}, {{name: {old}, type: string{of_old}}}]\n{end}")
    assert numbers.lakehouse.apply(allow=ALL).error is None
    dropping = f"{head}columns: [{own}]\ndropped: [{old}]\n{end}"
    numbers.lakehouse.declare(dropping)
    result = numbers.lakehouse.apply(allow=ALL)
    if renamed == "new":
        assert "2 to fill of a" in str(result.error)
    assert result.outcome in (Outcome.FAILED, Outcome.FILLING, Outcome.REFUSED)
    assert numbers.values(old) == {1: "1", 2: "2"}
    fill = f', backfill: {{from: {old}, with: "cast({old} as int)"}}'
    numbers.lakehouse.declare(dropping.replace(f"type: int{of_new}}}", f"type: int{of_new}{fill}}}"))
    result = numbers.lakehouse.apply(allow=ALL)
    assert result.outcome is Outcome.APPLIED, result.error
    assert numbers.values(new) == {1: "1", 2: "2"}


def test_a_key_that_goes_together_with_the_column_leaves_the_proof(numbers: Migration) -> None:
    """Both merges come in one deploy."""
    numbers.begin("'1'", "'2'")
    numbers.declare()
    numbers.kept(numbers.drop(fill=False), "a")
    assert numbers.values("a") == {1: "1", 2: "2"}


def test_rows_of_two_meanings_are_counted(numbers: Migration) -> None:
    numbers.begin("'1'", "'2'")
    numbers.fill()
    numbers.expression = "cast(a as int) * 100"
    numbers.fill()
    numbers.insert(3, "'3'")
    numbers.kept(numbers.drop(), "2 differing")
    assert numbers.drop(ways="differing: refill").outcome is Outcome.APPLIED
    assert numbers.values() == {1: "100", 2: "200", 3: "300"}


def test_what_becomes_another_value_keeps_the_column(lakehouse: Lakehouse) -> None:
    cases = {
        "numbers": (
            "string",
            "decimal(12,2)",
            "cast(a as decimal(12,2))",
            {"'5'": "5.00", "'19.999'": "20.00"},
        ),
        "large": (
            "string",
            "double",
            "cast(a as double)",
            {"'5'": "5.0", "'9007199254740993'": "9.007199254740992E15"},
        ),
        "days": (
            "timestamp",
            "date",
            "a",
            {"timestamp'2026-01-01'": "2026-01-01", "timestamp'2026-01-02 10:00:00'": "2026-01-02"},
        ),
        "zones": (
            "string",
            "timestamp_ntz",
            "cast(a as timestamp_ntz)",
            {"'2026-01-01'": "2026-01-01 00:00:00", "'2026-01-02T10:00:00Z'": "2026-01-02 10:00:00"},
        ),
    }
    for name, (old, new, expression, values) in cases.items():
        own = Migration(lakehouse.copy(lakehouse.repo.path.parent / name), old, new, expression)
        own.begin(*values)
        own.fill()
        result = own.drop()
        own.kept(result, "1 inexact of a")
        assert result.done[0].note.count("1 inexact"), result.done[0].note
        assert own.drop(ways="inexact: keep_converted").outcome is Outcome.APPLIED
        assert own.values() == dict(enumerate(values.values(), start=1))


def test_a_part_that_fails_leaves_its_row_and_not_the_others(lakehouse: Lakehouse) -> None:
    cases = {
        "element": (
            "array<string>",
            "array<int>",
            "try_cast(a as array<int>)",
            "array('1')",
            "array('1', 'x')",
        ),
        "implicit": ("array<string>", "array<int>", "a", "array('1')", "array('x')"),
        "length": ("string", "varchar(5)", "a", "'12345'", "'123456'"),
        "comment": ("string", "int", "cast /* c */ (a as int)", "'1'", "'x'"),
        "field": (
            "struct<x: string>",
            "struct<u: int, v: string>",
            "named_struct('u', a.x, 'v', 'y')",
            "named_struct('x', '1')",
            "named_struct('x', 'z')",
        ),
    }
    for name, (old, new, expression, good, bad) in cases.items():
        own = Migration(lakehouse.copy(lakehouse.repo.path.parent / name), old, new, expression)
        own.begin(good, bad)
        result = own.fill()
        assert result.outcome is Outcome.APPLIED, (name, result.error)
        assert "1 row filled" in result.done[-1].note
        assert [number for number, value in own.values().items() if value == "None"] == [2], name
        own.kept(own.drop(), "1 not converted of a")
        assert own.drop(ways="unfilled: keep_null").outcome is Outcome.APPLIED


def test_what_an_expression_says_about_failures_is_filled(lakehouse: Lakehouse) -> None:
    cases = {
        "coalesce(cast(a as int), -1)": ("int", {"'7'": "7", "'x'": "-1", "NULL": "None"}),
        "case when cast(a as int) is null then 0 else cast(a as int) end": (
            "int",
            {"'7'": "7", "'x'": "0", "NULL": "None"},
        ),
        "coalesce(cast(a as date), try_to_date(a, 'dd.MM.yyyy'))": (
            "date",
            {"'2026-01-31'": "2026-01-31", "'31.01.2026'": "2026-01-31", "NULL": "None"},
        ),
    }
    for number, (expression, (new, values)) in enumerate(cases.items()):
        folder = lakehouse.copy(lakehouse.repo.path.parent / f"{number}")
        own = Migration(folder, "string", new, expression)
        own.begin(*values)
        assert own.fill().outcome is Outcome.APPLIED
        assert own.values() == dict(enumerate(values.values(), start=1))
        assert own.drop().outcome is Outcome.APPLIED
        assert own.values() == dict(enumerate(values.values(), start=1))


def test_the_session_changes_no_value(lakehouse: Lakehouse) -> None:
    """The parser of dates, ANSI and the time zone are those of the contract, whatever the session has."""
    own = Migration(lakehouse, "string", "date", "try_to_date(a, 'dd.MM.yyyy')")
    own.begin("'01.02.2026'", "'1.2.2026'", "'31.02.2026'")
    session = lakehouse.another_session()
    session.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    session.conf.set("spark.sql.ansi.enabled", "false")
    own.declare()
    assert own.lakehouse.apply(session, allow=ALL).outcome is Outcome.APPLIED
    assert own.values() == {1: "2026-02-01", 2: "None", 3: "None"}
    assert session.conf.get("spark.sql.legacy.timeParserPolicy") == "LEGACY"


@pytest.mark.each_time
def test_a_time_zone_is_that_of_the_contract(lakehouse: Lakehouse) -> None:
    own = Migration(lakehouse, "string", "timestamp", "cast(a as timestamp)")
    own.begin("'2026-07-01 10:00:00'")
    own.fill(ways="time_zone: Europe/Berlin")
    rows = lakehouse.session.sql(f"SELECT unix_seconds(b) FROM delta.`{lakehouse.uri}`").collect()
    assert [row[0] for row in rows] == [1782892800]
