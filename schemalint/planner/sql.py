"""The statements' text: Spark SQL for Delta tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schemalint.delta.datatype import Field, Identity
from schemalint.delta.path import Part, Path, split_path
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type


def path_table(uri: str) -> str:
    """A table that is known by its place."""
    return f"delta.{always_quoted(uri)}"


def named_table(name: str) -> str:
    """A table that is known by its name, e.g. ``main.sales.orders``."""
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
    """``CREATE TABLE``: never ``IF NOT EXISTS`` or ``OR REPLACE``, so that nothing is taken for it."""
    listed = ",\n  ".join(column(one) for one in columns)
    partitions = ", ".join(map(always_quoted, partitioned_by))
    clusters = ", ".join(map(path_text, clustered_by))
    # An empty list of columns is a syntax error; none at all is a table without columns.
    text = f"CREATE TABLE {table}" + (f" (\n  {listed}\n)" if listed else "") + " USING delta"
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
    """One statement, one commit: for properties and features together."""
    return f"ALTER TABLE {table} SET TBLPROPERTIES ({_entries(properties)})"


def unset_properties(table: str, keys: Iterable[str]) -> str:
    """``IF EXISTS`` is what Delta does anyway (measured on Delta 4.4.0)."""
    return f"ALTER TABLE {table} UNSET TBLPROPERTIES ({', '.join(quote_literal(key) for key in keys)})"


def add_columns(table: str, columns: Iterable[tuple[Path, Field, str | None]]) -> str:
    """Columns and nested fields, each at its place (first, or behind a sibling)."""
    texts = [f"{path_text(path)} {_column_tail(field)} {place_text(after)}" for path, field, after in columns]
    return f"ALTER TABLE {table} ADD COLUMNS (\n  " + ",\n  ".join(texts) + "\n)"


def alter_columns(table: str, actions: Iterable[tuple[Path, str]]) -> str:
    """Many columns in one commit; none of them twice."""
    texts = [f"{path_text(path)} {action}" for path, action in actions]
    return f"ALTER TABLE {table} ALTER COLUMN\n  " + ",\n  ".join(texts)


def drop_columns(table: str, paths: Iterable[Path]) -> str:
    """Many columns and nested fields in one commit."""
    return f"ALTER TABLE {table} DROP COLUMNS ({', '.join(map(path_text, paths))})"


def rename_column(table: str, path: Path, name: str) -> str:
    """One column or nested field; it stays where it is."""
    return f"ALTER TABLE {table} RENAME COLUMN {path_text(path)} TO {always_quoted(name)}"


def move_column(table: str, path: Path, after: str | None) -> str:
    """Several moves in one list are not carried out in the order written (measured on Delta 4.4.0)."""
    return f"ALTER TABLE {table} ALTER COLUMN {path_text(path)} {place_text(after)}"


def cluster_by(table: str, columns: Sequence[Path]) -> str:
    """By no columns: ``NONE``."""
    listed = f"({', '.join(map(path_text, columns))})" if columns else "NONE"
    return f"ALTER TABLE {table} CLUSTER BY {listed}"


def add_constraint(table: str, name: str, expression: str) -> str:
    """A CHECK; what is there is checked first."""
    return f"ALTER TABLE {table} ADD CONSTRAINT {always_quoted(name)} CHECK ({expression})"


def drop_constraint(table: str, name: str) -> str:
    """A CHECK goes; an error if it is not there."""
    return f"ALTER TABLE {table} DROP CONSTRAINT {always_quoted(name)}"


def drop_feature(table: str, name: str) -> str:
    """Several commits, and a rewrite of what needs the feature."""
    return f"ALTER TABLE {table} DROP FEATURE {always_quoted(name)}"


def place_text(after: str | None) -> str:
    """Where a column stands among its siblings."""
    return "FIRST" if after is None else f"AFTER {always_quoted(after)}"


def column(field: Field) -> str:
    """A column's definition."""
    return f"{always_quoted(field.name)} {_column_tail(field)}"


def path_text(path: Path) -> str:
    """A path as SQL takes it: ``element``, ``key`` and ``value`` stand unquoted."""
    return ".".join(step.value if isinstance(step, Part) else always_quoted(step) for step in path)


def _column_tail(field: Field) -> str:
    text = print_type(field.type)
    if not field.nullable:
        text += " NOT NULL"
    if isinstance(field.generated, str):
        text += f" GENERATED ALWAYS AS ({field.generated})"
    if isinstance(field.identity, Identity):
        text += _identity(field.identity)
    if isinstance(field.default, str):
        text += f" DEFAULT {field.default}"
    if isinstance(field.comment, str):
        text += f" COMMENT {quote_literal(field.comment)}"
    return text


def _identity(identity: Identity) -> str:
    when = "BY DEFAULT" if identity.allow_explicit_insert else "ALWAYS"
    return f" GENERATED {when} AS IDENTITY (START WITH {identity.start} INCREMENT BY {identity.step})"


def _entries(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{quote_literal(key)} = {quote_literal(value)}" for key, value in properties.items())
