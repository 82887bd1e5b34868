"""What statements behind a CREATE TABLE add to its table: constraints, properties, comments.

Any other change of a table is a migration: it says what happens once, and not what the table is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from schemalint.base.document import Span
from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.contract.dialects.sql.columns import in_brackets, read_key
from schemalint.contract.dialects.sql.cursor import LEAVE_OUT, Cursor
from schemalint.contract.dialects.sql.names import Namespace, TableName, read_name
from schemalint.contract.dialects.sql.properties import read_keys, read_properties
from schemalint.contract.dialects.sql.table import Table
from schemalint.contract.dialects.sql.variables import Variables
from schemalint.delta.datatype import Field, Struct, field_at, map_fields, path_of_names
from schemalint.delta.path import Path, lowercased
from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.model.contract import table_key

Tables = Mapping[str, Table]
"""The tables of a file so far, by their keys."""

_MIGRATION: Final = (
    "a file declares what a table is: write that into its CREATE TABLE, or begin with "
    f"schemalint pull, which writes a declaration of the live table, or {LEAVE_OUT}"
)
_CATALOG: Final[Mapping[tuple[str, ...], str]] = {
    ("SET", "TAGS"): "tags",
    ("UNSET", "TAGS"): "tags",
    ("SET", "ROW", "FILTER"): "row filter",
    ("DROP", "ROW", "FILTER"): "row filter",
    ("SET", "OWNER"): "owner",
    ("OWNER", "TO"): "owner",
    ("ENABLE", "PREDICTIVE"): "predictive optimization",
    ("DISABLE", "PREDICTIVE"): "predictive optimization",
    ("INHERIT", "PREDICTIVE"): "predictive optimization",
}
"""What Databricks stores in its catalog, and not in Delta's log."""

_OF_COLUMN: Final[Mapping[tuple[str, ...], str]] = {
    ("SET", "TAGS"): "tags",
    ("UNSET", "TAGS"): "tags",
    ("SET", "MASK"): "column mask",
    ("DROP", "MASK"): "column mask",
}


