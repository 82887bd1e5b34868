"""The statements' text: Spark SQL for Delta tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemalint.model.datatype import Field
from schemalint.model.path import Part, Path, split
from schemalint.model.sqltext import always_quoted, quote_literal
from schemalint.model.typetext import print_type


def path_table(uri: str) -> str:
    """A table that is known by its place."""
    return f"delta.{always_quoted(uri)}"


def named_table(name: str) -> str:
    """A table that is known by its name, e.g. ``main.sales.orders``."""
    return ".".join(always_quoted(part) for part in split(name))


def create_table(
    table: str,
    columns: Iterable[Field],
    *,
    description: str | None,
    properties: Mapping[str, str],
) -> str:
    """``CREATE TABLE``: never ``IF NOT EXISTS`` or ``OR REPLACE``, so that nothing is taken for it."""
    listed = ",\n  ".join(column(one) for one in columns)
    # An empty list of columns is a syntax error; none at all is a table without columns.
    text = f"CREATE TABLE {table}" + (f" (\n  {listed}\n)" if listed else "") + " USING delta"
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
    texts = [
        f"{path_text(path)} {_column_tail(field)}"
        + (" FIRST" if after is None else f" AFTER {always_quoted(after)}")
        for path, field, after in columns
    ]
    return f"ALTER TABLE {table} ADD COLUMNS (\n  " + ",\n  ".join(texts) + "\n)"


def alter_columns(table: str, actions: Iterable[tuple[Path, str]]) -> str:
    """Many columns in one commit; none of them twice."""
    texts = [f"{path_text(path)} {action}" for path, action in actions]
    return f"ALTER TABLE {table} ALTER COLUMN\n  " + ",\n  ".join(texts)


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
    if isinstance(field.comment, str):
        text += f" COMMENT {quote_literal(field.comment)}"
    return text


def _entries(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{quote_literal(key)} = {quote_literal(value)}" for key, value in properties.items())
