"""Read a CREATE TABLE: ``createTable`` and ``replaceTable`` of Spark's SqlBaseParser.g4, as Delta runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from schemalint.base.document import Span
from schemalint.base.errors import ContractError
from schemalint.contract.dialects.sql.columns import ColumnReader, ReadColumn, no_check, read_key
from schemalint.contract.dialects.sql.cursor import LEAVE_OUT, Cursor
from schemalint.contract.dialects.sql.lexer import Token
from schemalint.contract.dialects.sql.names import Namespace, read_name
from schemalint.contract.dialects.sql.properties import Property, read_properties
from schemalint.contract.dialects.sql.table import COMMENT, Table, Words
from schemalint.contract.dialects.sql.variables import Variables
from schemalint.delta.datatype import UNMANAGED, field_at, path_of_names
from schemalint.delta.path import Path, format_path
from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.model.contract import FileFormat

DELTA: Final = "delta"
_OF_PARTITIONS: Final = ("NOT", "COMMENT")
"""The clauses of a column in PARTITIONED BY, in their order."""

_CONSTRAINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "PRIMARY": ("KEY",),
    "FOREIGN": ("KEY",),
    "UNIQUE": ("(",),
    "CHECK": ("(",),
}
"""What begins a constraint of the table, and what is behind it: each word is a column's name too."""

_NOT_STORED: Final = frozenset({"path", "option.path"})
"""Properties that Delta takes in a CREATE TABLE, in this spelling, and drops (measured on Delta 4.4.0)."""

_OTHER_FORMATS: Final = frozenset({"STORED", "ROW"})
_QUERIES: Final = frozenset({"AS", "SELECT", "WITH", "FROM", "VALUES", "TABLE"})
_CLONES: Final = frozenset({"SHALLOW", "DEEP", "CLONE"})


def read_create_table(
    cursor: Cursor, settings: FileFormat, variables: Variables, namespace: Namespace
) -> Table | str:
    """Return the table that a statement declares, or what it is if it declares none for Delta.

    Raises:
        ContractError: Spark or Delta refuses the statement, or its columns stand somewhere else.
    """
    start = cursor.next
    words = _beginning(cursor)
    begin = cursor.since(start)
    name = read_name(cursor, variables)
    format_ = _format(Cursor(cursor.source, cursor.rest), settings)
    if format_ != DELTA:
        return format_
    if name.is_path:
        return "CREATE TABLE of a path"
    table = Table(namespace.complete(cursor, name), words, begin)
    _Reader(cursor, table, variables).read()
    if table.columns:
        return table
    return "CREATE TABLE without columns, which are those of its log"


def _beginning(cursor: Cursor) -> Words:
    """Go on behind the words before the table's name."""
    created = cursor.accept("CREATE")
    replaces = cursor.accept("OR", "REPLACE") if created else cursor.accept("REPLACE")
    if not replaces:
        cursor.accept("EXTERNAL")
    cursor.require("TABLE")
    condition = cursor.next
    if cursor.accept("IF", "NOT", "EXISTS"):
        if replaces:  # PARSE_SYNTAX_ERROR
            span = cursor.since(condition)
            raise cursor.source.error(span, "OR REPLACE excludes IF NOT EXISTS", "remove one of the two")
        return "if not exists"
    return "or replace" if replaces else "create"


def _format(rest: Cursor, settings: FileFormat) -> str:
    """Return ``delta``, or what the statement is instead; it is looked at from behind the table's name."""
    columns = rest.next
    if columns.text == "(":
        rest.skip_brackets()
    if rest.next.word in {"LIKE", *_CLONES}:
        what = "LIKE" if rest.next.word == "LIKE" else "CLONE"
        message = f"{what} takes the columns of another table, which this file does not have"
        raise rest.source.error(rest.next.span, message, f"write the columns, or {LEAVE_OUT}")
    if rest.accept("USING"):
        provider = rest.name()
        while rest.accept("."):
            provider = rest.name()
        if provider.lower() == DELTA:
            return DELTA
        return f"CREATE TABLE … USING {provider.lower()}"
    while rest.next.kind != "end" and rest.next.word not in _OTHER_FORMATS | _QUERIES:
        if rest.next.text == ")" or rest.next.word == "USING":
            return DELTA  # it stands where no statement has it, whatever the format: an error
        if rest.next.text == "(":
            rest.skip_brackets()
        else:
            rest.take()
    if rest.next.word in _OTHER_FORMATS:
        return "CREATE TABLE of Hive"
    if settings.using is None:
        return 'CREATE TABLE without USING (using = "delta" in the entry reads it)'
    return settings.using