class Alterations:
    """Adds what one statement says to the table that it is about."""

    def __init__(self, cursor: Cursor, tables: Tables, variables: Variables, namespace: Namespace) -> None:
        self._cursor, self._tables = cursor, tables
        self._variables, self._namespace = variables, namespace

    def alter_table(self) -> None:
        """Read an ALTER TABLE.

        Raises:
            ContractError: It is a migration, Delta refuses it, or the file does not create its table before.
        """
        cursor = self._cursor
        start = cursor.next
        cursor.require("ALTER", "TABLE")
        name = self._namespace.complete(cursor, read_name(cursor, self._variables))
        if not self._acts(name):
            raise cursor.source.error(
                Span(start.start, cursor.next.end), f"this statement is a migration of {name}", _MIGRATION
            )
        cursor.require_end()

    def comment_on(self) -> None:
        """Read a COMMENT ON TABLE or COLUMN.

        Raises:
            ContractError: The file does not create its table before.
        """
        cursor = self._cursor
        cursor.require("COMMENT", "ON")
        what = cursor.take().word
        name = read_name(cursor, self._variables)
        cursor.require("IS")
        start = cursor.next
        text = None if cursor.accept("NULL") else cursor.text()
        span = cursor.since(start)
        if what == "TABLE":
            table = self._table(self._namespace.complete(cursor, name))
            table.description = text
            table.place("description", span=span)
        else:
            self._comment_column(*self._column(name), text, span)
        cursor.require_end()

    def _acts(self, name: TableName) -> bool:
        """Read what the statement does; return False if that is a migration."""
        cursor = self._cursor
        act = _ACTS.get((cursor.next.word, cursor.ahead(1).word))
        if act is not None:
            act(self, self._table(name))
            return True
        for words, what in _CATALOG.items():
            if cursor.accept(*words):
                self._unmanaged(name, what)
                return True
        if cursor.next.word in {"ALTER", "CHANGE"}:
            return self._alter_column(name)
        return False

    def _table(self, name: TableName) -> Table:
        table = self._tables.get(table_key(str(name)))
        if table is None:
            raise self._cursor.source.error(
                name.span,
                f"this file does not create {name} before",
                f"write the statement behind the CREATE TABLE, in the same file, or {LEAVE_OUT}",
            )
        return table

    def _unmanaged(self, name: TableName, what: str) -> None:
        self._table(name).unmanaged.append(what)
        self._to_end()

    def _to_end(self) -> None:
        while self._cursor.next.kind != "end":
            self._cursor.take()

    def _add_constraint(self, table: Table) -> None:
        cursor = self._cursor
        cursor.require("ADD")
        start = cursor.next
        if not cursor.accept("CONSTRAINT"):
            if cursor.next.word == "CHECK":
                message = "Delta needs a name of the constraint"
                raise cursor.source.error(start.span, message, "write ADD CONSTRAINT name CHECK (…)")
            table.unmanaged.append(read_key(cursor))
            return
        name = cursor.name().lower()
        if cursor.next.word != "CHECK":
            if cursor.next.word not in {"PRIMARY", "FOREIGN", "UNIQUE"}:
                raise cursor.expected("CHECK, PRIMARY KEY or FOREIGN KEY")
            table.unmanaged.append(read_key(cursor))
            return
        cursor.take()
        expression = in_brackets(cursor)
        if table.constraints.get(name) is not None:  # DELTA_CONSTRAINT_ALREADY_EXISTS
            raise cursor.source.error(start.span, f"the constraint {name} stands twice", "remove one")
        table.constraints[name] = expression
        table.place("constraint", name, span=cursor.since(start))

    def _drop_constraint(self, table: Table) -> None:
        cursor = self._cursor
        cursor.require("DROP")
        start = cursor.next
        if cursor.accept("PRIMARY", "KEY") or cursor.accept("FOREIGN", "KEY"):
            self._to_end()
            return
        cursor.require("CONSTRAINT")
        is_optional = cursor.accept("IF", "EXISTS")
        name = cursor.name().lower()
        if not is_optional and table.constraints.get(name) is None:  # DELTA_CONSTRAINT_DOES_NOT_EXIST
            message = f"{table.name} has no constraint {name}"
            raise cursor.source.error(cursor.last.span, message, "write DROP CONSTRAINT IF EXISTS")
        table.constraints[name] = None
        table.place("constraint", name, span=cursor.since(start))

    def _set_properties(self, table: Table) -> None:
        self._cursor.require("SET", "TBLPROPERTIES")
        for each in read_properties(self._cursor, self._variables):
            if each.key.startswith(CONSTRAINT_PREFIX):  # DELTA_ADD_CONSTRAINTS
                message = "a constraint is no property of ALTER TABLE"
                raise self._cursor.source.error(each.span, message, "write ADD CONSTRAINT … CHECK (…)")
            table.set_property(each.key, each.value, each.span)

    def _unset_properties(self, table: Table) -> None:
        self._cursor.require("UNSET", "TBLPROPERTIES")
        self._cursor.accept("IF", "EXISTS")
        for each in read_keys(self._cursor):
            table.set_property(each.key, None, each.span)

    def _alter_column(self, name: TableName) -> bool:
        """Read comments of columns, or what the catalog stores of one; return False for anything else."""
        cursor = self._cursor
        cursor.take()
        cursor.accept("COLUMN")
        column = read_name(cursor, self._variables)
        for words, what in _OF_COLUMN.items():
            if cursor.accept(*words):
                self._unmanaged(name, what)
                return True
        commented: list[Path] = []
        while cursor.next.word == "COMMENT" and cursor.ahead(1).kind == "string":
            cursor.take()
            start = cursor.next
            path = self._comment_column(self._table(name), column, cursor.text(), cursor.since(start))
            if any(path[: len(other)] == other[: len(path)] for other in commented):
                message = f"the statement changes {column} twice"  # NOT_SUPPORTED_CHANGE_SAME_COLUMN
                raise cursor.source.error(column.span, message, "write a statement for each")
            commented.append(path)
            if not cursor.accept(","):
                return True
            column = read_name(cursor, self._variables)
        return False

    def _column(self, name: TableName) -> tuple[Table, TableName]:
        """Return the table of a column that is named with it, and the column."""
        if len(name.parts) == 1:
            raise self._cursor.source.error(name.span, "the name of the table is missing", "write t.column")
        for length in range(len(name.parts) - 1, 0, -1):
            table_name = TableName(name.parts[:length], name.span)
            try:
                completed = self._namespace.complete(self._cursor, table_name)
            except ContractError:
                continue
            table = self._tables.get(table_key(str(completed)))
            if table is not None:
                return table, TableName(name.parts[length:], name.span)
        return self._table(TableName(name.parts[:-1], name.span)), name

    def _comment_column(self, table: Table, name: TableName, text: str | None, span: Span) -> Path:
        """Comment a column or a field inside of it, such as ``lines.element.qty``, and return its path."""
        path = lowercased(path_of_names(table.struct, name.parts)[0])
        if field_at(table.struct, path) is None:
            raise self._cursor.source.error(
                name.span, f"{table.name} has no column {name}", "name a column of the CREATE TABLE"
            )

        def commented(each: Path, field: Field) -> Field:
            return replace(field, comment=text) if lowercased(each) == path else field

        index = next(index for index, column in enumerate(table.columns) if column.name.lower() == path[0])
        (table.columns[index],) = map_fields(Struct((table.columns[index],)), commented).fields
        table.place("comment", path, span=span)
        return path


_ACTS: Final[Mapping[tuple[str, str], Callable[[Alterations, Table], None]]] = {
    ("ADD", "CONSTRAINT"): Alterations._add_constraint,  # noqa: SLF001 (its own)
    ("ADD", "CHECK"): Alterations._add_constraint,  # noqa: SLF001
    ("ADD", "PRIMARY"): Alterations._add_constraint,  # noqa: SLF001
    ("ADD", "FOREIGN"): Alterations._add_constraint,  # noqa: SLF001
    ("DROP", "CONSTRAINT"): Alterations._drop_constraint,  # noqa: SLF001
    ("DROP", "PRIMARY"): Alterations._drop_constraint,  # noqa: SLF001
    ("DROP", "FOREIGN"): Alterations._drop_constraint,  # noqa: SLF001
    ("SET", "TBLPROPERTIES"): Alterations._set_properties,  # noqa: SLF001
    ("UNSET", "TBLPROPERTIES"): Alterations._unset_properties,  # noqa: SLF001
}
