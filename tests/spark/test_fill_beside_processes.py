"""A fill while another process writes: delta-rs, or a JVM that shares nothing with the session."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.deploy.results import Outcome
from schemalint.spark import statements
from schemalint.spark.fills import shares as fill_shares
from support.faulty_sessions import Interrupted
from support.foreign_writer import PARTITIONS, ROWS, ForeignWriter, commits_in, rows_after

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

OLD: Final = "{name: id, type: int}, {name: part, type: int}, {name: old, type: int}"
NEW: Final = '{name: new, type: string, backfill: {from: old, with: "cast(old as string)"}}'
WIDENING: Final = "properties: {delta.enableTypeWidening: true}\n"
OWN: Final = frozenset(range(9, ROWS, 10))


@pytest.mark.parametrize(
    ("client", "more"),
    [
        ("delta-rs", ""),
        pytest.param("spark", WIDENING, marks=pytest.mark.engine),
    ],
)
def test_each_row_is_there_once_with_its_values_beside_another_process(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, client: str, more: str
) -> None:
    monkeypatch.setattr(statements, "_FIRST_PAUSE_SECONDS", 0)
    monkeypatch.setattr(fill_shares, "_MOST_PARTITIONS", 1)  # several parts
    head = "schemalint: 1\ntable: sales.orders\nopen: {widening: true}\npartitioned_by: [part]\n"
    lakehouse.declare(f"{head}columns: [{OLD}]\n{more}")
    lakehouse.apply()
    lakehouse.declare(f"{head}columns: [{OLD}, {NEW}]\n{more}")
    lakehouse.apply()  # the column, without its values
    lakehouse.session.sql(
        f"INSERT INTO delta.`{lakehouse.uri}` SELECT CAST(id AS int), CAST(id % {PARTITIONS} AS int), "
        f"CAST(id AS int), if(id % 10 = 9, 'own', NULL) FROM range({ROWS})"
    )
    updates = count()
    with ForeignWriter(client, lakehouse.uri) as writer:

        def write_first(_number: int) -> None:
            if next(updates) == 0:
                writer.go()
            writer.wait_for(3)

        applied = lakehouse.apply(Interrupted(lakehouse.session, before=write_first), allow=["data"])
    if applied.outcome is Outcome.FAILED:
        assert f"committed during each of {statements.ATTEMPTS} attempts" in str(applied.error)
    else:
        assert applied.outcome in (Outcome.APPLIED, Outcome.FILLING)
    rows = lakehouse.rows()
    assert all(row["new"] is not None for row in rows if row["part"] == PARTITIONS - 1)
    again = lakehouse.apply(allow=["data"])
    assert again.outcome in (Outcome.APPLIED, Outcome.NOTHING), again.error
    commits = commits_in(lakehouse.uri)
    assert {commit.deleted is None for commit in commits} == {True, False}
    assert any(commit.is_widening for commit in commits) == bool(more)
    rows = lakehouse.rows()
    assert {row["id"]: (row["old"], row["new"]) for row in rows} == rows_after(commits, OWN)
    assert len(rows) == len(rows_after(commits, OWN))
