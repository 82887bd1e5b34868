"""Texts of types: each is refused at a position in it, or printed so that it means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.oracle import require
from schemalint.delta.type_text import TypeTextError, parse_type_with_spans, print_type
from support.rule_cases import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = (
    "struct<",
    "array<",
    "map<",
    ">",
    "decimal(10,2)",
    "NOT NULL",
    "COMMENT 'x'",
    "`",
    "varchar(",
    "collate",
)
LONGEST = 2_000


def run(data: bytes) -> None:
    """Parse a type, print it, and parse it again."""
    text = data.decode(errors="replace")
    try:
        parsed = parse_type_with_spans(text)
    except TypeTextError as error:
        require(0 <= error.offset <= len(text), "the error is outside of the text")
        return
    for start, end in parsed.spans.values():
        require(0 <= start <= end <= len(text), "a span is outside of the text")
    printed = print_type(parsed.type)
    require(parse_type_with_spans(printed).type == parsed.type, f"printed as another type: {printed}")


def seeds() -> Iterator[bytes]:
    """Yield the types of the rules' cases."""
    for case in load_cases():
        for line in case.texts.get("after", "").splitlines():
            if "type:" in line:
                yield line.partition("type:")[2].strip(" '\"{}").encode()
