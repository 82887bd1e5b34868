"""What plainly fits the format is what pydantic accepts, neither more nor less."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.data import as_data
from schemalint.document.shape import check_for
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


def accepted_by_pydantic(data: Any) -> bool:  # noqa: ANN401 - any data is judged
    try:
        PYDANTIC.validate_python(data)
    except ValidationError:
        return False
    return True


@settings(max_examples=50, deadline=None)
@given(contracts())
def test_the_data_of_a_contract_fits(contract: Contract) -> None:
    data = as_data(contract)

    assert FITS(data)
    assert accepted_by_pydantic(data)


@settings(max_examples=100, deadline=None)
@given(st.data(), contracts())
def test_both_judge_changed_data_alike(data: st.DataObject, contract: Contract) -> None:
    whole: Any = as_data(contract)
    place = data.draw(st.sampled_from(list(containers(whole))))
    value = data.draw(st.sampled_from(VALUES))
    if isinstance(place, list):
        place.append(value)
    else:
        # The version is judged before anything else; for pydantic, true is 1.
        key = data.draw(st.sampled_from(sorted({*place, *KEYS} - {"schemalint"})))
        place[key] = value
        if data.draw(st.booleans()):
            del place[key]

    assert FITS(whole) == accepted_by_pydantic(whole)


def containers(data: Any) -> Iterator[Any]:  # noqa: ANN401 - any data has them
    if isinstance(data, dict | list):
        yield data
        for inner in data.values() if isinstance(data, dict) else data:
            yield from containers(inner)


@pytest.mark.parametrize("data", [None, "x", 1, [], {}, {"schemalint": 2}])
def test_what_is_no_contract_does_not_fit(data: object) -> None:
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
