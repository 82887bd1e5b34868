"""The questions for engines that run elsewhere: what the script asks, and the records of its answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine import answers, elsewhere, elsewhere_runner, record_protocols, record_types
from engine.answers import engine_of, record_path, version_of
from schemalint.delta.engine import parse_engine

if TYPE_CHECKING:
    from pathlib import Path


HEAD = {"engine": "databricks 16.4", "spark": "3.5.2", "asked": "2026-11-26"}


class RefusalError(Exception):
    """What a session raises."""


class Rows(list[Any]):
    """The result of a statement."""

    def collect(self) -> Rows:
        return self


class Session:
    """A session that carries out all statements but those with a word, and ends at one with another word."""

    version = "3.5.2"

    def __init__(self, refused: str, ends_at: str = "nothing") -> None:
        self.statements: list[str] = []
        self._refused = refused
        self._ends_at = ends_at
        self._has_ended = False

    def sql(self, statement: str) -> Rows:
        self.statements.append(statement)
        self._has_ended = self._has_ended or self._ends_at in statement
        if self._has_ended:
            raise RefusalError("the session has ended")
        if self._refused in statement:
            raise RefusalError("[NOT_THIS_ONE] no\nmore")
        return Rows([{"col_name": "c0", "data_type": "bigint"}])


def questions(tables: int) -> list[dict[str, Any]]:
    """Return questions about so many tables, each with an answer and a refusal."""
    return [
        {
            "make": [f"CREATE TABLE {{table}} (a{number} int)"],
            "asks": [
                {
                    "part": "types",
                    "key": [number, name],
                    "statements": [f"ALTER TABLE {{table}} TYPE {name}"],
                    "column": "c0",
                }
                for name in ("bigint", "string")
            ],
        }
        for number in range(tables)
    ]


@pytest.fixture
def answers_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the script ask about five tables, two at a time, in their order."""
    monkeypatch.setattr(elsewhere_runner, "QUESTIONS", questions(5))
    monkeypatch.setattr(elsewhere_runner, "TABLES_AT_ONCE", 2)
    monkeypatch.setattr(elsewhere_runner, "THREADS", 1)
    monkeypatch.setattr(elsewhere_runner, "SCHEMA", "mine")
    monkeypatch.setattr(elsewhere_runner, "ANSWERS", str(tmp_path / "answers.jsonl"))
    return tmp_path / "answers.jsonl"


def test_script_asks_in_a_schema_of_its_own_and_leaves_nothing(answers_file: Path) -> None:
    session = Session(refused="TYPE string")
    elsewhere_runner.run(session)
    head, *tables = (json.loads(line) for line in answers_file.read_text("utf-8").splitlines())
    assert head["engine"] == elsewhere_runner.ENGINE
    assert head["spark"] == "3.5.2"
    assert [table["table"] for table in tables] == [0, 1, 2, 3, 4]
    assert tables[3]["answers"] == [
        {"part": "types", "key": [3, "bigint"], "type": "bigint"},
        {"part": "types", "key": [3, "string"], "error": "NOT_THIS_ONE"},
    ]
    assert session.statements[0] == "CREATE SCHEMA mine"
    assert session.statements[-1] == "DROP SCHEMA IF EXISTS mine CASCADE"
    assert all("mine" in statement for statement in session.statements if statement != "SELECT 1")


def test_an_interrupted_script_goes_on_where_its_file_ends(answers_file: Path) -> None:
    """A session that ends refuses everything: none of that is an answer."""
    whole = Session(refused="TYPE string")
    elsewhere_runner.run(whole)
    expected = answers_file.read_bytes()
    answers_file.unlink()
    ending = Session(refused="TYPE string", ends_at="CREATE TABLE mine.t3")
    with pytest.raises(RefusalError):
        elsewhere_runner.run(ending)
    assert answers_file.read_bytes() == b"".join(expected.splitlines(keepends=True)[:3])
    going_on = Session(refused="TYPE string")
    elsewhere_runner.run(going_on)
    assert answers_file.read_bytes() == expected
    assert not any("mine.t1" in statement for statement in going_on.statements)
    assert going_on.statements[0] == "CREATE SCHEMA IF NOT EXISTS mine"
    again = Session(refused="TYPE string")
    elsewhere_runner.run(again)
    assert not any("TABLE" in statement for statement in again.statements)


