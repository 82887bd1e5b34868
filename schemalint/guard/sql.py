"""INSERT and MERGE as text: the table, the query and how it is written, and what EXPLAIN says of them.

An INSERT writes once. Each clause of a MERGE is a write: of all columns of the source (``*``), or of the
columns that it names, whose values are a query over the rows that the clause sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from schemalint.base.values import field, frozen, replace
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.sql_text import always_quoted, tokens
from schemalint.delta.writes import REPLACE_WHERE, Method, Mode
from schemalint.guard.session import NotSeen, Session, first_line, schema_of
from schemalint.guard.sql_reader import Reader

_ERROR: Final = re.compile(r"\[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_FAILED: Final = "Error occurred during query planning"
_OTHER_MERGE: Final = "the MERGE has a form that the guard does not read"
_QUERIES: Final = frozenset({"select", "with", "values", "table", "from"})


@frozen
class SqlWrite:
    """A statement that writes.

    Attributes:
        table: The table's name, without quotes.
        source: The query, or in a MERGE the table or the query of the source.
        columns: The list of columns of an INSERT, if it has one.
        options: What a writer's options would say.
        assigned: The columns that a clause of a MERGE assigns; None if it says ``*``.
        keeps_rest: Whether the rows keep what the statement does not name, as those of an UPDATE.
        static: The partition columns whose values an INSERT names.
    """

    table: str
    source: str
    method: Method
    mode: Mode = Mode.APPEND
    columns: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    evolves: bool = False
    assigned: tuple[str, ...] | None = None
    keeps_rest: bool = False
    static: tuple[str, ...] = ()

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
            raise NotSeen(f"Spark does not analyze the query: {first_line(error)}") from None
        if not self.columns:
            return data
        named = zip(self.columns, data.fields, strict=False)
        return Struct(tuple(Field(name, given.type) for name, given in named))


def explained(session: Session, statement: str) -> str | None:
    """Return the error class with which Spark's EXPLAIN refuses a statement; None if it explains it."""
    try:
        # A refusal comes in several rows.
        plan = "\n".join(str(line) for (line,) in session.sql(f"EXPLAIN {statement}").collect())
    except Exception as error:  # noqa: BLE001 (each client of Spark raises its own)
        return _class_in(str(error))
    if _FAILED in plan:
        return _class_in(plan)
    return None


def _class_in(text: str) -> str:
    found = _ERROR.search(text)
    return found[1] if found else text.partition("\n")[0][:120]


def parsed_statement(statement: str) -> tuple[SqlWrite, ...]:
    """Return what a statement writes: an INSERT once, a MERGE by each of its clauses.

    Raises:
        NotSeen: It is neither an INSERT nor a MERGE of a form that the guard reads.
    """
    reader = Reader(statement)
    if reader.takes("insert"):
        return (_insert(reader),)
    if reader.takes("merge"):
        writes = tuple(_merge(reader))
        if writes and reader.peek() is None:
            return writes
        raise NotSeen(_OTHER_MERGE)
    raise NotSeen("the statement is neither an INSERT nor a MERGE, or begins with WITH")


def _insert(reader: Reader) -> SqlWrite:
    evolves = reader.takes("with", "schema", "evolution")
    mode = Mode.OVERWRITE if reader.takes("overwrite") else Mode.APPEND
    if mode is Mode.APPEND and not reader.takes("into"):
        raise NotSeen("the INSERT has a form that the guard does not read")
    reader.takes("table")
    table = reader.name()
    static = tuple(_static_partitions(reader.in_brackets())) if reader.takes("partition") else ()
    write = SqlWrite(table, "", Method.INSERT, mode, evolves=evolves, static=static)
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


def _static_partitions(text: str) -> Iterator[str]:
    """Yield the partition columns with a value; for those without one, the query has the values."""
    for part in _parts(text):
        reader = Reader(part)
        name = reader.name()
        if reader.takes("="):
            yield name
        elif reader.peek() is not None:
            raise NotSeen("the partition of the INSERT cannot be read")


