"""Find tables by name through a running Spark session, in all of its catalogs.

The owner of the session passes this catalog as `via`; schemalint then reads the log as always. Where
`DESCRIBE` fails, a statement that does not load the table gives its location, because `audit` looks for logs
that Spark refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any, Final

from schemalint.base.errors import ApplyError, LiveError
from schemalint.delta.path import format_path, split_path
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.table import CatalogTable, LiveTable
from schemalint.planner.statements import named_table
from schemalint.project.config.trust import SESSION_CATALOG
from schemalint.spark.session import CURRENT_SCHEMA
from schemalint.spark.statements import SqlSession, StatementError, ask
from schemalint.tables.catalog import Name, name_parts
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import NO_OPTIONS
from schemalint.tables.storage.concurrency import concurrently

# Spark's and Delta's error classes (error-conditions.json, delta-error-classes.json).
_MISSING: Final = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND"})

_CONDITION: Final = re.compile(r"\[([A-Z_]+)")
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
_FILE: Final = re.compile(r"file:(?://)?(?=/)")
_DETAILS: Final = "# Detailed Table Information"
_REQUIRED_KEYS: Final = ("Type", "Provider", "Location")
_NAME_PARTS: Final = 3


class SessionCatalog:
    """The catalogs of a session, as a `schemalint.tables.catalog.Catalog` that only knows locations.

    It provides no credentials, and no commits of catalog-managed tables.

    Args:
        session: Returns the session, and may start it; several threads call it.
    """

    def __init__(self, session: Callable[[], SqlSession]) -> None:
        self._session = session

    @property
    def created_features(self) -> frozenset[str]:
        """Return no features: Spark's session catalog adds none, and of other catalogs nothing is known."""
        return frozenset()

    def staged_features(self, name: Name) -> None:
        """Return None: a session stages tables only while it creates them."""

    def full_name(self, name: str) -> str:
        """Complete a name with the session's current catalog and schema, as Spark does.

        Raises:
            ConfigError: The name is invalid.
            LiveError: The name has too many parts, is that of a temporary view, or the session fails.
        """
        parts = name_parts(name)
        if len(parts) > _NAME_PARTS:
            raise LiveError(f"{name} has too many parts", help="name it as catalog.schema.table")
        if len(parts) == 1:
            self._require_no_temporary_view(parts[0])
        if len(parts) < _NAME_PARTS:
            (current,) = self._rows(CURRENT_SCHEMA)
            parts = (*current[: _NAME_PARTS - len(parts)], *parts)
        return format_path(parts)

    def find(self, name: Name) -> CatalogTable:
        """Return the entry of a table.

        Raises:
            NoTable: The schema exists, but the table does not.
            LiveError: The name is that of a view or of a table in another format; or the session does not
                know the schema or catalog, or fails.
        """
        full_name, details = format_path(name), self._details(name)
        if not details or "VIEW" in details.get("Type", ""):
            raise _NotDeltaError(f"{full_name} is a view, not a table")
        provider, location = details.get("Provider", "?"), details.get("Location")
        if provider.lower() != "delta" or location is None:
            raise _NotDeltaError(f"{full_name} is a {provider} table, not a Delta table")
        # Spark prints Hadoop paths, not URIs: percent signs are literal.
        return CatalogTable(full_name, "Spark's session", _FILE.sub("", location, count=1))

    def tables(self, match: Name) -> Iterator[str]:
        """Yield the full names of the Delta tables that match, ignoring case."""
        catalog, schema_match, table_match = match
        for schema in self._schemas(catalog, schema_match):
            rows = self._rows(f"SHOW TABLES IN {named_table(format_path((catalog, schema)))}")
            names = [
                (catalog, schema, table)
                for _, table, is_temporary in rows
                if not is_temporary and _matches(table, table_match)
            ]
            may_be_delta = concurrently(self._may_be_delta, names)
            yield from (
                format_path(name) for name, is_kept in zip(names, may_be_delta, strict=True) if is_kept
            )

    def storage(self, table: CatalogTable) -> Mapping[str, str]:  # noqa: ARG002 (the protocol's)
        """Return no settings: a session hands out no credentials."""
        return NO_OPTIONS

    def commits(self, table: CatalogTable) -> None:
        """Return None: a session lists no commits."""

    def refresh(self, table: LiveTable) -> None:
        """Do nothing: Spark alone writes to the catalogs of its session."""

    def _schemas(self, catalog: str, match: str) -> Iterator[str]:
        """Yield the schemas that match a glob; a plain name needs no listing."""
        if not any(char in match for char in "*?["):
            yield match
            return
        for (namespace,) in self._rows(f"SHOW NAMESPACES IN {always_quoted(catalog)}"):
            parts = name_parts(namespace)
            if len(parts) == 1 and _matches(parts[0], match):
                yield parts[0]

    def _may_be_delta(self, name: Name) -> bool:
        """Whether a table is in Delta format; True if it is unclear, so that reading it reports the error."""
        try:
            self.find(name)
        except (_NotDeltaError, NoTable):
            return False
        except LiveError:
            return True
        return True

    def _details(self, name: Name) -> dict[str, str]:
        """Describe a table without its columns; empty for a temporary view."""
        try:
            rows = [
                tuple(row) for row in self._ask(f"DESCRIBE TABLE EXTENDED {named_table(format_path(name))}")
            ]
        except StatementError as error:
            condition = _CONDITION.search(error.message)
            if condition is not None and condition[1] in _MISSING:
                raise self._missing(name) from error
            if registered := self._registered(name):
                return registered
            raise LiveError(f"{format_path(name)}: {error.message}", help=_catalog_help(name[0])) from error
        # A column has a type, so no column looks like the headline; another section may follow.
        start = next((number for number, row in enumerate(rows) if row[:2] == (_DETAILS, "")), len(rows))
        section = takewhile(lambda row: row[0] and not row[0].startswith("# "), rows[start + 1 :])
        return {key: value for key, value, *_ in section}

    def _registered(self, name: Name) -> dict[str, str]:
        """Return the metastore's entry for a table that Spark cannot load; empty if it is ambiguous.

        Only this statement does not read the Delta log, which may be damaged, or too new for the session
        (measured on Delta 4.4.0).
        """
        schema, table = named_table(format_path(name[:2])), name[2]
        if not _PLAIN.fullmatch(table):  # LIKE would take other names as patterns
            return {}
        try:
            rows = self._ask(f"SHOW TABLE EXTENDED IN {schema} LIKE {quote_literal(table)}")
        except StatementError:
            return {}
        texts = [text for _, _, is_temporary, text in rows if not is_temporary]
        pairs = [line.split(": ", 1) for text in texts for line in text.splitlines() if ": " in line]
        # A comment may contain lines like these: a key that occurs twice makes the entry ambiguous.
        keys = sorted(key for key, _ in pairs if key in _REQUIRED_KEYS)
        if keys == sorted(_REQUIRED_KEYS):
            return dict(pairs)
        return {}

    def _missing(self, name: Name) -> LiveError:
        """Find out whether only the table is missing, or its schema or catalog too."""
        try:
            self._ask(f"DESCRIBE NAMESPACE {named_table(format_path(name[:2]))}")
        except StatementError as missing:
            return LiveError(
                f"Spark's session does not know {format_path(name[:2])}: {missing.message}",
                help="schemalint does not create schemas: look for a spelling mistake.",
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
            raise LiveError(f"Spark cannot look up a name that contains '${{': {query}")
        return ask(self._session(), query)


class _NotDeltaError(LiveError):
    """The name is not that of a Delta table."""


def require_catalog(session: SqlSession, name: str) -> None:
    """Require that the session knows the catalog of a table.

    Raises:
        ApplyError: The session does not know it.
    """
    catalog = split_path(name)[0]
    if catalog == SESSION_CATALOG:
        return
    try:
        ask(session, f"SHOW NAMESPACES IN {always_quoted(catalog)}")
    except StatementError as error:
        raise ApplyError(
            f"Spark's session cannot reach the catalog {catalog}: {error.message}",
            help=_catalog_help(catalog),
        ) from error


def _catalog_help(catalog: str) -> str:
    if catalog == SESSION_CATALOG:
        return ""
    return f"set --conf spark.sql.catalog.{catalog}=… , or use a session with this catalog"


def _matches(name: str, match: str) -> bool:
    return fnmatchcase(name.lower(), match.lower())
