"""Ask delta-rs what a write does to a table, and record what the log shows after.

``PYTHONPATH=tests python -m engine.record_arrow_writes`` asks each shape of two schemas
(`engine.write_questions`), and some pairs of types, of ``write_deltalake`` with each of its modes.
"""

from __future__ import annotations

import csv
import importlib.metadata
import re
import tempfile
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from deltalake import write_deltalake

from engine.record_writes import NO_TABLE, Answer, columns_of, make
from engine.write_questions import SHAPES, Data, Question, Table, Way, struct_of
from schemalint.base.errors import LiveError
from schemalint.delta import datatype
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECORD: Final = Path(__file__).with_name("arrow_writes.csv")


class ArrowWay(NamedTuple):
    """The arguments of ``write_deltalake``."""

    mode: str
    schema_mode: str | None = None
    predicate: str | None = None


WAYS: Final = {
    "append": ArrowWay("append"),
    "append merge": ArrowWay("append", "merge"),
    "overwrite": ArrowWay("overwrite"),
    "overwrite merge": ArrowWay("overwrite", "merge"),
    "overwrite overwrite": ArrowWay("overwrite", "overwrite"),
    "overwrite predicate": ArrowWay("overwrite", None, "id = 1"),
    "overwrite overwrite predicate": ArrowWay("overwrite", "overwrite", "id = 1"),
}
TYPES: Final = ("smallint", "int", "bigint", "double", "decimal(10,2)", "string", "date", "timestamp")
_NOT_ASKED: Final = ("void", "timestamp_ntz")

_ARROW: Final = {
    "byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(), "long": pa.int64(), "float": pa.float32(),
    "double": pa.float64(), "boolean": pa.bool_(), "date": pa.date32(), "binary": pa.binary(),
    "timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"), "void": pa.null(),
}  # fmt: skip
_VALUES: Final = {"bool": True, "string": "1", "date32[day]": 0, "timestamp[us, tz=UTC]": 0}


def arrow_type(type_: datatype.DataType) -> pa.DataType:
    """Return the type of Arrow that has such values."""
    match type_:
        case datatype.Struct(fields=fields):
            return pa.struct([pa.field(field.name, arrow_type(field.type)) for field in fields])
        case datatype.Array(element=element):
            return pa.list_(arrow_type(element))
        case datatype.Map(key=key, value=value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case datatype.Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case datatype.Atomic(name=name):
            return _ARROW[name]
        case _:
            return pa.string()


def questions() -> Iterator[tuple[str, Table, Data, ArrowWay]]:
    """Yield the name of each question, the table, the data and the way."""
    for (shape, (table, data)), (name, way) in product(SHAPES.items(), WAYS.items()):
        if not any(type_ in f"{table.columns} {data.columns}" for type_ in _NOT_ASKED):
            yield f"{shape}: {name}", table, data, way
    for (old, new), (name, way) in product(product(TYPES, TYPES), WAYS.items()):
        if old != new and way.predicate is None:
            table, data = Table(f"id: bigint, c: {old}"), Data(f"id: bigint, c: {new}")
            yield f"{old} gets {new}: {name}", table, data, way


def ask(path: Path, name: str, table: Table, data: Data, way: ArrowWay) -> Answer:
    """Make the table, write one row of small numbers, and return what the log shows."""
    make(path, Question(name, table, data, Way("save")))
    columns = [
        (field.name, arrow_type(field.type), data.values.get(field.name))
        for field in struct_of(data.columns).fields
    ]
    schema = pa.schema([pa.field(column, type_) for column, type_, _ in columns])
    rows = pa.Table.from_arrays([_array(type_, value) for _, type_, value in columns], schema=schema)
    error = ""
    try:
        arguments: dict[str, Any] = way._asdict()
        write_deltalake(str(path), rows, **arguments)
    except Exception as refused:  # noqa: BLE001 (delta-rs and pyarrow raise many)
        error = re.sub(r"\s+", " ", f"{type(refused).__name__}: {refused}".replace(str(path), "…"))[:120]
    try:
        return Answer(error, columns_of(read_table(str(path)).state), "")
    except LiveError:
        return Answer(error, NO_TABLE, "")


def _array(type_: pa.DataType, value: str | None) -> pa.Array:
    if value == "NULL" or pa.types.is_nested(type_):
        return pa.array([None], type_)
    if value is not None:
        text = value.strip("'")
        return pa.array([int(text) if pa.types.is_integer(type_) else text], type_)
    if pa.types.is_decimal(type_):
        return pa.array([Decimal(1)], type_)
    return pa.array([_VALUES.get(str(type_), 1)], type_)


def record_all() -> dict[str, Answer]:
    """Ask all questions."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: ask(Path(folder, f"a{number}"), name, table, data, way)
            for number, (name, table, data, way) in enumerate(questions())
        }


def write_record(answers: Mapping[str, Answer]) -> None:
    """Write a row per question, below the version of delta-rs that answered."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# deltalake {importlib.metadata.version('deltalake')}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["question", *Answer._fields])
        rows.writerows([name, *answer] for name, answer in answers.items())


if __name__ == "__main__":
    write_record(record_all())
