"""Tables that are reached by name: what the session itself knows of them."""

from __future__ import annotations

from schemalint.engine.tables import SESSION_CATALOG
from schemalint.errors import ApplyError
from schemalint.model.path import split
from schemalint.model.sqltext import always_quoted
from schemalint.planner.sql import named_table
from schemalint.spark.session import SqlSession, StatementError, ask

_NOT_THERE = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
)


def location_of(session: SqlSession, name: str) -> str | None:
    """Where the session's catalog has a Delta table; None if there is none of that name.

    Raises:
        ApplyError: The name is another kind of table, or the session cannot say.
    """
    try:
        (found,) = ask(session, f"DESCRIBE DETAIL {named_table(name)}")
    except StatementError as error:
        if any(word in error.message for word in _NOT_THERE):
            return None
        raise
    if found["format"] != "delta":
        raise ApplyError(f"{name} is a table of {found['format']}, not of Delta")
    return str(found["location"])


def require_catalog(session: SqlSession, name: str) -> None:
    """The session must know the catalog of a table.

    Raises:
        ApplyError: It does not.
    """
    catalog = split(name)[0]
    if catalog == SESSION_CATALOG:
        return
    try:
        ask(session, f"SHOW NAMESPACES IN {always_quoted(catalog)}")
    except StatementError as error:
        raise ApplyError(
            f"Spark's session cannot reach the catalog {catalog}: {error.message}",
            help=f"give it --conf spark.sql.catalog.{catalog}=… , or a session that has it",
        ) from error
