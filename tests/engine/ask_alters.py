"""Ask the engine which alterations of a table it carries out, and keep its answers.

``alters.yaml`` holds the questions: a table, as statements and as a contract, the contract wanted, and the
ways there, each a list of statements. ``PYTHONPATH=tests python -m engine.ask_alters`` asks all again and
records the answers in ``alters.csv``. A way leads there if the log then holds what the contract declares.
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
from schemalint.storage import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from schemalint.delta.change import Change
    from schemalint.model.contract import Contract

QUESTIONS = Path(__file__).with_name("alters.yaml")
RECORD = Path(__file__).with_name("alters.csv")
ACCEPTED = "accepted"
UNCHANGED = "unchanged"
"""The statements report success, and the log does not hold what they were to do."""

Answer = str
"""`ACCEPTED`, `UNCHANGED`, or the error class of the first statement that is refused."""


@dataclass(frozen=True, slots=True)
class Question:
    """May a table that one contract describes become what another one declares?

    Attributes:
        setup: The statements that make the table; in all statements ``{t}`` stands for it.
        ways: The sequences of statements that could lead there; empty if SQL has none.
        before: A contract's text; None if the ways begin with no table.
        differs: Why a rule names another error than the engine gives.
    """

    case: str
    setup: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]
    before: str | None
    after: str
    differs: str | None = None


def questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """All that is asked; a contract is written without what is the same in all of them."""
    read = [_question(entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    assert len({one.case for one in read}) == len(read), "two questions have one name"
    return tuple(read)


def ask(spark: SparkSession, folder: Path, asked: Iterable[Question]) -> dict[str, tuple[Answer, ...]]:
    """The answer to each way of each question, by the question's name."""
    return {
        one.case: tuple(
            _ask_way(spark, folder / f"t{number}w{index}", one, way) for index, way in enumerate(one.ways)
        )
        for number, one in enumerate(asked)
    }


def read_contract(text: str) -> Contract:
    """The one contract of a text."""
    read = contracts.read("contract.yaml", text)
    assert not read.errors, (text, read.errors)
    (declared,) = read.contracts
    return declared


def read_record(path: Path = RECORD) -> dict[str, tuple[Answer, ...]]:
    """The recorded answers by the question's name, one for each way."""
    answers: dict[str, tuple[Answer, ...]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        for row in csv.DictReader(file):
            answers[row["case"]] = (*answers.get(row["case"], ()), row["answer"])
    return answers


def write_record(asked: Iterable[Question], answers: Mapping[str, tuple[Answer, ...]]) -> None:
    """A row per way; the versions that answered stand above them."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", "statements", "answer"])
        for one in asked:
            for way, answer in zip(one.ways, answers[one.case], strict=True):
                rows.writerow([one.case, "; ".join(way), answer])


def _question(entry: dict[str, Any]) -> Question:
    before = entry.get("before")
    return Question(
        entry["case"],
        tuple(entry.get("setup", ())),
        tuple(tuple(way) for way in entry["ways"]),
        None if before is None else _text(before),
        _text({**(before or {}), **entry["after"]}),
        entry.get("differs"),
    )


def _text(body: dict[str, Any]) -> str:
    given = {"schemalint": 1, "table": "lake.t", "protocol": {"allow_upgrade": True}, **body}
    text: str = yaml.safe_dump(given, sort_keys=False)
    return text


def _ask_way(spark: SparkSession, table: Path, question: Question, way: tuple[str, ...]) -> Answer:
    for statement in question.setup:
        refused = _refusal(spark, _named(statement, table))
        assert not refused, f"{question.case}: {refused} for {statement}"
    if question.before is not None:
        left = _left(question.before, table)
        assert not left, f"{question.case}: the table is not what `before` says: {left}"
    for statement in way:
        if (refused := _refusal(spark, _named(statement, table))) is not None:
            return refused
    return UNCHANGED if _left(question.after, table) else ACCEPTED


def _named(statement: str, table: Path) -> str:
    return statement.replace("{t}", f"delta.`{table}`")


def _left(text: str, table: Path) -> tuple[Change | str, ...]:
    """What the log does not hold of a declaration; each question declares all columns."""
    declared, state = read_contract(text).state, read_table(str(table)).state
    wanted, found = ([format_path(path) for path, _ in walk_fields(one.columns)] for one in (declared, state))
    order = () if wanted == found else (f"columns {found}",)
    return (*diff(state, apply_declaration(declared, state)), *order)


def _refusal(spark: SparkSession, statement: str) -> str | None:
    """The error class with which the engine refuses the statement, or None."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark.sql(statement)
    except PySparkException as error:
        return str(error.getCondition() or _in_brackets(str(error)))
    except Py4JJavaError as error:  # PySpark does not know DeltaTableFeatureException
        return _in_brackets(str(error.java_exception.getMessage()))
    return None


def _in_brackets(message: str) -> str:
    """The error class that Spark and Delta write before their messages, or the message's first line."""
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else message.partition("\n")[0]


def _versions() -> str:
    names = ("delta-spark", "pyspark")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a module of pytest's, wanted only here)

    asked = questions()
    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(asked, ask(session, Path(folder), asked))
        session.stop()


if __name__ == "__main__":
    _record_all()
