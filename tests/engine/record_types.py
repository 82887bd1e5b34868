"""Ask Spark which type changes ``ALTER TABLE … ALTER COLUMN … TYPE`` carries out, and record its answers.

``PYTHONPATH=tests python -m engine.record_types`` asks every question again and records the answers.
"""

from __future__ import annotations

import csv
import importlib.metadata
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.answers import new_record, record_path
from schemalint.base.values import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

TYPES = (
    "boolean", "byte", "short", "int", "long", "float", "double", "string", "binary",
    "date", "timestamp", "timestamp_ntz",
    "decimal(5,0)", "decimal(5,2)", "decimal(10,0)", "decimal(10,2)", "decimal(12,2)", "decimal(12,4)",
    "decimal(20,0)", "decimal(22,2)", "decimal(28,10)", "decimal(38,0)", "decimal(38,18)",
    "varchar(5)", "varchar(10)", "char(5)", "char(10)", "variant", "void",
)  # fmt: skip

RECORD = record_path("types")
ACCEPTED = "accepted"
UNCHANGED = "unchanged"
LOGGED_NAMES = {"int": "integer"}  # the other types have the same name in the Delta log and in SQL


class Config(NamedTuple):
    """The configuration of a table: type widening enabled, and feature timestampNtz supported."""

    widening: bool
    ntz: bool


class Question(NamedTuple):
    """Can a column change from source to target in a table of that configuration?"""

    source: str
    target: str
    widening: bool
    ntz: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Accepted if the log then holds the target type; a success without effect has no error class."""

    accepted: bool
    error_class: str | None = None


# Spark refuses some pairs of types in every table (checkAlterTableCommand in its CheckAnalysis.scala), so one
# table's answer holds for all others.
NO_UP_CAST = Answer(accepted=False, error_class="NOT_SUPPORTED_CHANGE_COLUMN")

CONFIGS = {
    "plain": Config(widening=False, ntz=False),
    "ntz": Config(widening=False, ntz=True),
    "widening": Config(widening=True, ntz=False),
    "widening+ntz": Config(widening=True, ntz=True),
}


def ask(
    spark: SparkSession,
    folder: Path,
    sources: Sequence[str] = TYPES,
    configs: Sequence[Config] = tuple(CONFIGS.values()),
) -> dict[Question, Answer]:
    """Change a column of every source type to every type of ``TYPES``, in tables of every configuration.

    A new table with a timestamp_ntz column always supports the feature: questions without it have no answer.
    Neither have those about a type of which this engine makes no column.
    """
    answers: dict[Question, Answer] = {}
    for source in sources:
        always_refused: dict[str, Answer] = {}
        for config in configs:
            if source == "timestamp_ntz" and not config.ntz:
                continue
            table = folder / f"t{len(answers)}"
            targets = [target for target in TYPES if target not in always_refused]
            pairs = [(source, target) for target in targets]
            if _makes_no_column(spark, folder / f"t{len(answers)}-trial", source):
                continue
            answered = dict(zip(targets, _ask_table(spark, table, config, pairs), strict=True))
            always_refused |= {target: answer for target, answer in answered.items() if answer == NO_UP_CAST}
            for target in TYPES:
                answers[Question(source, target, *config)] = {**answered, **always_refused}[target]
    return answers


def ask_again(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, Answer]:
    """Ask some of the questions, those of one configuration in one table."""
    answers: dict[Question, Answer] = {}
    asked = grouped((Config(question.widening, question.ntz), question) for question in questions)
    for number, (config, same) in enumerate(asked.items()):
        pairs = [(question.source, question.target) for question in same]
        answers |= zip(same, _ask_table(spark, folder / f"t{number}", config, pairs), strict=True)
    return answers


def write_record(answers: Mapping[Question, Answer], path: Path = RECORD, about: str = "") -> None:
    """Write a row per pair of types and a column per configuration, below the versions that answered."""
    cells = {question: _cell(answer) for question, answer in answers.items()}
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {about or _versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["source", "target", *CONFIGS])
        for source, target in dict.fromkeys((question.source, question.target) for question in answers):
            row = [cells.get(Question(source, target, *config), "") for config in CONFIGS.values()]
            rows.writerow([source, target, *row])


def read_record(path: Path = RECORD) -> dict[Question, Answer]:
    """Read the recorded answers; questions that cannot be asked are absent."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["source"], row["target"], *config): _answer(cell)
            for row in csv.DictReader(file)
            for name, config in CONFIGS.items()
            if (cell := row[name])
        }


