"""The JSON form of states: what is read is what was printed, and other JSON is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.base.values import replace
from schemalint.delta.datatype import STRING, Field, Struct
from schemalint.delta.table import Deletion, TableState
from schemalint.model.json_forms import own_json, state_from_json, state_to_json
from support import strategies


@pytest.mark.wide
@given(st.booleans().flatmap(lambda declared: strategies.table_states(declared=declared)))
def test_parsing_a_printed_state_gives_the_state(state: TableState) -> None:
    state = replace(
        state, dropped=tuple(Deletion((field.name,), field.type) for field in state.columns.fields)
    )

    assert state_from_json(own_json(json.loads(json.dumps(state_to_json(state))))) == state


def test_unmanaged_values_are_absent_and_none_is_null() -> None:
    managed = Field("a", STRING)
    printed = state_to_json(TableState(Struct((managed,)), description=None))

    assert printed["description"] is None
    assert "partitioned_by" not in printed
    assert printed["columns"] == [
        {
            "name": "a",
            "type": "string",
            "nullable": True,
            "comment": None,
            "default": None,
            "generated": None,
            "identity": None,
            "type_changes": [],
        }
    ]


PRINTED = state_to_json(TableState(Struct((Field("a", STRING),)), description=None))


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {**PRINTED, "columns": {}},
        {**PRINTED, "columns": [{"name": "a"}]},
        {**PRINTED, "columns": [{"name": "a", "type": {}, "nullable": True}]},
        {**PRINTED, "columns": [{"name": "a", "type": "int", "nullable": 1}]},
        {**PRINTED, "columns": [{"name": "a", "type": "int", "nullable": True, "id": True}]},
        {**PRINTED, "clustered_by": [["a", {"in": "middle"}]]},
        {**PRINTED, "properties": {"a": 1}},
        {**PRINTED, "dropped": [{}]},
    ],
)
def test_other_json_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"missing|expected|Part|step"):
        state_from_json(own_json(wrong))
