"""Catalogs find tables by name. A kind is a module of `schemalint.tables.catalog.kinds`; see `CatalogKind`.

schemalint only reads catalogs; only `staged_features` and `refresh`, which `apply` calls, write.

Only a running Spark session knows a catalog without a URI; the caller passes such a session as ``via``
(`schemalint.spark.session_catalog`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Final, NamedTuple, Protocol, TypeAlias

from schemalint.base.credentials import StoreSettings, has_credentials, may_carry_secrets
from schemalint.base.errors import ConfigError, InternalError, LiveError
from schemalint.base.modules import module_names, module_of
from schemalint.base.values import frozen, replace
from schemalint.delta.feature import CATALOG_MANAGED
from schemalint.delta.path import format_path, split_path
from schemalint.delta.table import CatalogTable, LiveTable
from schemalint.project.config import Target
from schemalint.project.config.trust import SESSION_CATALOG, TrustedTarget, resolve_storage
from schemalint.tables.catalog.ratified_log import RatifiedLog
from schemalint.tables.delta_log.store import NoTable, TableStore
from schemalint.tables.delta_log.table_reader import POSSIBLY_STALE, read_table
from schemalint.tables.storage import is_remote, open_store

Name: TypeAlias = tuple[str, str, str]
"""Catalog, schema and table."""

_VARIABLE: Final = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")


@frozen
class StagedCommit:
    """A commit that the catalog has ratified, and that may not be published in the log yet.

    Attributes:
        file: The file name in ``_delta_log/_staged_commits``.
        size: The file's size in bytes.
        modified_ms: Milliseconds since the epoch.
    """

    version: int
    file: str
    size: int = 0
    modified_ms: int | None = None


@frozen
class ManagedCommits:
    """The ratified commits of a catalog-managed table (PROTOCOL.md, "Catalog-managed tables").

    Attributes:
        latest: The newest ratified version; None if the catalog does not state it.
        staged: Commits that a listing of the log does not show.
    """

    latest: int | None
    staged: tuple[StagedCommit, ...] = ()


class NoCredentials(LiveError):  # noqa: N818 (as NoTable: an answer)
    """The catalog answers, but gives no credentials for a table."""


class Catalog(Protocol):
    """A catalog of tables; every method raises `LiveError` if the catalog does not answer."""

    @property
    def created_features(self) -> frozenset[str]:
        """The features that the catalog adds to each table that is created in it without a location."""

    def staged_features(self, name: Name) -> frozenset[str] | None:
        """Stage a new table, which writes, and return the features that the catalog asks for.

        None if the catalog does not tell them, or has a table of this name.
        """

    def find(self, name: Name) -> CatalogTable:
        """Return the catalog's entry for a table; raise `NoTable` if there certainly is none."""

    def tables(self, match: Name) -> Iterator[str]:
        """Yield the full names of the Delta tables that match one glob per name part."""

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """Return read credentials for the table's location, by obstore's keys; empty if there are none.

        Raises:
            NoCredentials: The catalog refuses to give any.
        """

    def commits(self, table: CatalogTable) -> ManagedCommits | None:
        """Return the commits of a catalog-managed table; None if this catalog does not list them."""

    def refresh(self, table: LiveTable) -> None:
        """Bring the entry of a table to what its log says, which writes, if it contradicts the log.

        This does nothing if each commit does it, or if the catalog has no request for it.
        """


class NamingCatalog(Catalog, Protocol):
    """A catalog that resolves names like a running session."""

    def full_name(self, reference: str) -> str:
        """Return the name with its catalog and schema."""


class CatalogKind(Protocol):
    """The interface of a module in `schemalint.tables.catalog.kinds`."""

    def handles(self, uri: str) -> bool:
        """Whether the URI belongs to this kind of catalog."""

    def open_catalog(self, uri: str, token: str | None) -> Catalog:
        """Return the catalog; this sends no request yet."""


class OpenedTable(NamedTuple):
    """A table that is open for reading.

    Attributes:
        open_store: Opens the log with the ratified commits, and the data files.
        storage: The settings that opened its location; data files elsewhere need them too.
        table: The catalog's entry.
    """

    open_store: Callable[[], TableStore]
    storage: Mapping[str, str]
    table: CatalogTable

    @property
    def store(self) -> TableStore:
        """The log and the data files, opened."""
        return self.open_store()


def full_name(name: str, target: Target) -> str:
    """Return the name with the target's catalog: ``sales.orders`` becomes ``main.sales.orders``.

    Raises:
        ConfigError: The name has only one part, or contains another catalog.
    """
    return format_path(_parts(name, target))


