"""Tables by name, through a running Spark session: whatever catalogs it knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any, Final

from schemalint.catalog import SESSION_CATALOG, Name, name_parts
from schemalint.delta.path import format_path, split_path
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.table import CatalogTable
from schemalint.delta_log.store import NoTable
from schemalint.errors import ApplyError, LiveError
from schemalint.planner.sql import named_table
from schemalint.spark.session import SqlSession, StatementError, ask
from schemalint.storage import NO_OPTIONS
from schemalint.storage.requests import concurrently

# Spark's and Delta's error classes (error-conditions.json, delta-error-classes.json).
_NOT_THERE: Final = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND"})

_CONDITION: Final = re.compile(r"\[([A-Z_]+)")
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
_FILE: Final = re.compile(r"file:(?://)?(?=/)")
_DETAILS: Final = "# Detailed Table Information"
_NEEDED: Final = ("Type", "Provider", "Location")
_PARTS: Final = 3


class SessionCatalog:
    """The catalogs of a session, as a `schemalint.catalog.Catalog`: it says where tables lie, and no more.

    What opens the places is not handed out, and no commits of catalog-managed tables are listed.

    Args:
        session: Gives the session, which may be started by that; called from several threads.
    """

    def __init__(self, session: Callable[[], SqlSession]) -> None:
        self._session = session

    def full_name(self, name: str) -> str:
        """A name of one, two or three parts, as Spark resolves it: in the current catalog and schema.

        Raises:
            ConfigError: It is none.
            LiveError: It is a view of the session alone, or the session gives no answer.
        """
        parts = name_parts(name)
        if len(parts) > _PARTS:
            raise LiveError(f"{name} has too many parts", help="name it as catalog.schema.table")
        if len(parts) == 1:
            self._require_no_temporary_view(parts[0])
        if len(parts) < _PARTS:
            (current,) = self._rows("SELECT current_catalog(), current_schema()")
            parts = (*current[: _PARTS - len(parts)], *parts)
        return format_path(parts)

    def find(self, name: Name) -> CatalogTable:
        """Where a table lies.

        Raises:
            NoTable: Its schema is there, and the table is not.
            LiveError: It is a view, or a table of another format; the session does not know its schema or
                catalog, or gives no answer.
        """
        full_name, details = format_path(name), self._details(name)
        if not details or "VIEW" in details.get("Type", ""):
            raise _NotDeltaError(f"{full_name} is a view, not a table")
        provider, location = details.get("Provider", "?"), details.get("Location")
        if provider.lower() != "delta" or location is None:
            raise _NotDeltaError(f"{full_name} is a table of {provider}, not of Delta")
        # Written as Hadoop's paths are, which are no URIs: percent signs mean themselves.
        return CatalogTable(full_name, "Spark's session", _FILE.sub("", location, count=1))

    def tables(self, match: Name) -> Iterator[str]:
        """The full names of the Delta tables that fit, ignoring case."""
        catalog, schema, table = match
        for one in self._schemas(catalog, schema):
            listed = self._rows(f"SHOW TABLES IN {named_table(format_path((catalog, one)))}")
            names = [
                (catalog, one, name)
                for _, name, is_temporary in listed
                if not is_temporary and _fits(name, table)
            ]
            kept = concurrently(self._may_be_delta, names)
            yield from (format_path(name) for name, is_kept in zip(names, kept, strict=True) if is_kept)

    def storage(self, table: CatalogTable) -> Mapping[str, str]:  # noqa: ARG002 (the protocol's)
        """Nothing."""
        return NO_OPTIONS

    def commits(self, table: CatalogTable) -> None:
        """Not known."""

    def _schemas(self, catalog: str, match: str) -> Iterator[str]:
        """What a glob fits; a plain name is not looked up in a list."""
        if not any(char in match for char in "*?["):
            yield match
            return
        for (listed,) in self._rows(f"SHOW NAMESPACES IN {always_quoted(catalog)}"):
            parts = name_parts(listed)
            if len(parts) == 1 and _fits(parts[0], match):
                yield parts[0]

    def _may_be_delta(self, name: Name) -> bool:
        """What cannot be told counts: then reading the table says why."""
        try:
            self.find(name)
        except (_NotDeltaError, NoTable):
            return False
        except LiveError:
            return True
        return True

    def _details(self, name: Name) -> dict[str, str]:
        """What Spark says of a table beside its columns; empty for a view of the session alone."""
        try:
            rows = [
                tuple(row) for row in self._ask(f"DESCRIBE TABLE EXTENDED {named_table(format_path(name))}")
            ]
        except StatementError as error:
            condition = _CONDITION.search(error.message)
            if condition is not None and condition[1] in _NOT_THERE:
                raise self._missing(name) from error
            if registered := self._registered(name):
                return registered
            raise LiveError(f"{format_path(name)}: {error.message}", help=_of_catalog(name[0])) from error
        # A column has a type, so none looks like the headline; another section may follow.
        start = next((number for number, row in enumerate(rows) if row[:2] == (_DETAILS, "")), len(rows))
        section = takewhile(lambda row: row[0] and not row[0].startswith("# "), rows[start + 1 :])
        return {key: value for key, value, *_ in section}

    def _registered(self, name: Name) -> dict[str, str]:
        """What the metastore has of a table that Spark cannot load; empty if that is not clear.

        Only this statement does without the Delta log, which may be the very thing that is wrong, or newer
        than the session (measured on Delta 4.4.0).
        """
        schema, table = named_table(format_path(name[:2])), name[2]
        if not _PLAIN.fullmatch(table):  # another name could be a pattern
            return {}
        try:
            rows = self._ask(f"SHOW TABLE EXTENDED IN {schema} LIKE {quote_literal(table)}")
        except StatementError:
            return {}
        texts = [text for _, _, is_temporary, text in rows if not is_temporary]
        pairs = [line.split(": ", 1) for text in texts for line in text.splitlines() if ": " in line]
        # A comment may hold lines that look alike.
        said = sorted(key for key, _ in pairs if key in _NEEDED)
        return dict(pairs) if said == sorted(_NEEDED) else {}

    def _missing(self, name: Name) -> LiveError:
        """What is missing: the table alone, or more than that."""
        try:
            self._ask(f"DESCRIBE NAMESPACE {named_table(format_path(name[:2]))}")
        except StatementError as missing:
            return LiveError(
                f"Spark's session does not know {format_path(name[:2])}: {missing.message}",
                help="A table is only created where its schema is: look for a spelling mistake.",
            )
        return NoTable(f"Spark's session has no table {format_path(name)}")

    def _require_no_temporary_view(self, name: str) -> None:
        with suppress(StatementError):  # a catalog that lists no views
            views = {view.lower() for _, view, is_temporary in self._ask("SHOW VIEWS") if is_temporary}
            if name.lower() in views:
                raise LiveError(f"{name} is a temporary view, not a table")

    def _rows(self, query: str) -> list[Any]:
        try:
            return self._ask(query)
        except StatementError as error:
            raise LiveError(error.message, help=error.help) from error

    def _ask(self, query: str) -> list[Any]:
        if "${" in query:  # Spark replaces it in quoted names too (measured on Spark 4.2.0)
            raise LiveError(f"a session cannot be asked for a name with '${{': {query}")
        return ask(self._session(), query)


class _NotDeltaError(LiveError):
    """There is something of that name that is no Delta table."""


def require_catalog(session: SqlSession, name: str) -> None:
    """The session must know the catalog of a table.

    Raises:
        ApplyError: It does not.
    """
    catalog = split_path(name)[0]
    if catalog == SESSION_CATALOG:
        return
    try:
        ask(session, f"SHOW NAMESPACES IN {always_quoted(catalog)}")
    except StatementError as error:
        raise ApplyError(
            f"Spark's session cannot reach the catalog {catalog}: {error.message}", help=_of_catalog(catalog)
        ) from error


def _of_catalog(catalog: str) -> str:
    return (
        ""
        if catalog == SESSION_CATALOG
        else f"give the session --conf spark.sql.catalog.{catalog}=… , or use one that has it"
    )


def _fits(name: str, match: str) -> bool:
    return fnmatchcase(name.lower(), match.lower())
