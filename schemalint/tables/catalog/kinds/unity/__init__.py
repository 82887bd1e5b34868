"""Unity Catalog through its REST API, open source or on Databricks.

Requests use the Delta API (``delta/v1``) if the server offers it, else the classic API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field  # noqa: TID251 (it remembers answers)
from fnmatch import fnmatchcase
from typing import Final, Protocol, TypeVar
from urllib.parse import urlsplit

from schemalint.base import limits
from schemalint.base.errors import ConfigError, LiveError
from schemalint.base.json_object import JsonObject
from schemalint.delta.path import format_path
from schemalint.delta.table import CatalogTable, LiveTable
from schemalint.tables.catalog import ManagedCommits, Name, NoCredentials
from schemalint.tables.catalog.kinds.unity.classic_api import ClassicApi, is_delta
from schemalint.tables.catalog.kinds.unity.delta_api import (
    LOAD_TABLE,
    STAGE_TABLE,
    UPDATE_TABLE,
    DeltaApi,
    parts_of,
)
from schemalint.tables.catalog.kinds.unity.http import Client, HttpError
from schemalint.tables.delta_log.store import NoTable

T = TypeVar("T")

PATH: Final = "/api/2.1/unity-catalog"

_NO_TABLE: Final = frozenset({"TABLE_NOT_FOUND", "TABLE_DOES_NOT_EXIST", "NoSuchTableException"})
_NO_PARENT: Final = frozenset(
    {
        "SCHEMA_NOT_FOUND",
        "SCHEMA_DOES_NOT_EXIST",
        "NoSuchSchemaException",
        "CATALOG_NOT_FOUND",
        "CATALOG_DOES_NOT_EXIST",
        "NoSuchCatalogException",
        "NotFoundException",
    }
)
# After this error, clients fall back to the classic API (Unity Catalog's delta.yaml, DeltaErrorType).
_NOT_OF_DELTA_API: Final = "UnsupportedTableFormatException"

_TABLE_EXISTS: Final = "AlreadyExistsException"

_CREATED: Final = frozenset(
    {"catalogManaged", "deletionVectors", "inCommitTimestamp", "v2Checkpoint", "vacuumProtocolCheck"}
    | {"columnMapping", "domainMetadata", "rowTracking"}
)
"""The features of a managed table: those that the catalog requires, and those that it suggests.

