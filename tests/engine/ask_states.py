"""Ask the engine which declared states a new or an existing table can be brought to, and keep its answers.

``PYTHONPATH=tests python -m engine.ask_states`` asks every question again and records the answers.
The questions are about properties, features, names of columns, column mapping and Iceberg compatibility.
"""

from __future__ import annotations

import csv
import itertools
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from engine.ask_types import _refusal, _versions
from engine.state_questions import questions
from schemalint.delta.properties import canonical, is_protocol_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("states.csv")
ACCEPTED = "accepted"
UNCHANGED = "unchanged"
REFUSED = "refused"  # without an error class


class State(TypedDict, total=False):
    """A table as declared.

    Attributes:
        columns: Type by name.
        properties: None takes a property away.
        defaults: Expression by name of a column.
    """

    columns: dict[str, str]
    properties: dict[str, str | None]
    partitioned_by: list[str]
    defaults: dict[str, str]


class Question(NamedTuple):
    """Can a table be brought from the one state to the other? As JSON; empty where there is no table."""

    before: str
    after: str


def ask(spark: SparkSession, folder: Path, asked: Iterable[Question]) -> dict[Question, str]:
    """``accepted``, ``unchanged`` (reported as done, and not done), or how the engine refuses."""
    return _Asker(spark, folder).answers(asked)


def all_questions() -> list[Question]:
    """Every question there is, each once."""
    texts = ((before and _json(before), _json(after)) for before, after in questions())
    return list(dict.fromkeys(Question(before or "", after) for before, after in texts))


def write_record(answers: Mapping[Question, str], path: Path = RECORD) -> None:
    """A row per question; the versions that answered stand above them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["before", "after", "answer"])
        rows.writerows([*question, answer] for question, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[Question, str]:
    """The recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {Question(row["before"], row["after"]): row["answer"] for row in csv.DictReader(file)}


class _Asker:
    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._numbers = itertools.count()
        self._made: dict[str, Path] = {}

    def answers(self, asked: Iterable[Question]) -> dict[Question, str]:
        return {question: self._answer(question) for question in asked}

    def _answer(self, question: Question) -> str:
        after: State = json.loads(question.after)
        if question.before:
            return self._altered(question.before, after)
        path = self._new_path()
        error = self._refusal(_create(path, after))
        if error is None:
            return _outcome(path, after)
        # The other way to a new table: created without properties, which are set afterwards.
        bare = _json({**after, "properties": {}})
        if not after.get("properties") or self._refusal(_create(self._new_path(), json.loads(bare))):
            return error
        later = self._altered(bare, after)
        return later if later == ACCEPTED or error == REFUSED else error

    def _altered(self, before: str, after: State) -> str:
        """The answer of the first sequence of statements that is accepted, or else of all at once."""
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

    def _copy_of(self, state: str) -> Path:
        if state not in self._made:
            self._made[state] = self._new_path()
            error = self._refusal(_create(self._made[state], json.loads(state)))
            assert error is None, (state, error)
        path = self._new_path()
        shutil.copytree(self._made[state], path)
        return path

    def _new_path(self) -> Path:
        return self._folder / f"t{next(self._numbers)}"


def _ways(before: State, after: State) -> Iterator[Sequence[str]]:
    """The sequences of statements that could do it.

    What changes at once; with what stays the same, because Delta compares some properties only if they stand
    in one statement; one by one in any order.
    """
    wanted = after.get("properties", {})
    changed = {key: value for key, value in wanted.items() if value != before.get("properties", {}).get(key)}
    columns = list(_of_columns(before, after))
    yield [*_of_properties(changed), *columns]
    if changed and changed != wanted:
        yield [*_of_properties(wanted), *columns]
    if len(changed) > 1:
        for order in itertools.permutations(changed.items()):
            yield [
                *itertools.chain.from_iterable(_of_properties({key: value}) for key, value in order),
                *columns,
            ]


def _of_properties(changed: Mapping[str, str | None]) -> Iterator[str]:
    wanted = {key: value for key, value in changed.items() if value is not None}
    if wanted:
        yield f"SET TBLPROPERTIES ({_entries(wanted)})"
    for key in changed:
        if key not in wanted:
            yield f"UNSET TBLPROPERTIES ({_literal(key)})"


def _of_columns(before: State, after: State) -> Iterator[str]:
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
    wanted = {key: value for key, value in state.get("properties", {}).items() if value is not None}
    clauses += [f"TBLPROPERTIES ({_entries(wanted)})"] if wanted else []
    return f"CREATE TABLE delta.`{path}` ({columns}) USING delta {' '.join(clauses)}"


def _outcome(path: Path, after: State) -> str:
    """Whether the log holds the properties afterwards; Delta stores none that speaks of the protocol."""
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
    from conftest import start_session  # noqa: PLC0415 (a module of pytest's, wanted only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder), all_questions()))
        session.stop()


if __name__ == "__main__":
    _record_all()
