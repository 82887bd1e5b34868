"""Delta reads, and refuses, the ranges of the change data feed that schemalint says: RD014."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.change_data import LostRange, lost_range
from schemalint.delta.diff import diff
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MAPPED = "'delta.columnMapping.mode' = 'name'"
WIDENING = "'delta.enableTypeWidening' = 'true'"
# Properties, and the change.
CHANGES = {
    "added": ("", "ADD COLUMN b INT"),
    "nullable": ("", "ALTER COLUMN id DROP NOT NULL"),
    "mapped": ("", f"SET TBLPROPERTIES ({MAPPED})"),
    "widened": (WIDENING, "ALTER COLUMN a TYPE BIGINT"),
    "widened, mapped": (f"{WIDENING}, {MAPPED}", "ALTER COLUMN a TYPE BIGINT"),
    "renamed": (MAPPED, "RENAME COLUMN a TO b"),
    "dropped": (MAPPED, "DROP COLUMN a"),
    "unmapped": (MAPPED, "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')"),
}
READABLE = {None: (True, True), LostRange.ACROSS: (True, False), LostRange.BEFORE: (False, False)}


@pytest.mark.spark
def test_a_range_of_the_change_data_feed_is_readable_or_not(spark: SparkSession, tmp_path: Path) -> None:
    """The range before the change, and that from there to the change."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    def reads(table: Path, last: int) -> bool:
        feed = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0)
        try:
            feed.option("endingVersion", last).load(str(table)).collect()
        except PySparkException as error:
            if "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA" not in str(error):
                raise
            return False
        return True

    seen, expected = {}, {}
    for number, (name, (properties, statement)) in enumerate(CHANGES.items()):
        table = tmp_path / str(number)
        feed = f"'delta.enableChangeDataFeed' = 'true'{properties and ', '}{properties}"
        spark.sql(f"CREATE TABLE delta.`{table}` (id INT NOT NULL, a INT) USING delta TBLPROPERTIES ({feed})")
        spark.sql(f"INSERT INTO delta.`{table}` VALUES (1, 2)")
        before = read_table(str(table)).state
        spark.sql(f"ALTER TABLE delta.`{table}` {statement}")
        after = read_table(str(table)).state
        lost = {found for changed in diff(before, after) if (found := lost_range(changed, before, after))}
        seen[name] = (reads(table, 1), reads(table, 2))
        expected[name] = READABLE[next(iter(lost), None)]
    assert seen == expected
    assert {*seen.values()} == {*READABLE.values()}
