"""What schemalint says of the writes of `engine.write_questions`, and whether the engine agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.record_arrow_writes import ArrowWay
from engine.record_writes import NO_TABLE, Answer, columns_of
from engine.write_questions import Data, Question, Table, protocol_of, state_of, struct_of
from schemalint.delta.arrow_effect import ArrowWrite, arrow_effect
from schemalint.delta.engine import release_of
from schemalint.delta.write_effect import effect_of
from schemalint.delta.writes import REPLACE_WHERE, Effect, Kind, Method, Mode, Write

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATEMENTS: Final[Mapping[str, tuple[Method, Mode, bool]]] = {
    "INSERT": (Method.INSERT, Mode.APPEND, False),
    "INSERT columns": (Method.INSERT_BY_NAME, Mode.APPEND, False),
    "INSERT BY NAME": (Method.INSERT_BY_NAME, Mode.APPEND, False),
    "INSERT EVOLUTION": (Method.INSERT, Mode.APPEND, True),
    "INSERT EVOLUTION BY NAME": (Method.INSERT_BY_NAME, Mode.APPEND, True),
    "INSERT OVERWRITE": (Method.INSERT, Mode.OVERWRITE, False),
    "INSERT REPLACE WHERE": (Method.INSERT, Mode.OVERWRITE, False),
    "MERGE": (Method.MERGE, Mode.APPEND, False),
    "MERGE EVOLUTION": (Method.MERGE, Mode.APPEND, True),
    "MERGE columns": (Method.MERGE, Mode.APPEND, False),
    "MERGE one column": (Method.MERGE, Mode.APPEND, False),
    "INSERT PARTITION": (Method.INSERT, Mode.APPEND, False),
    "INSERT OVERWRITE PARTITION": (Method.INSERT, Mode.OVERWRITE, False),
    "INSERT PARTITION by name": (Method.INSERT_BY_NAME, Mode.APPEND, False),
    "INSERT PARTITION of the query": (Method.INSERT, Mode.APPEND, False),
}
_ASSIGNED: Final = {"MERGE columns": ("id", "c"), "MERGE one column": ("c",)}
_STATIC: Final = ("INSERT PARTITION", "INSERT OVERWRITE PARTITION", "INSERT PARTITION by name")


NOT_PARSED: Final = "PARSE_SYNTAX_ERROR"
"""The Spark of an older Delta has no such statement, and nobody is told what it would do."""

_OF_ROWS: Final = ("CAST_", "TASK_WRITE_FAILED", "Cast error", "Parser error", "Job aborted")
"""What the errors of single rows have in them: a value of the question does not fit."""


def write_of(question: Question, version: str) -> Write:
    """Return how the rows of a question are written on a release."""
    way = question.way
    options = {key.lower(): value for key, value in way.options.items()}
    if way.method in _STATEMENTS:
        method, mode, evolves = _STATEMENTS[way.method]
        if way.method == "INSERT REPLACE WHERE":
            options[REPLACE_WHERE] = "id = 1"
        return Write(
            method,
            release_of(version),
            mode,
            options,
            way.conf,
            evolves=evolves,
            assigned=_ASSIGNED.get(way.method),
            keeps_rest=way.method == "MERGE one column",
            static=("c",) if way.method in _STATIC else (),
        )
    method = Method(way.method)
    if method is Method.INSERT_INTO and not way.says_delta:
        options = {}  # Spark passes none on
    return Write(method, release_of(version), Mode(way.mode), options, way.conf, way.partition_by)


def effect_on(version: str, question: Question) -> Effect:
    """Return what schemalint says of a write on a release."""
    table, data = question.table, struct_of(question.data.columns)
    if not table.columns:
        return effect_of(None, frozenset(), data, write_of(question, version))
    return effect_of(state_of(table), protocol_of(table).features, data, write_of(question, version))


def arrow_effect_on(table: Table, data: Data, way: ArrowWay) -> Effect:
    """Return what schemalint says of a write of delta-rs."""
    write = ArrowWrite(Mode(way.mode), way.schema_mode, way.predicate is not None)
    return arrow_effect(state_of(table), protocol_of(table).features, struct_of(data.columns), write)


def disagreement(effect: Effect, answer: Answer, *, exists: bool = True) -> str | None:
    """Return how a verdict differs from what the log showed; None if it does not."""
    if effect.unknown is not None:
        return None
    said = columns_of(effect.after) if exists or effect.error is None else NO_TABLE
    if answer.error and not effect.error and _is_of_rows(effect, answer):
        return None
    if bool(effect.error) == bool(answer.error) and said == answer.columns:
        return None
    return f"said {effect.error or said}; the log shows {answer.error} {answer.columns}"


def other_class(effect: Effect, answer: Answer) -> tuple[str, str] | None:
    """Return the class of an error that was said, and the recorded one where it is another."""
    has_none = answer.error.startswith("requirement failed") or answer.error == "STREAM_FAILED"
    if effect.unknown is not None or effect.error is None or has_none or effect.error == answer.error:
        return None
    return effect.error, answer.error


def _is_of_rows(effect: Effect, answer: Answer) -> bool:
    """Whether the values of a row decided, and the verdict says that they may."""
    may_fail = any(note.kind in (Kind.MAY_FAIL, Kind.LOSES) for note in effect.notes)
    if not may_fail:
        return False
    of_lengths = (
        "DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
        "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        "Invalid data found",
    )
    return any(text in answer.error for text in (*_OF_ROWS, *of_lengths, "STREAM_FAILED"))
