"""Splice texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from schemalint.base.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

# Slices of two kinds, of a list and of a tuple, would never be equal.
Sliced = TypeVar("Sliced", str, list[Any], tuple[Any, ...])


class Replacement(Protocol):
    """A text in place of that between two offsets (code points, the end exclusive)."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


@frozen
class TextEdit:
    """A `Replacement`."""

    start: int
    end: int
    text: str


def splice(text: str, edits: Iterable[Replacement]) -> str:
    """Apply edits to a text; insertions at the same offset keep their order.

    Raises:
        ValueError: Two edits overlap, or an edit is outside the text.
    """
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not position <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edits overlap or are outside the text at offset {edit.start}")
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])


def common_length(first: Sliced, second: Sliced) -> int:
    """Return the length of the common prefix of two sequences; slices are compared without a loop here."""
    same, most = 0, min(len(first), len(second))
    while same < most:
        middle = (same + most + 1) // 2
        if first[same:middle] == second[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
