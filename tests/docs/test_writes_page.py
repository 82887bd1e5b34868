"""The page of writes is generated from the recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.answers import record_path
from engine.record_arrow_writes import RECORD as ARROW_RECORD
from engine.record_arrow_writes import WAYS as ARROW_WAYS
from engine.record_arrow_writes import questions as arrow_questions
from engine.record_writes import Answer, columns_of, read_record
from engine.test_writes import VERSIONS
from engine.write_agreement import NOT_PARSED, arrow_effect_on, disagreement, effect_on
from engine.write_questions import OF_EACH_SHAPE, SHAPES, questions, state_of
from schemalint.base.values import grouped
from schemalint.guard import CODES
from support.golden import assert_golden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schemalint.delta.writes import Effect

PAGE: Final = Path(__file__).parents[2] / "docs" / "writes.md"
INTRODUCTION: Final = """\
# What a write does

What the log of a table shows after a write, as measured; `schemalint.guard` says the same before it
([how to use it](how-to/guard.md)). In the tables, `=` is a write that leaves the schema as it is, **changed**
one that changes it, and *refused* one that fails before it commits. The setting of autoMerge is
`spark.databricks.delta.schema.autoMerge.enabled`. Spark passes the options of `insertInto` on
only where the writer says `format("delta")`, which is `delta insertInto` here. The guard takes each
`insertInto` so: of a writer without a format, give it no options.
"""


def test_the_page_of_writes_shows_the_recorded_answers() -> None:
    sections = [INTRODUCTION, _counts(), _codes(), _spark(), _arrow()]
    assert_golden("\n".join(sections), PAGE)


def _codes() -> str:
    lines = [
        "## What findings mean",
        "",
        "A schema that the contract does not allow has the code of the rule: DR001.",
        "",
    ]
    lines += ["| code | meaning |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {code} | {meaning} |" for code, meaning in CODES.items())]) + "\n"


def _counts() -> str:
    """Return how many writes were asked, and how many of them the guard does not know or says otherwise."""
    lines = [
        "| engine | writes asked | refused | not known before | said before, and different |",
        "| --- | --- | --- | --- | --- |",
    ]
    for version in VERSIONS:
        answers = read_record(record_path("writes", version))
        said = [
            (answer, effect_on(version, question), bool(question.table.columns))
            for question in questions()
            if (answer := answers.get(question.name)) and not answer.error.startswith(NOT_PARSED)
        ]
        lines.append(_line(f"Delta {version}", said))
    arrow = read_record(ARROW_RECORD)
    said = [
        (arrow[name], arrow_effect_on(table, data, way), True)
        for name, table, data, way in arrow_questions()
        if table.columns
    ]
    return "\n".join([*lines, _line("deltalake 1.6.6", said)]) + "\n"


def _line(engine: str, said: list[tuple[Answer, Effect, bool]]) -> str:
    refused = sum(bool(answer.error) for answer, _, _ in said)
    unknown = sum(effect.unknown is not None for _, effect, _ in said)
    differing = sum(
        disagreement(effect, answer, exists=exists) is not None for answer, effect, exists in said
    )
    return f"| {engine} | {len(said):,} | {refused:,} | {unknown} | {differing} |"


def _spark() -> str:
    newest = VERSIONS[-1]
    by_version = {version: read_record(record_path("writes", version)) for version in VERSIONS}
    lines = [f"## Delta {newest}", "", "Where an older release does something else, it is in brackets.", ""]
    rows = {}
    for shape, (table, _) in SHAPES.items():
        before = columns_of(state_of(table)) if table.columns else ""
        rows[shape] = [
            _cell(
                {version: answers.get(f"{shape}: {way}") for version, answers in by_version.items()}, before
            )
            for way in OF_EACH_SHAPE
        ]
    return "\n".join([*lines, *_table(OF_EACH_SHAPE, rows)]) + "\n"


def _table(ways: Iterable[str], cells_by_shape: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield a table with a row for all shapes, and a column for all ways, that have the same answers."""
    columns = grouped(zip(zip(*cells_by_shape.values(), strict=True), ways, strict=True))
    rows = grouped(zip(zip(*columns, strict=True), cells_by_shape, strict=True))
    yield f"| the data has | {' | '.join('; '.join(alike) for alike in columns.values())} |"
    yield "| --- |" + " --- |" * len(columns)
    yield from (f"| {'; '.join(alike)} | {' | '.join(cells)} |" for cells, alike in rows.items())


def _cell(answers: Mapping[str, Answer | None], before: str) -> str:
    words = {version: _word(answer, before) for version, answer in answers.items() if answer is not None}
    newest = words.get(VERSIONS[-1], "")
    older = {version: word for version, word in words.items() if word != newest and version != VERSIONS[-1]}
    others = ", ".join(f"{version}: {word}" for version, word in older.items())
    return f"{newest} ({others})" if others else newest


def _word(answer: Answer, before: str) -> str:
    if answer.error:
        return "*refused*"
    return "=" if answer.columns == before else "**changed**"


def _arrow() -> str:
    answers = read_record(ARROW_RECORD)
    lines = [
        "## delta-rs",
        "",
        "`write_deltalake` of deltalake 1.6.6, with its `mode`, `schema_mode` and a predicate.",
        "",
    ]
    rows = {}
    for shape, (table, _) in SHAPES.items():
        known = [answers.get(f"{shape}: {way}") for way in ARROW_WAYS]
        if table.columns and all(known):
            before = columns_of(state_of(table))
            rows[shape] = [_word(answer, before) for answer in known if answer is not None]
    return "\n".join([*lines, *_table(ARROW_WAYS, rows)]) + "\n"
