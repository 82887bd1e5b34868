"""The scan for a key of the root finds what the whole text says, and parses little of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemalint.base.document import Mapping, Scalar, read_documents, root_values, yaml_reader
from schemalint.base.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml.events import Event

KEY = "table"
VALUES = [
    "a.b",
    "'a.b'",
    '"a.b"',
    '"a.\\u0062"',
    "|\n  a.b",
    ">-\n  a\n  b",
    '"a\n  b"',
    "",
    "[table, a]",
    "{table: a}",
]
LINES = st.sampled_from(
    [
        *(f"{key}: {value}\n" for key in (KEY, "'table'", '"t\\x61ble"', "other") for value in VALUES),
        *("---\n", "--- \n", "...\n", "--- {table: a}\n", "---\xa0table: a\n", "----\n", "%YAML 1.2\n---\n"),
        *(
            "- table: a\n",
            "  table: a\n",
            "? table\n: a\n",
            "# table: a\n",
            "\n",
            "\r\n",
            "\x85",
            "\u2028---\n",
        ),
        *(
            "x: |\n  table: a\n  ---\n",
            "x: 'one\n---\n\n  table: a'\n",
            'x: "\n---\xa0\n"\n',
            "x: [\n  table, b,\n]\n",
        ),
        *(
            "{table: a, x: [table, b], y: {table: c}}\n",
            '{"table": "a",\n"x": [1]}\n',
            "[table, a]\n",
            "table\n",
        ),
        *(
            "&a table: a\n",
            "table: &b a\n",
            "x: *b\n",
            "<<: {table: a}\n",
            "!!str table: a\n",
            "table: !x a\n",
        ),
        *(
            "table: a\ttable: b\n",
            "table : a\n",
            "table:a\n",
            "\ttable: a\n",
            "? [table]\n: a\n",
            "table: \\\n",
        ),
    ]
)
TEXTS = st.builds(
    lambda mark, lines, line_break: mark + "".join(lines).replace("\n", line_break),
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES, max_size=7),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
HOSTILE = st.text("tabletable:-.'\"\\{}[],&*!|>%#? \t\r\n\x85\ufeff", max_size=40).map("table: a\n".__add__)


@settings(max_examples=500, deadline=None)
@given(TEXTS | HOSTILE)
@example("table: a\n---\nx: 1\n...\ntable: b\n")
@example("%YAML 1.2\n---\ntable: a\n")
@example("table: a\n...\n%YAML 1.2\n---\ntable: b\n")
@example('x: "\n---\xa0\n"\ntable: a\n')
@example("table: a\n...\ntable: b\n")
@example("x: [1]\ntable: a\n")
def test_the_scan_finds_what_the_whole_text_says(text: str) -> None:
    found = list(root_values(text, KEY))
    try:
        roots = [document.root for document in read_documents(text, "a.yml")]
    except ContractError:
        return  # the scan may find more than a refused text says
    entries = [root.entry(KEY) for root in roots if isinstance(root, Mapping)]
    expected = [entry.value.text for entry in entries if entry and isinstance(entry.value, Scalar)]
    assert found == expected or (set(expected) <= set(found) and len(entries) < len(roots))


BLOCK = "# c\nschemalint: 1\ntable: a.b\nowner: x\ncolumns:\n" + "  - {name: c, type: int}\n" * 50
FLOW = "{schemalint: 1, table: a.b, columns: [" + "{name: c, type: int}, " * 50 + "]}\n"
STYLES = {
    "block": BLOCK,
    "flow": FLOW,
    "JSON": '{"schemalint": 1,\n"table": "a.b",\n"columns": [' + '{"name": "c"}, ' * 50 + "]}\n",
    "quoted": BLOCK.replace("a.b", '"a.b"').replace("table", "'table'"),
    "escapes": BLOCK.replace("a.b", '"a.\\u0062"'),
    "folded": BLOCK.replace("a.b", ">-\n  a.b"),
    "comments": BLOCK.replace("\n", "  # --- c ---\n"),
    "byte order mark": "\ufeff" + BLOCK,
    "CRLF": BLOCK.replace("\n", "\r\n"),
    "document start": "---\n" + BLOCK,
    "several documents": BLOCK + "---\n" + FLOW + "---\n" + BLOCK,
}


@pytest.mark.parametrize("style", STYLES)
def test_no_style_is_parsed_beyond_the_table(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Event] = []
    whole = yaml_reader.events

    def counted(text: str) -> Callable[[], Event]:
        next_event = whole(text)

        def counting() -> Event:
            asked.append(next_event())
            return asked[-1]

        return counting

    monkeypatch.setattr(yaml_reader, "events", counted)
    text = STYLES[style]
    found = list(root_values(text, KEY))
    assert found == ["a.b"] * (
        text.count("---\n") if style == "document start" else text.count("\n---\n") + 1
    )
    # The starts of stream, document and mapping, and two keys with their values.
    assert len(asked) == 7 * len(found)
