"""The JSON Schema that editors check contracts with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from schemalint.contract import read
from schemalint.contract.dialects.native.contract_schema import json_schema
from schemalint.contract.dialects.native.plain_data import as_data
from schemalint.model.contract import Contract
from support.contract_strategies import contracts

EXAMPLE = Path(__file__).with_name("example.yaml").read_text(encoding="utf-8")
SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


@pytest.mark.wide
@settings(max_examples=50, deadline=None)
@given(contracts())
def test_the_json_schema_accepts_every_contract(contract: Contract) -> None:
    VALIDATOR.validate(as_data(contract))


PATHS = [(), ("columns", 0), ("protocol",), ("consumers", 2, "stream"), ("allow", 0)]


@pytest.mark.parametrize("path", PATHS)
def test_the_json_schema_rejects_unknown_keys_at_every_level(path: tuple[str | int, ...]) -> None:
    (contract,) = read("f.yml", EXAMPLE).contracts
    data: Any = as_data(contract)
    node = data
    for step in path:
        node = node[step]
    node["nullabel"] = True

    with pytest.raises(jsonschema.ValidationError, match="nullabel"):
        VALIDATOR.validate(data)
