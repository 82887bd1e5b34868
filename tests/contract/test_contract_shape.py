"""The fast shape check accepts exactly the data that pydantic accepts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemalint.base.document.shape import check_for
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.plain_data import as_data
from schemalint.model.contract import Contract
from support.contract_strategies import contracts

FITS = check_for(native.Contract)
PYDANTIC = TypeAdapter(native.Contract)
VALUES: tuple[object, ...] = (
    None,
    True,
    False,
    0,
    1,
    1.0,
    1.5,
    "always",
    "read",
    "x",
    [],
    {},
    [1],
    ["x"],
    {"x": 1},
)
KEYS = ("x", "columns", "element", "stream", "nullable", "absent")


def accepted_by_pydantic(data: Any) -> bool:  # noqa: ANN401 - accepts any data
    try:
        PYDANTIC.validate_python(data)
    except ValidationError:
        return False
    return True


@pytest.mark.wide
@settings(max_examples=50, deadline=None)
@given(contracts())
def test_the_data_of_every_contract_fits(contract: Contract) -> None:
    data = as_data(contract)

    assert FITS(data)
    assert accepted_by_pydantic(data)


@pytest.mark.wide
@settings(max_examples=100, deadline=None)
@given(st.data(), contracts())
def test_the_shape_check_and_pydantic_agree_on_modified_data(data: st.DataObject, contract: Contract) -> None:
    whole: Any = as_data(contract)
    container = data.draw(st.sampled_from(list(containers(whole))))
    value = data.draw(st.sampled_from(VALUES))
    if isinstance(container, list):
        container.append(value)
    else:
        # The version is checked earlier; for pydantic, true equals 1.
        key = data.draw(st.sampled_from(sorted({*container, *KEYS} - {"schemalint"})))
        container[key] = value
        if data.draw(st.booleans()):
            del container[key]

    assert FITS(whole) == accepted_by_pydantic(whole)


def containers(data: Any) -> Iterator[Any]:  # noqa: ANN401 - accepts any data
    if isinstance(data, dict | list):
        yield data
        for inner in data.values() if isinstance(data, dict) else data:
            yield from containers(inner)


@pytest.mark.parametrize("data", [None, "x", 1, [], {}, {"schemalint": 2}])
def test_data_that_is_no_contract_does_not_fit(data: object) -> None:
    assert not FITS(data)
    assert not accepted_by_pydantic(data)


def test_a_valid_contract_is_read_without_loading_pydantic_or_ruamel() -> None:
    program = (
        "import sys\n"
        "from schemalint.contract import read\n"
        "assert read('f.yml', 'schemalint: 1\\ntable: a\\ncolumns: [{name: x, type: int}]').contracts\n"
        "print([name for name in ('pydantic', 'pydantic_core', 'ruamel.yaml') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
