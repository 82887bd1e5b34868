"""Ask Spark what a write does to a table, and record what its log shows after.

``PYTHONPATH=tests python -m engine.record_writes [SECONDS]`` asks the questions of `engine.write_questions`
that have no recorded answer yet, for so many seconds, and records the answers. Remove the record to ask all.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.answers import new_record, record_path
from engine.record_types import _versions, refusal
from engine.write_questions import (
    MAPPED,
    STATEMENTS,
    VALUES,
    Question,
    Way,
    protocol_of,
    questions,
    state_of,
    struct_of,
)
from schemalint.base.errors import LiveError
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.tables.storage import read_table
from support.logs import metadata, protocol, write_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

RECORD = record_path("writes")
NO_TABLE: Final = "no table"
_QUICKER: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
}
"""Settings with which a write of one row takes half the time, and no other answer."""

_CLASS: Final = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
_ID = re.compile(r"w[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Answer(NamedTuple):
    """What the log shows after a write.

    Attributes:
        error: The class of the error; empty if the write succeeded.
        columns: The columns after the write, as `columns_of` prints them.
        rows: The rows that were written, as JSON, where the question gives values.
    """

    error: str
    columns: str
    rows: str


class StreamFailed(Exception):  # noqa: N818 (an answer)
    """A stream ended with an error, of which Spark's own class says nothing."""

    def __init__(self, classes: list[str]) -> None:
        known = [name for name in classes if name != "STREAM_FAILED"]
        super().__init__(known[0] if known else "STREAM_FAILED")


def columns_of(state: TableState) -> str:
    """Return the columns, and what partitions them, as one text; defaults and comments are not in it."""
    columns = print_type(state.columns).removeprefix("struct<").removesuffix(">")
    partitioned = ", ".join(state.partitioned_by) if isinstance(state.partitioned_by, tuple) else ""
    return f"{columns} by {partitioned}" if partitioned else columns


def make(path: Path, question: Question) -> None:
    """Write the log of the table before the write, if there is a table."""
    table, state = question.table, state_of(question.table)
    if not table.columns:
        return
    wanted = protocol_of(table)
    readers = wanted.reader_features if wanted.min_reader >= 3 else None
    properties = {key: value for key, value in table.properties.items() if "feature" not in key}
    if MAPPED.items() <= table.properties.items():
        properties["delta.columnMapping.maxColumnId"] = str(len(state.columns.fields))
    start = (
        protocol(wanted.min_reader, wanted.min_writer, readers, wanted.writer_features),
        metadata(*state.columns.fields, properties=properties, partitioned_by=table.partitioned),
    )
    write_log(path, [start])


def data_of(source: DataFrame, question: Question) -> DataFrame:
    """Return the one row that the question writes."""
    return source.selectExpr(
        *(
            f"CAST({question.data.values.get(field.name, _value(print_type(field.type)))} "
            f"AS {print_type(field.type)}) AS `{field.name}`"
            for field in struct_of(question.data.columns).fields
        )
    )


def _value(type_: str) -> str:
    if type_.startswith(("struct", "array", "map")):
        return "NULL"
    return VALUES.get(type_, "1")


def write(spark: SparkSession, path: Path, question: Question) -> None:
    """Write the data into the table, in the way that the question says."""
    way, name = question.way, path.name
    if way.method == "stream":
        _stream(spark, path, question)
        return
    data = data_of(spark.range(1), question)
    if question.table.columns and way.method != "save":
        spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{path}'")
    if way.method in STATEMENTS:
        data.createOrReplaceTempView("given")
        names = ", ".join(f"`{column}`" for column in data.columns)
        spark.sql(STATEMENTS[way.method].format(t=name, v="given", names=names)).collect()
        return
    writer = data.write.mode(way.mode).options(**way.options)
    writer = writer.partitionBy(*way.partition_by) if way.partition_by else writer
    match way.method:
        case "save":
            writer.format("delta").save(str(path))
        case "saveAsTable" if question.table.columns:
            writer.format("delta").saveAsTable(name)
        case "saveAsTable":
            writer.format("delta").option("path", str(path)).saveAsTable(name)
        case "writeTo":
            _write_to(data, name, question.way)
        case "insertInto":
            (writer.format("delta") if way.says_delta else writer).insertInto(name)
        case _:
            raise ValueError(way.method)


