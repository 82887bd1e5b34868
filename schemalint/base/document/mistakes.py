"""The mistakes behind errors of libyaml, which are often one line above the place where it gives up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from schemalint.base.document.layout import line_end, line_start
from schemalint.base.document.nodes import Span

_NO_COLON: Final = "could not find expected ':'"
UNEXPECTED_COLON: Final = "mapping values are not allowed"
_NO_ITEM: Final = "did not find expected '-' indicator"
_NO_KEY: Final = "did not find expected key"
_NO_COMMA: Final = "did not find expected ',' or"

_CONFLICT: Final = r"(?m)^<{7}(?=\s)"
_END_OF_CONFLICT: Final = r"(?m)^>{7}"
_KEY: Final = r"(?:-[ ]+)*+(?:\"[^\"]*\"|'[^']*'|[^\s:#{}\[\]\"'][^:]*):(?=\s|$)"
_COMMENT: Final = r"(?:^|(?<=[ \t]))#.*$"
_WORD_AND_VALUE: Final = r"(?P<word>[A-Za-z_][\w.-]*)(?P<sign>[ \t]*=[ \t]*|:|[ \t]+)(?P<value>\S.*)"
_WORD: Final = r"[A-Za-z_][\w.-]*"
_LONGEST: Final = 60
_MOST_LINES: Final = 100

CONFLICT: Final = (
    "unresolved merge conflict",
    "keep one of the two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>",
)
"""The message and the help for `conflict`."""


class Mistake(NamedTuple):
    """What a user probably did.

    Attributes:
        span: Where.
        message: What is wrong there.
        help: What to write instead.
    """

    span: Span
    message: str
    help: str


class Marks(NamedTuple):
    """Where libyaml gave up, and where what it was reading begins; None if it does not say."""

    problem: int
    context: int | None


def mistake(text: str, marks: Marks, message: str) -> Mistake | None:
    """Return the probable mistake behind an error of libyaml; None if it is unknown."""
    if (start := conflict(text)) is not None:
        return Mistake(Span(start, line_end(text, start)), *CONFLICT)
    if _NO_COLON in message and marks.context is not None:
        return _without_colon(text, marks.context)
    if UNEXPECTED_COLON in message:
        return _below_a_value(text, marks.problem)
    if _NO_ITEM in message or _NO_KEY in message:
        return _not_aligned(text, marks, in_list=_NO_ITEM in message)
    if _NO_COMMA in message and marks.context is not None:
        return _not_closed(text, marks.problem, marks.context)
    return None


def conflict(text: str) -> int | None:
    """Return where the markers of an unresolved merge conflict begin, None if there are none."""
    begins = re.search(_CONFLICT, text)
    if begins and re.compile(_END_OF_CONFLICT).search(text, begins.end()):
        return begins.start()
    return None


def _without_colon(text: str, offset: int) -> Mistake | None:
    content = _content(text, offset)
    item = text[content.start : content.end].removeprefix("- ").lstrip()
    start = content.end - len(item)
    match = re.fullmatch(_WORD_AND_VALUE, item)
    if match and match["sign"] == ":":
        wrong = "a colon needs a space after it"
    elif match or re.fullmatch(_WORD, item):
        wrong = "a colon is missing"
    else:
        return None
    right = f"{match['word']}: {match['value']}" if match else f"{item}:"
    return Mistake(Span(start, content.end), f"{wrong}: {_shortened(item)}", f"write {_shortened(right)}")


def _below_a_value(text: str, offset: int) -> Mistake | None:
    """Return the mistake that makes a key part of the value above it."""
    content = _content(text, offset)
    key = re.compile(_KEY).match(text, content.start, content.end)
    if key is None or key.end() != offset + 1:
        return None  # the colon is in a value
    above = next(_contents_above(text, content.start), None)
    if above is None:
        return None
    if not re.compile(_KEY).match(text, above.start, above.end):
        is_first = next(_contents_above(text, above.start), None) is None
        begins = is_first or text.startswith("- ", above.start)
        if begins:
            return _without_colon(text, above.start)
        return None
    begun = _shortened(text[above.start : above.end])
    own = text[content.start : content.end]
    what = "list" if own.startswith("- ") else "line"
    help_text = "indent it like the lines around it, or restore the key that it belongs to"
    if what == "list":
        help_text = 'restore the key of the list above it, for example "columns:"'
    return Mistake(content, f'the {what} is below "{begun}", which has a value already', help_text)


def _not_aligned(text: str, marks: Marks, *, in_list: bool) -> Mistake | None:
    content = _content(text, marks.problem)
    if content.start != marks.problem:
        return _after_quote(text, marks.problem)
    own = text[content.start : content.end]
    if re.match(r"-[^\s-]", own):
        return Mistake(content, f"a dash needs a space after it: {_shortened(own)}", f"write - {own[1:]}")
    if own.startswith("- "):
        return Mistake(
            content,
            "the dash is not below the other dashes of its list",
            "indent it like the other items of the list",
        )
    if in_list and re.match(_KEY, own):
        return Mistake(
            content,
            "the line belongs to no item of the list",
            'indent it like the other keys of its item, or begin an item with "- "',
        )
    return None


def _after_quote(text: str, offset: int) -> Mistake | None:
    if text[:offset].rstrip(" \t")[-1:] not in {"'", '"'}:
        return None
    return Mistake(
        Span(offset, offset + 1),
        "text follows a closing quote",
        "write a quote within single quotes twice, within double quotes after a backslash",
    )


def _not_closed(text: str, problem: int, context: int) -> Mistake | None:
    opening = text[context : context + 1]
    closing = {"[": "]", "{": "}"}.get(opening)
    if closing is None:
        return None
    if "\n" not in text[context:problem]:
        where = Span(problem, min(problem + 1, len(text)))
        return Mistake(where, f"a comma or the closing {closing} is missing before this", "add it")
    line = text.count("\n", 0, problem) + 1
    return Mistake(
        Span(context, context + 1),
        f"the {opening} is not closed, or a comma is missing before line {line}",
        f"add {closing}, or the comma",
    )


def _contents_above(text: str, offset: int) -> Iterator[Span]:
    """Yield the contents of the lines above that of an offset, from the nearest one; blank ones have none.

    Each line costs time in proportion to the text, so a mistake below many comments is not looked for.
    """
    for _ in range(_MOST_LINES):
        offset = len(text[: line_start(text, offset)].rstrip()) - 1
        if offset < 0:
            return
        content = _content(text, offset)
        if content.start < content.end and text[content.start : content.end] != "---":
            yield content


def _content(text: str, offset: int) -> Span:
    """Return the line of an offset without its indentation and its comment."""
    start, end = line_start(text, offset), line_end(text, offset)
    line = re.sub(_COMMENT, "", text[start:end]).rstrip()
    return Span(start + len(line) - len(line.lstrip()), start + len(line))


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}…"
