"""A printed contract reads back as the same contract."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from ruamel.yaml import YAML

from schemalint.base.errors import ContractError
from schemalint.base.printable import document_text
from schemalint.contract import print_contract, read
from schemalint.contract.dialects.native.plain_data import as_data
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from support.attack_texts import ATTACKS
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


@pytest.mark.wide
@settings(max_examples=50, deadline=None)
@given(contracts())
def test_a_printed_contract_reads_back_as_the_same_contract(contract: Contract) -> None:
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
def test_a_multiline_text_reads_back_unchanged(description: str) -> None:
    contract = Contract("t", TableState(description=description), file="f.yml")

    assert read("f.yml", print_contract(contract)).contracts == (contract,)


@pytest.mark.parametrize("name", ["properties", "constraints", "targets", "columns", "null", "a: b"])
def test_properties_and_constraints_may_have_the_names_of_keys(name: str) -> None:
    contract = Contract("t", TableState(properties={name: "x"}, constraints={name: "x > 1"}), file="f.yml")

    assert read("f.yml", print_contract(contract)).contracts == (contract,)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_printed_contract_needs_no_escapes_on_its_way_to_a_terminal(attack: str) -> None:
    text = ATTACKS[attack].encode("utf-8", "ignore").decode()
    for description in (text, f"{text}\nsecond line", f"first line\n{text}"):
        contract = Contract("t", TableState(description=description, properties={text: text}), "c.yml")
        printed = print_contract(contract)
        assert document_text(printed) == printed
        assert read("c.yml", printed).contracts[0].state == contract.state


def test_a_contract_is_printed_in_the_expected_layout() -> None:
    (contract,) = read("f.yml", EXAMPLE).contracts

    assert print_contract(contract) == PRINTED


def test_printing_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ContractError, match="lone surrogate"):
        print_contract(Contract("t", TableState(description="\ud800")))


@pytest.mark.wide
@settings(max_examples=50, deadline=None)
@given(contracts())
def test_another_yaml_parser_reads_the_same_content(contract: Contract) -> None:
    loaded = YAML(typ="safe", pure=True).load(StringIO(print_contract(contract)))

    assert loaded == as_data(contract)
