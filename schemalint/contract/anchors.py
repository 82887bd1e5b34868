"""Where things stand in the text of a contract, worked out when the first place is asked for."""

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
"""From a document, and a target or None, to the places of what is effective there."""


class Anchors(Mapping[Anchor, Location]):
    """The places of one contract.

    Most contracts have no findings, so that nobody asks: until then only the text is kept, not its nodes.
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
        """The places of the contract that is effective for a target."""
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
    """The anchor to look up by: Delta ignores the case of names."""
    kind, *rest = anchor
    # What is listed as dropped is written without a schema at hand.
    path = path_key if kind == "dropped" else lowercased
    return (kind, *(_normal(part, path) for part in rest))


def locate(contract: Contract, anchor: Anchor, *fallbacks: Anchor) -> Location:
    """Where a thing stands; where it does not, the first fallback that does, else its nearest parent."""
    for candidate in (anchor, *fallbacks, *_parents(anchor), ("columns",), ("table",)):
        found = contract.anchors.get(candidate)
        if found is not None:
            return found
    return Location(contract.file)


def _parents(anchor: Anchor) -> Iterator[Anchor]:
    """The columns around a path, the innermost first."""
    path = anchor[1] if len(anchor) > 1 else None
    if isinstance(path, tuple):
        for length in range(len(path), 0, -1):
            yield ("column", path[:length])


def _normal(part: object, path: Callable[[Path], Path]) -> object:
    if isinstance(part, tuple):
        return path(part)
    return part.casefold() if isinstance(part, str) else part


@lru_cache(maxsize=128)
def _spans(file: str, text: str, document: int, spans_of: SpansOf, target: str | None) -> Spans:
    return spans_of(read_documents(text, file)[document], target)
