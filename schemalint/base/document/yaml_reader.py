"""Read YAML text into nodes with positions, and refuse YAML features that contracts must not use.

PyYAML's event parser over libyaml gives positions in a fortieth of the time of ruamel's round trip, but it
supports YAML 1.1 only. Scalars are therefore resolved here, by YAML 1.2.

Contracts come from strangers' pull requests: they may not use aliases, anchors, merge keys or tags, and size
and depth are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import count

import yaml
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from schemalint.base.document.layout import BREAKS, content_end
from schemalint.base.document.nodes import (
    BOM,
    Document,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Span,
    Style,
    location,
)
from schemalint.base.document.scalars import resolve
from schemalint.base.document.syntax_errors import refusal, syntax_error, unquoted_value, value_cut_short
from schemalint.base.errors import ContractError

MAX_CHARACTERS = 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 100_000

# Without libyaml (PyYAML built from source), the pure Python parser gives the same events 15 times slower.
_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_CANDIDATE = re.compile(rb"""^(?:\xef\xbb\xbf)?(?:--- )?["']?schemalint["']?\s*:\s*["']?\d""", re.MULTILINE)
# https://yaml.org/spec/1.2.2/#51-character-set
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# UTF-32 first: its mark begins with that of UTF-16.
_WIDE_BOMS = {
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
_SPLIT = "split the file, for example into one file per table"
_NO_TAG = "remove the tag; quote the value if it is text"
_WRITE_OUT = "write the value out; quote it if it is text"
_STYLES: dict[str, Style] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}

# Constructors of named tuples are Python functions, and take twice as long; a contract has a thousand nodes.
_new_scalar: partial[Scalar] = partial(tuple.__new__, Scalar)
_new_entry: partial[Entry] = partial(tuple.__new__, Entry)


# A line that begins so starts a document whatever is around it: libyaml asks for it before all else.
_DOCUMENT_START = rf"(?<=[{BREAKS}])(?=---(?:[ \t{BREAKS}]|\Z))"


def candidate(data: bytes) -> bool:
    """Whether a file looks like a contract: a line has the key ``schemalint`` and a number.

    So does a file of UTF-16 or UTF-32 with such a line, which `decode` refuses.
    """
    if b"schemalint" in data and _CANDIDATE.search(data) is not None:
        return True
    texts = (data.decode(encoding, "replace").encode() for encoding in _wide_encodings(data))
    return any(_CANDIDATE.search(text) is not None for text in texts)


def _wide_encodings(data: bytes) -> list[str]:
    """Return the encodings of two or four bytes a character in which a file may have the key of contracts."""
    if b"\0" not in data:
        return []
    return [encoding for encoding in _WIDE_BOMS.values() if "schemalint".encode(encoding) in data]


def decode(data: bytes, file: str) -> str:
    """Return the text of a file; a byte order mark stays at offset 0.

    Raises:
        ContractError: The bytes are not UTF-8.
    """
    encoding = next((name for bom, name in _WIDE_BOMS.items() if data.startswith(bom)), None)
    encoding = encoding or next(iter(_wide_encodings(data)), None)
    if encoding is not None:
        raise refusal(file, "", Span(0, 0), f"the file is {encoding[:6].upper()}", "save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        position = location(file, before, Span(len(before), len(before)))
        raise ContractError(message, help="save it as UTF-8", location=position) from error


def read_documents(text: str, file: str) -> tuple[Document, ...]:
    """Return the documents of a file, in order; cached, because edits and their proofs need them again.

    Nodes take twenty times the memory of their text, so only a few long texts are kept.

    Args:
        text: The whole file, as ``decode`` returns it.
        file: The file name, for locations.

    Raises:
        ContractError: The text is not YAML, has aliases, anchors, tags, merge keys, duplicate keys or
            non-scalar keys, or exceeds a limit (1 MiB of characters, 64 levels, 100,000 nodes).
    """
    if len(text) > _LONG:
        return _read_long(text, file)
    return _read_short(text, file)


def read_blanked(text: str, file: str, blanked: str | None = None) -> tuple[Document, ...]:
    """Return the documents of a text that has blanks in place of some parts, with the positions of the whole.

    Args:
        text: The whole file, as for `read_documents`.
        file: The file name, for locations.
        blanked: The text with the blanks, as long as the whole; None for the whole.

    Raises:
        ContractError: As for `read_documents`.
    """
    _check_characters(text, file)
    try:
        return tuple(_Reader(text, file, text if blanked is None else blanked).documents())
    except yaml.YAMLError as error:
        raise syntax_error(error, file, text) from error
    except (ValueError, OverflowError) as error:
        # For "\U00110000" and above, chr() in the pure Python parser raises these; libyaml gives a YAMLError.
        message = "an escape in double quotes is not a character"
        raise refusal(file, text, Span(0, 0), message, "find the \\U escape above 0010FFFF") from error


_LONG = 1_000
_read_long = lru_cache(maxsize=8)(read_blanked)
_read_short = lru_cache(maxsize=256)(read_blanked)


def _check_characters(text: str, file: str) -> None:
    if len(text) > MAX_CHARACTERS:
        message = f"the file has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}"
        raise refusal(file, text, Span(0, 0), message, _SPLIT)
    match = _NOT_YAML.search(text)
    if match:
        message = f"YAML does not allow the character U+{ord(match.group()):04X}"
        raise refusal(
            file, text, Span(*match.span()), message, "remove it, or write it as an escape in double quotes"
        )


def events(text: str) -> Callable[[], Event]:
    """Return a function that returns the next event; it raises a YAMLError if the text is no YAML."""
    # libyaml does not count a byte order mark; a line break in its place keeps the offsets right.
    next_event: Callable[[], Event] = _Parser("\n" + text[1:] if text.startswith(BOM) else text).get_event
    return next_event


class _Reader:
    def __init__(self, text: str, file: str, parsed: str) -> None:
        self._text = text
        self._file = file
        self._nodes = 0
        self._next = events(parsed)

    def documents(self) -> Iterator[Document]:
        self._next()  # the start of the stream
        for index in count():
            start = self._next()
            if not isinstance(start, DocumentStartEvent):
                return
            root = self._node(self._next(), 1)
            span = Span(_start(start), _end(self._next()))
            yield Document(self._file, self._text, index, root, span, self._nodes)

    def _node(self, event: Event, depth: int) -> Node:
        if type(event) is ScalarEvent:
            return self._scalar(event)
        if type(event) is SequenceStartEvent:
            return self._sequence(event, depth)
        if type(event) is MappingStartEvent:
            return self._mapping(event, depth)
        span = _span(event)
        message = f"the alias {self._text[span.start : span.end]} is not supported"
        raise self._refusal(span, message, _WRITE_OUT)

    def _sequence(self, start: SequenceStartEvent, depth: int) -> Sequence:
        self._check_collection(start, depth)
        items: list[Node] = []
        flow, next_event = bool(start.flow_style), self._next
        while type(event := next_event()) is not SequenceEndEvent:
            item = self._node(event, depth + 1)
            if flow:
                self._check_cut(item)
            items.append(item)
        return Sequence(tuple(items), flow, _start(start), _end(event) if flow else items[-1].end)

    def _mapping(self, start: MappingStartEvent, depth: int) -> Mapping:
        self._check_collection(start, depth)
        entries: list[Entry] = []
        keys: set[str] = set()
        flow, next_event = bool(start.flow_style), self._next
        while type(event := next_event()) is not MappingEndEvent:
            key = self._key(event)
            if key.text in keys:
                message = f'the key "{key.text}" is repeated'
                raise self._refusal(key.span, message, "remove one of the two entries")
            keys.add(key.text)
            value = self._node(next_event(), depth + 1)
            if flow:
                self._check_cut(value)
            entries.append(_new_entry((key, value)))
        return Mapping(tuple(entries), flow, _start(start), _end(event) if flow else entries[-1].value.end)

    def _key(self, event: Event) -> Scalar:
        if type(event) is not ScalarEvent:
            message = "a key must be a plain or quoted word"
            raise self._refusal(_span(event), message, "quote a key that begins with [, {, * or &")
        key = self._scalar(event)
        if key.text == "<<" and key.style == "plain":
            raise self._refusal(key.span, "merge keys (<<) are not supported", "write the entries out")
        return key

    def _scalar(self, event: ScalarEvent) -> Scalar:
        self._nodes += 1
        if self._nodes > MAX_NODES or event.anchor is not None or event.tag is not None:
            raise self._node_refusal(event)
        text, style = event.value, event.style
        start, end = event.start_mark.index, event.end_mark.index  # type: ignore[union-attr] # as in `_start`
        if not style:
            try:
                return _new_scalar((resolve(text), text, "plain", start, end))
            except ValueError as error:
                message = f"the number has {len(text):,} digits"
                raise self._refusal(_span(event), message, "quote it if it is text") from error
        if style in "|>":
            end = _content_end(self._text, start, end)
        return _new_scalar((text, text, _STYLES[style], start, end))

    def _check_collection(self, event: CollectionStartEvent, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES or event.anchor is not None or event.tag is not None:
            raise self._node_refusal(event)
        if depth > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} levels of nesting"
            raise self._refusal(_span(event), message, "write a nested type as text")

    def _node_refusal(self, event: ScalarEvent | CollectionStartEvent) -> ContractError:
        if self._nodes > MAX_NODES:
            message, help_text = f"the file has more than {MAX_NODES:,} nodes", _SPLIT
        elif event.anchor is not None:
            message, help_text = f"the anchor &{event.anchor} is not supported", _WRITE_OUT
        else:
            message, help_text = f"the tag {event.tag} is not supported", _NO_TAG
        return self._refusal(_span(event), message, help_text)

    def _check_cut(self, value: Node) -> None:
        if type(value) is Scalar and value.style == "plain" and ("(" in value.text or "<" in value.text):
            whole = value_cut_short(self._text, value.span)
            if whole:
                raise unquoted_value(self._file, self._text, whole)

    def _refusal(self, span: Span, message: str, help_text: str) -> ContractError:
        return refusal(self._file, self._text, span, message, help_text)


def _span(event: Event) -> Span:
    return Span(_start(event), _end(event))


def _start(event: Event) -> int:
    return event.start_mark.index  # type: ignore[union-attr] # a parsed event has its marks


def _end(event: Event) -> int:
    return event.end_mark.index  # type: ignore[union-attr] # a parsed event has its marks


def _content_end(text: str, start: int, end: int) -> int:
    """Return the end of a block scalar; blank lines after it are content only with ``|+``."""
    header, *_ = text[start:end].splitlines()
    return end if "+" in header.partition("#")[0] else content_end(text, Span(start, end))


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
