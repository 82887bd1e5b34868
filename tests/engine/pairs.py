"""The questions to Spark as the pairs of contracts that a check compares."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from engine import record_alters, record_nested, record_protocols, record_states, record_types
from schemalint import contract
from schemalint.contract.dialects.native.column_reader import Entry, distributed
from schemalint.delta.datatype import UNMANAGED, DataType, Field, RecordedChange, Struct
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.model.contract import Contract, ProtocolLimits

if TYPE_CHECKING:
    from collections.abc import Iterable

Pair: TypeAlias = tuple[Contract | None, Contract]
"""The contract before (None for a new table) and after; both allow protocol upgrades."""


def type_contracts(question: record_types.Question) -> Pair:
    """Return the contracts of a type change, with the required `type_changes` entry."""
    old, new = parse_type(question.source), parse_type(question.target)
    recorded = (RecordedChange(old, new),) if step(old, new) == TypeStep.WIDENING else ()
    return _one_column(question, old, ()), _one_column(question, new, recorded)


def nested_contracts(question: record_nested.Question) -> Pair:
    """Return the contracts of a type change inside a struct, an array or a map."""
    old, new = parse_type(question.source), parse_type(question.target)
    is_widening = step(old, new, nested=True) == TypeStep.WIDENING
    recorded = (Entry(record_nested.field_path(question.position), old, new),) if is_widening else ()
    after, record = distributed(_around(question.position, new), recorded)
    return _one_column(question, _around(question.position, old), ()), _one_column(question, after, record)


def protocol_contracts(question: record_protocols.Question) -> Pair:
    """Return the contracts of a start without and with the change."""
    before = _start(question.start, record_protocols.NOTHING) if question.start else None
    return before, _start(question.start, question.change)


def state_contracts(question: record_states.Question) -> Pair:
    """Return the contracts of the two states."""
    return (_state(question.before) if question.before else None), _state(question.after)


def alter_contracts(question: record_alters.Question) -> Pair:
    """Return the contracts of the question."""
    before = None if question.before is None else record_alters.read_contract(question.before)
    return before, record_alters.read_contract(question.after)


def _one_column(
    question: record_types.Question | record_nested.Question,
    type_: DataType,
    record: Iterable[RecordedChange],
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
    return parse_type(record_nested.POSITIONS[position].format(print_type(leaf)))


@cache
def _start(start: str, change_name: str) -> Contract:
    change: record_protocols.Change = record_protocols.CHANGES[change_name]
    return _read(
        {
            "columns": [record_protocols.BASE_COLUMN, *change.get("columns", [])],
            "properties": {**record_protocols.STARTS.get(start, {}), **change.get("properties", {})},
            "constraints": change.get("constraints", {}),
        }
    )


def _state(state: str) -> Contract:
    body = json.loads(state)
    defaults = body.pop("defaults", {})
    columns = [
        {"name": name, "type": type_, **({"default": defaults[name]} if name in defaults else {})}
        for name, type_ in body.pop("columns").items()
    ]
    return _read({"columns": columns, **body})


def _read(body: dict[str, Any]) -> Contract:
    document = {"schemalint": 1, "table": "t", **body, "protocol": {"allow_upgrade": True}}
    read = contract.read("t.yaml", json.dumps(document))  # JSON is valid YAML
    assert not read.errors, read.errors
    return read.contracts[0]
