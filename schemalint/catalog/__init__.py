"""Tables by name: one module per kind of catalog, found by walking this package.

Such a module has two functions: ``handles(uri) -> bool`` and ``open_catalog(uri, token) -> Catalog``.
Modules with a leading underscore are helpers. A catalog is only ever read.
"""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias, cast

from schemalint import config, live
from schemalint.catalog._ratified import RatifiedLog
from schemalint.config.storage import may_stand_open
from schemalint.delta_log.reader import POSSIBLY_STALE, read_table
from schemalint.delta_log.store import NoTable
from schemalint.errors import ConfigError, LiveError
from schemalint.live import path as local
from schemalint.live._requests import concurrently
from schemalint.model.path import dotted, split
from schemalint.model.table import CatalogTable, LiveTable

if TYPE_CHECKING:
    from schemalint.delta_log.store import LogStore

Name: TypeAlias = tuple[str, str, str]
"""Catalog, schema and table."""

CATALOG_MANAGED: Final = "catalogManaged"

_VARIABLE: Final = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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

    def commits(self, table: CatalogTable) -> ManagedCommits:
        """Of a catalog-managed table."""


class CatalogKind(Protocol):
    """What a module of this package is."""

    def handles(self, uri: str) -> bool:
        """Whether the address is of this kind of catalog."""

    def open_catalog(self, uri: str, token: str | None) -> Catalog:
        """The catalog; nothing is asked of it yet."""


class Place(NamedTuple):
    """Where the catalog has a table, and what opens that place for `schemalint.live`."""

    uri: str
    storage: Mapping[str, str]
    table: CatalogTable


def full_name(name: str, target: config.Target) -> str:
    """The name in the target's catalog: ``sales.orders`` is ``main.sales.orders`` there.

    Raises:
        ConfigError: The name has one part only, or names another catalog.
    """
    return dotted(_parts(name, target))


def resolve(name: str, target: config.Target) -> Place:
    """Where a table lies; `read` is what reads it, because a catalog may have commits of its own.

    Raises:
        NoTable: The catalog has no such table.
        ConfigError: The target has no catalog, or the name is none of it.
        LiveError: The catalog gives no answer.
    """
    catalog = open_catalog(target)
    return _place(catalog, catalog.find(_parts(name, target)), target)


def read(
    name: str,
    target: config.Target,
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
    catalog = open_catalog(target)
    place = _place(catalog, catalog.find(_parts(name, target)), target)
    log = live.open_store(place.uri, place.storage)
    try:
        return _read(catalog, place.table, partial(read_table, version=version, at=at, history=history), log)
    except NoTable as error:
        raise LiveError(
            f"{place.table.catalog} has {place.table.name} at {place.uri}, and no Delta table is there",
            help="The table's files are gone, or its registration is stale.",
        ) from error


def read_many(names: Iterable[str], target: config.Target) -> tuple[LiveTable | LiveError, ...]:
    """Read the latest version of many tables at the same time.

    Returns:
        For each name, in their order, the table, or why it could not be read: `NoTable` if there is none.

    Raises:
        ConfigError: The target has no catalog, or a name is none of it.
    """
    return tuple(concurrently(lambda name: _read_or_error(name, target), names))


def tables(match: str, target: config.Target) -> Iterator[str]:
    """The full names of the Delta tables of the target's catalog that a glob fits.

    Args:
        match: A glob for each part. Two parts are schema and table; one is a schema, with all its tables.
        target: Where to look.

    Raises:
        ConfigError: The target has no catalog, or the glob is none of it.
        LiveError: The catalog gives no answer.
    """
    parts = match.split(".")
    yield from open_catalog(target).tables(_parts(match if len(parts) > 1 else f"{match}.*", target))


def open_catalog(target: config.Target) -> Catalog:
    """The target's catalog.

    Raises:
        ConfigError: The target has none, or its kind is not known, or its token is not in the environment.
    """
    if target.catalog_uri is None:
        raise ConfigError(
            f"target {target.name} does not say where catalog {target.catalog} answers",
            help=f'targets.{target.name}.catalog_uri = "https://host/api/2.1/unity-catalog"',
        )
    return _opened(target.catalog_uri, _token(target))


@lru_cache(maxsize=8)
def _opened(uri: str, token: str | None) -> Catalog:
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        kind = cast("CatalogKind", import_module(f"{__name__}.{module.name}"))
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
    try:
        parts = split(name)
    except ValueError as error:
        raise ConfigError(f"{name!r} is no name of a table: {error}") from None
    match parts:
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


def _read_or_error(name: str, target: config.Target) -> LiveTable | LiveError:
    try:
        return read(name, target)
    except LiveError as error:
        return error


def _place(catalog: Catalog, table: CatalogTable, target: config.Target) -> Place:
    if local.handles(table.location):
        return Place(table.location, {}, table)
    handed = catalog.storage(table)
    if handed:  # then the target says where and how the store is asked, and nothing that opens it
        kept = {key: value for key, value in target.storage.items() if may_stand_open(key, value)}
        target = replace(target, storage=kept)
    return Place(table.location, {**config.resolve_storage(target), **handed}, table)


def _read(
    catalog: Catalog, found: CatalogTable, read_log: Callable[[LogStore], LiveTable], log: LogStore
) -> LiveTable:
    if not found.managed_commits:
        table = read_log(log)
        if CATALOG_MANAGED not in table.protocol.features:
            return replace(table, catalog=found)
        # The log knows better what the table is: a catalog keeps what clients once sent.
        found = replace(found, managed_commits=True)
    ratified = RatifiedLog(log, catalog.commits(found))
    table = read_log(ratified)
    warnings = tuple(one for one in table.warnings if one != POSSIBLY_STALE)
    return replace(table, catalog=found, warnings=warnings)
