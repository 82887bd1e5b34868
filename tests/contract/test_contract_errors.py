"""Errors in contracts name the location and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.contract import Reading, print_contract, read
from schemalint.model.contract import Contract
from support.contract_strategies import contracts

CASES = Path(__file__).with_name("errors.txt").read_text(encoding="utf-8").split("\n# ")[1:]
PIECES = ("", "~", "[]", "{}", "x", "1", "true", "element", "type: ", "- ", "\n", "<", "`")
COLUMNS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - name: id\n    type: bigint\n"


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0] for case in CASES])
def test_errors_name_the_location_and_what_to_do(case: str) -> None:
    _title, *lines = case.splitlines()
    expected = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    text = "\n".join(line for line in lines if not line.startswith("> "))
    result = read("f.yml", text if text.startswith("schemalint") else COLUMNS + text)

    assert list(map(str, result.errors)) == expected
    assert result.contracts == ()


def test_invalid_yaml_is_one_error_for_the_whole_file() -> None:
    result = read("f.yml", "schemalint: 1\ntable: a\ncolumns: []\n---\nschemalint: 1\n  x: [\n")

    assert len(result.errors) == 1
    assert result.contracts == ()


def test_a_valid_document_is_read_despite_an_invalid_one_in_the_same_file() -> None:
    result = read("f.yml", "schemalint: 1\ntable: a\ncolumns: []\n---\nschemalint: 1\ntable: b\ncolumns: 1\n")

    assert [contract.table for contract in result.contracts] == ["a"]
    assert [str(error) for error in result.errors] == [
        'f.yml:7:10: "columns" must be a list, not 1 (write it as a list: ["1"])'
    ]


def test_a_file_without_a_contract_is_an_error() -> None:
    (error,) = read("f.yml", "a: 1\n").errors

    assert str(error) == (
        "f.yml:1:1: this file contains no contract (a contract begins with the line schemalint: 1)"
    )


@pytest.mark.wide
@settings(deadline=None)
@given(st.data(), contracts())
def test_a_damaged_contract_is_read_or_refused_but_never_raises(
    data: st.DataObject, contract: Contract
) -> None:
    text = print_contract(contract)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    pieces = st.sampled_from(
        ["", "~", "[]", "{}", "x", "1", "true", "element", "type: ", "- ", "\n", "<", "`"]
    )
    result = read(contract.file, text[:start] + data.draw(pieces) + text[end:])

    assert isinstance(result, Reading)
    assert all(error.location and error.location.file == contract.file for error in result.errors)
