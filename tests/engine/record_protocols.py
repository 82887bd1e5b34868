"""Ask Spark which protocol a table has after a change, and record its answers.

``PYTHONPATH=tests python -m engine.record_protocols`` asks every question again and records the answers.
"""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypedDict

from engine.answers import new_record, record_path
from engine.record_types import _refusal, _versions
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import SparkSession

RECORD = record_path("protocols")
REFUSED = "refused"  # without an error class


class Column(TypedDict, total=False):
    """A column as a contract writes it."""

    name: str
    type: str
    nullable: bool
    generated: str
    identity: dict[str, int]


class Change(TypedDict, total=False):
    """A change of a table: columns to add, properties to set, CHECK constraints to add."""

    columns: list[Column]
    properties: dict[str, str]
    constraints: dict[str, str]


class Question(NamedTuple):
    """Which protocol does a table of that start have after that change? A new table has an empty start."""

    start: str
    change: str


Answer: TypeAlias = Protocol | str
"""The protocol afterwards, or the error class of the refusal."""

NOTHING: Final = ""
"""The empty change: its answer is the protocol of the start."""

BASE_COLUMN: Final[Column] = {"name": "a", "type": "int"}

READER: Final = "delta.minReaderVersion"
WRITER: Final = "delta.minWriterVersion"

LEGACY: Final = {
    f"({reader},{writer})": {READER: str(reader), WRITER: str(writer)}
    for reader, writer in ((1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 5), (2, 6))
}

STARTS: Final[Mapping[str, Mapping[str, str]]] = {
    **LEGACY,
    "(1,7) bare": {**LEGACY["(1,1)"], "delta.feature.domainMetadata": "supported"},
    "(1,7) changeDataFeed": {"delta.enableChangeDataFeed": "true"},
    "(1,7) rowTracking": {"delta.enableRowTracking": "true"},
    "(2,7) columnMapping": {"delta.columnMapping.mode": "name"},
    "(3,7) deletionVectors": {"delta.enableDeletionVectors": "true"},
    "(3,7) previews": {
        "delta.feature.typeWidening-preview": "supported",
        "delta.feature.variantType-preview": "supported",
    },
    "(3,7) timestampNtz": {"delta.feature.timestampNtz": "supported"},
}

# Delta accepts only commit coordinators that are registered in its process, and none is.
_WITHOUT_VALID_VALUE: Final = "delta.coordinatedCommits.commitCoordinator-preview"

_PROPERTIES: Final[Mapping[str, Change]] = {
    f"{key}={value}": {"properties": {key: value}}
    for row in FEATURES.values()
    if row.enabled_by_property and row.enabled_by_property[0] != _WITHOUT_VALID_VALUE
    for key, values in [row.enabled_by_property]
    for value in sorted(values)
}
_FEATURES: Final[Mapping[str, Change]] = {
    f"delta.feature.{name}": {"properties": {f"delta.feature.{name}": "supported"}}
    for name, row in FEATURES.items()
    if not row.source.endswith(".md")  # of a proposal: no Delta has the name
}
VERSIONS: Final[Mapping[str, Change]] = {
    **{f"reader {reader}": {"properties": {READER: str(reader)}} for reader in (1, 2)},
    **{f"writer {writer}": {"properties": {WRITER: str(writer)}} for writer in range(1, 8)},
    **{
        f"reader {reader}, writer {writer}": {"properties": {READER: str(reader), WRITER: str(writer)}}
        for reader, writer in ((1, 1), (1, 4), (1, 7), (2, 5), (2, 6), (2, 7), (3, 7))
    },
}
_OTHER_CHANGES: Final[Mapping[str, Change]] = {
    "delta.enableChangeDataCapture=true": {"properties": {"delta.enableChangeDataCapture": "true"}},
    "delta.enableTypeWidening=false": {"properties": {"delta.enableTypeWidening": "false"}},
    "delta.columnMapping.mode=none": {"properties": {"delta.columnMapping.mode": "none"}},
    "delta.checkpointPolicy=classic": {"properties": {"delta.checkpointPolicy": "classic"}},
    "column int": {"columns": [{"name": "b", "type": "int"}]},
    "column variant": {"columns": [{"name": "b", "type": "variant"}]},
    "column with a nested variant": {"columns": [{"name": "b", "type": "array<struct<x: variant>>"}]},
    "column timestamp_ntz": {"columns": [{"name": "b", "type": "timestamp_ntz"}]},
    "column with a nested timestamp_ntz": {"columns": [{"name": "b", "type": "map<int, timestamp_ntz>"}]},
}
_OF_NEW_TABLES: Final[Mapping[str, Change]] = {
    "column not null": {"columns": [{"name": "b", "type": "int", "nullable": False}]},
    "column with a field not null": {"columns": [{"name": "b", "type": "struct<x: int not null>"}]},
    "column generated": {"columns": [{"name": "b", "type": "int", "generated": "a + 1"}]},
    "column identity": {"columns": [{"name": "b", "type": "long", "identity": {"start": 1, "step": 1}}]},
}
_OF_EXISTING_TABLES: Final[Mapping[str, Change]] = {
    "constraint": {"constraints": {"positive": "a > 0"}},
    # Not asked for new tables: the versions are invalid, but Delta adds what reader version 2 implies.
    "reader 3, writer 6": {"properties": {READER: "3", WRITER: "6"}},
}