Measured on Unity Catalog 0.6.0; Spark's connector takes the suggested ones too. Asking the catalog
(`UnityCatalog.staged_features`) writes.
"""

_PAGE: Final = "50"
"""The largest page size that the listing of tables allows."""

_NOT_FOUND: Final = 404


class _Api(Protocol):
    def find(self, name: Name) -> CatalogTable: ...
    def storage(self, table: CatalogTable) -> Mapping[str, str]: ...
    def commits(self, table: CatalogTable) -> ManagedCommits: ...


def handles(uri: str) -> bool:
    """Whether the URI is that of an HTTP server."""
    return urlsplit(uri).scheme in {"http", "https"}


def open_catalog(uri: str, token: str | None) -> UnityCatalog:
    """Return the catalog at a URI; the path is optional.

    Raises:
        ConfigError: The URI has a user, a password, a query or a fragment, or no host.
    """
    parts = urlsplit(uri)
    if "@" in parts.netloc or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(
            "catalog_uri must not contain a user, a password or a query",
            help=f"write https://host{PATH}, and give the token in catalog_token",
        )
    path = parts.path.rstrip("/") or PATH
    return UnityCatalog(Client(f"{parts.scheme}://{parts.netloc}{path}", token))


@dataclass(frozen=True, slots=True)
class UnityCatalog:
    """A Unity Catalog server."""

    client: Client
    _endpoints: dict[str, frozenset[str]] = field(default_factory=dict, init=False)

    @property
    def created_features(self) -> frozenset[str]:
        """The features of each managed table."""
        return _CREATED

    def staged_features(self, name: Name) -> frozenset[str] | None:
        """Stage a table, and return its features; only the Delta API tells them.

        Raises:
            LiveError: The token does not allow to create the table, or there is no answer.
        """
        if STAGE_TABLE not in self._endpoints_of(name[0]):
            return None
        try:
            return DeltaApi(self.client).staged_features(name)
        except HttpError as error:
            if error.reason != _TABLE_EXISTS:
                raise
            return None

    def find(self, name: Name) -> CatalogTable:
        """Return the catalog's entry for a table.

        Raises:
            NoTable: The schema exists, but the table does not.
            LiveError: There is no such schema or catalog, no permission, or no answer.
        """
        if invalid := [part for part in name if "." in part or "/" in part]:
            raise LiveError(f"{invalid[0]!r}: a name in Unity Catalog must not contain dots or slashes")
        try:
            return self._request(name, lambda api: api.find(name))
        except HttpError as error:
            raise self._missing(name, error) from None

    def tables(self, match: Name) -> Iterator[str]:
        """Yield the full names of the Delta tables that match, ignoring case."""
        for catalog in self._names("catalogs", {}, match[0]):
            for schema in self._names("schemas", {"catalog_name": catalog}, match[1]):
                parent = {"catalog_name": catalog, "schema_name": schema}
                for table in self._list("tables", parent):
                    name = table.optional("name", str) or ""
                    if _matches(name, match[2]) and is_delta(table):
                        yield format_path((catalog, schema, name))

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """Return temporary read-only credentials for a table.

        Raises:
            NoCredentials: The catalog has none for this table, or the token may not have them.
        """
        try:
            return self._request(parts_of(table), lambda api: api.storage(table))
        except HttpError as error:
            raise NoCredentials(error.message, help=error.help) from None

    def commits(self, table: CatalogTable) -> ManagedCommits:
        """Return the ratified commits of a catalog-managed table."""
        return self._request(parts_of(table), lambda api: api.commits(table))

    def refresh(self, table: LiveTable) -> None:
        """Bring the entry of an external table up to date, through the Delta API.

        Spark's connector does not: Delta 4.4 sends a catalog no columns after ALTER TABLE of such a table.
        The commits of a catalog-managed table contain them.

        Raises:
            LiveError: The token does not allow it, another client changed the entry, or there is no answer.
        """
        entry = table.catalog
        if entry is not None and not entry.managed_commits:
            name = parts_of(entry)
            if UPDATE_TABLE in self._endpoints_of(name[0]):
                DeltaApi(self.client).refresh(name, table)

    def _request(self, name: Name, request: Callable[[_Api], T]) -> T:
        if LOAD_TABLE in self._endpoints_of(name[0]):
            try:
                return request(DeltaApi(self.client))
            except HttpError as error:
                if error.reason != _NOT_OF_DELTA_API:
                    raise
        return request(ClassicApi(self.client))

    def _endpoints_of(self, catalog: str) -> frozenset[str]:
        if catalog not in self._endpoints:
            self._endpoints[catalog] = DeltaApi(self.client).endpoints(catalog)
        return self._endpoints[catalog]

    def _missing(self, name: Name, error: HttpError) -> LiveError:
        """Find out whether the table, its schema or its catalog is missing.

        A 404 with another reason proves nothing: any web server sends it.
        """
        if error.status != _NOT_FOUND or error.reason not in _NO_TABLE | _NO_PARENT:
            return error
        for kind, path in (("catalog", name[:1]), ("schema", name[:2])):
            if not self._exists(f"{kind}s", ".".join(path)):
                return LiveError(
                    f"{self.client.host}: there is no {kind} {format_path(path)}",
                    help=f"schemalint does not create a {kind}: look for a spelling mistake.",
                )
        return NoTable(f"{self.client.host}: there is no table {format_path(name)}")

    def _exists(self, kind: str, name: str) -> bool:
        try:
            self.client.get((kind, name))
        except HttpError as error:
            if error.status != _NOT_FOUND:
                raise
            return False
        return True

    def _names(self, kind: str, parent: Mapping[str, str], match: str) -> Iterator[str]:
        """Yield the names that match a glob; a plain name needs no listing."""
        if not any(char in match for char in "*?["):
            yield match
            return
        for entry in self._list(kind, parent):
            name = entry.optional("name", str) or ""
            if _matches(name, match):
                yield name

    def _list(self, kind: str, parent: Mapping[str, str]) -> Iterator[JsonObject]:
        """Yield the entries of all pages; the last page may be empty (measured on Unity Catalog 0.6.0)."""
        query = {**parent, "max_results": _PAGE}
        seen: set[str] = set()
        while True:
            page = self.client.get((kind,), query)
            yield from page.objects(kind)
            token = page.optional("next_page_token", str)
            if not token:
                return
            if token in seen:
                raise LiveError(f"{self.client.host}: the list of {kind} repeats a page")
            seen.add(token)
            if len(seen) > limits.MAX_PAGES:
                raise LiveError(
                    f"{self.client.host}: the list of {kind} has more than {limits.MAX_PAGES:,} pages"
                )
            query["page_token"] = token


def _matches(name: str, match: str) -> bool:
    return bool(name) and fnmatchcase(name.lower(), match.lower())
