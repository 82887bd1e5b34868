"""What only the live table shows: constraints that nobody declares, and renames that are made already."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.lint.live import LiveComparison, judge_live
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.finding import Finding
from support.rule_judging import built_in

MAPPED = "properties: {delta.columnMapping.mode: name}\n"
WIDENING = "properties: {delta.enableTypeWidening: true}\n"


def test_a_live_constraint_that_the_contract_does_not_declare_is_in_the_way() -> None:
    """Git shows a plain widening."""
    base = _contract("[{name: a, type: int}]", WIDENING)
    found = _judged(
        _contract("[{name: a, type: bigint, type_changes: [{from: int, to: bigint}]}]", WIDENING),
        _contract("[{name: a, type: int}]", WIDENING + "constraints: {pos: a > 0}\n"),
        base,
    )
    assert [(one.code, one.delta_error) for one in found if one.severity.label == "error"] == [
        ("NC005", "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE")
    ]


def test_the_partitioning_that_is_declared_for_the_first_time_is_compared_with_the_table() -> None:
    """Offline that is a warning, since the base does not say how the table is partitioned."""
    columns = "[{name: a, type: int}, {name: d, type: date}]"
    declared = _contract(columns, "partitioned_by: [d]\n")
    agreeing = _judged(declared, declared, _contract(columns))
    contradicting = _judged(declared, _contract(columns), _contract(columns))
    assert not [one for one in agreeing if one.code == "NC007"]
    assert [one.severity.label for one in contradicting if one.code == "NC007"] == ["error"]


@pytest.mark.parametrize(
    ("live", "expected"),
    [("cust", []), ("customer_ref", []), ("other", ["CT006"])],
)
def test_a_new_contract_may_tell_of_a_rename_that_is_to_be_made_or_was_made(
    live: str, expected: list[str]
) -> None:
    """The table knows one of the two names."""
    declared = _contract(
        "[{name: a, type: int}, {name: customer_ref, type: int, renamed_from: cust}]", MAPPED
    )
    table = _contract(f"[{{name: a, type: int}}, {{name: {live}, type: int}}]", MAPPED)
    assert [one.code for one in _judged(declared, table) if one.code == "CT006"] == expected


def _judged(declared: Contract, table: Contract, base: Contract | None = None) -> tuple[Finding, ...]:
    protocol = Protocol(3, 7, frozenset(), table.created_features)
    live = LiveTable("file:/lake/t", 0, protocol, Metadata("id", created_state(table.state)))
    return judge_live(LiveComparison(declared, live, base=base), tuple(built_in().values()))


def _contract(columns: str, more: str = "") -> Contract:
    text = f"schemalint: 1\ntable: t\nprotocol: {{allow_upgrade: true}}\ncolumns: {columns}\n{more}"
    read = contracts.read("t.yaml", text)
    assert not read.errors
    return read.contracts[0]
