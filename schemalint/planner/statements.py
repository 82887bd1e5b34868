"""The text of statements: Spark SQL for Delta tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schemalint.base.phrases import affixed
from schemalint.delta.datatype import DataType, Field, Identity
from schemalint.delta.path import Part, Path, split_path
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type


def path_table(uri: str) -> str:
    """Return the SQL name of the table at a location."""
    return f"delta.{always_quoted(uri)}"


def named_table(name: str) -> str:
    """Return the SQL name of a table in a catalog, e.g. ``main.sales.orders``."""
    return ".".join(always_quoted(part) for part in split_path(name))


def create_table(
    table: str,
    columns: Iterable[Field],
    *,
    description: str | None,
    properties: Mapping[str, str],
    partitioned_by: Iterable[str] = (),
    clustered_by: Iterable[Path] = (),
) -> str:
    """Create a table, without ``IF NOT EXISTS`` and ``OR REPLACE``: an existing table must raise an error."""
    listed = ",\n  ".join(map(column, columns))
    partitions = ", ".join(map(always_quoted, partitioned_by))
    clusters = ", ".join(map(path_text, clustered_by))
    # An empty column list is a syntax error; without a list the table has no columns.
    text = f"CREATE TABLE {table}" + affixed(" (\n  ", listed, "\n)") + " USING delta"
    if partitions:
        text += f"\nPARTITIONED BY ({partitions})"
    if clusters:
        text += f"\nCLUSTER BY ({clusters})"
    if description is not None:
        text += f"\nCOMMENT {quote_literal(description)}"
    if properties:
        text += f"\nTBLPROPERTIES ({_entries(properties)})"
    return text


def set_properties(table: str, properties: Mapping[str, str]) -> str:
    """Set properties and features together, in one commit."""
    return f"ALTER TABLE {table} SET TBLPROPERTIES ({_entries(properties)})"


def unset_properties(table: str, keys: Iterable[str]) -> str:
    """Unset properties; Delta ignores missing keys even without ``IF EXISTS`` (measured on Delta 4.4.0)."""
    return f"ALTER TABLE {table} UNSET TBLPROPERTIES ({', '.join(quote_literal(key) for key in keys)})"


def add_columns(table: str, columns: Iterable[tuple[Path, Field, str | None]]) -> str:
    """Add columns and nested fields, each at a position: first, or after a sibling."""
    texts = [
        f"{path_text(path)} {_column_tail(field)} {position_text(after)}" for path, field, after in columns
    ]
    return f"ALTER TABLE {table} ADD COLUMNS (\n  " + ",\n  ".join(texts) + "\n)"


def alter_columns(table: str, actions: Iterable[tuple[Path, str]]) -> str:
    """Alter many columns in one commit, each at most once."""
    texts = [f"{path_text(path)} {action}" for path, action in actions]
    return f"ALTER TABLE {table} ALTER COLUMN\n  " + ",\n  ".join(texts)


def drop_columns(table: str, paths: Iterable[Path]) -> str:
    """Drop many columns and nested fields in one commit."""
    return f"ALTER TABLE {table} DROP COLUMNS ({', '.join(map(path_text, paths))})"


def rename_column(table: str, path: Path, name: str) -> str:
    """Rename one column or nested field; its position stays."""
    return f"ALTER TABLE {table} RENAME COLUMN {path_text(path)} TO {always_quoted(name)}"


def change_column(table: str, path: Path, type_: DataType, actions: Iterable[str]) -> str:
    """Change the type of a column together with its comment, then its position, in one commit."""
    definition = " ".join([always_quoted(str(path[-1])), print_type(type_), *actions])
    return f"ALTER TABLE {table} CHANGE COLUMN {path_text(path)} {definition}"


def cluster_by(table: str, columns: Sequence[Path]) -> str:
    """Set the clustering columns; without columns, remove the clustering."""
    listed = f"({', '.join(map(path_text, columns))})" if columns else "NONE"
    return f"ALTER TABLE {table} CLUSTER BY {listed}"


def add_constraint(table: str, name: str, expression: str) -> str:
    """Add a CHECK constraint; Delta first checks the existing rows."""
    return f"ALTER TABLE {table} ADD CONSTRAINT {always_quoted(name)} CHECK ({expression})"


def drop_constraint(table: str, name: str) -> str:
    """Drop a CHECK constraint; a missing one is an error."""
    return f"ALTER TABLE {table} DROP CONSTRAINT {always_quoted(name)}"


def drop_feature(table: str, name: str, *, truncates: bool) -> str:
    """Drop a feature: Delta makes several commits and rewrites the files that need the feature."""
    history = " TRUNCATE HISTORY" if truncates else ""
    return f"ALTER TABLE {table} DROP FEATURE {always_quoted(name)}{history}"


def append_nothing(table: str, columns: Iterable[str]) -> str:
    """Append no rows: the commit has no data, but the session's transaction identifier.

    Delta also writes a file without rows, which no commit names (measured on Delta 4.4.0).
    """
    listed = ", ".join(map(always_quoted, columns))
    return f"INSERT INTO {table} ({listed}) SELECT {listed} FROM {table} WHERE false"  # noqa: S608 (all names are quoted)


def takes_values(field: Field) -> bool:
    """Whether an INSERT can name a column.

    Without an identity column the commit would have metadata as well, so one that takes values is named
    (measured on Delta 4.4.0).
    """
    always_made = isinstance(field.identity, Identity) and not field.identity.allow_explicit_insert
    return not always_made and not isinstance(field.generated, str)


def position_text(after: str | None) -> str:
    """Return the position of a column among its siblings: ``FIRST`` or ``AFTER …``."""
    return "FIRST" if after is None else f"AFTER {always_quoted(after)}"


def column(field: Field) -> str:
    """Return the definition of a column."""
    return f"{always_quoted(field.name)} {_column_tail(field)}"


def path_text(path: Path) -> str:
    """Return a path in SQL: ``element``, ``key`` and ``value`` are unquoted."""
    return ".".join(step.value if isinstance(step, Part) else always_quoted(step) for step in path)


def _column_tail(field: Field) -> str:
    text = print_type(field.type)
    if not field.nullable:
        text += " NOT NULL"
    if isinstance(field.generated, str):
        text += f" GENERATED ALWAYS AS ({field.generated})"
    if isinstance(field.identity, Identity):
        text += f" {field.identity.clause}"
    if isinstance(field.default, str):
        text += f" DEFAULT {field.default}"
    if isinstance(field.comment, str):
        text += f" COMMENT {quote_literal(field.comment)}"
    return text


def _entries(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{quote_literal(key)} = {quote_literal(value)}" for key, value in properties.items())
