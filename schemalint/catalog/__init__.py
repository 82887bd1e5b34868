"""Tables by name. Each kind of catalog is a module of `schemalint.catalog.kinds`; see `CatalogKind`.

A catalog is only ever read.

A catalog without an address is known to a running Spark session alone: whoever has one hands it down, as
``via`` (`schemalint.spark.catalog`).
"""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias, cast

from schemalint import config
from schemalint.catalog.ratified import RatifiedLog
from schemalint.config.storage import may_stand_open
from schemalint.delta.path import format_path, split_path
from schemalint.delta.table import CatalogTable, LiveTable
from schemalint.delta_log.reader import POSSIBLY_STALE, read_table
from schemalint.delta_log.store import NoTable
from schemalint.errors import ConfigError, LiveError
from schemalint.storage import is_remote, open_store
from schemalint.storage.requests import concurrently
from schemalint.values import frozen, replace

if TYPE_CHECKING:
    from schemalint.delta_log.store import LogStore, TableStore

Name: TypeAlias = tuple[str, str, str]
"""Catalog, schema and table."""

CATALOG_MANAGED: Final = "catalogManaged"

SESSION_CATALOG: Final = "spark_catalog"
"""Spark's name for the catalog that every session has: a Hive metastore, or one in memory."""

_VARIABLE: Final = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")


@frozen
class StagedCommit:
    """A commit that counts, and is not in the log under its version yet.

    Attributes:
        file: Its name below ``_delta_log/_staged_commits``.
        size: In bytes.
        modified_ms: Milliseconds since the epoch.
    """

    version: int
    file: str
    size: int = 0
    modified_ms: int | None = None


@frozen
class ManagedCommits:
    """Which commits of a catalog-managed table count (PROTOCOL.md, "Catalog-managed tables").

    Attributes:
        latest: The newest version that counts; None if the catalog does not say.
        staged: Those that a listing of the log does not show.
    """

    latest: int | None
    staged: tuple[StagedCommit, ...] = ()


class Catalog(Protocol):
    """A catalog of tables; every method raises `LiveError` if it gets no answer."""

    def find(self, name: Name) -> CatalogTable:
        """What the catalog says of a table; `NoTable` if it clearly says that there is none."""

    def tables(self, match: Name) -> Iterator[str]:
        """The full names of the Delta tables that fit, by a glob for each part."""

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """What opens the table's place for reading, by obstore's keys; empty if nothing is handed out."""

    def commits(self, table: CatalogTable) -> ManagedCommits | None:
        """Of a catalog-managed table; None if this catalog lists none to us."""


class NamingCatalog(Catalog, Protocol):
    """A catalog that completes names as a running session does."""

    def full_name(self, reference: str) -> str:
        """The name with its catalog and schema."""


class CatalogKind(Protocol):
    """What a module of `schemalint.catalog.kinds` is."""

    def handles(self, uri: str) -> bool:
        """Whether the address is of this kind of catalog."""

    def open_catalog(self, uri: str, token: str | None) -> Catalog:
        """The catalog; nothing is asked of it yet."""


class OpenedTable(NamedTuple):
    """A table as it is read.

    Attributes:
        store: Its log with the commits that count, and its data files.
        storage: What opened its place, for data files that lie in other places.
    """

    store: TableStore
    storage: Mapping[str, str]
    table: CatalogTable


def full_name(name: str, target: config.Target) -> str:
    """The name in the target's catalog: ``sales.orders`` is ``main.sales.orders`` there.

    Raises:
        ConfigError: The name has one part only, or names another catalog.
    """
    return format_path(_parts(name, target))


