"""Fills while another writer commits all the time, in a thread and a session of its own.

Nothing is timed. Whoever comes first: each row is there once with its own values, what others wrote into the
new column stays, and a run ends filled, or says what is left.
"""

from __future__ import annotations

from itertools import count
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.base.values import frozen
from schemalint.deploy.results import Outcome
from schemalint.spark import statements
from schemalint.spark.fills import shares as fill_shares
from schemalint.spark.statements import StatementError
from schemalint.spark.statements import run as run_statement
from support.faulty_sessions import Interrupted
from support.sampling import left_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ROWS: Final = 60
PARTITIONS: Final = 3
VECTORS: Final = ", delta.enableDeletionVectors: true"


def appended(number: int) -> str:
    """Append a row of a writer that knows both columns, or only the old one."""
    own = "'own'" if number % 2 else "NULL"
    return f"INSERT INTO {{table}} VALUES ({ROWS + number}, {number % 2}, {number}, {own})"


def deleted(number: int) -> str:
    """Delete a row, none of the last partition; in the end, nothing."""
    return f"DELETE FROM {{table}} WHERE id = {deleted_id(number)}"


def deleted_id(number: int) -> int:
    """Return the id of the row."""
    return number // (PARTITIONS - 1) * PARTITIONS + number % (PARTITIONS - 1)


def widened(number: int) -> str:
    """Widen the old column, then append values that it could not have."""
    if number == 0:
        return "ALTER TABLE {table} ALTER COLUMN old TYPE bigint"
    return f"INSERT INTO {{table}} VALUES ({ROWS + number}, {number % 2}, {number + (1 << 40)}, NULL)"


@frozen
class Beside:
    """Another writer, and the table.

    Attributes:
        statement: The writer's statement of each number, from 0.
        partitioned: Whether the table has partitions: the writer then leaves the last one alone.
        properties: More properties of the table.
    """

    statement: Callable[[int], str]
    partitioned: bool = False
    properties: str = ""


WRITERS: Final = {
    "appends": Beside(appended),
    "appends, with deletion vectors": Beside(appended, properties=VECTORS),
    "appends to some of the partitions": Beside(appended, partitioned=True),
    "deletes": Beside(deleted),
    "deletes from partitions, with deletion vectors": Beside(deleted, partitioned=True, properties=VECTORS),
    "widens the old column": Beside(widened),
    "widens the old column, with partitions": Beside(widened, partitioned=True),
}
SAMPLE: Final = ("appends", "deletes from partitions, with deletion vectors")


class Writer(Thread):
    """Runs its statements until it is left; a statement that meets another commit is run again.

    Attributes:
        committed: How many statements were committed.
        errors: What ended it before.
    """

    def __init__(self, lakehouse: Lakehouse, statement: Callable[[int], str]) -> None:
        super().__init__(daemon=True)
        self.session, self.table = lakehouse.another_session(), f"delta.`{lakehouse.uri}`"
        self.statement = statement
        self.committed = 0
        self.errors: list[Exception] = []
        self.is_over = Event()

    def run(self) -> None:
        """Write, until the event comes."""
        while not self.is_over.is_set():
            try:
                run_statement(self.session, self.statement(self.committed).format(table=self.table))
            except StatementError as error:
                if not error.is_conflict:
                    self.errors.append(error)
                    return
            else:
                self.committed += 1

    def stop(self) -> int:
        """Let it end; return how many statements were committed."""
        self.is_over.set()
        self.join()
        assert self.errors == []
        return self.committed


def declare(lakehouse: Lakehouse, beside: Beside, *columns: str) -> None:
    """Declare these columns beside the others."""
    listed = ", ".join(("{name: id, type: int}", "{name: part, type: int}", *columns))
    lakehouse.declare(
        "schemalint: 1\ntable: sales.orders\nopen: {widening: true}\n"
        f"columns: [{listed}]\n{'partitioned_by: [part]' if beside.partitioned else ''}\n"
        f"properties: {{delta.enableTypeWidening: true{beside.properties}}}\n"
    )


@pytest.mark.parametrize("beside", left_to(pytest.mark.engine, WRITERS, except_for=SAMPLE))
def test_no_row_is_lost_doubled_or_overwritten_beside_a_writer(
    lakehouse: Lakehouse, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "_FIRST_PAUSE_SECONDS", 0)
    monkeypatch.setattr(fill_shares, "_COMMIT_BYTES", 2_000)  # several parts
    old = "{name: old, type: int}"
    new = '{name: new, type: string, backfill: {from: old, with: "cast(old as string)"}}'
    declare(lakehouse, beside, old)
    assert lakehouse.apply().outcome is Outcome.APPLIED
    declare(lakehouse, beside, old, new)
    lakehouse.apply()  # the column, without its values
    lakehouse.session.sql(
        f"INSERT INTO delta.`{lakehouse.uri}` "
        f"SELECT CAST(id AS int), CAST(id % {PARTITIONS} AS int), CAST(id AS int), "
        f"if(id % 10 = 9, 'own', NULL) FROM range({ROWS})"
    )
    writer = Writer(lakehouse, beside.statement)
    updates = count()

    def start(_number: int) -> None:
        if next(updates) == 0:
            writer.start()  # it comes between what the fill has read and what it commits

    applied = lakehouse.apply(Interrupted(lakehouse.session, before=start), allow=["data"])
    written = writer.stop()
    if applied.outcome is Outcome.FAILED:
        assert f"committed during each of {statements.ATTEMPTS} attempts" in str(applied.error)
    else:
        assert applied.outcome in (Outcome.APPLIED, Outcome.FILLING)
    if beside.partitioned:  # whatever happens in the others
        assert all(row["new"] is not None for row in lakehouse.rows() if row["part"] == PARTITIONS - 1)
    again = lakehouse.apply(allow=["data"])
    assert again.outcome in (Outcome.APPLIED, Outcome.NOTHING), again.error
    assert {row["id"]: (row["old"], row["new"]) for row in lakehouse.rows()} == expected(beside, written)
    assert len(lakehouse.rows()) == len(expected(beside, written))


def expected(beside: Beside, written: int) -> dict[int, tuple[int, str]]:
    """Return the values of the old and the new column by id."""
    first = {number: (number, "own" if number % 10 == 9 else str(number)) for number in range(ROWS)}
    if beside.statement is deleted:
        gone = set(map(deleted_id, range(written)))
        return {number: values for number, values in first.items() if number not in gone}
    if beside.statement is widened:
        wide = {ROWS + number: number + (1 << 40) for number in range(1, written)}
        return first | {number: (value, str(value)) for number, value in wide.items()}
    return first | {
        ROWS + number: (number, "own" if number % 2 else str(number)) for number in range(written)
    }
