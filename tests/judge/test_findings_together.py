"""Findings of one table come together, unless one is the cause of the other."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from support.judging import judge_pair
from support.rule_judging import built_in

PLAIN = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int}\n"
FILLED = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: int}
  - {name: code, type: string}
  - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
properties: {delta.columnMapping.mode: name}
consumers: [{name: reports, columns: [code], owner: "@bi"}]
"""
WITHOUT_CODE = FILLED.replace("  - {name: code, type: string}\n", "").replace(
    ', backfill: {from: code, with: "cast(code as int)"}', ""
)


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        (PLAIN, f"{PLAIN}constraints: {{c: nope(id) > 1}}\n", {"NC021", "PF004"}),
        (PLAIN, f"{PLAIN}constraints: {{c: id > 1, d: nope > 1}}\n", {"NC012", "PF004"}),
        (FILLED, f"{WITHOUT_CODE}dropped: [code]\n", {"BF004", "RD005", "CM015"}),
    ],
)
def test_a_finding_hides_none_that_stays_when_it_is_mended(before: str, after: str, codes: set[str]) -> None:
    old, new = (contracts.read("orders.yml", text).contracts[0] for text in (before, after))
    found = {finding.code for finding in judge_pair(old, new, tuple(built_in().values()))}
    assert codes <= found, found
