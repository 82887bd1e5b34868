"""Names and texts that look like SQL are stored unchanged, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.results import Outcome
from support.attack_texts import ATTACKS, URIS, quoted

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

TEXTS = {
    "quotes": "it's \"so\" `quoted` \\' \\\\ \\",
    "statements": "x'; DROP TABLE delta.`/x`; -- /* ${HOME} $\\{HOME} {{x}} :p ?",
    "lines": "one\ntwo\r\nthree\ttab",
    "comment-signs": "-- /* */ // #",
    "unicode": "é ü ß İ 漢字 \U0001f600 \u202e \u200b",
    "attacks": " ".join([*ATTACKS.values(), *URIS.values()]).encode("utf-8", "ignore").decode(),
    "ten-thousand-characters": "`'\"; -- " * 1250,
}
by_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


@pytest.mark.each_time("quotes", "attacks")
@by_text
def test_awkward_text_is_stored_unchanged_or_refused(text: str, lakehouse: Lakehouse) -> None:
    """Names, comments, properties and literals, first of a new table, then of an existing one."""
    new = text[::-1] + "x"
    literal = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def contract(name: str, comment: str) -> str:
        return f"""\
schemalint: 1
table: sales.orders
description: {quoted(comment)}
columns:
  - {{name: id, type: int, comment: {quoted(comment)}}}
  - {{name: {quoted(name)}, type: string, comment: {quoted(comment)}}}
  - {{name: s, type: struct, columns: [{{name: {quoted(name)}, type: string, comment: {quoted(comment)}}}]}}
  - {{name: d, type: string, default: {quoted(literal)}}}
features: [allowColumnDefaults]
constraints: {{c: {quoted(f"id IS NULL OR d <> {literal} OR id > 0")}}}
properties: {{delta.columnMapping.mode: name, {quoted("k" + comment[:500])}: {quoted(comment)}}}
protocol: {{allow_upgrade: true}}
"""

    for name, comment in ((text, text), (text, new)):
        lakehouse.declare(contract(name, comment))
        applied = lakehouse.apply(allow=["upgrade"])
        if applied.outcome is Outcome.REFUSED:
            break
        assert (applied.outcome, applied.error) == (Outcome.APPLIED, None)
        state = lakehouse.table().state
        assert state.description == comment
        assert state.columns.fields[1].name == name
        assert {field.comment for field in state.columns.fields[:2]} == {comment}
        assert state.properties["k" + comment[:500]] == comment
        assert lakehouse.apply(allow=["upgrade"]).outcome is Outcome.NOTHING
    assert {path.name for path in lakehouse.root.iterdir()} <= {"sales"}


@pytest.mark.each_time("statements")
@by_text
def test_column_is_renamed_to_an_awkward_name(text: str, lakehouse: Lakehouse) -> None:
    base = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: int}, {name: b, type: int}]\n"
    mapped = "properties: {delta.columnMapping.mode: name}\n"
    lakehouse.declare(base + mapped)
    lakehouse.apply()
    lakehouse.insert("(1, 2)")
    name = quoted(text)
    lakehouse.declare(base.replace("name: a,", f"name: {name}, renamed_from: a,") + mapped)

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.APPLIED
    assert lakehouse.rows() == [{text: 1, "b": 2}]


@pytest.mark.each_time("x; DROP TABLE y")
@pytest.mark.parametrize(
    "name", ["it's", "a b", "x; DROP TABLE y", "a%20b", "a--b", "ü", "${HOME}", 'say "hi"', "x" * 200]
)
def test_table_in_a_folder_with_an_awkward_name_is_created_and_altered(
    name: str, lakehouse: Lakehouse
) -> None:
    location = quoted(f"sub/{name}")
    text = f"schemalint: 1\ntable: sales.orders\nlocation: {location}\ncolumns: [{{name: a, type: int}}]\n"
    lakehouse.declare(text)
    created = lakehouse.apply()
    lakehouse.declare(text.replace("type: int", "type: int, comment: more"))

    altered = lakehouse.apply()

    assert (created.outcome, altered.outcome) == (Outcome.APPLIED, Outcome.APPLIED)
    assert [path.name for path in (lakehouse.root / "sub").iterdir()] == [name]


@pytest.mark.each_time("a > 0) CHECK (1 = 1")
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
def test_text_that_is_not_exactly_one_expression_is_refused(expression: str, lakehouse: Lakehouse) -> None:
    base = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: a, type: int}, {name: b, type: int}]\n"
    lakehouse.declare(base)
    lakehouse.apply()
    version = lakehouse.table().version
    lakehouse.declare(f"{base}constraints: {{c: {quoted(expression)}}}\nprotocol: {{allow_upgrade: true}}\n")

    refused = lakehouse.apply()

    assert refused.outcome is Outcome.REFUSED
    assert lakehouse.table().version == version
