"""The properties in a statement: ``propertyList`` of Spark's SqlBaseParser.g4.

A key is a text, or names with dots; a value is a text, a whole or decimal number, or ``true`` or ``false``;
``=`` may be missing or doubled. A key stands once (measured on Delta 4.4.0: DUPLICATE_KEY).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schemalint.base.document import Span
from schemalint.base.values import frozen
from schemalint.contract.dialects.sql.cursor import Cursor
from schemalint.contract.dialects.sql.variables import Variables
from schemalint.delta.properties import canonical

_DECIMAL: Final = re.compile(r"[0-9]+|[0-9]+\.[0-9]*|\.[0-9]+")


@frozen
class Property:
    """A property with the value that Delta stores, and its place."""

    key: str
    value: str
    span: Span


def read_properties(cursor: Cursor, variables: Variables) -> Iterator[Property]:
    """Yield the properties in the brackets that are next.

    Raises:
        ContractError: Spark refuses one of them, or the statement names one twice.
    """
    seen: set[str] = set()
    for start, key in _keys(cursor, seen):
        cursor.accept("=")
        cursor.accept("=")
        value = variables.in_value(_value(cursor), cursor.last.span)
        yield Property(key, value, Span(start.start, cursor.last.end))


def read_keys(cursor: Cursor) -> Iterator[Property]:
    """Yield the keys in the brackets that are next, of properties to unset.

    Raises:
        ContractError: Spark refuses one of them, or the statement names one twice.
    """
    for span, key in _keys(cursor, set()):
        yield Property(key, "", span)


def _keys(cursor: Cursor, seen: set[str]) -> Iterator[tuple[Span, str]]:
    cursor.require("(")
    while True:
        start = cursor.next
        key = canonical(_key(cursor))
        span = cursor.since(start)
        if key in seen:
            raise cursor.source.error(span, f"the property {key} stands twice", "remove one of the two")
        seen.add(key)
        yield span, key
        if cursor.accept(")"):
            return
        cursor.require(",")


def _key(cursor: Cursor) -> str:
    if cursor.next.kind == "string":
        count = 1
        while cursor.ahead(count).kind == "string":
            count += 1
        # 'a' 'b' = 'c' is the key ab; 'a' 'b' 'c' is the key a with the value bc (measured on Spark 4.2.0).
        return cursor.text(count if cursor.ahead(count).text == "=" else 1)
    names = [cursor.name()]
    while cursor.accept("."):
        names.append(cursor.name())
    return ".".join(names)


def _value(cursor: Cursor) -> str:
    token = cursor.next
    if token.kind == "string":
        return cursor.text()
    if token.word in {"TRUE", "FALSE"}:
        return cursor.take().text.lower()
    if token.kind in {"word", "number"} and _DECIMAL.fullmatch(token.text):
        return cursor.take().text
    raise cursor.expected("the value of the property: a text in quotes, a number, true or false")
