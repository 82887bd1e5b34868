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
    """A session that carries out all statements but those with a word."""

    version = "3.5.2"

    def __init__(self, refused: str) -> None:
        self.statements: list[str] = []
        self._refused = refused

    def sql(self, statement: str) -> Rows:
        self.statements.append(statement)
        if self._refused in statement:
            raise RefusalError("[NOT_THIS_ONE] no\nmore")
        return Rows([{"col_name": "c0", "data_type": "bigint"}])


def test_script_asks_in_a_schema_of_its_own_and_leaves_nothing() -> None:
    session = Session(refused="TYPE string")
    asks = [
        {"part": "types", "key": [name], "statements": [f"ALTER TABLE {{table}} TYPE {name}"], "column": "c0"}
        for name in ("bigint", "string")
    ]
    found = elsewhere_runner.ask(session, [{"make": ["CREATE TABLE {table} (a int)"], "asks": asks}], "mine")
    assert found == [
        {"part": "types", "key": ["bigint"], "type": "bigint"},
        {"part": "types", "key": ["string"], "error": "NOT_THIS_ONE"},
    ]
    assert session.statements[0] == "CREATE SCHEMA mine"
    assert session.statements[-1] == "DROP SCHEMA mine CASCADE"
    assert all("mine" in statement for statement in session.statements)


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
    lines = [
        HEAD,
        *(_line_of_type(question, answer) for question, answer in types.items()),
        *(_line_of_protocol(question, answer) for question, answer in protocols.items()),
    ]
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