def _write_to(data: DataFrame, name: str, way: Way) -> None:
    from pyspark.sql.functions import lit  # noqa: PLC0415 (only with Spark)

    writer = data.writeTo(name).options(**way.options)
    if way.mode == "append":
        writer.append()
    else:
        writer.overwrite(lit(True))  # noqa: FBT003 (a condition that all rows meet)


def _stream(spark: SparkSession, path: Path, question: Question) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    writer = data_of(source, question).writeStream.format("delta").options(**question.way.options)
    checkpoint = path.with_name(f"{path.name}-checkpoint")
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(once=True).start(str(path))
    try:
        query.awaitTermination()
    except PySparkException as error:
        raise StreamFailed(_CLASS.findall(str(error))) from None


def ask(spark: SparkSession, folder: Path, number: int, question: Question) -> Answer:
    """Make the table, write, and return what its log shows."""
    path = folder / f"w{number}"
    make(path, question)
    for key, value in question.way.conf.items():
        spark.conf.set(key, value)
    try:
        error = refusal(lambda: write(spark, path, question))
    except StreamFailed as failed:
        error = str(failed)
    finally:
        for key in question.way.conf:
            spark.conf.unset(key)
    rows = ""
    try:
        columns = columns_of(read_table(str(path)).state)
        if error is None and question.data.values:
            rows = _rows(spark.read.format("delta").load(str(path)))
    except LiveError:
        columns = NO_TABLE
    spark.sql(f"DROP TABLE IF EXISTS w{number}")
    shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(path.with_name(f"{path.name}-checkpoint"), ignore_errors=True)
    return Answer(_ID.sub("…", error or "")[:120], columns, rows)


def _rows(table: DataFrame) -> str:
    names = [name if name.isalnum() else f"`{name}`" for name in table.columns]
    texts = table.selectExpr(*(f"to_json(struct({name})) AS `{number}`" for number, name in enumerate(names)))
    rows: list[dict[str, Any]] = []
    for row in texts.collect():
        merged: dict[str, Any] = {}
        for text in row:
            merged |= json.loads(text)
        rows.append(merged)
    return json.dumps(rows, separators=(",", ":"))


def read_record(path: Path = RECORD) -> dict[str, Answer]:
    """Read the recorded answers by the names of their questions."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            row["question"]: Answer(row["error"], row["columns"], row["rows"]) for row in csv.DictReader(file)
        }


def write_record(answers: Mapping[str, Answer], path: Path, asked: str) -> None:
    """Write a row per question, in the order of the questions."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {asked}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["question", *Answer._fields])
        rows.writerows(
            [question.name, *answers[question.name]] for question in questions() if question.name in answers
        )


def _answered(seconds: float, answers: dict[str, Answer]) -> Iterator[None]:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as temporary:
        spark = start_session(Path(temporary, "warehouse"))
        for key, value in _QUICKER.items():
            spark.conf.set(key, value)
        for number, question in enumerate(questions()):
            if question.name not in answers:
                answers[question.name] = ask(spark, Path(temporary), number, question)
                yield
            if time.monotonic() > until:
                break
        spark.stop()


if __name__ == "__main__":
    record = new_record("writes")
    known = read_record(record) if record.exists() else {}
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 1e9
    for count, _ in enumerate(_answered(limit, known), 1):
        if count % 25 == 0:
            write_record(known, record, _versions())
            print(count, flush=True)  # noqa: T201 (how far it is)
    write_record(known, record, _versions())
    if len(known) == sum(1 for _ in questions()):
        print("done")  # noqa: T201 (as above)
