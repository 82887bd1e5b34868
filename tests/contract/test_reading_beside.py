"""A text that is read beside an older one gives the same as alone, and the columns of both are read once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.base.document import yaml_reader
from schemalint.contract import Reading, print_contract, read_contracts
from schemalint.contract.anchors import TextAnchors
from schemalint.contract.dialects.native.plain_data import Data, as_data
from support.contract_strategies import contracts

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn
    from yaml.events import Event

    from schemalint.model.contract import Contract

FILE: Final = "contracts/any.yml"


def alone(text: str) -> Reading:
    """Read a text, whatever was read before."""
    read_contracts._read.cache_clear()  # noqa: SLF001 (both ways must agree)
    return read_contracts.read(FILE, text)


def beside(text: str, older: str) -> Reading:
    """Read a text beside an older one."""
    base = alone(older)
    return read_contracts.read(FILE, text, base)


def everything(result: Reading) -> object:
    """Return what was read, with all that contracts do not compare."""
    return (
        result.contracts,
        [(type(error), error.message, error.help, error.location) for error in result.errors],
        [list(contract.deprecated) for contract in result.contracts],
        [_located(contract) for contract in result.contracts],
    )


def _located(contract: Contract) -> object:
    anchors = contract.anchors
    assert isinstance(anchors, TextAnchors)
    outline = anchors.outline
    positions = (outline.document, list(outline.items), outline.flow, outline.start, outline.end)
    return [*map(dict, (anchors, *map(anchors.of_target, contract.targets)))], anchors.text, positions


def _columns_as(data: dict[str, Data], item: Callable[[Data], str], start: str, end: str) -> str:
    """Return a contract whose columns are on a line each; the settings come before and after them."""
    lines = [f"{json.dumps(key)}: {item(value)}" for key, value in data.items() if key != "columns"]
    columns = data["columns"]
    assert isinstance(columns, list)
    dash, between = ("  - ", "\n") if not start else ("  ", ",\n")
    written = between.join(f"{dash}{item(column)}" for column in columns)
    middle = len(lines) // 2 + 1
    return "\n".join([*lines[:middle], f"columns: {start}\n{written}{end}", *lines[middle:]]) + "\n"


def _flow(value: Data) -> str:
    """Return a value in one line, with as few quotes as possible."""
    return yaml.safe_dump(value, default_flow_style=True, width=10**9, sort_keys=False).partition("\n")[0]


STYLES: Final[dict[str, Callable[[dict[str, Data]], str]]] = {
    "blocks": lambda data: yaml.safe_dump(data, sort_keys=False),
    "blocks, columns first": yaml.safe_dump,
    "flow items": lambda data: _columns_as(data, _flow, "", ""),
    "quoted items": lambda data: _columns_as(data, json.dumps, "", ""),
    "brackets": lambda data: _columns_as(data, _flow, "[", "]"),
    "brackets below": lambda data: _columns_as(data, json.dumps, "[ # c", " # c\n  ]"),
    "one line": lambda data: f"{_flow(data)}\n",
    "JSON": lambda data: json.dumps(data, indent=1),
    "JSON in one line": json.dumps,
}
COMMENTS: Final = (" # c", "\n", "  # c\n", "# c\n", "    # c\n")
PIECES: Final = (
    *COMMENTS,
    *(" ", "x", "1", "int", "bigint", "owner: me\n", "description: d\n", "properties: {a: b}\n"),
    *("  - {name: zz, type: int}\n", "- name: zz\n  type: int\n", "{name: zz, type: int},\n"),
    *(", {name: zz, type: int}", ", deprecated: {}", ", comment: f(x", ", comment: y)"),
    *("    nullable: false\n", "    comment: |\n", "  comment: >-\n", " |\n      x\n", " |+\n     x\n"),
)
BREAKING: Final = (
    *("#", "\t", "\r", "\u2028", "\x85", "\ufeff", "\0", "é", "'", '"', "|", ">", ": |", ": >+\n", "\\", "0"),
    *("-", "- ", "? ", ":", ": ", ",", "{", "}", "[", "]", "(", ")", "<", "&a ", "*a", "!t ", "<<: "),
    *("---\n", "\n---\n", "...\n", "%YAML 1.2\n", "columns:\n", "schemalint: 1\ntable: t\n"),
)


@st.composite
def older_texts(draw: DrawFn) -> str:
    """Contracts in all styles, most of them valid."""
    contract = draw(contracts())
    styled = STYLES[draw(st.sampled_from(tuple(STYLES)))](as_data(contract))
    text = draw(st.sampled_from((print_contract(contract), *[styled] * 4)))
    for _ in range(draw(st.integers(0, 2))):
        text = _inserted(draw, text, draw(st.sampled_from(COMMENTS)), lines=True)
    text = text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n", "\r"))))
    return draw(st.sampled_from(("", "", "\ufeff"))) + text


@st.composite
def edited(draw: DrawFn, text: str) -> str:
    """A text after some edits of any kind."""
    for _ in range(draw(st.integers(1, 3))):
        piece = draw(st.sampled_from(PIECES) | st.sampled_from(BREAKING))
        lines = text.splitlines(keepends=True)
        first, second = (draw(st.integers(0, max(0, len(lines) - 1))) for _ in range(2))
        match draw(st.sampled_from(("insert", "insert", "end", "end", "replace", "cut", "move", "copy"))):
            case "insert":
                text = _inserted(draw, text, piece)
            case "end":
                text = _inserted(draw, text, piece, lines=True)
            case "replace":
                start = draw(st.integers(0, len(text)))
                text = text[:start] + piece + text[start + draw(st.integers(1, 9)) :]
            case "cut":
                text = "".join([*lines[:first], *lines[first + draw(st.integers(1, 3)) :]])
            case "move":
                text = "".join(_with(lines[:first] + lines[first + 1 :], second, lines[first : first + 1]))
            case _:
                text = "".join(_with(lines, second, lines[first : first + draw(st.integers(1, 3))]))
    return text


def _with(lines: list[str], index: int, new: list[str]) -> list[str]:
    return [*lines[:index], *new, *lines[index:]]


def _inserted(draw: DrawFn, text: str, piece: str, *, lines: bool = False) -> str:
    """Insert a piece anywhere, or at the end or at the start of a line."""
    ends = [index for index, character in enumerate(text) if character in "\r\n"] if lines else []
    at = draw(st.sampled_from(ends)) if ends else draw(st.integers(0, len(text)))
    at += draw(st.integers(0, 1)) if lines else 0
    return text[:at] + piece + text[at:]


@st.composite
def both_texts(draw: DrawFn) -> tuple[str, str]:
    older = draw(older_texts())
    return older, draw(edited(older))


@pytest.mark.wide
@settings(max_examples=100, deadline=None)
@given(both_texts())
def test_a_text_is_read_beside_an_older_one_as_alone(texts: tuple[str, str]) -> None:
    older, text = texts
    assert everything(beside(text, older)) == everything(alone(text))


WIDTH: Final = 40
MOST_READ: Final = 4
Columns = list[dict[str, Data]]
"""A change of the columns: the others are the same."""
CHANGES: Final[dict[str, Callable[[Columns], Columns]]] = {
    "a type": lambda columns: [*columns[:9], {**columns[9], "type": "bigint"}, *columns[10:]],
    "the first type": lambda columns: [{**columns[0], "type": "bigint"}, *columns[1:]],
    "the last type": lambda columns: [*columns[:-1], {**columns[-1], "type": "bigint"}],
    "a comment less": lambda columns: [*columns[:9], {"name": "n9", "type": "int"}, *columns[10:]],
    "a new column": lambda columns: [*columns[:9], {"name": "new", "type": "date"}, *columns[9:]],
    "a new last column": lambda columns: [*columns, {"name": "new", "type": "date"}],
    "a column less": lambda columns: [*columns[:9], *columns[10:]],
    "two columns swapped": lambda columns: [*columns[:9], columns[10], columns[9], *columns[11:]],
    "a setting before them": lambda columns: columns,
    "a setting after them": lambda columns: columns,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("style", [style for style in STYLES if "one line" not in style])
def test_columns_of_both_texts_are_read_once(
    style: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: Columns = [
        {"name": f"n{number}", "type": "int", "comment": f"of {number}", "deprecated": {"reason": "r"}}
        for number in range(WIDTH)
    ]
    after = CHANGES[change](before)
    older, text = (
        STYLES[style](
            {
                "schemalint": 1,
                "clustered_by": ["n3", *(["n4"] if is_new and change == "a setting before them" else ())],
                "columns": [*columns],
                "properties": {
                    "a": "b",
                    **({"c": "d"} if is_new and change == "a setting after them" else {}),
                },
                "table": "t",
            }
        )
        for columns, is_new in ((before, False), (after, True))
    )
    base = alone(older)
    events: list[Event] = []
    parsed = yaml_reader.events
    monkeypatch.setattr(yaml_reader, "events", lambda text: _counted(parsed(text), events))
    read = read_contracts.read(FILE, text, base)
    number = len(events)
    assert everything(read) == everything(alone(text))
    assert number < (len(events) - number) / 4
    ((old, new),) = zip(base.contracts, read.contracts, strict=True)
    known = {id(column) for column in old.state.columns.fields}
    assert sum(id(column) not in known for column in new.state.columns.fields) <= MOST_READ


def _counted(next_event: Callable[[], Event], events: list[Event]) -> Callable[[], Event]:
    def counting() -> Event:
        events.append(event := next_event())
        return event

    return counting


NAMED: Final = "schemalint: 1\ntable: t\ncolumns:\n"
REFUSED: Final[dict[str, tuple[str, str]]] = {
    "a block scalar takes what was a comment": (
        f"{NAMED}  - name: a\n    type: int\n    comment: x\n      # c\n  - {{name: b, type: int}}",
        f"{NAMED}  - name: a\n    type: int\n    comment: |\n      x\n      # c\n  - {{name: b, type: int}}",
    ),
    "a bracket closes in the line of a column that stays": (
        "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int, comment: f(x}, {name: b, type: int}]\n",
        "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int, comment: f(x}, {name: b), type: int}]\n",
    ),
    "a bracket closes in the line of a column that follows": (
        "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int}, {name: b), type: int}]\n",
        "schemalint: 1\ntable: t\ncolumns: [{name: f(a, type: int}, {name: b), type: int}]\n",
    ),
    "a quote ends after the columns": (
        f'{NAMED}- name: a\n  type: int\n  comment: xy\n- name: b\n  type: int\nowner: me"\n',
        f'{NAMED}- name: a\n  type: int\n  comment: "xy\n- name: b\n  type: int\nowner: me"\n',
    ),
    "the dash moves": (
        f"{NAMED}  - {{name: a, type: int}}\n  - {{name: b, type: int}}\n",
        f"{NAMED} - {{name: a, type: int}}\n  - {{name: b, type: int}}\n",
    ),
    "another document": (
        f"{NAMED}- {{name: a, type: int}}\n- {{name: b, type: int}}\n",
        f"{NAMED}- {{name: a, type: int}}\n- {{name: b, type: int}}\n---\nschemalint: 1\ntable: u\n",
    ),
    "deprecated columns with one name": (
        f"{NAMED}- {{name: a, type: int, deprecated: {{}}}}\n- {{name: a, type: int}}\n",
        f"{NAMED}- {{name: c, type: int, deprecated: {{}}}}\n- {{name: a, type: int}}\n",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_change_makes_of_the_columns_that_stay_is_seen(case: str) -> None:
    older, text = REFUSED[case]
    assert everything(beside(text, older)) == everything(alone(text))


@pytest.mark.wide
def test_too_many_nodes_in_all_are_an_error_although_few_are_read() -> None:
    columns = "".join(f"- {{name: a{number}, type: int}}\n" for number in range(19_997))
    older = f"{NAMED}{columns}- {{name: b, type: int}}\n"
    text = f"{NAMED}{columns}- {{name: b, type: int, nullable: false, comment: c}}\n"
    assert alone(older).errors == ()
    assert [error.message for error in beside(text, older).errors] == ["the file has more than 100,000 nodes"]
