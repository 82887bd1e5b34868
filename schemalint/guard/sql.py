"""INSERT and MERGE as text: the table, the query and how it is written, and what EXPLAIN says of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schemalint.base.values import field, frozen, replace
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.sql_text import Token, tokens, tokens_with_spans, without_quoted
from schemalint.delta.writes import REPLACE_WHERE, Method, Mode
from schemalint.guard.session import NotSeen, Session, schema_of

_ERROR: Final = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_FAILED: Final = "Error occurred during query planning"
_QUERIES: Final = frozenset({"select", "with", "values", "table", "from"})


@frozen
class SqlWrite:
    """A statement that writes.

    Attributes:
        table: The table's name, without quotes.
        source: The query, or in a MERGE the table or the query of the source.
        columns: The list of columns of an INSERT, if it has one.
        options: What a writer's options would say.
        assigned: The columns that the clauses of a MERGE assign; None if they say ``*``.
    """

    table: str
    source: str
    method: Method
    mode: Mode = Mode.APPEND
    columns: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    evolves: bool = False
    assigned: tuple[str, ...] | None = None

    def data_of(self, session: Session) -> Struct:
        """Return the schema of the query; Spark analyzes it, and reads no row.

        Raises:
            NotSeen: Spark cannot analyze it.
        """
        # Within brackets only a query is legal: Spark would carry out a command at once.
        query = f"({self.source})" if self.source.split(None, 1)[0].lower() in _QUERIES else self.source
        try:
            data = schema_of(session.sql(f"SELECT * FROM {query}"))  # noqa: S608 (the caller's own query)
        except NotSeen:
            raise
        except Exception as error:  # noqa: BLE001 (each client of Spark raises its own)
            raise NotSeen(f"Spark does not analyze the query: {str(error)[:200]}") from None
        if not self.columns:
            return data
        named = zip(self.columns, data.fields, strict=False)
        return Struct(tuple(Field(name, given.type) for name, given in named))


def explained(session: Session, statement: str) -> str | None:
    """Return the error class with which Spark's EXPLAIN refuses a statement; None if it explains it."""
    try:
        plan = str(session.sql(f"EXPLAIN {statement}").collect()[0][0])
    except Exception as error:  # noqa: BLE001 (each client of Spark raises its own)
        return _class_in(str(error))
    if _FAILED in plan:
        return _class_in(plan)
    return None


def _class_in(text: str) -> str:
    found = _ERROR.search(text)
    return found[1] if found else text.partition("\n")[0][:120]


def parsed_statement(statement: str) -> SqlWrite:
    """Return what a statement writes.

    Raises:
        NotSeen: It is neither an INSERT nor a MERGE of a form that the guard reads.
    """
    reader = _Reader(statement)
    if reader.takes("insert"):
        return _insert(reader)
    if reader.takes("merge"):
        return _merge(reader)
    raise NotSeen("the statement is neither an INSERT nor a MERGE, or begins with WITH")


