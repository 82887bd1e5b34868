"""Ignores are read from YAML's comments, wherever these can be, and from no text that only looks like one."""

from __future__ import annotations

import pytest

from schemalint import limits
from schemalint.contract import read
from schemalint.model.contract import InlineIgnore

IGNORE = "# schemalint: ignore[NC009] later"


def ignores(text: str) -> list[InlineIgnore]:
    result = read("a.yml", text)
    assert not result.errors
    return [ignore for contract in result.contracts for ignore in contract.ignores]


def contract(columns: str, head: str = "") -> str:
    return f"{head}schemalint: 1\ntable: sales.orders\ncolumns:\n{columns}"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (f"  - {{name: a, type: int}}  {IGNORE}\n", 4),
        (f"  - {{name: a, type: int}} {IGNORE}", 4),
        (f"  - name: a  {IGNORE}\n    type: int\n", 4),
        (f"  - name: a\n    type: int  {IGNORE}\n", 5),
        (f"  - name: 'a'\t{IGNORE}\n    type: int\n", 4),
        (f"  - {{name: a,  {IGNORE}\n     type: int}}\n", 4),
        (f"  - {{\n      {IGNORE}\n      name: a, type: int}}\n", 6),
        (f"  {IGNORE}\n\n  # another comment\n  - {{name: a, type: int}}\n", 7),
        (f"  - name: a\n    type: int\n    comment: >-  {IGNORE}\n      text\n", 6),
        (
            f"  - name: a\n    type: int\n    comment: |\n      x\n  {IGNORE}\n  - {{name: b, type: int}}\n",
            9,
        ),
    ],
    ids=[
        "flow",
        "last",
        "block",
        "value",
        "quoted",
        "inside",
        "alone-inside",
        "above",
        "header",
        "after-block",
    ],
)
def test_a_comment_of_any_style_is_an_ignore(columns: str, line: int) -> None:
    for text in (contract(columns), contract(columns, "\ufeff"), contract(columns).replace("\n", "\r\n")):
        (found,) = ignores(text)
        assert (found.waiver.rule, found.waiver.reason, found.line) == ("NC009", "later", line)
        assert text[slice(*found.cut)].strip() == IGNORE


@pytest.mark.parametrize(
    "columns",
    [
        f'  - {{name: a, type: int, comment: "x {IGNORE}"}}\n',
        f"  - {{name: a, type: int, comment: 'x {IGNORE}'}}\n",
        f"  - name: a\n    type: int\n    comment: |\n      x\n      {IGNORE}\n",
        f"  - name: a\n    type: int\n    comment: >\n      x\n      {IGNORE}\n    nullable: true\n",
        f"  - name: a\n    type: int\n    comment: x#y\n    # no {IGNORE[2:]}\n",
        f'  - name: a\n    type: int\n    comment: "x\n      {IGNORE}"\n',
    ],
    ids=["double", "single", "literal", "folded", "plain", "two-lines"],
)
def test_a_text_is_no_comment(columns: str) -> None:
    assert ignores(contract(columns)) == []


def test_an_ignore_names_rules_a_day_and_who_approved_it() -> None:
    text = "# schemalint: file-ignore[TW001, NC009] until=2026-12-01 by=@data reason: it is filled later"
    first, second = ignores(contract("  - {name: a, type: int}\n", text + "\n"))
    assert (first.waiver.rule, second.waiver.rule, first.line) == ("TW001", "NC009", 0)
    assert (second.waiver.expires, second.waiver.approved_by) == ("2026-12-01", "@data")
    assert second.waiver.reason == "it is filled later"


def test_each_document_has_the_ignores_of_its_own_lines() -> None:
    one = contract(f"  - {{name: a, type: int}}  {IGNORE}\n")
    other = contract("  - {name: a, type: int}\n").replace("orders", "lines")
    first, second = read("a.yml", f"{one}---\n{other}").contracts
    assert (len(first.ignores), len(second.ignores)) == (1, 0)
    everywhere = f"# schemalint: file-ignore[NC009] later\n{one}---\n{other}"
    assert [len(found.ignores) for found in read("a.yml", everywhere).contracts] == [2, 1]


def test_a_file_has_few_ignores_of_the_whole_file() -> None:
    """Each of them is one of every contract in the file."""
    many = f"# schemalint: file-ignore[{','.join(['NC009'] * (limits.MAX_FILE_IGNORES + 1))}] later\n"
    result = read("a.yml", contract("  - {name: a, type: int}\n", many))
    assert [error.message for error in result.errors] == [
        "more than 100 ignores of the whole file, a limit of schemalint"
    ]


def test_a_file_with_only_an_ignore_has_no_contract() -> None:
    result = read("a.yml", "# schemalint: ignore[NC009] later\n")
    assert [error.message for error in result.errors] == ["this file is empty"]
