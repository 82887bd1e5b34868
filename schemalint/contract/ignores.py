"""Read inline ignores: ``# schemalint: ignore[TW001] until=2026-12-01 reason …``, and ``file-ignore[…]``."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from schemalint import limits
from schemalint.document import Document, location
from schemalint.document.comments import comments
from schemalint.errors import ContractError
from schemalint.model.contract import InlineIgnore
from schemalint.model.waiver import Waiver
from schemalint.values import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

_BEGINNING: Final = r"schemalint:[ \t]*(?:file-)?ignore\b"
_IGNORE: Final = (
    r"#\s*schemalint:\s*(?P<file>file-)?ignore(?:\[(?P<rules>[^\]]*)\])?(?P<options>(?:\s+(?:until|by)=\S*)*)"
    r"(?:\s+reason\b[:=]?)?\s*(?P<reason>.*)"
)
_OPTION: Final = r"(until|by)=(\S*)"
_BLANK: Final = r"[ \t]*(?:#.*)?"


def inline_ignores(documents: Sequence[Document], text: str) -> dict[int, tuple[InlineIgnore, ...]]:
    """Return the ignores of each document of a file; one for the whole file is in each of them.

    Raises:
        ContractError: There are too many for the whole file.
    """
    if not documents or not may_have_ignores(text):
        return {}
    found: list[tuple[int, InlineIgnore]] = []
    of_file = 0
    contents, starts = _starts_of_contents(text), [document.span.start for document in documents]
    for span in comments(documents, text, _BEGINNING):
        match = re.match(_IGNORE, text[span.start : span.end])
        if match is None:
            continue
        start = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
        own_line = not text[start : span.start].strip(" \t\ufeff")
        covered = _after(span.end, contents, len(text)) if own_line else span.start
        line = 0 if match["file"] else location("", text, span._replace(start=covered, end=covered)).line
        options = dict(re.findall(_OPTION, match["options"]))
        position = location(documents[0].file, text, span)
        ignores = [
            InlineIgnore(
                Waiver(
                    rule.strip(),
                    match["reason"].strip(),
                    approved_by=options.get("by"),
                    expires=options.get("until"),
                ),
                position,
                line,
                (start, span.end) if own_line else (len(text[: span.start].rstrip(" \t")), span.end),
            )
            for rule in (match["rules"] or "").split(",")
        ]
        of_file += len(ignores) if line == 0 else 0
        if of_file > limits.MAX_FILE_IGNORES:
            raise ContractError(
                f"more than {limits.MAX_FILE_IGNORES} ignores of the whole file, a limit of schemalint",
                help="write entries of allow, or of exceptions.yaml",
                location=position,
            )
        within = documents if line == 0 else [documents[max(0, bisect_right(starts, covered) - 1)]]
        found += [(document.index, ignore) for document in within for ignore in ignores]
    return grouped(found)


def may_have_ignores(text: str) -> bool:
    """Whether a text has the words of an inline ignore, perhaps elsewhere than in a comment."""
    return "ignore" in text and "schemalint:" in text


def _starts_of_contents(text: str) -> list[int]:
    """Return the starts of the lines that hold more than a comment."""
    lines = re.finditer(r"[^\r\n]+", text)
    return [line.start() for line in lines if not re.fullmatch(_BLANK, line.group())]


def _after(offset: int, starts: Sequence[int], end: int) -> int:
    number = bisect_right(starts, offset)
    return starts[number] if number < len(starts) else end
