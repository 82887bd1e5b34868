"""Locations of a contract's parts in its text.

A finding is about one column of many. So the positions of the settings are kept, and of the columns only
where each of them is: a column is read again, alone, when something in it is located.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeAlias

from schemalint.base.document import Span, location
from schemalint.base.document.outline import Outline
from schemalint.base.errors import Location
from schemalint.delta.path import Path, lowercased, path_key
from schemalint.model.contract import Anchor, Anchors, Contract

Spans: TypeAlias = Mapping[Anchor, Span]


class ColumnSpans(Protocol):
    """The spans of the anchors in columns, by normalized anchor."""

    @property
    def outline(self) -> Outline:
        """Where the columns are."""

    def of(self, name: str) -> Spans:
        """Return the spans in the columns with a name; it is in lower case."""

    def names(self) -> Iterable[str]:
        """Return the names of the columns in lower case, each once."""


class TextAnchors(Anchors):
    """The locations of one contract's anchors in the text of its file."""

    __slots__ = ("_columns", "_file", "_settings", "target", "text")

    def __init__(
        self,
        file: str,
        text: str,
        settings: Mapping[str | None, Spans],
        columns: ColumnSpans,
        target: str | None = None,
    ) -> None:
        """Take what the dialect found.

        Args:
            file: The file of the contract.
            text: The text of the file.
            settings: The spans of the settings for each target with an overlay, and for None.
            columns: The spans in the columns.
            target: The target for which the contract is effective.
        """
        self._file = file
        self.text = text
        self._settings = settings
        self._columns = columns
        self.target = target

    def of_target(self, target: str) -> TextAnchors:
        return TextAnchors(self._file, self.text, self._settings, self._columns, target)

    @property
    def outline(self) -> Outline:
        """Where the columns are in the text of the file."""
        return self._columns.outline

    def __getitem__(self, anchor: Anchor) -> Location:
        span = self._span(normal(anchor))
        if span is None:
            raise KeyError(anchor)
        return location(self._file, self.text, span)

    def __iter__(self) -> Iterator[Anchor]:
        yield from self._of_target()
        for name in self._columns.names():
            yield from (anchor for anchor in self._columns.of(name) if anchor not in self._of_target())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _of_target(self) -> Spans:
        return self._settings[self.target if self.target in self._settings else None]

    def _span(self, anchor: Anchor) -> Span | None:
        """Return the span of a normalized anchor."""
        span = self._of_target().get(anchor)
        path = anchor[1] if span is None and len(anchor) > 1 else None
        if not (isinstance(path, tuple) and path):
            return span
        return self._columns.of(str(path[0]).lower()).get(anchor)


def normal(anchor: Anchor) -> Anchor:
    """Normalize an anchor for lookup: Delta ignores the case of names."""
    kind, *rest = anchor
    # A dropped column is not in the schema, so its steps cannot be told apart as fields and parts.
    fold_path = path_key if kind == "dropped" else lowercased
    return (kind, *(_normal(part, fold_path) for part in rest))


def text_of(contract: Contract) -> str:
    """Return the text of the file that a contract was read from; empty if it was not read."""
    if isinstance(contract.anchors, TextAnchors):
        return contract.anchors.text
    return ""


def _normal(part: object, fold_path: Callable[[Path], Path]) -> object:
    if isinstance(part, tuple):
        return fold_path(part)
    if isinstance(part, str):
        return part.casefold()
    return part