def _ask_table(
    spark: SparkSession, path: Path, config: Config, pairs: Sequence[tuple[str, str]]
) -> list[Answer]:
    """Make a column for each pair of types, and change it."""
    _create(spark, path, [source for source, _ in pairs], config)
    errors = [
        _refusal(spark, f"ALTER TABLE delta.`{path}` ALTER COLUMN c{index} TYPE {target}")
        for index, (_, target) in enumerate(pairs)
    ]
    logged = _logged_types(path)
    return [
        Answer(error is None and logged[f"c{index}"] == LOGGED_NAMES.get(target, target), error)
        for index, ((_, target), error) in enumerate(zip(pairs, errors, strict=True))
    ]


def _create(spark: SparkSession, path: Path, types: Sequence[str], config: Config) -> None:
    columns = [f"c{index} {name}" for index, name in enumerate(types)]
    spark.sql(creation(f"delta.`{path}`", columns, config))


def creation(table: str, columns: Iterable[str], config: Config) -> str:
    """Return the statement that makes a table; another column, because it cannot have void columns alone."""
    properties = [
        *(["'delta.enableTypeWidening'='true'"] if config.widening else []),
        *(["'delta.feature.timestampNtz'='supported'"] if config.ntz else []),
    ]
    clause = f"TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    return f"CREATE TABLE {table} (other int, {', '.join(columns)}) USING delta {clause}"


def _makes_no_column(spark: SparkSession, path: Path, type_: str) -> bool:
    """Whether the engine refuses a new table with such a column, as Spark 3.5 does for variant."""
    return _refusal(spark, f"CREATE TABLE delta.`{path}` (other int, c {type_}) USING delta") is not None


def _refusal(spark: SparkSession, statement: str) -> str | None:
    """Run a statement, and return the error class if the engine refuses it."""
    return refusal(lambda: spark.sql(statement))


def refusal(run: Callable[[], object]) -> str | None:
    """Run something, and return the error class if the engine refuses it."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        run()
    except PySparkException as error:
        # PySpark 3.5 has the older name.
        condition = getattr(error, "getCondition", None) or error.getErrorClass
        return str(condition() or _error_class(str(error)))
    except Py4JJavaError as error:  # PySpark does not know DeltaTableFeatureException
        return _error_class(str(error.java_exception.getMessage()))
    return None


def _error_class(message: str) -> str:
    """Return the error class in brackets before the message, else the message's first line."""
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else message.partition("\n")[0]


def _logged_types(path: Path) -> dict[str, str]:
    """Return the types by column name from the last schema in the log; char and varchar as declared."""
    actions = [
        json.loads(line)
        for commit in sorted((path / "_delta_log").glob("*.json"))
        for line in commit.read_text(encoding="utf-8").splitlines()
    ]
    schema = json.loads(
        [action["metaData"] for action in actions if "metaData" in action][-1]["schemaString"]
    )
    return {
        field["name"]: field["metadata"].get("__CHAR_VARCHAR_TYPE_STRING", field["type"])
        for field in schema["fields"]
    }


def _cell(answer: Answer) -> str:
    return answer.error_class or (ACCEPTED if answer.accepted else UNCHANGED)


def _answer(cell: str) -> Answer:
    return Answer(cell == ACCEPTED, None if cell in {ACCEPTED, UNCHANGED} else cell)


def _versions() -> str:
    names = ("delta-spark", "pyspark")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder)), new_record("types"))
        session.stop()


if __name__ == "__main__":
    _record_all()
