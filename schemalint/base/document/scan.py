"""Find values in YAML text without reading all of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, ScalarEvent, StreamEndEvent

from schemalint.base.document.reader import events

if TYPE_CHECKING:
    from collections.abc import Iterator

# The line breaks of YAML 1.1, by which libyaml reads.
_BREAK = "\n\r\x85\u2028\u2029"
# A line that begins so starts a document whatever is around it: libyaml asks for it before all else.
_DOCUMENT_START = rf"(?<=[{_BREAK}])(?=---(?:[ \t{_BREAK}]|\Z))"


def root_values(text: str, key: str) -> Iterator[str]:
    """Yield the scalar at a key of each document's root, parsing each document only to there.

    All that `read_documents` finds there is among them. If it refuses the text, there may be others.
    """
    starts = [0, *(match.start() for match in re.finditer(_DOCUMENT_START, text))]
    for start, end in zip(starts, (*starts[1:], len(text)), strict=True):
        try:
            yield from _values(text[start:end], key)
        except (yaml.YAMLError, ValueError, OverflowError):  # as in `read_documents`
            continue  # only directives stand before the document, or the whole text is refused


def _values(text: str, key: str) -> Iterator[str]:
    next_event = events(text)
    depth, is_key, is_wanted = 0, False, False
    while not isinstance(event := next_event(), StreamEndEvent):
        if isinstance(event, ScalarEvent):
            if is_wanted:
                yield event.value
                return
            is_wanted = depth == 1 and is_key and event.value == key
            is_key = not is_key
        elif isinstance(event, CollectionStartEvent):
            depth, is_key, is_wanted = depth + 1, True, False
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
            is_key = True  # below the root it was a value: no contract has a collection as a key
