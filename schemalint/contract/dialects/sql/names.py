"""The names of tables in statements, which ``USE`` and ``SET CATALOG`` complete."""

from __future__ import annotations

from typing import Final

from schemalint.base.document import Span
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen
from schemalint.contract.dialects.sql.cursor import Cursor
from schemalint.contract.dialects.sql.variables import Variables
from schemalint.delta.path import format_path, split_path
from schemalint.delta.sql_text import name_error

MOST_PARTS: Final = 3
_BY_PATH: Final = "delta"


@frozen
class TableName:
    """The parts of a name, as written and with its place."""

    parts: tuple[str, ...]
    span: Span

    @property
    def is_path(self) -> bool:
        """Whether it names a table by its location: ``delta.`/lake/orders```."""
        return len(self.parts) == 2 and self.parts[0].lower() == _BY_PATH and "/" in self.parts[1]  # noqa: PLR2004

    def __str__(self) -> str:
        """Return the name as contracts write it."""
        return format_path(self.parts)


@frozen
class Namespace:
    """The catalog and the schema in which names without them are."""

    catalog: str | None = None
    schema: str | None = None

    def use(self, parts: tuple[str, ...], what: str) -> Namespace:
        """Return the namespace after ``USE CATALOG``, ``USE SCHEMA`` or ``USE``."""
        if what == "catalog":
            return Namespace(parts[-1])
        return Namespace(parts[0] if len(parts) > 1 else self.catalog, parts[-1])

    def complete(self, cursor: Cursor, name: TableName) -> TableName:
        """Return a name with the catalog and the schema that statements before it choose.

        Raises:
            ContractError: A catalog is chosen, and nothing says the schema; or the name is too long.
        """
        parts = name.parts
        if len(parts) > MOST_PARTS:
            message = f"the name has {len(parts)} parts, the maximum is three"
            raise cursor.source.error(name.span, message, "back-quote a name that contains a dot")
        if len(parts) == 1 and self.schema is not None:
            parts = (self.schema, *parts)
        if len(parts) == 1 and self.catalog is not None:
            raise cursor.source.error(
                name.span, f"nothing says the schema of {name}", "write it, or USE SCHEMA before"
            )
        if len(parts) == 2 and self.catalog is not None:  # noqa: PLR2004
            parts = (self.catalog, *parts)
        return TableName(parts, name.span)


def read_name(cursor: Cursor, variables: Variables) -> TableName:
    """Return the name that is next, with the values of its variables.

    Raises:
        ContractError: It is no name, or only a run would know it.
    """
    start = cursor.next
    if start.word == "IDENTIFIER" and cursor.ahead(1).text == "(":
        raise cursor.source.error(
            start.span, "IDENTIFIER() makes the name when the statement runs", "write the name, or a variable"
        )
    parts = [*_part(cursor, variables)]
    while cursor.accept("."):
        parts += _part(cursor, variables)
    return TableName(tuple(parts), cursor.since(start))


def _part(cursor: Cursor, variables: Variables) -> tuple[str, ...]:
    """Return what stands between two dots; the value of a variable may have dots itself."""
    start = cursor.next
    if start.kind == "jinja":
        raise variables.no_jinja(start.text, start.span)
    if start.kind == "name":
        name = cursor.name()
        return (variables.in_name(name, start.span),)
    pieces: list[str] = []
    while not pieces or cursor.next.start == cursor.last.end:
        token = cursor.next
        if token.kind == "variable":
            pieces.append(variables.value(cursor.take().text, token.span))
        elif token.text == ":" and not pieces and cursor.ahead(1).kind == "word":
            cursor.take()
            pieces.append(variables.value(f":{cursor.take().text}", token.span))
        elif token.kind == "word":
            pieces.append(cursor.take().text)
        else:
            break
    if not pieces:
        raise cursor.expected("the name of a table")
    span, text = cursor.since(start), "".join(pieces)
    if cursor.next.text == "-" and cursor.next.start == cursor.last.end:  # INVALID_IDENTIFIER
        raise cursor.source.error(span, "a name with a hyphen needs back-quotes", f"write `{text}-…`")
    return _checked(cursor, text, span)


def _checked(cursor: Cursor, text: str, span: Span) -> tuple[str, ...]:
    try:
        names = split_path(text)
    except ValueError as error:
        raise _no_name(cursor, text, span) from error
    for name in names:
        if name_error(name) is not None and not (name[:1].isdigit() and name.isascii()) and "`" not in text:
            raise _no_name(cursor, text, span)
    return names


def _no_name(cursor: Cursor, text: str, span: Span) -> ContractError:
    return cursor.source.error(span, f"{text} is no name", "put it in back-quotes")
