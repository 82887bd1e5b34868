"""The columns of a CREATE TABLE: ``colDefinition`` of Spark's SqlBaseParser.g4, and what Databricks adds.

A clause of a column may stand anywhere behind its type, and each one once (measured on Delta 4.4.0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schemalint.base.document import Span
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen
from schemalint.contract.dialects.native.declared_types import declared_type, suggestion
from schemalint.contract.dialects.sql.cursor import Cursor
from schemalint.contract.dialects.sql.lexer import Token, without_comments
from schemalint.delta.datatype import UNMANAGED, DataType, Field, Identity, Managed
from schemalint.delta.expression_faults import COLUMN_WORDS
from schemalint.delta.path import Part, Path, lowercased
from schemalint.delta.sql_text import name_error
from schemalint.delta.type_text import TypeTextError, parse_type_with_spans
from schemalint.model.contract import Anchor

CLAUSES: Final = frozenset(map(str.upper, COLUMN_WORDS - {"after", "first"})) | {"FOREIGN", "MASK"}
"""Words that end the type of a column, or its default, and begin the next clause."""

_REST: Final = {
    "null": "remove it: a column without NOT NULL can be null",
    "default": "a field of a struct has no default",
    "unsigned": "Spark has no unsigned types: write the next larger one",
    "as": "write GENERATED ALWAYS AS (…)",
    ":": "remove the colon: only fields of a struct have one",
    "(": "remove the brackets: Spark's type has no length",
    "auto_increment": "write GENERATED ALWAYS AS IDENTITY",
    "identity": "write GENERATED ALWAYS AS IDENTITY",
}
"""Help by what begins the text that is not part of a type."""

_KEYS: Final = frozenset({"PRIMARY", "UNIQUE", "REFERENCES", "FOREIGN"})
KEY_OPTIONS: Final = frozenset(
    {"NOT", "ENFORCED", "RELY", "NORELY", "DEFERRABLE", "INITIALLY", "DEFERRED", "IMMEDIATE", "MATCH", "FULL"}
    | {"ON", "UPDATE", "DELETE", "NO", "ACTION", "CASCADE", "SET", "NULL", "DEFAULT", "RESTRICT", "DISABLE"}
    | {"NOVALIDATE", "ENABLE", "VALIDATE", "TIMESERIES"}
)
"""The words behind a key: Databricks stores them in its catalog, and Delta stores none."""


@frozen
class ReadColumn:
    """A column, with its places by anchor, and what of it Delta's log does not store."""

    field: Field
    spans: Mapping[Anchor, Span]
    unmanaged: tuple[str, ...] = ()


