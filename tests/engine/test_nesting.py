"""Deeply nested schemas: schemalint reads as many levels as Spark, and beyond them names the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_types import refusal
from schemalint.base.errors import LiveError
from schemalint.tables.storage import read_table
from support.deep_schemas import AT_THE_LIMIT, nested, write_nested

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.parametrize("kind", AT_THE_LIMIT)
def test_the_deepest_schema_that_spark_parses_is_read(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """After parsing, 997 arrays can exceed the stack of a thread, by what the JVM has compiled so far."""
    levels = AT_THE_LIMIT[kind]
    for more, is_read in ((0, True), (1, False)):
        table = write_nested(tmp_path / str(more), nested(kind, levels + more))
        answer = refusal(lambda: spark.sql(f"DESCRIBE TABLE delta.`{table}`"))  # noqa: B023
        if is_read:
            assert answer in {None, "java.lang.StackOverflowError"}
            assert read_table(str(table)).state.columns.fields
        else:
            assert "nesting depth (1001)" in str(answer)
            with pytest.raises(LiveError, match="limit of schemalint exceeded"):
                read_table(str(table))