def test_script_takes_no_schema_that_is_there(answers_file: Path) -> None:
    with pytest.raises(RefusalError):
        elsewhere_runner.run(Session(refused="CREATE SCHEMA mine"))
    assert not answers_file.exists()


@pytest.mark.parametrize("other", ["ENGINE", "SCHEMA", "QUESTIONS"])
def test_script_adds_no_answers_to_those_of_another(
    other: str, answers_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere_runner.run(Session(refused="TYPE string"))
    before = answers_file.read_bytes()
    monkeypatch.setattr(elsewhere_runner, other, questions(6) if other == "QUESTIONS" else "another")
    with pytest.raises(ValueError, match="of another engine or to other questions"):
        elsewhere_runner.run(Session(refused="TYPE string"))
    assert answers_file.read_bytes() == before


def test_script_is_one_file_with_every_question() -> None:
    text = elsewhere.script()
    compile(text, "script.py", "exec")
    assert "import engine" not in text
    asked = [
        (ask["part"], tuple(ask["key"]))
        for table in (*elsewhere.of_types(), *elsewhere.of_protocols())
        for ask in table["asks"]
    ]
    assert len(asked) == len(set(asked))
    types = {tuple(question) for question in record_types.read_record()}
    protocols = {tuple(question) for question in record_protocols.read_record()}
    assert {key for part, key in asked if part == "types"} >= types
    assert {key for part, key in asked if part == "protocols"} == protocols


def test_answers_become_the_records_that_make_engine_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded answers of Delta 4.4.0, as the script would bring them, give the same records again."""
    monkeypatch.setattr(answers, "_FOLDER", tmp_path)
    types = record_types.read_record(record_types.RECORD)
    protocols = record_protocols.read_record(record_protocols.RECORD)
    of_types = [_line_of_type(question, answer) for question, answer in types.items()]
    of_protocols = [_line_of_protocol(question, answer) for question, answer in protocols.items()]
    lines = [HEAD, {"table": 0, "answers": of_types}, {"table": 1, "answers": of_protocols}]
    paths = list(elsewhere.records(json.loads(json.dumps(lines))))
    assert paths == [record_path(part, "databricks-16.4") for part in ("types", "protocols")]
    assert record_types.read_record(paths[0]) == types
    assert record_protocols.read_record(paths[1]) == protocols
    assert paths[0].read_text("utf-8").startswith("# databricks 16.4, Spark 3.5.2, asked on 2026-11-26\n")


def _line_of_type(question: record_types.Question, answer: record_types.Answer) -> dict[str, Any]:
    names = {"byte": "tinyint", "short": "smallint", "long": "bigint"}
    other = {"type": names.get(question.target, question.target) if answer.accepted else "unchanged"}
    result = {"error": answer.error_class} if answer.error_class else other
    return {"part": "types", "key": list(question), **result}


def _line_of_protocol(question: record_protocols.Question, answer: record_protocols.Answer) -> dict[str, Any]:
    if isinstance(answer, str):
        error = "some words" if answer == record_protocols.REFUSED else answer
        return {"part": "protocols", "key": list(question), "error": error}
    detail = {"reader": answer.min_reader, "writer": answer.min_writer, "features": sorted(answer.features)}
    return {"part": "protocols", "key": list(question), **detail}


@pytest.mark.parametrize("name", ["databricks 16.4", "fabric 1.3", "delta-spark 3.3.2"])
def test_folder_of_an_engine_names_it(name: str) -> None:
    engine = parse_engine(name)
    assert engine_of(version_of(engine)) == engine
