"""Ask Spark which declared states a new or an existing table can have, and record its answers.

``PYTHONPATH=tests python -m engine.record_states`` asks every question again and records the answers.
The questions are about properties, table features, column names, column mapping and Iceberg compatibility.
"""

from __future__ import annotations

import csv
import itertools
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from engine.answers import new_record, record_path
from engine.record_types import _refusal, _versions
from engine.state_questions import questions
from schemalint.delta.properties import canonical, is_protocol_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

RECORD = record_path("states")
ACCEPTED = "accepted"
UNCHANGED = "unchanged"
REFUSED = "refused"  # without an error class


class State(TypedDict, total=False):
    """A table as declared.

    Attributes:
        columns: Type by name.
        properties: Value by key; None removes a property.
        defaults: Expression by column name.
    """

    columns: dict[str, str]
    properties: dict[str, str | None]
    partitioned_by: list[str]
    defaults: dict[str, str]


class Question(NamedTuple):
    """Can Spark alter a table from the first state to the second? As JSON; empty for no table."""

    before: str
    after: str


def ask(spark: SparkSession, folder: Path, to_ask: Iterable[Question]) -> dict[Question, str]:
    """Return ``accepted``, ``unchanged`` (success without effect) or the refusal for each question.

    Questions about a first state that this engine refuses to make have no answer.
    """
    return _Asker(spark, folder).answers(to_ask)


def all_questions() -> list[Question]:
    """Return every question once."""
    texts = ((before and _json(before), _json(after)) for before, after in questions())
    return list(dict.fromkeys(Question(before or "", after) for before, after in texts))


def write_record(answers: Mapping[Question, str], path: Path = RECORD) -> None:
    """Write a row per question, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["before", "after", "answer"])
        rows.writerows([*question, answer] for question, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[Question, str]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {Question(row["before"], row["after"]): row["answer"] for row in csv.DictReader(file)}


class _Asker:
    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._numbers = itertools.count()
        self._tables: dict[str, Path] = {}

    def answers(self, to_ask: Iterable[Question]) -> dict[Question, str]:
        return {
            question: self._answer(question)
            for question in to_ask
            if not question.before or self._is_made(question.before)
        }

    def _answer(self, question: Question) -> str:
        after: State = json.loads(question.after)
        if question.before:
            return self._alter(question.before, after)
        path = self._new_path()
        error = self._refusal(_create(path, after))
        if error is None:
            return _outcome(path, after)
        # Try the other way to make a new table: create it without properties, and set these afterwards.
        bare = _json({**after, "properties": {}})
        if not after.get("properties") or self._refusal(_create(self._new_path(), json.loads(bare))):
            return error
        later = self._alter(bare, after)
        return later if later == ACCEPTED or error == REFUSED else error

    def _alter(self, before: str, after: State) -> str:
        """Return ``accepted`` if a sequence of statements is accepted, else the answer to the first."""
        answers: list[str] = []
        for statements in _ways(json.loads(before), after):
            path = self._copy_of(before)
            errors = (self._refusal(f"ALTER TABLE delta.`{path}` {statement}") for statement in statements)
            answers.append(next((error for error in errors if error), None) or _outcome(path, after))
            if answers[-1] == ACCEPTED:
                return ACCEPTED
        return answers[0]

    def _refusal(self, statement: str) -> str | None:
        error = _refusal(self._spark, statement)
        if error is None or error.replace("_", "").replace(".", "").isalnum():
            return error
        return REFUSED

    def _is_made(self, state: str) -> bool:
        if state not in self._tables:
            self._tables[state] = self._new_path()
            self._refusal(_create(self._tables[state], json.loads(state)))
        return self._tables[state].exists()

    def _copy_of(self, state: str) -> Path:
        assert self._is_made(state), state
        path = self._new_path()
        shutil.copytree(self._tables[state], path)
        return path

    def _new_path(self) -> Path:
        return self._folder / f"t{next(self._numbers)}"


def _ways(before: State, after: State) -> Iterator[Sequence[str]]:
    """Yield the sequences of statements that could make the change.

    First all changed properties at once; then with the unchanged ones, because Delta compares some properties
    only within one statement; then each property alone, in every order.
    """
    declared = after.get("properties", {})
    changed = {
        key: value for key, value in declared.items() if value != before.get("properties", {}).get(key)
    }
    columns = list(_column_statements(before, after))
    yield [*_property_statements(changed), *columns]
    if changed and changed != declared:
        yield [*_property_statements(declared), *columns]
    if len(changed) > 1:
        for order in itertools.permutations(changed.items()):
            yield [
                *itertools.chain.from_iterable(_property_statements({key: value}) for key, value in order),
                *columns,
            ]


def _property_statements(changed: Mapping[str, str | None]) -> Iterator[str]:
    to_set = {key: value for key, value in changed.items() if value is not None}
    if to_set:
        yield f"SET TBLPROPERTIES ({_entries(to_set)})"
    for key in changed:
        if key not in to_set:
            yield f"UNSET TBLPROPERTIES ({_literal(key)})"


def _column_statements(before: State, after: State) -> Iterator[str]:
    known = before.get("columns", {})
    for name, type_ in after.get("columns", {}).items():
        if name not in known:
            yield f"ADD COLUMNS ({_quoted(name)} {type_})"
        elif known[name] != type_:
            yield f"ALTER COLUMN {_quoted(name)} TYPE {type_}"
    for name, expression in after.get("defaults", {}).items():
        if before.get("defaults", {}).get(name) != expression:
            yield f"ALTER COLUMN {_quoted(name)} SET DEFAULT {expression}"


def _create(path: Path, state: State) -> str:
    columns = ", ".join(
        f"{_quoted(name)} {type_}"
        + (f" DEFAULT {state['defaults'][name]}" if name in state.get("defaults", {}) else "")
        for name, type_ in state["columns"].items()
    )
    partitioning = ", ".join(_quoted(name) for name in state.get("partitioned_by", []))
    clauses = [f"PARTITIONED BY ({partitioning})"] if partitioning else []
    properties = {key: value for key, value in state.get("properties", {}).items() if value is not None}
    clauses += [f"TBLPROPERTIES ({_entries(properties)})"] if properties else []
    return f"CREATE TABLE delta.`{path}` ({columns}) USING delta {' '.join(clauses)}"


def _outcome(path: Path, after: State) -> str:
    """Return whether the log then holds the properties; Delta does not store protocol properties."""
    actions = [
        json.loads(line)
        for commit in sorted((path / "_delta_log").glob("*.json"))
        for line in commit.read_text(encoding="utf-8").splitlines()
    ]
    stored = [action["metaData"] for action in actions if "metaData" in action][-1]["configuration"]
    missing = {
        key
        for key, value in after.get("properties", {}).items()
        if not is_protocol_key(key) and (canonical(key) in stored) != (value is not None)
    }
    return UNCHANGED if missing else ACCEPTED


def _entries(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{_literal(key)}={_literal(value)}" for key, value in properties.items())


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _json(state: Mapping[str, object]) -> str:
    return json.dumps({key: value for key, value in state.items() if value}, ensure_ascii=False)


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder), all_questions()), new_record("states"))
        session.stop()


if __name__ == "__main__":
    _record_all()