def name_parts(name: str) -> tuple[str, ...]:
    """Split a name in SQL syntax into its parts.

    Raises:
        ConfigError: A back-quote is not closed, or a part is empty.
    """
    try:
        return split_path(name)
    except ValueError as error:
        raise ConfigError(f"{name!r} is not a valid table name: {error}") from None


def find(name: str, target: TrustedTarget, via: Catalog | None = None) -> CatalogTable:
    """Return the catalog's entry for a table, without credentials for its location.

    Raises:
        NoTable: The catalog has no such table.
        ConfigError: The target has no catalog, or the name does not belong to it.
        LiveError: The catalog does not answer.
    """
    return open_catalog(target, via).find(_parts(name, target))


def staged_features(name: str, target: TrustedTarget, via: Catalog | None = None) -> frozenset[str] | None:
    """Stage a table by its name; see `Catalog.staged_features`.

    Raises:
        ConfigError: The target has no catalog, or the name does not belong to it.
        LiveError: The catalog does not answer, or does not allow it.
    """
    return open_catalog(target, via).staged_features(_parts(name, target))


def read(
    name: str,
    target: TrustedTarget,
    via: Catalog | None = None,
    *,
    version: int | None = None,
    at: int | None = None,
    history: bool = True,
) -> LiveTable:
    """Read a table by its name; see `schemalint.tables.delta_log.table_reader.read_table`.

    For a catalog-managed table, the catalog decides which commits are part of the log. For any other table
    the log alone counts: the catalog may keep outdated columns and properties (measured on Unity Catalog
    0.6.0).

    Raises:
        NoTable: The catalog has no such table.
        ConfigError: The target has no catalog, or the name does not belong to it.
        LiveError: The catalog does not answer, or the table's log cannot be read.
    """
    catalog = open_catalog(target, via)
    entry = catalog.find(_parts(name, target))
    opened = _open_table(catalog, entry, target)
    try:
        return _read(catalog, opened, partial(read_table, version=version, at=at, history=history))
    except NoTable as error:
        raise LiveError(
            f"{entry.catalog} registers {entry.name} at {entry.location}, but no Delta table is there",
            help="The table's files were deleted, or its registration is stale.",
        ) from error


def storage_for(catalog: Catalog, table: CatalogTable, target: TrustedTarget) -> Mapping[str, str]:
    """Return the settings that open a table's location.

    Credentials in the target's `storage` count, and the catalog is not asked for any. Without some there, the
    catalog's credentials are added to the settings; if it gives none, those of the environment count, which
    a refusal of the catalog allows only to a target with `storage`.

    Raises:
        LiveError: The catalog does not answer, or refuses to give credentials.
    """
    if not is_remote(table.location):
        return {}
    own = resolve_storage(target)
    if has_credentials(own):
        return own
    block = f"targets.{target.name}.storage" if target.name else "a target's storage block"
    try:
        credentials = catalog.storage(table)
    except NoCredentials as error:
        if not own:
            raise LiveError(
                f"{table.name}: the catalog gives no credentials for {table.location}: {error.message}",
                help=f"{error.help} Or set the credentials, or at least the region, in {block}: "
                "then these and the environment's are used instead.".lstrip(),
            ) from None
        return StoreSettings(
            own,
            f"{own.origin}, since the catalog gives none ({error.message})",
            f"{error.help} {own.remedy}".lstrip(),
        )
    if not credentials:
        return StoreSettings(own, f"{own.origin}, since the catalog gives none", own.remedy)
    return StoreSettings(
        {**own, **credentials},
        "the credentials that the catalog gave",
        f"Credentials in {block} are used instead of the catalog's.",
    )


def open_table(table: CatalogTable, target: TrustedTarget) -> OpenedTable:
    """Open the log and the data files of a table again, to read more of the same version.

    The catalog never withdraws a ratified commit.

    Args:
        table: The value of `LiveTable.catalog`.
        target: The target that the table was read from.

    Raises:
        LiveError: The catalog does not answer.
    """
    return _open_table(open_catalog(target), table, target)


def tables(match: str, target: TrustedTarget, via: Catalog | None = None) -> Iterator[str]:
    """Yield the full names of the Delta tables in the target's catalog that match.

    Args:
        match: A glob for each name part: schema and table, or only a schema for all its tables.
        target: The target whose catalog is searched.
        via: See `open_catalog`.

    Raises:
        ConfigError: The target has no catalog, or the glob names another one.
        LiveError: The catalog does not answer.
    """
    parts = match.split(".")
    yield from open_catalog(target, via).tables(_parts(match if len(parts) > 1 else f"{match}.*", target))