def _is_spelled(table: Table, path: Path) -> bool:
    """Whether a path spells the names of columns as they do: CREATE TABLE tells cases apart there."""
    return all(
        (found := field_at(table.struct, path[: length + 1])) is None or found.name == path[length]
        for length in range(len(path))
    )


class _Reader:
    """Reads what follows the name of a Delta table."""

    def __init__(self, cursor: Cursor, table: Table, variables: Variables) -> None:
        self._cursor, self._table, self._variables = cursor, table, variables
        self._set: dict[str, Property] = {}  # by TBLPROPERTIES
        self._options: dict[str, Property] = {}  # by OPTIONS

    def read(self) -> None:
        cursor = self._cursor
        if cursor.accept("("):
            first = cursor.next
            try:
                self._elements()
            except ContractError:
                if first.word in _QUERIES and not self._table.columns:  # a column can have such a name
                    raise self._no_clause(first) from None
                raise
        if cursor.accept("USING"):
            cursor.name()
        seen: set[str] = set()
        while cursor.next.kind != "end":
            word = cursor.next
            read = _CLAUSES.get(word.word)
            if read is None:
                raise self._no_clause(word)
            if word.word in seen:  # DUPLICATE_CLAUSES
                raise cursor.source.error(word.span, f"{word.word} stands twice", "remove one of the two")
            seen.add(word.word)
            cursor.take()
            read(self, word)
        self._set_properties()

    def _no_clause(self, token: Token) -> ContractError:
        if token.word in _QUERIES or token.text == "(":
            return self._cursor.source.error(
                token.span,
                "CREATE TABLE … AS takes its columns from a query",
                f"write the columns, and the query in a statement of its own, or {LEAVE_OUT}",
            )
        return self._cursor.expected("a clause of CREATE TABLE", token)

    def _elements(self) -> None:
        """Read the columns and keys of the table, up to the closing bracket."""
        cursor = self._cursor
        while True:
            if cursor.last.text == "," and cursor.next.text == ")":
                raise cursor.source.error(cursor.last.span, "a comma follows the last column", "remove it")
            if not self._constraint():
                self._add(ColumnReader(cursor).read())
            if cursor.accept(")"):
                return
            cursor.require(",")

    def _constraint(self) -> bool:
        """Read a constraint of the table, if one is next."""
        cursor = self._cursor
        skipped = 2 if cursor.next.word == "CONSTRAINT" else 0
        word, after = cursor.ahead(skipped), cursor.ahead(skipped + 1)
        if word.word not in _CONSTRAINTS or (after.word or after.text) not in _CONSTRAINTS[word.word]:
            return False
        if word.word == "CHECK":
            raise no_check(cursor, cursor.next)
        for _ in range(skipped):
            cursor.take()
        self._table.unmanaged.append(read_key(cursor))
        return True

    def _add(self, column: ReadColumn) -> None:
        table, path = self._table, (column.field.name.lower(),)
        if any(each.name.lower() == path[0] for each in table.columns):
            table.place("repeated", path, span=column.spans["column", path])
        else:
            for anchor, span in column.spans.items():
                table.place(*anchor, span=span)
        table.columns.append(column.field)
        table.unmanaged += column.unmanaged

    def _comment(self, word: Token) -> None:
        self._table.description = self._cursor.text()
        self._table.place("description", span=self._cursor.since(word))

    def _location(self, _word: Token) -> None:
        start = self._cursor.next
        text = self._cursor.text()
        span = self._cursor.since(start)
        self._locate(self._variables.in_name(text, span), span)

    def _locate(self, location: str, span: Span) -> None:
        table, source = self._table, self._cursor.source
        if not location.strip():
            raise source.error(span, "the location is empty", "write where the table is")
        if table.location is not None:  # DUPLICATE_CLAUSES
            raise source.error(span, "the table has two locations", "remove one of the two")
        table.location = location
        table.place("location", span=span)

    def _properties(self, _word: Token) -> None:
        self._set = {each.key: each for each in read_properties(self._cursor, self._variables)}

    def _read_options(self, _word: Token) -> None:
        """Read OPTIONS, which Delta stores as properties, each under two keys (measured on Delta 4.4.0)."""
        for each in read_properties(self._cursor, self._variables):
            if each.key.lower() == "path":
                self._locate(self._variables.in_name(each.value, each.span), each.span)
                continue
            self._options |= {each.key: each, f"option.{each.key}": each}

    def _set_properties(self) -> None:
        """Set all properties: OPTIONS win, and the COMMENT clause over both (measured on Delta 4.4.0)."""
        table = self._table
        for key, each in {**self._set, **self._options}.items():
            if key.startswith(CONSTRAINT_PREFIX):  # Delta 4.4.0 takes one here, not in an ALTER TABLE
                name = key.removeprefix(CONSTRAINT_PREFIX).lower()
                table.constraints[name] = each.value
                table.place("constraint", name, span=each.span)
            elif key not in _NOT_STORED and (key != COMMENT or table.description is UNMANAGED):
                table.set_property(key, each.value, each.span)

    def _partitioned(self, word: Token) -> None:
        """Read names of columns, or columns that the list does not have: Spark takes no mixture."""
        cursor = self._cursor
        cursor.require("BY", "(")
        names: list[str] = []
        columns: list[ReadColumn] = []
        while True:
            start = cursor.next
            if cursor.ahead(1).text in {",", ")"}:
                names.append(cursor.name())
            elif start.word == "IDENTITY" and cursor.ahead(1).text == "(":
                cursor.take()
                cursor.require("(")
                names.append(cursor.name())
                cursor.require(")")
            elif cursor.ahead(1).text in {"(", "."}:
                message = "Delta partitions by columns, not by what is computed from them or lies in them"
                raise cursor.source.error(start.span, message, "write the names of columns")
            else:
                columns.append(ColumnReader(cursor).read(_OF_PARTITIONS))
            if names and columns:  # PARTITION BY expressions and columns
                message = "PARTITIONED BY has names of columns and new columns"
                raise cursor.source.error(start.span, message, "write all columns in the list of the table")
            if cursor.accept(")"):
                break
            cursor.require(",")
        for column in columns:
            self._add(column)
        struct = self._table.struct
        written = names or [column.field.name for column in columns]
        fields = ((name, struct.get(name)) for name in written)
        self._table.partitioned_by = tuple(name if field is None else field.name for name, field in fields)
        self._table.place("partitioned_by", span=cursor.since(word))

    def _clustered(self, word: Token) -> None:
        cursor, table = self._cursor, self._table
        cursor.require("BY")
        if cursor.accept("AUTO"):
            table.clustered_by = UNMANAGED
            table.unmanaged.append("automatic clustering")
        elif cursor.accept("NONE"):
            table.clustered_by = ()
        else:
            cursor.require("(")
            table.clustered_by = self._paths()
        table.place("clustered_by", span=cursor.since(word))

    def _paths(self) -> tuple[Path, ...]:
        paths: list[Path] = []
        while True:
            start = self._cursor.next
            names = [self._cursor.name()]
            while self._cursor.accept("."):
                names.append(self._cursor.name())
            path, exists = path_of_names(self._table.struct, names)
            if exists and not _is_spelled(self._table, path):  # UNSUPPORTED_FEATURE.PARTITION_WITH_NESTED_…
                span = self._cursor.since(start)
                message = f"CLUSTER BY spells {format_path(path)} in another case than the column"
                raise self._cursor.source.error(span, message, "spell it as the column")
            paths.append(path)
            if self._cursor.accept(")"):
                return tuple(paths)
            self._cursor.require(",")

    def _buckets(self, word: Token) -> None:
        what = "buckets" if word.word == "CLUSTERED" else "skewed columns"
        raise self._cursor.source.error(word.span, f"Delta has no {what}", "write CLUSTER BY (…)")

    def _collation(self, word: Token) -> None:
        message = "DEFAULT COLLATION is not read: it changes the types of the columns"
        raise self._cursor.source.error(word.span, message, "write COLLATE at the columns")

    def _filter(self, _word: Token) -> None:
        cursor = self._cursor
        cursor.require("ROW", "FILTER")
        read_name(cursor, self._variables)
        if cursor.accept("ON"):
            if cursor.next.text != "(":
                raise cursor.expected("(")
            cursor.skip_brackets()
        self._table.unmanaged.append("row filter")


_CLAUSES: Final[Mapping[str, Callable[[_Reader, Token], None]]] = {
    "CLUSTER": _Reader._clustered,  # noqa: SLF001 (its own)
    "CLUSTERED": _Reader._buckets,  # noqa: SLF001
    "COMMENT": _Reader._comment,  # noqa: SLF001
    "DEFAULT": _Reader._collation,  # noqa: SLF001
    "LOCATION": _Reader._location,  # noqa: SLF001
    "OPTIONS": _Reader._read_options,  # noqa: SLF001
    "PARTITIONED": _Reader._partitioned,  # noqa: SLF001
    "SKEWED": _Reader._buckets,  # noqa: SLF001
    "TBLPROPERTIES": _Reader._properties,  # noqa: SLF001
    "WITH": _Reader._filter,  # noqa: SLF001
}
