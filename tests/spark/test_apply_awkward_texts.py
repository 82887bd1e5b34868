"""Names and texts that try to be something else than a name or a text: taken as they are, or refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.outcome import Outcome

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

TEXTS = {
    "quotes": "it's \"so\" `quoted` \\' \\\\ \\",
    "statements": "x'; DROP TABLE delta.`/x`; -- /* ${HOME} $\\{HOME} {{x}} :p ?",
    "lines": "one\ntwo\r\nthree\ttab",
    "comment-signs": "-- /* */ // #",
    "unicode": "é ü ß İ 漢字 \U0001f600 \u202e \u200b",
    "ten-thousand-characters": "`'\"; -- " * 1250,
}
by_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@by_text
def test_texts_everywhere_come_out_as_they_went_in(text: str, lakehouse: Lakehouse) -> None:
    """In a new table, and then in a table that is there: names, comments, properties and literals."""
    new = text[::-1] + "x"
    literal = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def contract(name: str, told: str) -> str:
        return f"""\
schemalint: 1
table: sales.orders
description: {_quoted(told)}
columns:
  - {{name: id, type: int, comment: {_quoted(told)}}}
  - {{name: {_quoted(name)}, type: string, comment: {_quoted(told)}}}
  - {{name: s, type: struct, columns: [{{name: {_quoted(name)}, type: string, comment: {_quoted(told)}}}]}}
  - {{name: d, type: string, default: {_quoted(literal)}}}
features: [allowColumnDefaults]
constraints: {{c: {_quoted(f"id IS NULL OR d <> {literal} OR id > 0")}}}
properties: {{delta.columnMapping.mode: name, {_quoted("k" + told[:500])}: {_quoted(told)}}}
protocol: {{allow_upgrade: true}}
"""

    for name, told in ((text, text), (text, new)):
        lakehouse.declare(contract(name, told))
        applied = lakehouse.apply(allow=["upgrade"])
        if applied.outcome is Outcome.REFUSED:
            break
        assert (applied.outcome, applied.error) == (Outcome.APPLIED, None)
        state = lakehouse.table().state
        assert state.description == told
        assert state.columns.fields[1].name == name
        assert {field.comment for field in state.columns.fields[:2]} == {told}
        assert state.properties["k" + told[:500]] == told
        assert lakehouse.apply(allow=["upgrade"]).outcome is Outcome.NOTHING
    assert {one.name for one in lakehouse.root.iterdir()} <= {"sales"}


@by_text
def test_columns_are_renamed_to_any_name(text: str, lakehouse: Lakehouse) -> None:
    base = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: int}, {name: b, type: int}]\n"
    mapped = "properties: {delta.columnMapping.mode: name}\n"
    lakehouse.declare(base + mapped)
    lakehouse.apply()
    lakehouse.insert("(1, 2)")
    name = _quoted(text)
    lakehouse.declare(base.replace("name: a,", f"name: {name}, renamed_from: a,") + mapped)

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.APPLIED
    assert lakehouse.rows() == [{text: 1, "b": 2}]


@pytest.mark.parametrize(
    "name", ["it's", "a b", "x; DROP TABLE y", "a%20b", "a--b", "ü", "${HOME}", 'say "hi"', "x" * 200]
)
def test_tables_lie_in_folders_of_any_name(name: str, lakehouse: Lakehouse) -> None:
    place = _quoted(f"sub/{name}")
    text = f"schemalint: 1\ntable: sales.orders\nlocation: {place}\ncolumns: [{{name: a, type: int}}]\n"
    lakehouse.declare(text)
    created = lakehouse.apply()
    lakehouse.declare(text.replace("type: int", "type: int, comment: more"))

    altered = lakehouse.apply()

    assert (created.outcome, altered.outcome) == (Outcome.APPLIED, Outcome.APPLIED)
    assert [one.name for one in (lakehouse.root / "sub").iterdir()] == [name]


@pytest.mark.parametrize(
    "expression",
    [
        "a > 0) CHECK (1 = 1",
        "a > 0 -- b",
        "a > 0; DROP TABLE x",
        "a > 0 /* open",
        "a > 'open",
        "(a > 0",
        "a > 0), (b > 0",
    ],
)
def test_expressions_that_are_more_than_one_are_refused(expression: str, lakehouse: Lakehouse) -> None:
    base = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: int}, {name: b, type: int}]\n"
    lakehouse.declare(base)
    lakehouse.apply()
    version = lakehouse.table().version
    lakehouse.declare(f"{base}constraints: {{c: {_quoted(expression)}}}\nprotocol: {{allow_upgrade: true}}\n")

    refused = lakehouse.apply()

    assert refused.outcome is Outcome.REFUSED
    assert lakehouse.table().version == version