def by_session(target: config.Target) -> config.Target:
    """The target as a Spark session finds its tables: whatever else its catalog answers to is not asked.

    Where neither a catalog nor a root says where tables lie, they are in the catalog that every session has.
    """
    catalog = SESSION_CATALOG if target.catalog is None and target.root is None else target.catalog
    return replace(target, catalog=catalog, catalog_uri=None, catalog_token=None)


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a name as SQL writes it.

    Raises:
        ConfigError: A back-quote is not closed, or a part is empty.
    """
    try:
        return split_path(name)
    except ValueError as error:
        raise ConfigError(f"{name!r} is no name of a table: {error}") from None


def find(name: str, target: config.Target, via: Catalog | None = None) -> CatalogTable:
    """What the catalog says of a table, without what opens its place.

    Raises:
        NoTable: The catalog has no such table.
        ConfigError: The target has no catalog, or the name is none of it.
        LiveError: The catalog gives no answer.
    """
    return open_catalog(target, via).find(_parts(name, target))


def read(
    name: str,
    target: config.Target,
    via: Catalog | None = None,
    *,
    version: int | None = None,
    at: int | None = None,
    history: bool = True,
) -> LiveTable:
    """Read a table by its name, as `schemalint.delta_log.reader.read_table` does.

    Of a catalog-managed table the catalog says which commits count. Of any other the log is the truth: the
    catalog may keep columns and properties from long ago (measured on Unity Catalog 0.6.0).

    Raises:
        NoTable: The catalog has no such table.
        ConfigError: The target has no catalog, or the name is none of it.
        LiveError: The catalog gives no answer, or the table's log cannot be read.
    """
    catalog = open_catalog(target, via)
    found = catalog.find(_parts(name, target))
    opened = _opened_table(catalog, found, target)
    try:
        return _read(catalog, opened, partial(read_table, version=version, at=at, history=history))
    except NoTable as error:
        raise LiveError(
            f"{found.catalog} has {found.name} at {found.location}, and no Delta table is there",
            help="The table's files are gone, or its registration is stale.",
        ) from error


def storage_for(catalog: Catalog, table: CatalogTable, target: config.Target) -> Mapping[str, str]:
    """What opens a table's place for `schemalint.storage`: what the catalog hands out, else the target's own.

    Raises:
        LiveError: The catalog gives no answer.
    """
    if not is_remote(table.location):
        return {}
    handed = catalog.storage(table)
    if handed:  # then the target says where and how the store is asked, and nothing that opens it
        kept = {key: value for key, value in target.storage.items() if may_stand_open(key, value)}
        target = replace(target, storage=kept)
    return {**config.resolve_storage(target), **handed}


def open_table(table: CatalogTable, target: config.Target) -> OpenedTable:
    """The log and the data files of a table that was read, to read more of the same version.

    A commit that counted then still does: the catalog takes none back.

    Args:
        table: Of `LiveTable.catalog`.
        target: Where it was read.

    Raises:
        LiveError: The catalog gives no answer.
    """
    return _opened_table(open_catalog(target), table, target)


def read_many(
    names: Iterable[str], target: config.Target, via: Catalog | None = None
) -> tuple[LiveTable | LiveError, ...]:
    """Read the latest version of many tables at the same time.

    Returns:
        For each name, in their order, the table, or why it could not be read: `NoTable` if there is none.

    Raises:
        ConfigError: The target has no catalog, or a name is none of it.
    """
    return tuple(concurrently(lambda name: _read_or_error(name, target, via), names))


def tables(match: str, target: config.Target, via: Catalog | None = None) -> Iterator[str]:
    """The full names of the Delta tables of the target's catalog that a glob fits.

    Args:
        match: A glob for each part. Two parts are schema and table; one is a schema, with all its tables.
        target: Where to look.
        via: See `open_catalog`.

    Raises:
        ConfigError: The target has no catalog, or the glob is none of it.
        LiveError: The catalog gives no answer.
    """
    parts = match.split(".")
    yield from open_catalog(target, via).tables(_parts(match if len(parts) > 1 else f"{match}.*", target))


def open_catalog(target: config.Target, via: Catalog | None = None) -> Catalog:
    """The target's catalog.

    Args:
        target: The environment.
        via: What a running session knows: asked if the target does not say where its catalog answers.

    Raises:
        ConfigError: The target has none, or its kind is not known, or its token is not in the environment.
    """
    if target.catalog_uri is not None:
        return _opened(target.catalog_uri, _token(target))
    if via is not None:
        return via
    uri = f'targets.{target.name}.catalog_uri = "https://host/api/2.1/unity-catalog"'
    raise ConfigError(
        f"target {target.name} does not say where catalog {target.catalog} answers",
        help="--via spark asks a Spark session"
        + ("" if target.catalog == SESSION_CATALOG else f", or: {uri}"),
    )


@lru_cache(maxsize=8)
def _opened(uri: str, token: str | None) -> Catalog:
    from schemalint.catalog import kinds  # noqa: PLC0415 (they build on this module)

    for module in pkgutil.iter_modules(kinds.__path__):
        kind = cast("CatalogKind", import_module(f"{kinds.__name__}.{module.name}"))
        if kind.handles(uri):
            return kind.open_catalog(uri, token)
    raise ConfigError(
        f"{uri!r} is no address of a catalog that this version of schemalint knows",
        help="Unity Catalog answers at https://host/api/2.1/unity-catalog",
    )


def _token(target: config.Target) -> str | None:
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
            f"the environment variable {match['name']} is not set: it opens the catalog of {target.name}",
            help=f"export {match['name']}=…",
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigError(f"what is in the environment variable {match['name']} cannot be a token")
    return token


def _parts(name: str, target: config.Target) -> Name:
    if target.catalog is None:
        raise ConfigError(f"target {target.name} has no catalog", help=f"set targets.{target.name}.catalog")
    match name_parts(name):
        case (schema, table):
            return target.catalog, schema, table
        case (catalog, schema, table) if catalog.casefold() == target.catalog.casefold():
            return target.catalog, schema, table
        case (catalog, _, _):
            raise ConfigError(
                f"{name} is in catalog {catalog}, and target {target.name} has catalog {target.catalog}",
                help="name the table without its catalog: each target has its own",
            )
    raise ConfigError(f"{name} cannot be found in a catalog", help="name it as schema.table")


def _read_or_error(name: str, target: config.Target, via: Catalog | None) -> LiveTable | LiveError:
    try:
        return read(name, target, via)
    except LiveError as error:
        return error


def _opened_table(catalog: Catalog, found: CatalogTable, target: config.Target) -> OpenedTable:
    storage = storage_for(catalog, found, target)
    opened = OpenedTable(open_store(found.location, storage), storage, found)
    return (_ratified(catalog, opened) or opened) if found.managed_commits else opened


def _ratified(catalog: Catalog, opened: OpenedTable) -> OpenedTable | None:
    found = replace(opened.table, managed_commits=True)
    commits = catalog.commits(found)
    return None if commits is None else OpenedTable(RatifiedLog(opened.store, commits), opened.storage, found)


def _read(catalog: Catalog, opened: OpenedTable, read_log: Callable[[LogStore], LiveTable]) -> LiveTable:
    table = read_log(opened.store)
    if opened.table.managed_commits:
        warnings = tuple(one for one in table.warnings if one != POSSIBLY_STALE)
        return replace(table, catalog=opened.table, warnings=warnings)
    # The log knows better what the table is: a catalog keeps what clients once sent.
    ratified = _ratified(catalog, opened) if CATALOG_MANAGED in table.protocol.features else None
    return replace(table, catalog=opened.table) if ratified is None else _read(catalog, ratified, read_log)