class ColumnReader:
    """Reads one column."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._spans: dict[Anchor, Span] = {}
        self._unmanaged: list[str] = []
        self._clauses: set[str] = set()
        self._nullable = True
        self._comment: Managed[str | None] = UNMANAGED
        self._default: str | None = None
        self._generated: str | None = None
        self._identity: Identity | None = None

    def read(self, in_order: Sequence[str] = ()) -> ReadColumn:
        """Return the column that is next.

        Args:
            in_order: The only clauses that it may have, in this order; without them, all in any order.

        Raises:
            ContractError: Spark or Delta refuses it, or it has a CHECK constraint.
        """
        cursor = self._cursor
        start = cursor.next
        name = column_name(cursor)
        path = (name.lower(),)
        self._spans["column", path] = start.span
        type_ = self._type(path)
        left = list(in_order)
        while (token := cursor.next).word in (left if in_order else CLAUSES):
            self._clause(token)
            if in_order:
                del left[: left.index(token.word) + 1]
            if token.word in _ANCHORS:
                self._spans[_ANCHORS[token.word], path] = cursor.since(token)
        if token.text not in {",", ")"}:
            raise cursor.expected("a clause of the column, a comma or )")
        field = Field(
            name,
            type_,
            nullable=self._nullable,
            comment=self._comment,
            default=self._default,
            generated=self._generated,
            identity=self._identity,
            type_changes=UNMANAGED,
        )
        return ReadColumn(field, self._spans, tuple(self._unmanaged))

    def _type(self, path: Path) -> DataType:
        cursor = self._cursor
        taken = _type_tokens(cursor)
        if not taken:
            raise cursor.expected(f"the type of {path[0]}")
        start, end = taken[0].start, taken[-1].end
        text = without_comments(cursor.source.text[start:end])
        try:
            type_, parts = declared_type(text), parse_type_with_spans(text).spans
        except TypeTextError as error:
            place = Span(start + error.offset, max(start + error.offset + 1, end))
            help_text = suggestion(text, error, _REST) or "write it as Spark SQL has it"
            message = f"{path[0]} has no type of Spark: {error.message}"
            raise cursor.source.error(place, message, help_text) from None
        for inner, (first, last) in parts.items():
            span, whole = Span(start + first, start + last), (*path, *lowercased(inner))
            self._spans["type", whole] = span
            if inner and not isinstance(inner[-1], Part):
                self._spans["column", whole] = span
        return type_

    def _clause(self, token: Token) -> None:
        word = token.word
        kind = "key" if word in _KEYS else word
        if kind in self._clauses:  # CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE
            raise self._cursor.source.error(token.span, f"{word} stands twice", "remove one of the two")
        self._clauses.add(kind)
        match word:
            case "NOT":
                self._cursor.require("NOT", "NULL")
                self._nullable = False
            case "COMMENT":
                self._cursor.take()
                self._comment = self._cursor.text()
            case "DEFAULT":
                self._cursor.take()
                self._default = expression(self._cursor, _default_tokens(self._cursor))
            case "GENERATED":
                self._cursor.take()
                self._read_generated()
            case "CONSTRAINT":
                self._cursor.take()
                self._cursor.name()
                if self._cursor.next.word not in _KEYS | {"CHECK"}:
                    raise self._cursor.expected("a constraint")
                self._clauses.discard("CONSTRAINT")
            case "MASK":
                self._cursor.take()
                self._cursor.until(",", ")", *(CLAUSES - {"MASK"}))
                self._unmanaged.append("column mask")
            case "CHECK":
                raise no_check(self._cursor, token)
            case _:
                self._unmanaged.append(read_key(self._cursor))

    def _read_generated(self) -> None:
        cursor = self._cursor
        always = cursor.accept("ALWAYS")
        if not always:
            cursor.require("BY", "DEFAULT")
        cursor.require("AS")
        if cursor.accept("IDENTITY"):
            self._identity = self._read_identity(allow_explicit_insert=not always)
        elif not always:
            raise cursor.expected("IDENTITY")
        else:
            self._generated = in_brackets(cursor)

    def _read_identity(self, *, allow_explicit_insert: bool) -> Identity:
        cursor, values = self._cursor, dict[str, int]()
        if cursor.accept("("):
            while not cursor.accept(")"):
                word = cursor.next
                if word.word in values:  # IDENTITY_COLUMNS_DUPLICATED_SEQUENCE_GENERATOR_OPTION
                    raise cursor.source.error(word.span, f"{word.word} stands twice", "remove one of the two")
                if not (cursor.accept("START", "WITH") or cursor.accept("INCREMENT", "BY")):
                    raise cursor.expected("START WITH, INCREMENT BY or )")
                values[word.word] = self._integer()
        if values.get("INCREMENT") == 0:  # IDENTITY_COLUMNS_ILLEGAL_STEP
            raise cursor.source.error(cursor.last.span, "the step is 0", "let values differ: INCREMENT BY 1")
        return Identity(values.get("START", 1), values.get("INCREMENT", 1), allow_explicit_insert)

    def _integer(self) -> int:
        cursor = self._cursor
        sign = -1 if cursor.accept("-") else 1
        digits = cursor.next.text
        value = sign * int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else None  # noqa: PLR2004 (64 bits)
        if value is None or not -(1 << 63) <= value < 1 << 63:
            raise cursor.expected("an integer of 64 bits")
        cursor.take()
        return value


_ANCHORS: Final[Mapping[str, str]] = {
    "NOT": "nullable",
    "COMMENT": "comment",
    "DEFAULT": "default",
    "GENERATED": "generated",
}


def column_name(cursor: Cursor) -> str:
    """Return the name of a column.

    Raises:
        ContractError: Spark reads it as no name.
    """
    token = cursor.next
    name = cursor.name()
    if token.kind == "word" and (name_error(name) is not None and not _begins_with_digits(name)):
        raise cursor.source.error(token.span, f"{name} is no name", f"write `{name}`")
    if cursor.next.text == "-" and cursor.next.start == token.end:  # INVALID_IDENTIFIER
        raise cursor.source.error(token.span, "a name with a hyphen needs back-quotes", "write it as `a-b`")
    return name


def in_brackets(cursor: Cursor) -> str:
    """Return the expression in the brackets that are next.

    Raises:
        ContractError: There is none.
    """
    if not cursor.accept("("):
        raise cursor.expected("(")
    text = expression(cursor, cursor.until(")"))
    cursor.require(")")
    return text


def expression(cursor: Cursor, taken: tuple[Token, ...]) -> str:
    """Return the text of an expression, as Delta stores it: comments inside of it stay. Rules judge it.

    Raises:
        ContractError: There is none.
    """
    if not taken:
        raise cursor.expected("an expression")
    return cursor.source.text[taken[0].start : taken[-1].end]


def read_key(cursor: Cursor) -> str:
    """Go on behind a key, and return what it is."""
    word = cursor.take().word
    if word in {"PRIMARY", "FOREIGN"}:
        cursor.require("KEY")
    what = {"PRIMARY": "primary key", "UNIQUE": "unique key"}.get(word, "foreign key")
    if cursor.next.text == "(":
        cursor.skip_brackets()
    if word == "REFERENCES" or cursor.accept("REFERENCES"):
        cursor.until(",", ")", "(", *(KEY_OPTIONS | CLAUSES))
        if cursor.next.text == "(":
            cursor.skip_brackets()
    while cursor.next.word in KEY_OPTIONS and not _begins_clause(cursor):
        cursor.take()
    return what


def no_check(cursor: Cursor, token: Token) -> ContractError:
    """Return the error of a CHECK constraint in a CREATE TABLE: Delta and Databricks refuse it.

    Delta 4.4.0: UNSUPPORTED_FEATURE.TABLE_OPERATION; Databricks: "CREATE TABLE … CONSTRAINT clause".
    """
    return cursor.source.error(
        token.span,
        "Delta takes no CHECK constraint in CREATE TABLE",
        "write it behind the statement: ALTER TABLE … ADD CONSTRAINT name CHECK (…)",
    )


def _begins_clause(cursor: Cursor) -> bool:
    """Whether the next words, which keys have too, begin a clause: ``NOT NULL``, ``DEFAULT 5``."""
    word, after = cursor.next.word, cursor.ahead(1).word
    return (word, after) == ("NOT", "NULL") or (word == "DEFAULT" and cursor.last.word != "SET")


def _type_tokens(cursor: Cursor) -> tuple[Token, ...]:
    """Return the tokens of a type: up to a clause, a comma or a bracket outside of the type's own."""
    taken: list[Token] = []
    depth = 0
    while (token := cursor.next).kind != "end":
        is_outside = depth <= 0
        if is_outside and (token.text in {",", ")"} or token.word in CLAUSES):
            break
        if token.kind == "sign":
            depth += (token.text in "<(") - (token.text in ">)")
        taken.append(cursor.take())
    return tuple(taken)


def _default_tokens(cursor: Cursor) -> tuple[Token, ...]:
    """Return the tokens of a default, which may have NOT in it: ``1 NOT IN (2)``, ``x IS NOT NULL``."""
    taken = [*cursor.until(",", ")", *CLAUSES)]
    while cursor.next.word == "NOT":
        is_condition = taken[-1:] and taken[-1].word == "IS"
        if cursor.ahead(1).word == "NULL" and not is_condition:
            break
        taken += (cursor.take(), *cursor.until(",", ")", *CLAUSES))
    return tuple(taken)


def _begins_with_digits(name: str) -> bool:
    return name[:1].isdigit() and name.isascii() and not name.isdigit()
