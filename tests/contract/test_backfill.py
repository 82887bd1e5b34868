"""``backfill`` of a column: what is read and printed, and the one error of each bad input."""

from __future__ import annotations

import pytest

from schemalint.contract import Reading, edited_text, read
from schemalint.contract.dialects.native.printing import print_contract
from schemalint.delta.change import FieldRenamed
from schemalint.delta.path import Part
from schemalint.model.contract import Backfill, Contract, WaysOut
from schemalint.model.contract_edit import DeclareRenames

HEAD = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: code, type: string}\n"


def result(column: str) -> Reading:
    return read("orders.yml", f"{HEAD}{column}\n")


def contract(column: str) -> Contract:
    (only,) = result(column).contracts
    return only


def test_a_column_is_filled_from_another_one() -> None:
    read_one = contract('  - {name: n, type: int, backfill: {from: code, with: "cast(code as int)"}}')
    assert read_one.backfills == {("n",): Backfill(("code",), "cast(code as int)")}


def test_a_field_is_filled_and_what_does_not_convert_may_stay_null() -> None:
    text = """\
  - name: s
    type: struct
    columns:
      - {name: code, type: string}
      - {name: n, type: int, backfill: {from: s.code, with: "cast(s.code as int)", unfilled: keep_null}}
  - {name: lines, type: "array<struct<code: string>>"}
  - {name: m, type: int, backfill: {from: lines.element.code, with: "1"}}"""
    assert contract(text).backfills == {
        ("s", "n"): Backfill(("s", "code"), "cast(s.code as int)", WaysOut(keeps_null=True)),
        ("m",): Backfill(("lines", Part.ELEMENT, "code"), "1"),
    }


@pytest.mark.parametrize(
    "column",
    [
        '  - {name: n, type: int, backfill: {from: code, with: "cast(code as int)"}}',
        '  - {name: n, type: "struct<a: int>", backfill: {from: code, with: "x", unfilled: keep_null}}',
        "  - {name: s, type: struct, columns: [{name: n, type: int, backfill: {from: code, with: x}}]}",
    ],
)
def test_a_printed_contract_has_it_too(column: str) -> None:
    written = contract(column)
    (again,) = read("orders.yml", print_contract(written)).contracts
    assert again == written


def test_it_is_read_alike_beside_an_older_revision() -> None:
    older = result('  - {name: n, type: int, backfill: {from: code, with: "cast(code as int)"}}')
    column = '  - {name: n, type: int, backfill: {from: code, with: "cast(code as int)"}}\n'
    newer = f"{HEAD}{column}  - {{name: z, type: int}}\n"
    assert read("orders.yml", newer, older) == read("orders.yml", newer)


@pytest.mark.parametrize(
    ("backfill", "message", "column"),
    [
        ("{from: code}", '"with" is missing', 26),
        ('{with: "1"}', '"from" is missing', 26),
        ("{from: code, with: x, where: y}", '"where"', 58),
        ("{from: code, with: x, unfilled: drop}", "keep_null", 68),
        ("{from: code, with: x, inexact: drop}", "keep_converted", 67),
        ("{from: code, with: x, differing: keep_old}", "keep_new", 69),
        ("{from: code, with: x, time_zone: a b}", "is not a time zone", 69),
        ('{from: "a..b", with: x}', "is not a column path", 43),
        ("code", "mapping", 36),
        ("null", "mapping", 36),
    ],
)
def test_bad_input_has_one_error_at_its_place(backfill: str, message: str, column: int) -> None:
    (error,) = result(f"  - {{name: n, type: int, backfill: {backfill}}}").errors
    assert error.location is not None
    assert (message in error.message, error.location.line, error.location.column) == (True, 5, column), error


FILLED = """\
schemalint: 1
table: sales.orders
columns:
  - {name: code, type: string}
  - {name: day, type: date}
  - name: s
    type: struct
    columns: [{name: rate, type: int}]
  - name: n   # a number
    type: int
    backfill:
      from: code   # ours
      with: "cast(code as int) * s.rate + extract(day from day) + length('code')"
  - {name: "m", type: int, backfill: {from: s.rate, with: 's.rate', unfilled: keep_null}}
"""


def test_it_follows_the_columns_that_are_renamed() -> None:
    (before,) = read("orders.yml", FILLED).contracts
    of_columns = DeclareRenames((FieldRenamed(("my code",), "code"), FieldRenamed(("on",), "day")))
    of_fields = DeclareRenames((FieldRenamed(("s", "factor"), "rate"),))
    after = edited_text(before, FILLED, [of_columns, of_fields])
    (contract_after,) = read("orders.yml", after).contracts
    assert contract_after.backfills == {
        ("n",): Backfill(
            ("my code",), "cast(`my code` as int) * s.`factor` + extract(day from `on`) + length('code')"
        ),
        ("m",): Backfill(("s", "factor"), "s.factor", WaysOut(keeps_null=True)),
    }
    assert 'from: "`my code`"   # ours' in after


def test_a_swap_of_names_swaps_them_in_it_too() -> None:
    (before,) = read("orders.yml", FILLED).contracts
    swap = DeclareRenames((FieldRenamed(("day",), "code"), FieldRenamed(("code",), "day")))
    (after,) = read("orders.yml", edited_text(before, FILLED, [swap])).contracts
    expression = "cast(day as int) * s.rate + extract(day from code) + length('code')"
    assert after.backfills["n",] == Backfill(("day",), expression)


def test_an_expression_that_nobody_can_parse_stays() -> None:
    text = FILLED.replace("cast(code as int) *", "cast(code as int")
    (before,) = read("orders.yml", text).contracts
    rename = DeclareRenames((FieldRenamed(("key",), "code"),))
    (after,) = read("orders.yml", edited_text(before, text, [rename])).contracts
    assert after.backfills["n",] == Backfill(("key",), before.backfills["n",].expression)
