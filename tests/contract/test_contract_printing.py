"""A contract printed is the contract read."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from ruamel.yaml import YAML

from schemalint.contract import print_contract, read
from schemalint.contract.dialects.native.data import as_data
from schemalint.delta.table import TableState
from schemalint.errors import ContractError
from schemalint.model.contract import Contract
from support.contract_strategies import contracts

LINES = (
    "a\nb",
    "a\nb\n",
    "a\n\nb",
    "a\n",
    "\na",
    "a\n\n",
    " a\nb",
    "a \nb",
    "a\n b",
    "\n",
    "a\tb\nc",
    "# a\n- b",
)
PRINTED = Path(__file__).with_name("printed.yaml").read_text(encoding="utf-8")
EXAMPLE = Path(__file__).with_name("example.yaml").read_text(encoding="utf-8")


@settings(max_examples=50, deadline=None)
@given(contracts())
def test_what_is_printed_reads_back_as_the_same_contract(contract: Contract) -> None:
    result = read(contract.file, print_contract(contract))

    assert result.errors == ()
    assert result.contracts == (contract,)


@pytest.mark.parametrize(
    "description",
    [
        "a\nb",
        "a\nb\n",
        "a\n\nb",
        "a\n",
        "\na",
        "a\n\n",
        " a\nb",
        "a \nb",
        "a\n b",
        "\n",
        "a\tb\nc",
        "# a\n- b",
    ],
)
def test_a_text_of_several_lines_reads_back_as_it_is(description: str) -> None:
    contract = Contract("t", TableState(description=description), file="f.yml")

    assert read("f.yml", print_contract(contract)).contracts == (contract,)


def test_a_printed_contract_looks_as_a_person_writes_it() -> None:
    (contract,) = read("f.yml", EXAMPLE).contracts

    assert print_contract(contract) == PRINTED


def test_half_a_character_cannot_be_printed() -> None:
    with pytest.raises(ContractError, match="half a character"):
        print_contract(Contract("t", TableState(description="\ud800")))


@settings(max_examples=50, deadline=None)
@given(contracts())
def test_another_yaml_parser_reads_the_same_content(contract: Contract) -> None:
    loaded = YAML(typ="safe", pure=True).load(StringIO(print_contract(contract)))

    assert loaded == as_data(contract)