class _Reader:
    """The tokens of a statement, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text.strip().rstrip(";")
        self._tokens = tokens_with_spans(self.text)
        self._next = 0

    def peek(self, ahead: int = 0) -> Token | None:
        """Return one of the next tokens."""
        at = self._next + ahead
        return self._tokens[at][0] if at < len(self._tokens) else None

    def takes(self, *words: str) -> bool:
        """Take the next tokens if they are these words."""
        for ahead, word in enumerate(words):
            token = self.peek(ahead)
            if token is None or token.kind == "name" or token.text.lower() != word:
                return False
        self._next += len(words)
        return True

    def name(self) -> str:
        """Take a name of several parts, and return it without quotes."""
        parts = [self._part()]
        while self.takes("."):
            parts.append(self._part())
        if parts[0].lower() == "delta" and len(parts) == 2:  # noqa: PLR2004 (delta.`path`)
            return parts[1]
        return ".".join(parts)

    def name_as_written(self) -> str:
        """Take a name of several parts, and return its text."""
        first = self._next
        self.name()
        return self.text[self._tokens[first][1] : self._tokens[self._next - 1][2]]

    def _part(self) -> str:
        token = self.peek()
        if token is None or token.kind not in {"word", "name"}:
            raise NotSeen("the name of the table cannot be read")
        self._next += 1
        return _unquoted(token)

    def in_brackets(self) -> str:
        """Take what is in the brackets that come next."""
        depth, first = 0, self._next
        while (token := self.peek()) is not None:
            depth += {"open": 1, "close": -1}.get(token.kind, 0)
            self._next += 1
            if not depth:
                return self.text[self._tokens[first][2] : self._tokens[self._next - 1][1]]
        raise NotSeen("a bracket is not closed")

    def until(self, *words: str) -> str:
        """Take everything up to one of these words outside of brackets."""
        first = self._next
        while (token := self.peek()) is not None and token.text.lower() not in words:
            if token.kind == "open":
                self.in_brackets()
            else:
                self._next += 1
        return (
            self.text[self._tokens[first][1] : self._tokens[self._next - 1][2]] if self._next > first else ""
        )

    def rest(self) -> str:
        """Take the rest of the statement."""
        start = self._tokens[self._next][1] if self._next < len(self._tokens) else len(self.text)
        self._next = len(self._tokens)
        return self.text[start:]


def _insert(reader: _Reader) -> SqlWrite:
    evolves = reader.takes("with", "schema", "evolution")
    mode = Mode.OVERWRITE if reader.takes("overwrite") else Mode.APPEND
    if mode is Mode.APPEND and not reader.takes("into"):
        raise NotSeen("the INSERT has a form that the guard does not read")
    reader.takes("table")
    table = reader.name()
    write = SqlWrite(table, "", Method.INSERT, mode, evolves=evolves)
    if reader.takes("by", "name"):
        write = replace(write, method=Method.INSERT_BY_NAME)
    elif (token := reader.peek()) is not None and token.kind == "open" and not _is_query(reader):
        columns = _columns(reader.in_brackets())
        write = replace(write, method=Method.INSERT_BY_NAME, columns=columns)
    if reader.takes("replace", "where"):
        condition = reader.until("select", "with", "values", "table", "from")
        write = replace(write, mode=Mode.OVERWRITE, options={REPLACE_WHERE: condition})
    query = reader.rest()
    if not query or query.lstrip("( ").split(None, 1)[0].lower() not in _QUERIES:
        raise NotSeen("the INSERT has a form that the guard does not read")
    return replace(write, source=query)


def _columns(text: str) -> tuple[str, ...]:
    """Return the names of a list of columns."""
    names = tokens(text)[::2]
    signs = tokens(text)[1::2]
    if any(name.kind not in {"word", "name"} for name in names) or any(sign.text != "," for sign in signs):
        raise NotSeen("the list of columns cannot be read")
    return tuple(map(_unquoted, names))


def _unquoted(name: Token) -> str:
    return name.text[1:-1].replace("``", "`") if name.kind == "name" else name.text


def _is_query(reader: _Reader) -> bool:
    after = reader.peek(1)
    return after is not None and after.text.lower() in _QUERIES


def _merge(reader: _Reader) -> SqlWrite:
    evolves = reader.takes("with", "schema", "evolution")
    if not reader.takes("into"):
        raise NotSeen("the MERGE has a form that the guard does not read")
    table = reader.name()
    reader.until("using")
    if not reader.takes("using"):
        raise NotSeen("the MERGE has a form that the guard does not read")
    token = reader.peek()
    is_query = token is not None and token.kind == "open"
    source = reader.in_brackets().strip() if is_query else reader.name_as_written()
    clauses = without_quoted(reader.rest())
    write = SqlWrite(table, source, Method.MERGE, evolves=evolves)
    if re.search(r"(?is)\b(update\s+set|insert)\s*\*", clauses):
        return write
    raise NotSeen("the clauses of the MERGE name columns: only UPDATE SET * and INSERT * are judged")