CHANGES: Final[Mapping[str, Change]] = {
    NOTHING: {},
    **_PROPERTIES,
    **_FEATURES,
    **VERSIONS,
    **_OTHER_CHANGES,
    **_OF_NEW_TABLES,
    **_OF_EXISTING_TABLES,
}


def all_questions() -> list[Question]:
    """Return every question."""
    created = [Question("", change) for change in CHANGES if change not in _OF_EXISTING_TABLES]
    altered = [
        Question(start, change) for start in STARTS for change in CHANGES if change not in _OF_NEW_TABLES
    ]
    return [*created, *altered]


def ask(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, Answer]:
    """Return the answers; each question gets its own table, a copy of the start's.

    Questions about a start that this engine refuses to make have no answer.
    """
    start_tables: dict[str, Path] = {}
    answers: dict[Question, Answer] = {}
    for number, question in enumerate(questions):
        path = folder / f"t{number}"
        if not question.start:
            answers[question] = _answer(spark, path, [_create(path, CHANGES[question.change])])
            continue
        if question.start not in start_tables:
            start_tables[question.start] = folder / f"start{len(start_tables)}"
            start = _create(start_tables[question.start], {"properties": {**STARTS[question.start]}})
            _refusal(spark, start)
        if not start_tables[question.start].exists():
            continue
        shutil.copytree(start_tables[question.start], path)
        answers[question] = _answer(spark, path, _alter(path, CHANGES[question.change]))
    return answers


def write_record(answers: Mapping[Question, Answer], path: Path = RECORD, about: str = "") -> None:
    """Write a row per question, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {about or _versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["start", "change", "reader", "writer", "reader_features", "writer_features", "error"])
        rows.writerows([*question, *_cells(answer)] for question, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[Question, Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {Question(row["start"], row["change"]): _answer_of_row(row) for row in csv.DictReader(file)}


def _answer(spark: SparkSession, path: Path, statements: Iterable[str]) -> Answer:
    for statement in statements:
        if error := _refusal(spark, statement):
            has_class = error.replace("_", "").replace(".", "").isalnum()
            return error if has_class else REFUSED
    return _logged_protocol(path)


def _create(path: Path, change: Change) -> str:
    return creation(f"delta.`{path}`", change)


def creation(table: str, change: Change) -> str:
    """Return the statement that makes a table with a change."""
    columns = [BASE_COLUMN, *change.get("columns", [])]
    properties = change.get("properties", {})
    clause = f"TBLPROPERTIES ({_entries(properties)})" if properties else ""
    return f"CREATE TABLE {table} ({', '.join(map(_column, columns))}) USING delta {clause}"


def _alter(path: Path, change: Change) -> Iterator[str]:
    yield from alterations(f"delta.`{path}`", change)


def alterations(table: str, change: Change) -> Iterator[str]:
    """Yield the statements that make a change of a table."""
    for column in change.get("columns", []):
        yield f"ALTER TABLE {table} ADD COLUMNS ({_column(column)})"
    if properties := change.get("properties"):
        yield f"ALTER TABLE {table} SET TBLPROPERTIES ({_entries(properties)})"
    for name, expression in change.get("constraints", {}).items():
        yield f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({expression})"


def _column(column: Column) -> str:
    words = [column["name"], column["type"]]
    if not column.get("nullable", True):
        words.append("NOT NULL")
    if "generated" in column:
        words.append(f"GENERATED ALWAYS AS ({column['generated']})")
    if "identity" in column:
        words.append("GENERATED ALWAYS AS IDENTITY")
    return " ".join(words)


def _entries(properties: Mapping[str, str]) -> str:
    return ", ".join(f"'{key}'='{value}'" for key, value in properties.items())


def _logged_protocol(path: Path) -> Protocol:
    actions = [
        json.loads(line)
        for commit in sorted((path / "_delta_log").glob("*.json"))
        for line in commit.read_text(encoding="utf-8").splitlines()
    ]
    logged = [action["protocol"] for action in actions if "protocol" in action][-1]
    return Protocol(
        logged["minReaderVersion"],
        logged["minWriterVersion"],
        frozenset(logged.get("readerFeatures", ())),
        frozenset(logged.get("writerFeatures", ())),
    )


def _cells(answer: Answer) -> list[str]:
    if isinstance(answer, str):
        return ["", "", "", "", answer]
    features = (" ".join(sorted(names)) for names in (answer.reader_features, answer.writer_features))
    return [str(answer.min_reader), str(answer.min_writer), *features, ""]


def _answer_of_row(row: Mapping[str, str]) -> Answer:
    if row["error"]:
        return row["error"]
    readers, writers = (frozenset(row[key].split()) for key in ("reader_features", "writer_features"))
    return Protocol(int(row["reader"]), int(row["writer"]), readers, writers)


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder), all_questions()), new_record("protocols"))
        session.stop()


if __name__ == "__main__":
    _record_all()
