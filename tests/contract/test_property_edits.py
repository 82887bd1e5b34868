"""An edit of a property reads few columns again, and is that of an editor that reads all."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.test_reading_beside import COMMENTS, STYLES, WIDTH, _counted, _inserted, alone
from schemalint.base.document import yaml_reader
from schemalint.base.errors import ContractError
from schemalint.contract import editor
from schemalint.contract.dialects.native.plain_data import Data, as_data
from schemalint.delta.change import PropertyChanged
from schemalint.model.contract_edit import DeclareChange, SetProperty
from support.contract_strategies import contracts

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from yaml.events import Event

    from schemalint.model.contract import Contract
    from schemalint.model.contract_edit import Edit, TextChange


KEY = "delta.appendOnly"


@st.composite
def texts_with_many_columns(draw: DrawFn) -> str:
    """Contracts whose columns are there twice under other names, in all styles, most of them valid."""
    data = as_data(draw(contracts()))
    columns = data["columns"]
    assert isinstance(columns, list)
    more = [{**column, "name": f"{column['name']}_2"} for column in columns if isinstance(column, dict)]
    text = STYLES[draw(st.sampled_from(tuple(STYLES)))]({**data, "columns": [*columns, *more]})
    for _ in range(draw(st.integers(0, 3))):
        text = _inserted(draw, text, draw(st.sampled_from(COMMENTS)), lines=True)
    return text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n", "\r"))))


@pytest.mark.wide
@settings(max_examples=200, deadline=None)
@given(texts_with_many_columns())
def test_a_property_is_edited_as_where_all_columns_are_read(text: str) -> None:
    for contract in alone(text).contracts:
        keys = (KEY, *contract.state.set_properties)
        for key, value in itertools.product(keys, ("true", None)):
            of_settings, of_all = _edits_of_a_property(contract, text, key, value)
            assert of_settings == of_all


@pytest.mark.parametrize("properties", [{}, {"properties": {"a": "b"}}], ids=["none", "one"])
@pytest.mark.parametrize("style", STYLES)
def test_an_edit_of_a_property_reads_the_settings_alone_of_columns_in_braces(
    style: str, properties: dict[str, Data], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns: list[Data] = [{"name": f"n{number}", "type": "int"} for number in range(WIDTH)]
    text = STYLES[style]({"schemalint": 1, "columns": columns, **properties, "table": "t"})
    (contract,) = alone(text).contracts
    for cached in (yaml_reader._read_long, yaml_reader._read_short):  # noqa: SLF001 (both must read)
        cached.cache_clear()
    events: list[Event] = []
    parsed = yaml_reader.events
    monkeypatch.setattr(yaml_reader, "events", lambda text: _counted(parsed(text), events))
    of_settings = editor(contract, text).text_changes((SetProperty(KEY, "true"),))
    number = len(events)
    change = DeclareChange(PropertyChanged(KEY, None, "true"))
    of_all = editor(contract, text).text_changes((change,))
    assert [*map(_changed, of_settings)] == [*map(_changed, of_all)] != []
    if "blocks" in style:
        assert number == len(events)  # what is read is kept
    else:
        assert number < (len(events) - number) / 4


def _edits_of_a_property(contract: Contract, text: str, key: str, value: str | None) -> list[object]:
    """Return the changes for an edit that concerns a property alone, and for one that may concern columns."""
    edits = SetProperty(key, value), DeclareChange(PropertyChanged(key, None, value))
    return [_outcome(contract, text, edit) for edit in edits]


def _outcome(contract: Contract, text: str, edit: Edit) -> object:
    try:
        return [*map(_changed, editor(contract, text).text_changes((edit,)))]
    except ContractError as error:
        return error.message, error.location


def _changed(change: TextChange) -> object:
    return change.location, change.start, change.end, change.text, change.document
