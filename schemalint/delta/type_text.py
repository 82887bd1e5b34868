"""Parse and print the Spark SQL text of types, such as ``struct<a: bigint, b: array<string>>``.

The grammar is ``dataType`` of Spark's SqlBaseParser.g4 (Spark 4.2), with all aliases. A field of a struct is
``a: int`` or ``a int``, optionally followed by ``NOT NULL`` and ``COMMENT``; its name may be back-quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.datatype import (
    BINARY_COLLATION,
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Field,
    Map,
    String,
    Struct,
    Unknown,
    Varchar,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.sql_text import quote_identifier, quote_literal, unquote_identifier, unquote_literal

MAX_DEPTH: Final = 100
"""Levels of nesting that `parse_type` accepts."""

MAX_DIGITS: Final = 9  # Spark parses 32-bit integers
MAX_TIME_PRECISION: Final = 6

# Spark's spelling -> name in Delta's schema JSON (DataTypeAstBuilder.visitPrimitiveDataType).
_NAMES: Final = {
    "boolean": "boolean",
    "tinyint": "byte",
    "byte": "byte",
    "smallint": "short",
    "short": "short",
    "int": "integer",
    "integer": "integer",
    "bigint": "long",
    "long": "long",
    "float": "float",
    "real": "float",
    "double": "double",
    "binary": "binary",
    "date": "date",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "variant": "variant",
    "void": "void",
}
_SPELLINGS: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_SPATIAL: Final = ("geometry", "geography")
_YEAR_MONTH: Final = ("year", "month")
_DAY_TIME: Final = ("day", "hour", "minute", "second")

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<quoted>`(?:[^`]|``)*`)
      | (?P<string>[rR](?:'[^']*'|"[^"]*")|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
      | (?P<word>[^\W\d]\w*|[0-9]+[^\W\d]\w*)
      | (?P<number>[0-9]+)
      | (?P<mark>[<>(),:])""",
    re.VERBOSE | re.DOTALL,
)


