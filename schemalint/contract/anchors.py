"""Locations of a contract's parts in its text, computed on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from schemalint.delta.path import Path, lowercased, path_key
from schemalint.document import Document, Span, location, read_documents
from schemalint.errors import Location
from schemalint.model.contract import Anchor, Contract

Spans: TypeAlias = Mapping[Anchor, Span]
SpansOf: TypeAlias = Callable[[Document, str | None], Spans]
"""Return the spans of the anchors that are effective for a target, or for None."""


class Anchors(Mapping[Anchor, Location]):
    """The locations of one contract's anchors.

    Most contracts have no findings and need no locations, so only the text is kept until the first lookup.
    """

    __slots__ = ("_document", "_file", "_spans_of", "_target", "_text")

    def __init__(
        self, file: str, text: str, document: int, spans_of: SpansOf, target: str | None = None
    ) -> None:
        self._file = file
        self._text = text
        self._document = document
        self._spans_of = spans_of
        self._target = target

    @property
    def target(self) -> str | None:
        """The target for which the contract is effective."""
        return self._target

    def of_target(self, target: str) -> Anchors:
        """Return the locations of the contract that is effective for a target."""
        return Anchors(self._file, self._text, self._document, self._spans_of, target)

    def __getitem__(self, anchor: Anchor) -> Location:
        return location(self._file, self._text, self._spans()[normal(anchor)])

    def __contains__(self, anchor: object) -> bool:
        return isinstance(anchor, tuple) and normal(anchor) in self._spans()

    def __iter__(self) -> Iterator[Anchor]:
        return iter(self._spans())

    def __len__(self) -> int:
        return len(self._spans())

    def _spans(self) -> Spans:
        return _spans(self._file, self._text, self._document, self._spans_of, self._target)


def normal(anchor: Anchor) -> Anchor:
    """Normalize an anchor for lookup: Delta ignores the case of names."""
    kind, *rest = anchor
    # A dropped column is not in the schema, so its steps cannot be told apart as fields and parts.
    fold_path = path_key if kind == "dropped" else lowercased
    return (kind, *(_normal(part, fold_path) for part in rest))


def locate(contract: Contract, anchor: Anchor, *fallbacks: Anchor) -> Location:
    """Return the location of the anchor, of the first fallback found, or of the nearest parent."""
    for candidate in (anchor, *fallbacks, *_parents(anchor), ("columns",), ("table",)):
        position = contract.anchors.get(candidate)
        if position is not None:
            return position
    return Location(contract.file)


def _parents(anchor: Anchor) -> Iterator[Anchor]:
    """Yield the columns that contain a path, innermost first."""
    path = anchor[1] if len(anchor) > 1 else None
    if isinstance(path, tuple):
        for length in range(len(path), 0, -1):
            yield ("column", path[:length])


def _normal(part: object, fold_path: Callable[[Path], Path]) -> object:
    if isinstance(part, tuple):
        return fold_path(part)
    return part.casefold() if isinstance(part, str) else part


@lru_cache(maxsize=128)
def _spans(file: str, text: str, document: int, spans_of: SpansOf, target: str | None) -> Spans:
    return spans_of(read_documents(text, file)[document], target)
