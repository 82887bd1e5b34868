"""``rewrite`` of a column and of a table: what is read and printed, and the one error of each bad input."""

from __future__ import annotations

import pytest

from schemalint.contract import Reading, edited_text, read
from schemalint.contract.dialects.native.printing import print_contract
from schemalint.delta.change import FieldRenamed
from schemalint.delta.datatype import LONG, STRING, UNMANAGED, Array
from schemalint.model.contract import Contract
from schemalint.model.contract_edit import DeclareRenames
from schemalint.model.rewrite import ColumnRewrite, Rewrites

HEAD = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: day, type: date}\n"
CAST = "cast(n as int)"


def result(text: str) -> Reading:
    return read("orders.yml", f"{HEAD}{text}\n")


def contract(text: str) -> Contract:
    (only,) = result(text).contracts
    return only


def test_a_column_a_field_and_a_layout_are_rewritten() -> None:
    text = f"""\
  - {{name: n, type: int, rewrite: {{from: bigint, with: {CAST}, inexact: keep_converted}}}}
  - name: s
    type: struct
    columns: [{{name: x, type: date, rewrite: {{from: string, with: s.x, time_zone: Europe/Berlin}}}}]
  - {{name: l, type: array<int>, rewrite: {{from: array<string>, with: l, unfilled: keep_null}}}}
rewrite: {{from: {{partitioned_by: [day]}}}}"""
    assert contract(text).rewrites == Rewrites(
        {
            ("n",): ColumnRewrite(LONG, CAST, keeps_converted=True),
            ("s", "x"): ColumnRewrite(STRING, "s.x", time_zone="Europe/Berlin"),
            ("l",): ColumnRewrite(Array(STRING, UNMANAGED), "l", keeps_null=True),
        },
        ("day",),
    )


@pytest.mark.parametrize(
    "text",
    [
        f"  - {{name: n, type: int, rewrite: {{from: bigint, with: {CAST}}}}}",
        f"  - {{name: n, type: int, rewrite: {{from: bigint, with: {CAST}, unfilled: keep_null}}}}",
        "  - {name: s, type: struct, columns: [{name: n, type: int, rewrite: {from: string, with: s.n}}]}",
        "rewrite: {from: {partitioned_by: [day]}}",
    ],
)
def test_a_printed_contract_has_it_too(text: str) -> None:
    written = contract(text)
    (again,) = read("orders.yml", print_contract(written)).contracts
    assert again == written
    assert again.rewrites


def test_it_is_read_alike_beside_an_older_revision() -> None:
    column = f"  - {{name: n, type: int, rewrite: {{from: bigint, with: {CAST}}}}}\n"
    older, newer = result(column), f"{HEAD}{column}  - {{name: z, type: int}}\n"
    assert read("orders.yml", newer, older) == read("orders.yml", newer)


@pytest.mark.parametrize(
    ("rewrite", "message", "column"),
    [
        ("{from: bigint}", '"with" is missing', 26),
        ("{with: x}", '"from" is missing', 26),
        ("{from: bigint, with: x, differing: keep_new}", '"differing"', 59),
        ("{from: bigint, with: x, unfilled: drop}", "keep_null", 69),
        ("{from: bigint, with: x, time_zone: a b}", "is not a time zone", 70),
        ("{from: bigintt, with: x}", "invalid type", 42),
        ("bigint", "mapping", 35),
    ],
)
def test_bad_input_of_a_column_has_one_error_at_its_place(rewrite: str, message: str, column: int) -> None:
    (error,) = result(f"  - {{name: n, type: int, rewrite: {rewrite}}}").errors
    assert error.location is not None
    assert (message in error.message, error.location.line, error.location.column) == (True, 5, column), error


@pytest.mark.parametrize(
    ("rewrite", "message"),
    [
        ("{}", '"from" is missing'),
        ("{from: {}}", '"partitioned_by" is missing'),
        ("{from: {partitioned_by: day}}", "list"),
        ("{from: {partitioned_by: [day], clustered_by: [day]}}", '"clustered_by"'),
    ],
)
def test_bad_input_of_a_table_has_one_error(rewrite: str, message: str) -> None:
    (error,) = result(f"rewrite: {rewrite}").errors
    assert error.location is not None
    assert (message in error.message, error.location.line) == (True, 5), error


def test_a_rename_renames_its_columns_too() -> None:
    text = f"{HEAD}  - {{name: n, type: int, rewrite: {{from: bigint, with: {CAST}}}}}\n"
    (old,) = read("orders.yml", text).contracts
    edited = edited_text(old, text, [DeclareRenames((FieldRenamed(("number",), "n"),))])
    assert "{name: number, type: int, rewrite: {from: bigint, with: cast(number as int)}" in edited
