"""`--max-bytes` beside a writer that adds rows between the runs: each row is reached, in a few runs."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.base.values import frozen
from schemalint.deploy.results import Outcome

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

PARTITIONS: Final = 4


@frozen
class Budgeted:
    """A table that grows, and what a run may spend.

    Attributes:
        rows: How many rows it has at first.
        more: How many the writer adds between two runs, all to the first partition.
        share: The budget as a share of the bytes at first.
        runs: In how many runs the rows that it has at first must be filled.
        partitioned: Whether it has partitions.
        vectors: Whether it has deletion vectors.
        part: The name of the column of the partition.
        text: The name of the column with the bytes.
    """

    rows: int
    more: int
    share: float
    runs: int
    partitioned: bool = False
    vectors: bool = True
    part: str = "part"
    text: str = "text"


# Some columns have the names of what a share is measured by.
TABLES: Final = {
    "partitions": Budgeted(PARTITIONS, 3, 0.3, PARTITIONS, partitioned=True, vectors=False),
    "partitions, with deletion vectors": Budgeted(
        PARTITIONS, 3, 0.3, PARTITIONS, partitioned=True, part="size", text="rows"
    ),
    "shares, with deletion vectors": Budgeted(3_000, 500, 0.34, 5, part="rows", text="since"),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_each_row_is_reached_although_a_writer_adds_more_between_the_runs(
    lakehouse: Lakehouse, table: Budgeted
) -> None:
    declare(lakehouse, table, "")
    lakehouse.apply(allow=["upgrade"])
    # One file, or one for each partition.
    insert(
        lakehouse,
        f"SELECT id, id % {PARTITIONS}, id, sha2(string(id), 256) FROM range(0, {table.rows}, 1, 1)",
    )
    budget = ceil(sum(file.stat().st_size for file in lakehouse.root.rglob("*.parquet")) * table.share)
    declare(
        lakehouse, table, ', {name: new, type: string, backfill: {from: old, with: "cast(old as string)"}}'
    )
    added = table.rows
    for run in range(table.runs):
        applied = lakehouse.apply(allow=["data"], max_bytes=budget)
        assert applied.outcome is Outcome.FILLING or run == table.runs - 1, applied.error
        insert(
            lakehouse,
            f"SELECT id, 0, id, sha2(string(id), 256), NULL FROM range({added}, {added + table.more}, 1, 1)",
        )
        added += table.more
    values = {int(str(row["id"])): row["new"] for row in lakehouse.rows()}
    assert len(lakehouse.rows()) == added
    assert values.keys() == set(range(added))
    assert [number for number in range(table.rows) if values[number] is None] == []
    assert all(value in (None, str(number)) for number, value in values.items())
    assert None in values.values()


def declare(lakehouse: Lakehouse, table: Budgeted, new: str) -> None:
    parts = f"partitioned_by: [{table.part}]\n" if table.partitioned else ""
    vectors = str(table.vectors).lower()
    columns = "".join(f"{{name: {name}, type: bigint}}, " for name in ("id", table.part, "old"))
    lakehouse.declare(
        f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}{{name: {table.text}, type: string}}{new}]\n"
        f"{parts}properties: {{delta.enableDeletionVectors: {vectors}}}\n"
    )


def insert(lakehouse: Lakehouse, query: str) -> None:
    lakehouse.session.sql(f"INSERT INTO delta.`{lakehouse.uri}` {query}")
