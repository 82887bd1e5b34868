"""Findings that need the live table: undeclared constraints, partitioning, and renames already applied."""

from __future__ import annotations

import json

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.datatype import Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.finding import Finding
from support.judging import judge_live, live_case
from support.rule_judging import built_in

MAPPED = "properties: {delta.columnMapping.mode: name}\n"
WIDENING = "properties: {delta.enableTypeWidening: true}\n"


def test_an_undeclared_live_constraint_blocks_a_type_change() -> None:
    """Compared with git alone, the change is a plain widening."""
    base = _contract("[{name: a, type: int}]", WIDENING)
    findings = _judged(
        _contract("[{name: a, type: bigint, type_changes: [{from: int, to: bigint}]}]", WIDENING),
        _contract("[{name: a, type: int}]", WIDENING + "constraints: {pos: a > 0}\n"),
        base,
    )
    assert [
        (finding.code, finding.delta_error)
        for finding in findings
        if finding.severity.label == "error" and not finding.existing
    ] == [("NC005", "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE")]


def test_newly_declared_partitioning_is_compared_with_the_table() -> None:
    """Offline it is a warning, because the base does not declare the partitioning."""
    columns = "[{name: a, type: int}, {name: d, type: date}]"
    declared = _contract(columns, "partitioned_by: [d]\n")
    agreeing = _judged(declared, declared, _contract(columns))
    contradicting = _judged(declared, _contract(columns), _contract(columns))
    assert not [finding for finding in agreeing if finding.code == "NC007"]
    assert [finding.severity.label for finding in contradicting if finding.code == "NC007"] == ["error"]


@pytest.mark.parametrize(
    ("live", "expected"),
    [("cust", []), ("customer_ref", []), ("other", ["CT006"])],
)
def test_a_new_contract_may_declare_a_rename_that_is_pending_or_already_applied(
    live: str, expected: list[str]
) -> None:
    """CT006 appears only if the table has neither the old nor the new name."""
    declared = _contract(
        "[{name: a, type: int}, {name: customer_ref, type: int, renamed_from: cust}]", MAPPED
    )
    table = _contract(f"[{{name: a, type: int}}, {{name: {live}, type: int}}]", MAPPED)
    assert [finding.code for finding in _judged(declared, table) if finding.code == "CT006"] == expected


@pytest.mark.parametrize(
    ("columns", "rest", "errors"),
    [
        ("{name: total, type: int, renamed_from: a}, {name: b, type: int}", "", ["NC005"]),
        ("{name: b, type: int}", "dropped: [a]\n", ["NC005"]),
        ("{name: a, type: int}", "dropped: [b]\n", []),
        ("{name: a, type: int}, {name: c, type: int, renamed_from: b}", "", []),
    ],
)
def test_an_invariant_keeps_the_columns_that_it_names(columns: str, rest: str, errors: list[str]) -> None:
    """Delta renames and drops them, and then refuses every INSERT; the invariant of a dropped column goes."""
    base = _contract("[{name: a, type: int}, {name: b, type: int}]", MAPPED)
    table = created_state(base.state)
    first, second = table.columns.fields
    invariant = json.dumps(json.dumps({"expression": {"expression": "a > 3"}}))
    second = replace(second, extra=(*second.extra, ("delta.invariants", invariant)))
    state = replace(table, columns=Struct((first, second)))
    protocol = Protocol(3, 7, frozenset(), base.created_features)
    live = LiveTable("file:/lake/t", 0, protocol, Metadata("id", state))
    declared = _contract(f"[{columns}]", MAPPED + rest)
    findings = judge_live(live_case(declared, live, base=base), tuple(built_in().values()))
    found = [(finding.code, finding.severity.label) for finding in findings if finding.code == "NC005"]
    assert found == [(code, "error") for code in errors]


def _judged(declared: Contract, table: Contract, base: Contract | None = None) -> tuple[Finding, ...]:
    protocol = Protocol(3, 7, frozenset(), table.created_features)
    live = LiveTable("file:/lake/t", 0, protocol, Metadata("id", created_state(table.state)))
    return judge_live(live_case(declared, live, base=base), tuple(built_in().values()))


def _contract(columns: str, more: str = "") -> Contract:
    text = f"schemalint: 1\ntable: t\nprotocol: {{allow_upgrade: true}}\ncolumns: {columns}\n{more}"
    read = contracts.read("t.yaml", text)
    assert not read.errors
    return read.contracts[0]