def _columns(text: str) -> tuple[str, ...]:
    """Return the names of a list of columns."""
    names = tokens(text)[::2]
    signs = tokens(text)[1::2]
    if any(name.kind not in {"word", "name"} for name in names) or any(sign.text != "," for sign in signs):
        raise NotSeen("the list of columns cannot be read")
    return tuple(name.name for name in names)


def _is_query(reader: Reader) -> bool:
    after = reader.peek(1)
    return after is not None and after.text.lower() in _QUERIES


def _merge(reader: Reader) -> Iterator[SqlWrite]:
    """Yield what the clauses of a MERGE write, in their order; all that say ``*`` write the same."""
    evolves = reader.takes("with", "schema", "evolution")
    if not reader.takes("into"):
        raise NotSeen(_OTHER_MERGE)
    first = reader.place
    table = reader.name()
    reader.until("using")
    target = reader.since(first)
    if not reader.takes("using"):
        raise NotSeen(_OTHER_MERGE)
    first = reader.place
    token = reader.peek()
    is_query = token is not None and token.kind == "open"
    rows = reader.in_brackets().strip() if is_query else reader.name_as_written()
    reader.until("on")
    source = reader.since(first)
    reader.until("when")
    merge = SqlWrite(table, rows, Method.MERGE, evolves=evolves)
    has_star = False
    while reader.takes("when"):
        reader.until("then")
        clause = _clause(reader, merge, target, source)
        if clause.assigned is not None or not has_star:
            yield clause
        has_star = has_star or clause.assigned is None


def _clause(reader: Reader, merge: SqlWrite, target: str, source: str) -> SqlWrite:
    """Take a clause, and return what it writes: of named columns, the query of their values."""
    if reader.takes("then", "delete"):
        return replace(merge, assigned=(), keeps_rest=True)
    if reader.takes("then", "update", "set", "*") or reader.takes("then", "insert", "*"):
        return merge
    if reader.takes("then", "update", "set"):
        values = dict(_assignment(text, target) for text in _parts(reader.until("when")))
        return _of_values(merge, values, f"{target} CROSS JOIN {source}", keeps_rest=True)
    if reader.takes("then", "insert"):
        names = _columns(reader.in_brackets())
        if reader.takes("values"):
            texts = tuple(_parts(reader.in_brackets()))
            if len(names) != len(texts):
                raise NotSeen(_OTHER_MERGE)
            values = dict(zip(names, texts, strict=True))
            return _of_values(merge, values, source, keeps_rest=False)
    raise NotSeen(_OTHER_MERGE)


def _of_values(merge: SqlWrite, values: Mapping[str, str], rows: str, *, keeps_rest: bool) -> SqlWrite:
    """Return what a clause writes that gives named columns values over the rows that it sees."""
    given = {name: value for name, value in values.items() if value.lower() != "default"}
    merge = replace(merge, assigned=tuple(given), keeps_rest=keeps_rest)
    if not given:
        return merge
    selected = ", ".join(f"{value} AS {always_quoted(name)}" for name, value in given.items())
    return replace(merge, source=f"SELECT {selected} FROM {rows}")  # noqa: S608 (the caller's own statement)


def _assignment(text: str, target: str) -> tuple[str, str]:
    """Return the column that an assignment names, and its value."""
    reader = Reader(text)
    names = reader.name_as_written()
    if not reader.takes("="):
        raise NotSeen(_OTHER_MERGE)
    *qualifier, name = (part.name for part in tokens(names)[::2])
    alias = tokens(target)[-1].name
    if [part.lower() for part in qualifier] not in ([], [alias.lower()]):
        raise NotSeen(f"a clause of the MERGE assigns {names}: only whole columns are judged")
    return name, reader.rest().strip()


def _parts(text: str) -> Iterator[str]:
    """Yield what commas part, outside of brackets."""
    reader = Reader(text)
    yield reader.until(",")
    while reader.takes(","):
        yield reader.until(",")
