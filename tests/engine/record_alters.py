"""Ask Spark which alterations of a table it carries out, and record its answers.

``alters.yaml`` holds the questions. A question has the table as statements (`setup`) and as a contract
(`before`), the contract after the change (`after`), and `ways`: the sequences of statements that could make
the change. ``PYTHONPATH=tests python -m engine.record_alters`` asks all questions again and records the
answers in ``alters.csv``. A way is accepted if the log then holds everything that the contract declares.
"""

from __future__ import annotations

import csv
import importlib.metadata
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from schemalint import contract as contracts
from schemalint.delta.datatype import walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import format_path
from schemalint.model.declaration import apply_declaration
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from schemalint.delta.change import Change
    from schemalint.model.contract import Contract

QUESTIONS = Path(__file__).with_name("alters.yaml")
RECORD = Path(__file__).with_name("alters.csv")
ACCEPTED = "accepted"
UNCHANGED = "unchanged"
"""The statements report success, but the log does not hold the change."""

Answer = str
"""`ACCEPTED`, `UNCHANGED`, or the error class of the first refused statement."""


@dataclass(frozen=True, slots=True)
class Question:
    """Can Spark alter the table of one contract into the table of another contract?

    Attributes:
        setup: The statements that create the table; ``{t}`` is the table's name in all statements.
        ways: The sequences of statements that could make the change; empty if SQL has none.
        before: The text of the contract before; None if there is no table before.
        differs: Why the rule names another error class than Spark; None if they agree.
    """

    case: str
    setup: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]
    before: str | None
    after: str
    differs: str | None = None


def questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """Read all questions; `_contract_text` adds the lines that all contracts share."""
    read = [_question(entry) for entry in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)]
    assert len({question.case for question in read}) == len(read), "two questions have one name"
    return tuple(read)


def ask(spark: SparkSession, folder: Path, to_ask: Iterable[Question]) -> dict[str, tuple[Answer, ...]]:
    """Return the answers by the question's name, one for each way."""
    return {
        question.case: tuple(
            _ask_way(spark, folder / f"t{number}w{index}", question, way)
            for index, way in enumerate(question.ways)
        )
        for number, question in enumerate(to_ask)
    }


def read_contract(text: str) -> Contract:
    """Read a text with exactly one contract."""
    read = contracts.read("contract.yaml", text)
    assert not read.errors, (text, read.errors)
    (declared,) = read.contracts
    return declared


def read_record(path: Path = RECORD) -> dict[str, tuple[Answer, ...]]:
    """Read the recorded answers by the question's name, one for each way."""
    answers: dict[str, tuple[Answer, ...]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        for row in csv.DictReader(file):
            answers[row["case"]] = (*answers.get(row["case"], ()), row["answer"])
    return answers


def write_record(to_write: Iterable[Question], answers: Mapping[str, tuple[Answer, ...]]) -> None:
    """Write a row per way, below the versions of Delta and PySpark that answered."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", "statements", "answer"])
        for question in to_write:
            for way, answer in zip(question.ways, answers[question.case], strict=True):
                rows.writerow([question.case, "; ".join(way), answer])


def _question(entry: dict[str, Any]) -> Question:
    before = entry.get("before")
    return Question(
        entry["case"],
        tuple(entry.get("setup", ())),
        tuple(tuple(way) for way in entry["ways"]),
        None if before is None else _contract_text(before),
        _contract_text({**(before or {}), **entry["after"]}),
        entry.get("differs"),
    )


def _contract_text(body: dict[str, Any]) -> str:
    document = {"schemalint": 1, "table": "lake.t", "protocol": {"allow_upgrade": True}, **body}
    text: str = yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text


def _ask_way(spark: SparkSession, table: Path, question: Question, way: tuple[str, ...]) -> Answer:
    for statement in question.setup:
        refused = _refusal(spark, _with_table_name(statement, table))
        assert not refused, f"{question.case}: {refused} for {statement}"
    if question.before is not None:
        missing = _missing_changes(question.before, table)
        assert not missing, f"{question.case}: the table does not match `before`: {missing}"
    for statement in way:
        if (refused := _refusal(spark, _with_table_name(statement, table))) is not None:
            return refused
    return UNCHANGED if _missing_changes(question.after, table) else ACCEPTED


def _with_table_name(statement: str, table: Path) -> str:
    return statement.replace("{t}", f"delta.`{table}`")


def _missing_changes(text: str, table: Path) -> tuple[Change | str, ...]:
    """Return the differences between the log and a contract, which declares all columns in order."""
    declared, state = read_contract(text).state, read_table(str(table)).state
    declared_paths, live_paths = (
        [format_path(path) for path, _ in walk_fields(table_state.columns)]
        for table_state in (declared, state)
    )
    order = () if declared_paths == live_paths else (f"columns {live_paths}",)
    return (*diff(state, apply_declaration(declared, state)), *order)


def _refusal(spark: SparkSession, statement: str) -> str | None:
    """Run a statement, and return the error class if the engine refuses it."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark.sql(statement)
    except PySparkException as error:
        return str(error.getCondition() or _error_class(str(error)))
    except Py4JJavaError as error:  # PySpark does not know DeltaTableFeatureException
        return _error_class(str(error.java_exception.getMessage()))
    return None


def _error_class(message: str) -> str:
    """Return the error class in brackets before the message, else the message's first line."""
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else message.partition("\n")[0]


def _versions() -> str:
    names = ("delta-spark", "pyspark")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    all_questions = questions()
    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(all_questions, ask(session, Path(folder), all_questions))
        session.stop()


if __name__ == "__main__":
    _record_all()
