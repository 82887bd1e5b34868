"""Cells and rows of text, safe to print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.base.printable import printable
from schemalint.base.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.delta.table import HistoryEntry

_WIDEST: Final = 48
"""The widest a column of cells is padded; a longer cell shifts only the rest of its own row."""

_LONGEST: Final = 60
"""The most characters of a shortened text."""


def shortened(text: str) -> str:
    """Put a text on one line, and cut it if it is long."""
    line = without_secrets(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def committer_text(entry: HistoryEntry) -> str:
    """Format the user and the engine of a commit, as far as the log records them."""
    engine = f"with {entry.engine}" if entry.engine else ""
    return " ".join(text for text in (f"by {entry.user}" if entry.user else "", engine) if text)


def table_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the cells of rows, safe to print; columns that are empty in all rows are left out."""
    columns = [[_cell(cell) for cell in column] for column in zip(*rows, strict=True)]
    padded = [_padded(column) for column in columns if any(column)]
    return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _padded(column: list[str]) -> list[str]:
    width = min(max(map(len, column)), _WIDEST)
    return [cell.ljust(width) for cell in column]


def _cell(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return " " * indent + printable(text[indent:])