def open_catalog(target: TrustedTarget, via: Catalog | None = None) -> Catalog:
    """Open the target's catalog.

    Args:
        target: The target.
        via: The catalogs of a running Spark session; used if the target has no `catalog_uri`.

    Raises:
        ConfigError: The target has no catalog URI, its kind is unknown, its token is not set in the
            environment, or the token would be sent without encryption.
    """
    if target.catalog_uri is not None:
        token = _token(target)
        if token is not None and not may_carry_secrets(target.catalog_uri):
            raise ConfigError(
                f"targets.{target.name}.catalog_uri is not https: the token would be sent without encryption",
                help="write https://; only a server on this machine may have http",
            )
        return _opened(target.catalog_uri, token)
    if via is not None:
        return via
    uri = f'targets.{target.name}.catalog_uri = "https://host/api/2.1/unity-catalog"'
    raise ConfigError(
        f"target {target.name} has no catalog_uri for catalog {target.catalog}",
        help="use a Spark session with --via spark"
        + ("" if target.catalog == SESSION_CATALOG else f", or set {uri}"),
    )


@lru_cache(maxsize=8)
def _opened(uri: str, token: str | None) -> Catalog:
    from schemalint.tables.catalog import kinds  # noqa: PLC0415 (its modules import this one)

    known = [module_of(kinds, name, CatalogKind) for name in module_names(kinds)]
    found = [kind for kind in known if kind.handles(uri)]
    if len(found) > 1:
        raise InternalError(f"{uri!r} is the URI of more than one kind of catalog")
    if found:
        return found[0].open_catalog(uri, token)
    raise ConfigError(
        f"{uri!r} is not the URI of a catalog that this version of schemalint knows",
        help="Unity Catalog has the URI https://host/api/2.1/unity-catalog",
    )


def _token(target: TrustedTarget) -> str | None:
    if target.catalog_token is None:
        return None
    match = _VARIABLE.fullmatch(target.catalog_token)
    if match is None:
        raise ConfigError(
            f"targets.{target.name}.catalog_token must be the name of an environment variable",
            help='write "${NAME}"',
        )
    token = os.environ.get(match["name"], "").strip()
    if not token:
        raise ConfigError(
            f"the environment variable {match['name']} is not set: it holds the catalog token "
            f"of {target.name}",
            help=f"export {match['name']}=…",
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigError(f"the value of the environment variable {match['name']} is not a valid token")
    return token


def _parts(name: str, target: Target) -> Name:
    if target.catalog is None:
        raise ConfigError(f"target {target.name} has no catalog", help=f"set targets.{target.name}.catalog")
    match name_parts(name):
        case (schema, table):
            return target.catalog, schema, table
        case (catalog, schema, table) if catalog.casefold() == target.catalog.casefold():
            return target.catalog, schema, table
        case (catalog, _, _):
            raise ConfigError(
                f"{name} is in catalog {catalog}, but target {target.name} has catalog {target.catalog}",
                help="name the table without its catalog: each target has its own catalog",
            )
    raise ConfigError(f"{name} is not a name in a catalog", help="name the table as schema.table")


def _open_table(catalog: Catalog, entry: CatalogTable, target: TrustedTarget) -> OpenedTable:
    storage = storage_for(catalog, entry, target)
    opened = OpenedTable(partial(open_store, entry.location, storage), storage, entry)
    if entry.managed_commits:
        return _ratified(catalog, opened) or opened
    return opened


def _ratified(catalog: Catalog, opened: OpenedTable) -> OpenedTable | None:
    """Return the table with its ratified commits; None if the catalog does not list them."""
    entry = replace(opened.table, managed_commits=True)
    commits = catalog.commits(entry)
    if commits is None:
        return None
    return OpenedTable(lambda: RatifiedLog(opened.store, commits), opened.storage, entry)


def _read(catalog: Catalog, opened: OpenedTable, read_log: Callable[..., LiveTable]) -> LiveTable:
    table = read_log(opened.store, reopen=opened.open_store)
    if opened.table.managed_commits:
        warnings = tuple(warning for warning in table.warnings if warning != POSSIBLY_STALE)
        return replace(table, catalog=opened.table, warnings=warnings)
    # The protocol in the log decides: the catalog's properties may be outdated.
    ratified = _ratified(catalog, opened) if CATALOG_MANAGED in table.protocol.features else None
    if ratified is None:
        return replace(table, catalog=opened.table)
    return _read(catalog, ratified, read_log)
