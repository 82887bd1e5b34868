"""``docs/policies.md``: its sets and its tables of other linters' rules say what the rules do."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from schemalint import contract as contracts
from schemalint.judge.case import Case
from schemalint.judge.verdict import judge
from schemalint.model.finding import Finding
from schemalint.project.config import parse
from schemalint.review.rule_sets import rule_sets_of
from support.effective import counting

PAGE = (Path(__file__).parents[2] / "docs/policies.md").read_text("utf-8")
WITHOUT_OPTION = Path(__file__).with_name("policies_without_option.md").read_text("utf-8")
_TABLES = PAGE.partition("## From other linters")[2] + WITHOUT_OPTION
_ROWS = re.findall(r"^\| (.+?) \| (.+) \|$", _TABLES, re.MULTILINE)
ROWS = [(name, here.replace(r"\|", "|")) for name, here in _ROWS if here not in ("here", "---")]
EXPRESSED = [row for row in ROWS if "`options." in row[1]]
SETS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

BAD = """\
schemalint: 1
table: sales.Orders
columns:
  - {name: OrderId, type: bigint, comment: Order ID}
  - {name: created_at, type: string}
  - {name: created, type: timestamp}
  - {name: place, type: 'struct<zip: string>'}
"""

GOOD = """\
schemalint: 1
table: sales.fct_orders
owner: "@sales"
description: One row for each order.
columns:
  - {name: order_id, type: bigint, comment: As it is on the invoice.}
  - {name: _loaded_at, type: timestamp, comment: When the loader wrote the row.}
"""


def _found(configuration: str, text: str) -> tuple[Finding, ...]:
    (declared,) = contracts.read("a.yml", text.encode()).contracts
    sets = rule_sets_of([parse("schemalint.toml", configuration.encode())]).everywhere
    found = judge(Case(sets, declared=counting(declared))).findings
    return tuple(finding for finding in found if finding.code.startswith("PO"))


@pytest.mark.parametrize(("name", "here"), EXPRESSED, ids=lambda text: text[:40])
def test_an_option_of_the_page_does_what_the_other_rule_does(name: str, here: str) -> None:
    options = re.findall(r"`(options\.[^`]+)`", here)
    assert options, name
    for option in options:
        code = option.split(".")[1]
        assert {finding.code for finding in _found(option, BAD)} == {code}
        assert _found(option, GOOD) == ()


def test_the_counts_of_the_page_are_those_of_its_tables() -> None:
    total, expressed = re.findall(r"(\d+) rules, of which options express (\d+)", PAGE.replace("\n", " "))[0]
    named = [sum(len(name.split(", ")) for name, _ in rows) for rows in (ROWS, EXPRESSED)]
    assert [int(total), int(expressed)] == named


def test_each_rule_that_no_option_expresses_says_why() -> None:
    assert [here for _, here in ROWS if "`options." not in here and not here.startswith("no option")] == []


@pytest.mark.parametrize("text", SETS)
def test_a_set_of_the_page_is_taken(text: str) -> None:
    rule_sets_of([parse("schemalint.toml", text.encode())])


FIRST, MEDALLION, UNITY = SETS


def test_the_first_example_has_each_option_that_makes_a_rule_speak() -> None:
    found = {finding.code for finding in _found(FIRST, BAD)}
    assert found >= {"PO001", "PO002", "PO003", "PO004", "PO006", "PO007", "PO008", "PO009"}
    assert {*tomllib.loads(FIRST)["options"]} == {f"PO{number:03}" for number in range(1, 11)}


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        ("bronze", {"PO008"}),
        ("lake.silver", {"PO002", "PO003", "PO005", "PO006", "PO010"}),
        ("gold", {"PO002", "PO003", "PO004", "PO005", "PO006", "PO007", "PO010"}),
    ],
)
def test_the_medallion_set_asks_more_of_each_layer(schema: str, codes: set[str]) -> None:
    text = f"""\
schemalint: 1
table: {schema}.orders
columns:
  - {{name: OrderId, type: bigint}}
  - {{name: weight, type: float}}
  - {{name: made_at, type: string}}
  - {{name: made, type: timestamp}}
partitioned_by: [OrderId]
"""
    assert {finding.code for finding in _found(MEDALLION, text)} == codes


def test_the_set_for_unity_catalog_knows_its_limits() -> None:
    wide = "a" * 256
    text = f"""\
schemalint: 1
table: sales.`my orders`
columns:
  - {{name: {wide}, type: int}}
  - {{name: {wide[1:]}, type: int}}
  - {{name: "a b/c", type: 'struct<{wide}: int>'}}
"""
    assert [(finding.code, len(finding.new or "")) for finding in _found(UNITY, text)] == [
        ("PO001", len("my orders")),
        ("PO002", 256),
    ]
    assert _found(UNITY, text.replace("my orders", wide[1:]).replace(f"{wide},", "a,")) == ()
