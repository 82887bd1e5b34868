"""Ask Spark which built-in functions a CHECK constraint can call, and record its answers.

``PYTHONPATH=tests python -m engine.record_functions`` asks every question again and records the answers. A
call is the first example in the function's own description, or an entry of `_CALLS`.
"""

from __future__ import annotations

import csv
import itertools
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.record_logs import ACCEPTED, _outcome
from engine.record_types import _versions
from schemalint.delta.functions import FunctionKind, kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("functions.csv")

_OTHER_PACKAGE: Final = "its package is not part of the session"
NOT_ASKED: Final[Mapping[str, str]] = {
    "approx_top_k_estimate": "its argument is a result of an aggregate",
    "from_avro": _OTHER_PACKAGE,
    "from_protobuf": _OTHER_PACKAGE,
    "measure": "its argument is a column of a metric view",
    "to_avro": _OTHER_PACKAGE,
    "to_protobuf": _OTHER_PACKAGE,
    "window_time": "its argument is a result of window(), which needs more than one row",
}

_CALLS: Final[Mapping[str, str]] = {
    **{name: f"{name}() OVER (ORDER BY a)" for name in ("cume_dist", "dense_rank", "percent_rank", "rank")},
    "row_number": "row_number() OVER (ORDER BY a)",
    **{name: f"{name}(a) OVER (ORDER BY a)" for name in ("lag", "lead")},
    "nth_value": "nth_value(a, 2) OVER (ORDER BY a)",
    "ntile": "ntile(2) OVER (ORDER BY a)",
    "count": "count(a)",
    "grouping": "grouping(a)",
    "grouping_id": "grouping_id()",
    "session_window": "session_window(timestamp'2020-01-01', '5 minutes')",
    "window": "window(timestamp'2020-01-01', '5 minutes')",
    **{name: f"{name}()" for name in ("collations", "python_worker_logs", "sql_keywords")},
    "range": "range(1)",
    **{name: f"{name}(parse_json(s))" for name in ("variant_explode", "variant_explode_outer")},
    "table_changes": "table_changes('t', 0)",
    "table_changes_by_path": "table_changes_by_path('/t', 0)",
    "case": "CASE WHEN a > 0 THEN 1 END",
    "extract": "extract(YEAR FROM timestamp'2019-08-12 01:00:00')",
    "overlay": "overlay(s PLACING '_' FROM 1)",
    **{name: f"{name}(s, 'a')" for name in ("regexp", "regexp_instr", "regexp_like", "rlike")},
    "try_variant_get": "try_variant_get(parse_json(s), '$.a', 'int')",
    "raise_error": "CASE WHEN a > 1 THEN raise_error(s) END",
}

_COLUMNS: Final = "a INT, s STRING, x BINARY"
_BATCH: Final = 25


class Question(NamedTuple):
    """Can a constraint call a function?

    Attributes:
        source: The rows of the table, as a FROM clause; empty for the table that most questions share.
    """

    function: str
    call: str
    source: str = ""

    @property
    def constraint(self) -> str:
        """A condition that is true for each row for which the call has a value or is null."""
        return f"(({self.call}) IS NULL) IN (true, false)"


class Answer(NamedTuple):
    """``accepted`` or the error class of each statement; no answer to INSERT if there is no constraint."""

    add: str
    insert: str


def questions(spark: SparkSession) -> list[Question]:
    """Return a question for each function that can be asked about."""
    return [_question(spark, name) for name in kinds() if name not in NOT_ASKED]


def ask(spark: SparkSession, folder: Path, to_ask: Iterable[Question]) -> dict[Question, Answer]:
    """Return the engine's answer to each question.

    What a constraint of many calls passes, each of them passes; else the engine is asked about each call.
    """
    numbers = itertools.count()
    answers: dict[Question, Answer] = {}
    for batch in _batches(to_ask):
        answer = _ask_table(spark, folder / f"t{next(numbers)}", batch)
        answers |= dict.fromkeys(batch, answer)
        if len(batch) > 1 and answer != Answer(ACCEPTED, ACCEPTED):
            answers |= {
                question: _ask_table(spark, folder / f"t{next(numbers)}", [question]) for question in batch
            }
    return answers


def write_record(answers: Mapping[Question, Answer], path: Path = RECORD) -> None:
    """Write a row per function, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["kind", *Question._fields, *Answer._fields])
        rows.writerows([_kind(question.function), *question, *answer] for question, answer in answers.items())
        rows.writerows(
            [_kind(name), name, "", "", f"not asked: {why}", ""] for name, why in NOT_ASKED.items()
        )


def read_record(path: Path = RECORD) -> dict[Question, Answer]:
    """Read the recorded answers; functions that were not asked about have an empty call."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["function"], row["call"], row["source"]): Answer(row["add"], row["insert"])
            for row in csv.DictReader(file)
        }


def _kind(function: str) -> str:
    return kinds()[function].value


def _batches(to_ask: Iterable[Question]) -> Iterator[Sequence[Question]]:
    for _, group in itertools.groupby(
        to_ask, key=lambda question: (_kind(question.function), question.source)
    ):
        alike = list(group)
        yield from (alike[start : start + _BATCH] for start in range(0, len(alike), _BATCH))


def _ask_table(spark: SparkSession, path: Path, batch: Sequence[Question]) -> Answer:
    table, source = f"delta.`{path}`", batch[0].source
    columns = _COLUMNS
    if source:
        schema = spark.sql(f"SELECT * {source}").schema
        columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta")
    condition = " AND ".join(question.constraint for question in batch)
    added = _outcome(spark, f"ALTER TABLE {table} ADD CONSTRAINT c CHECK ({condition})")
    rows = f"SELECT * {source}" if source else "VALUES (1, null, null)"
    return Answer(added, _outcome(spark, f"INSERT INTO {table} {rows}") if added == ACCEPTED else "")


def _question(spark: SparkSession, name: str) -> Question:
    if name in _CALLS:
        return Question(name, _CALLS[name])
    example = re.search(r"> SELECT (.*?)( FROM .*)?;$", _examples(spark, name), re.MULTILINE)
    if example is None:
        return Question(name, f"{name}(s)")  # a cast
    call, source = re.sub(r" AS \w+$", "", example[1]), (example[2] or "").strip()
    if kinds()[name] is FunctionKind.ROW:
        return Question(name, re.sub(r"\w*_agg\w*\([^()]*\)", "x", call))  # an aggregate's result
    return Question(name, call, source)


def _examples(spark: SparkSession, name: str) -> str:
    jvm = spark._jvm  # noqa: SLF001
    none = jvm.scala.Option.apply(None)
    identifier = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name, none, none)
    catalog = spark._jsparkSession.sessionState().catalog()  # noqa: SLF001
    return str(catalog.lookupFunctionInfo(identifier).getExamples() or "").replace("_FUNC_", name)


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder), questions(session)))
        session.stop()


if __name__ == "__main__":
    _record_all()