class TypeTextError(ValueError):
    """The text is not a type.

    Attributes:
        message: What the parser expected and found, without the position.
        offset: Position of the error, in code points from the start of the text.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@frozen
class ParsedType:
    """A type, and the positions of all types inside it in the text.

    Attributes:
        type: The parsed type.
        spans: By the path within the type, the start and the exclusive end in code points. The empty path is
            the whole type.
    """

    type: DataType
    spans: Mapping[Path, tuple[int, int]]


def parse_type(text: str) -> DataType:
    """Parse the SQL text of a type.

    Raises:
        TypeTextError: The text is not a type.
    """
    return parse_type_with_spans(text).type


@lru_cache(maxsize=1024)
def parse_type_with_spans(text: str) -> ParsedType:
    """Parse the SQL text of a type and keep the position of every type inside it.

    Raises:
        TypeTextError: The text is not a type.
    """
    parser = _Parser(text)
    type_ = parser.type((), 0)
    parser.expect("end", "the end of the type")
    return ParsedType(type_, parser.spans)


def print_type(type_: DataType) -> str:
    """Print a type as SQL text that Spark parses as the same type.

    The exception is an `Unknown` type: its text is its schema JSON.
    """
    match type_:
        case Atomic(name=name):
            return _SPELLINGS.get(name, name)
        case String(collation=collation):
            if collation == BINARY_COLLATION:
                return "string"
            return f"string collate {collation}"
        case Char(length=length):
            return f"char({length})"
        case Varchar(length=length):
            return f"varchar({length})"
        case Decimal(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case Array(element=element):
            return f"array<{print_type(element)}>"
        case Map(key=key, value=value):
            return f"map<{print_type(key)}, {print_type(value)}>"
        case Struct(fields=fields):
            return "struct<" + ", ".join(print_field(inner, ": ") for inner in fields) + ">"
        case Unknown(json=json):
            return json


def print_field(field: Field, separator: str = " ") -> str:
    """Print a field as in a struct type (separator ``": "``) or in a column list (separator ``" "``)."""
    text = f"{quote_identifier(field.name)}{separator}{print_type(field.type)}"
    if not field.nullable:
        text += " not null"
    if isinstance(field.comment, str):
        text += f" comment {quote_literal(field.comment)}"
    return text


@frozen
class _Token:
    kind: str
    text: str
    start: int
    end: int


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.index = 0
        self.spans: dict[Path, tuple[int, int]] = {}

    @property
    def next(self) -> _Token:
        return self.tokens[self.index]

    def take(self) -> _Token:
        token = self.next
        self.index += 1
        return token

    def accept(self, kind: str) -> bool:
        if self.next.kind != kind:
            return False
        self.index += 1
        return True

    def accept_word(self, *words: str) -> str | None:
        token = self.next
        if token.kind == "word" and token.text.lower() in words:
            self.index += 1
            return token.text.lower()
        return None

    def expect(self, kind: str, description: str) -> _Token:
        if self.next.kind != kind:
            raise self.error(f"expected {description}")
        return self.take()

    def error(self, message: str, token: _Token | None = None) -> TypeTextError:
        token = token or self.next
        what = "the text ends" if token.kind == "end" else f"found {token.text!r}"
        return TypeTextError(f"{message}, {what}", token.start)

    def type(self, path: Path, depth: int) -> DataType:
        start = self.next
        if depth > MAX_DEPTH:
            raise TypeTextError(f"the type is nested more than {MAX_DEPTH} levels deep", start.start)
        if start.kind != "word":
            raise self.error("expected a type")
        word = self.take().text.lower()
        result = self._named(word, start, path, depth)
        self.spans[path] = (start.start, self.tokens[self.index - 1].end)
        return result

    def _named(self, word: str, start: _Token, path: Path, depth: int) -> DataType:
        if word in _NAMES:
            return Atomic(_NAMES[word])
        if (parse := _PARAMETRIC.get(word)) is not None:
            return parse(self)
        match word:
            case "array":
                self.expect("<", "'<'")
                element = self.type((*path, Part.ELEMENT), depth + 1)
                self.expect(">", "'>'")
                return Array(element)
            case "map":
                self.expect("<", "'<'")
                key = self.type((*path, Part.KEY), depth + 1)
                self.expect(",", "',' and the type of the values")
                value = self.type((*path, Part.VALUE), depth + 1)
                self.expect(">", "'>'")
                return Map(key, value)
            case "struct":
                self.expect("<", "'<'")
                return Struct(self._fields(path, depth))
        raise self.error("unknown type", start)

    def _fields(self, path: Path, depth: int) -> tuple[Field, ...]:
        fields: list[Field] = []
        if self.accept(">"):
            return ()
        while True:
            fields.append(self._field(path, depth))
            if self.accept(">"):
                return tuple(fields)
            self.expect(",", "',' or '>'")

    def _field(self, path: Path, depth: int) -> Field:
        token = self.take()
        if token.kind not in ("word", "quoted"):
            raise self.error("expected a field's name", token)
        name = unquote_identifier(token.text) if token.kind == "quoted" else token.text
        self.accept(":")
        type_ = self.type((*path, name), depth + 1)
        nullable = True
        if self.accept_word("not"):
            if not self.accept_word("null"):
                raise self.error("expected NULL after NOT")
            nullable = False
        comment = None
        if self.accept_word("comment"):
            comment = unquote_literal(self.expect("string", "a quoted comment").text)
            while self.next.kind == "string":  # Spark joins literals that follow each other
                comment += unquote_literal(self.take().text)
        return Field(name, type_, nullable, comment)

    def _number(self, description: str) -> int:
        token = self.expect("number", description)
        if len(token.text) > MAX_DIGITS:
            raise self.error("the number is too large", token)
        return int(token.text)

    def decimal(self) -> DataType:
        if not self.accept("("):
            return Decimal()
        precision = self._number("a precision")
        scale = self._number("a scale") if self.accept(",") else 0
        self.expect(")", "')'")
        return Decimal(precision, scale)

    def length(self) -> int:
        self.expect("(", "'(' and a length")
        token = self.next
        length = self._number("a length")
        if length < 1:
            raise self.error("the length must be at least 1", token)
        self.expect(")", "')'")
        return length

    def string(self) -> DataType:
        if not self.accept_word("collate"):
            return String()
        token = self.take()
        if token.kind not in ("word", "quoted"):
            raise self.error("expected a collation", token)
        return String(token.text.strip("`").upper())

    def timestamp(self) -> DataType:
        if self.accept_word("without"):
            self._phrase("time", "zone")
            return Atomic("timestamp_ntz")
        if self.accept_word("with"):
            self._phrase("local", "time", "zone")
        return Atomic("timestamp")

    def time(self) -> DataType:
        precision = MAX_TIME_PRECISION
        if self.accept("("):
            token = self.next
            precision = self._number("a precision")
            if precision > MAX_TIME_PRECISION:
                raise self.error(f"the precision must be at most {MAX_TIME_PRECISION}", token)
            self.expect(")", "')'")
        if self.accept_word("without"):
            self._phrase("time", "zone")
        return Atomic(f"time({precision})")

    def _phrase(self, *words: str) -> None:
        for word in words:
            if not self.accept_word(word):
                raise self.error(f"expected {word.upper()}")

    def spatial(self, name: str) -> DataType:
        self.expect("(", "'(' and a reference system")
        token = self.take()
        if token.kind != "number" and token.text.lower() != "any":
            raise self.error("expected the number of a reference system, or ANY", token)
        self.expect(")", "')'")
        return Atomic(f"{name}({token.text.lower()})")

    def interval(self) -> DataType:
        first = self.accept_word(*_YEAR_MONTH, *_DAY_TIME)
        if first is None:
            return Atomic("interval")
        units = _YEAR_MONTH if first in _YEAR_MONTH else _DAY_TIME
        if not self.accept_word("to"):
            return Atomic(f"interval {first}")
        last = self.accept_word(*units[units.index(first) + 1 :])
        if last is None:
            raise self.error(f"expected a unit smaller than {first}")
        return Atomic(f"interval {first} to {last}")


_PARAMETRIC: Final[Mapping[str, Callable[[_Parser], DataType]]] = {
    "string": _Parser.string,
    "char": lambda parser: Char(parser.length()),
    "character": lambda parser: Char(parser.length()),
    "varchar": lambda parser: Varchar(parser.length()),
    "decimal": _Parser.decimal,
    "dec": _Parser.decimal,
    "numeric": _Parser.decimal,
    "timestamp": _Parser.timestamp,
    "time": _Parser.time,
    "interval": _Parser.interval,
    "geometry": lambda parser: parser.spatial("geometry"),
    "geography": lambda parser: parser.spatial("geography"),
}


def _tokens(text: str) -> tuple[_Token, ...]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise TypeTextError(f"unexpected character {text[position]!r}", position)
        kind, word = match.lastgroup, match[0]
        if kind == "quoted" and word == "``":
            raise TypeTextError("the name is empty", position)
        if kind != "space":
            tokens.append(_Token(word if kind == "mark" else kind, word, position, match.end()))
        position = match.end()
    tokens.append(_Token("end", "", len(text), len(text)))
    return tuple(tokens)
