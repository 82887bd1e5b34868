"""Every question to the engine as the pair of contracts that a check compares, for each record's tests."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from engine import ask_alters, ask_nested, ask_protocols, ask_states, ask_types
from schemalint import contract
from schemalint.contract.dialects.native.history import Entry, distributed
from schemalint.delta.datatype import UNMANAGED, DataType, Field, RecordedChange, Struct
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.model.contract import Contract, ProtocolLimits

if TYPE_CHECKING:
    from collections.abc import Iterable

Pair: TypeAlias = tuple[Contract | None, Contract]
"""The table before, None for a new one, and after; both contracts allow an upgrade."""


def of_types(question: ask_types.Question) -> Pair:
    """The change of type, recorded as the contract has to."""
    old, new = parse_type(question.source), parse_type(question.target)
    recorded = (RecordedChange(old, new),) if step(old, new) == TypeStep.WIDENING else ()
    return _one_column(question, old, ()), _one_column(question, new, recorded)


def of_nested(question: ask_nested.Question) -> Pair:
    """The same inside a struct, an array or a map."""
    old, new = parse_type(question.source), parse_type(question.target)
    widened = step(old, new, nested=True) == TypeStep.WIDENING
    recorded = (Entry(ask_nested.field_path(question.position), old, new),) if widened else ()
    after, record = distributed(_around(question.position, new), recorded)
    return _one_column(question, _around(question.position, old), ()), _one_column(question, after, record)


def of_protocols(question: ask_protocols.Question) -> Pair:
    """The start, and what the change brings beside it."""
    before = _start(question.start, ask_protocols.NOTHING) if question.start else None
    return before, _start(question.start, question.change)


def of_states(question: ask_states.Question) -> Pair:
    """The states, with their columns and defaults as a contract writes them."""
    return (_state(question.before) if question.before else None), _state(question.after)


def of_alters(question: ask_alters.Question) -> Pair:
    """The contracts as they are written."""
    before = None if question.before is None else ask_alters.read_contract(question.before)
    return before, ask_alters.read_contract(question.after)


def _one_column(
    question: ask_types.Question | ask_nested.Question, type_: DataType, record: Iterable[RecordedChange]
) -> Contract:
    column = Field(
        "c",
        type_,
        comment=UNMANAGED,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=tuple(record),
    )
    state = TableState(
        # Another column, because a table cannot consist of void columns alone.
        Struct((Field("other", parse_type("int")), column)),
        properties={"delta.enableTypeWidening": "true"} if question.widening else {},
        features=frozenset({"timestampNtz"}) if question.ntz else frozenset(),
    )
    return Contract("sales.orders", state, protocol=ProtocolLimits(allow_upgrade=True), file="orders.yaml")


def _around(position: str, leaf: DataType) -> DataType:
    return parse_type(ask_nested.POSITIONS[position].format(print_type(leaf)))


@cache
def _start(start: str, change_name: str) -> Contract:
    change: ask_protocols.Change = ask_protocols.CHANGES[change_name]
    return _read(
        {
            "columns": [ask_protocols.BASE_COLUMN, *change.get("columns", [])],
            "properties": {**ask_protocols.STARTS.get(start, {}), **change.get("properties", {})},
            "constraints": change.get("constraints", {}),
        }
    )


def _state(state: str) -> Contract:
    given = json.loads(state)
    defaults = given.pop("defaults", {})
    columns = [
        {"name": name, "type": type_, **({"default": defaults[name]} if name in defaults else {})}
        for name, type_ in given.pop("columns").items()
    ]
    return _read({"columns": columns, **given})


def _read(body: dict[str, Any]) -> Contract:
    """JSON is YAML."""
    document = {"schemalint": 1, "table": "t", **body, "protocol": {"allow_upgrade": True}}
    read = contract.read("t.yaml", json.dumps(document))
    assert not read.errors, read.errors
    return read.contracts[0]
