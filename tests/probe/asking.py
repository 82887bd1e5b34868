"""Ask a reader for the rows of each table, and judge what it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, TypeAlias

from probe.process import run_command
from probe.tables import PLAIN, ProbeTable
from schemalint.base.errors import UsageError
from schemalint.base.values import frozen, replace
from schemalint.model.client import Verdict

Places: TypeAlias = Sequence[tuple[ProbeTable, str]]
"""Tables with the paths or URIs where the reader finds them."""

_PATH: Final = "{path}"
_READER: Final = Path(__file__).with_name("reader.py")


@frozen
class Answer:
    """What a reader does with one table.

    Attributes:
        detail: The first line of its error, or how its rows differ; empty if they are right.
    """

    table: ProbeTable
    verdict: Verdict
    detail: str = ""


@frozen
class About:
    """What a recipe says of its reader: its version, and the names of its read paths."""

    version: str
    read_paths: tuple[str, ...]


def about(recipe: Path, python: str, seconds: float) -> About:
    """Ask a recipe for its reader's version and read paths.

    Raises:
        UsageError: The recipe does not run.
    """
    run = run_command([python, "-I", str(_READER), str(recipe)], seconds)
    try:
        found = json.loads(run.output)
        return About(str(found["version"]), tuple(map(str, found["read_paths"])))
    except (ValueError, KeyError, TypeError) as error:
        reason = run.broken or _first_line(run.errors)
        raise UsageError(
            f"the recipe {recipe.stem} does not run with {python}: {reason}",
        ) from error


def ask_recipe(recipe: Path, python: str, read_path: str, places: Places, seconds: float) -> Iterator[Answer]:
    """Ask a recipe for all tables in one process, and in another one for those behind a table that ends it.

    Raises:
        UsageError: The recipe does not run, or does not read the plain table.
    """
    program = [python, "-I", str(_READER), str(recipe), read_path]
    while places:
        run = run_command([*program, *(place for _table, place in places)], seconds)
        lines = run.output.splitlines()
        answers = [_judged_line(table, line) for (table, _place), line in zip(places, lines, strict=False)]
        if len(answers) < len(places):
            reason = run.broken or _first_line(run.errors) or "it ended early"
            answers.append(Answer(places[len(answers)][0], Verdict.UNKNOWN, reason))
        for answer, (_table, place) in zip(answers, places, strict=False):
            yield _required(answer, place)
        places = places[len(answers) :]


def _required(answer: Answer, place: str) -> Answer:
    """Require the plain table: a reader that fails to read it would refuse all others for the same reason.

    The place of another table is no part of the answer, which may become a row of the client table.
    """
    if answer.table.name == PLAIN and answer.verdict is not Verdict.OK:
        raise UsageError(f"the reader does not read a table without any feature: {answer.detail}")
    return replace(answer, detail=answer.detail.replace(place, _PATH))


def _judged_line(table: ProbeTable, line: str) -> Answer:
    try:
        answer = json.loads(line, parse_float=Decimal)
    except ValueError:
        answer = None
    match answer:
        case {"rows": list(rows)}:
            return _judged_rows(table, rows)
        case {"error": str(error)}:
            return Answer(table, Verdict.REFUSES, _first_line(error))
    return Answer(table, Verdict.UNKNOWN, f"it prints no JSON: {_first_line(line)}")


def _first_line(text: str) -> str:
    """Return the line that says most: the first one, or the last one of a Python traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _judged_rows(table: ProbeTable, rows: Iterable[object]) -> Answer:
    """Compare rows in any order, with names of columns in any case, and values in any notation."""
    found = [
        {str(name).lower(): value for name, value in row.items()} if isinstance(row, dict) else {}
        for row in rows
    ]
    missing = [name for name in ("id", "value") if any(name not in row for row in found)]
    if missing:
        return Answer(table, Verdict.WRONG, f"the column {missing[0]} is missing")
    expected = {str(row["id"]): row["value"] for row in table.rows}
    ids = sorted(_text(row["id"]) for row in found)
    if ids != sorted(expected):
        is_null = bool(ids) and set(ids) == {_text(None)}
        what = "NULL in place of every id" if is_null else f"the ids {', '.join(ids) or 'none'}"
        return Answer(table, Verdict.WRONG, f"it returns {what}, and not {', '.join(sorted(expected))}")
    for row in found:
        value = expected[_text(row["id"])]
        if not _is_same(value, row["value"]):
            shown = f"{_text(row['value'])} in place of {_text(value)}"
            return Answer(table, Verdict.WRONG, f"it returns {shown}")
    return Answer(table, Verdict.OK)


def _text(value: object) -> str:
    return "NULL" if value is None else str(value)


def _is_same(expected: object, found: object) -> bool:
    if expected is None or found is None:
        return expected is found
    if isinstance(expected, date):  # a datetime is one too
        return _moment(str(expected)) == _moment(str(found))
    try:
        return Decimal(str(expected)) == Decimal(str(found))
    except InvalidOperation:
        return False


def _moment(text: str) -> str:
    """Return a date or a time as ISO text, without the parts that are zero or the zone UTC."""
    text = re.sub(r"(?<=\d)T(?=\d)", " ", re.sub(r"( ?UTC|Z|\+00:00)$", "", text.strip()))
    return re.sub(r" 00:00:00$", "", re.sub(r"\.0+$", "", text))
