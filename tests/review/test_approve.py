"""An exception approves the finding that it names, and no other; each one ends."""

from __future__ import annotations

import datetime as dt
from typing import Final

import pytest

from schemalint.contract import read
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding
from schemalint.review.approve import approve
from schemalint.review.exceptions import Exceptions
from support.judging import judge_pair
from support.rule_judging import built_in

TODAY: Final = dt.date(2026, 6, 15)
RULES: Final = tuple(built_in().values())


MAPPED: Final = "properties: {delta.columnMapping.mode: name}"


def contract(columns: str, *allow: str, rest: str = MAPPED) -> Contract:
    entries = "".join(f"  - {{{entry}}}\n" for entry in allow)
    text = f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n{rest}\n"
    result = read("orders.yml", text + (f"allow:\n{entries}" if allow else ""))
    assert not result.errors
    return result.contracts[0]


BASE: Final = contract(
    "{name: id, type: bigint}, {name: code, type: string, deprecated: {remove_after: 2999-12-31}}"
)
EARLY: Final = "rule: CT003, column: code, from: string, reason: nobody reads it"


def left(head: Contract, base: Contract = BASE) -> tuple[list[str], list[str]]:
    """Return the codes of what remains, and of what is approved."""
    findings: tuple[Finding, ...] = judge_pair(base, head, RULES)
    found = approve(findings, Exceptions().with_contracts([(base, head)]), RULES, TODAY)
    remaining = sorted(finding.code for finding in found.remaining)
    return remaining, [approval.finding.code for approval in found.approved]


def dropped(*allow: str) -> Contract:
    return contract("{name: id, type: bigint}", *allow, rest=f"{MAPPED}\ndropped: [code]")


def test_an_exception_approves_what_it_names() -> None:
    assert "CT003" in left(dropped())[0]
    remaining, approved = left(dropped(EARLY))
    assert approved == ["CT003"]
    assert "CT003" not in remaining


@pytest.mark.parametrize(
    "entry",
    [
        EARLY.replace("CT003", "CT002"),
        EARLY.replace("column: code", "column: id"),
        EARLY.replace("column: code", "object: table"),
        EARLY.replace("column: code, ", ""),
        EARLY.replace("string", "int"),
        EARLY.replace("from: string, ", ""),
        EARLY.replace("nobody reads it", '" "'),
        f"{EARLY}, expires: 2026-06-14",
        f"{EARLY}, expires: next year",
    ],
    ids=["rule", "column", "object", "no-object", "change", "no-change", "no-reason", "past", "no-date"],
)
def test_an_exception_for_something_else_or_past_its_end_approves_nothing(entry: str) -> None:
    remaining, approved = left(dropped(entry))
    assert "CT003" in remaining
    assert approved == []


def test_what_the_change_adds_comes_first() -> None:
    void = "{name: id, type: bigint}, {name: a, type: void}, {name: z, type: void}"
    entries = [f"rule: NC009, column: {name}, reason: filled later" for name in "az"]
    base, head = contract(void, entries[0]), contract(void, *entries)
    findings = judge_pair(base, head, RULES)
    exceptions = Exceptions().with_contracts([(base, head)])
    approved = approve(findings, exceptions, RULES, TODAY).approved
    assert [(each.finding.column, each.by.added) for each in approved] == [("z", True), ("a", False)]


def test_an_exception_counts_on_its_last_day_and_by_the_name_of_its_rule() -> None:
    entry = EARLY.replace("CT003", "deprecated-dropped-early")
    assert left(dropped(f"{entry}, expires: 2026-06-15"))[1] == ["CT003"]
