"""Whoever builds a table anew alters nothing: rules about ALTER are silent, and those about builds speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from support.seam import created_table, findings

if TYPE_CHECKING:
    from schemalint.model.contract import Contract

HEAD = "schemalint: 1\ntable: sales.orders\nmanaged_by: {tool: dbt, how: %s}\ncolumns:\n"
STREAM = "consumers:\n  - {name: silver, client: delta-spark, stream: {checkpoint: /checkpoints/silver}}\n"
BEFORE = """\
  - {name: a, type: bigint}
  - {name: b, type: string}
  - {name: n, type: int}
"""
AFTER = """\
  - {name: a, type: int}
  - {name: b2, type: string, renamed_from: b}
  - {name: n, type: int, nullable: false}
  - {name: z, type: int, nullable: false}
"""
OF_ALTER = {"TW001", "CM001", "NC001", "NC002"}
OF_BUILDS = {"RB001", "RB002", "RB003", "RB005"}


def read(how: str, columns: str) -> Contract:
    return contracts.read("orders.yml", HEAD % how + columns + STREAM).contracts[0]


@pytest.mark.parametrize("is_live", [False, True], ids=["check", "check --live"])
@pytest.mark.parametrize(
    ("how", "codes"), [("alter", OF_ALTER), ("replace", OF_BUILDS), ("rename", OF_BUILDS)]
)
def test_the_rules_that_speak_are_those_of_what_is_done(how: str, codes: set[str], *, is_live: bool) -> None:
    base, head = read(how, BEFORE), read(how, AFTER)
    live = created_table(base) if is_live else None
    assert {finding.code for finding in findings(base, head, live)} == codes
