"""How often a fill reads the data files is what the plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.datatype import INTEGER
from schemalint.model.fill_commits import FILL_COMMIT_BYTES
from schemalint.model.impact import passes
from schemalint.model.table_plan import Fill, Step, StepKind, TablePlan
from schemalint.spark.fills.fill import TableFills
from schemalint.tables.storage import read_table
from support.faulty_sessions import Interrupted

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = 1_000
FILL = Fill(("number",), INTEGER, ("code",), "cast(code as int)")
VECTORS = "'delta.enableDeletionVectors' = 'true'"


def rows_read(spark: SparkSession) -> dict[int, int]:
    """Return how many rows each stage of the session has read from files; Spark forgets old stages."""
    context: Any = spark.sparkContext
    gateway = context._gateway  # noqa: SLF001 (PySpark has no other way)
    quantiles, statuses = gateway.new_array(gateway.jvm.double, 0), gateway.jvm.java.util.ArrayList()
    store = context._jsc.sc().statusStore()  # noqa: SLF001 (as above)
    stages = store.stageList(None, False, False, quantiles, statuses)  # noqa: FBT003 (Scala's defaults)
    all_stages = [stages.apply(number) for number in range(stages.size())]
    return {int(stage.stageId()): int(stage.inputRecords()) for stage in all_stages}


@pytest.mark.each_time("-None-1")
@pytest.mark.parametrize(
    ("clauses", "size", "parts"),
    [
        ("", None, 1),
        (f"TBLPROPERTIES ({VECTORS})", None, 1),
        (f"TBLPROPERTIES ({VECTORS})", (8 << 30) * 2 + 1, 3),
        ("PARTITIONED BY (p)", None, 1),
    ],
)
def test_a_fill_reads_the_files_as_often_as_the_plan_says(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clauses: str,
    size: int | None,
    parts: int,
) -> None:
    table = f"delta.`{tmp_path}`"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, code STRING, number INT, p INT) USING delta {clauses}")
    spark.sql(f"INSERT INTO {table} SELECT id, CAST(id AS STRING), NULL, id % 2 FROM range(0, {ROWS}, 1, 2)")
    live = read_table(str(tmp_path))
    files = sum(file.stat().st_size for file in tmp_path.rglob("*.parquet"))
    if size is not None:  # as many parts as a table of this size has
        commit_bytes = files * FILL_COMMIT_BYTES // size
        monkeypatch.setattr("schemalint.spark.fills.shares._COMMIT_BYTES", commit_bytes)
    session = Interrupted(spark)
    fills = TableFills(session, table, lambda: read_table(str(tmp_path)), lambda _version: None)
    newest = max(rows_read(spark))
    filled = fills.fill(FILL)
    assert (filled.rows, filled.commits) == (ROWS, parts)
    plan = TablePlan("sales.orders", str(tmp_path), "", live=live.state, size=size or files)
    step = Step(StepKind.FILL, "", (), (), fills=(FILL,))
    # Some rows more are those of the log.
    rows = sum(number for stage, number in rows_read(spark).items() if stage > newest)
    assert rows // ROWS == passes(step, plan)
