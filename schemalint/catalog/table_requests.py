"""Resolve the tables that a command names, by location or by name, and read them."""

from __future__ import annotations

import datetime as dt
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemalint import git
from schemalint.catalog.table_location import (
    absolute_location,
    choose_target,
    require_reachable,
    table_location,
)
from schemalint.config.trust import Trusted, TrustedTarget, given_target, resolve_storage
from schemalint.delta.path import format_path, split_path
from schemalint.delta_log.store import NoTable
from schemalint.errors import LiveError, SchemalintError, UsageError
from schemalint.model.contract import Contract, table_key
from schemalint.storage import NO_OPTIONS, is_path_or_uri, parse_reference, read_many, read_table
from schemalint.storage.requests import concurrently
from schemalint.table_json import TableDocument, TableFailure
from schemalint.values import field, frozen, replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from schemalint.catalog import Catalog, NamingCatalog
    from schemalint.contract.revisions import Declarations
    from schemalint.delta.table import LiveTable
    from schemalint.git import Repository

_BATCH_SIZE: Final = 64
"""Tables that are read, and held in memory, together."""


@frozen
class TableRequest:
    """A table to read.

    Attributes:
        uri: The table's location; its full name if a catalog knows the location.
        table: The table's name, if it is known.
        version: The version to read; None means the latest, or the one at `at`.
        at: An instant in milliseconds since the epoch.
        storage: The settings that open its store.
        target: The name of the target in which it was looked up.
        catalog: The target whose catalog knows the table.
        contract: The contract that declares the table, effective for the target.
        via: The catalogs of a running Spark session.
        error: Why the location is unknown.
    """

    uri: str
    table: str | None = None
    version: int | None = None
    at: int | None = None
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)
    target: str | None = None
    catalog: TrustedTarget | None = None
    contract: Contract | None = None
    via: Catalog | None = field(default=None, repr=False)
    error: LiveError | None = None

    @property
    def is_latest(self) -> bool:
        """Whether the request is for the latest version."""
        return self.error is None and self.version is None and self.at is None


@frozen
class Environment:
    """A target, and the repository whose contracts declare its tables.

    Attributes:
        settings: The configuration that counts.
        target: One of its targets.
        repository: The repository, None without one.
        via: The catalogs of a running Spark session.
    """

    settings: Trusted
    target: TrustedTarget
    repository: Repository | None
    via: Catalog | None = field(default=None, repr=False)

    @property
    def folder(self) -> Path:
        """The folder that relative roots start from."""
        return self.repository.root if self.repository else Path.cwd()

    @property
    def storage(self) -> Mapping[str, str]:
        """The settings that open the target's stores, with resolved values."""
        return resolve_storage(self.target)

    def declared(self) -> Declarations:
        """Return the contracts of the working tree that are not absent in the target."""
        from schemalint import contract as contracts  # noqa: PLC0415 (only to look up names)
        from schemalint.contract.revisions import Declarations, contracts_at  # noqa: PLC0415

        if self.repository is None:
            return Declarations({})
        found = contracts_at(self.repository, git.Worktree(), self.settings.config.contracts)
        effective = {
            key: contracts.effective(contract, self.target.name) for key, contract in found.contracts.items()
        }
        present = {key: contract for key, contract in effective.items() if not contract.absent}
        return Declarations(present, found.errors)

    def request_for(self, contract: Contract) -> TableRequest:
        """Return the request for a declared table."""
        if contract.location is None and self.target.catalog is not None:
            return replace(self.request_by_name(contract.table), contract=contract)
        uri = table_location(contract, self.target, self.folder)
        return TableRequest(
            uri, contract.table, storage=self.storage, target=self.target.name, contract=contract
        )

    def root(self) -> str | None:
        """Return the absolute location of the target's root; None if it has no root."""
        root = self.target.root
        return None if root is None else absolute_location(root, self.folder)

    def request_by_name(self, name: str) -> TableRequest:
        """Return the request for a table in the target's catalog."""
        from schemalint import catalog  # noqa: PLC0415 (only for targets with a catalog)

        full_name = catalog.full_name(name, self.target)
        return TableRequest(full_name, name, target=self.target.name, catalog=self.target, via=self.via)


def open_environment(
    repository: Repository | None, settings: Trusted, target_name: str | None, via: Catalog | None = None
) -> Environment | None:
    """Return the environment of a target; None without a target name.

    Raises:
        UsageError: There is no such target.
        LiveError: The target's local root does not exist.
    """
    if target_name is None:
        return None
    if repository is None and not settings.targets:
        raise UsageError(
            f"target {target_name} is unknown: this is not a git repository",
            help="run the command inside the project that configures the target, or give --config",
        )
    environment = Environment(settings, choose_target(settings, target_name), repository, via)
    require_reachable(environment.target, environment.folder)
    return environment


def table_requests(
    references: Sequence[str], where: Environment | None, via: NamingCatalog | None = None
) -> list[TableRequest]:
    """Resolve references: paths, URIs and names.

    With a target, names are those of declared tables and of its catalog; without one, those of the Spark
    session. The request keeps the error of an unknown name, and of a contract without a location in the
    target, so that the other tables are still read.

    Raises:
        SchemalintError: The contracts cannot be read, or a version or instant is invalid.
    """
    declared = where.declared() if where else None
    requests = []
    for reference in references:
        parsed = parse_reference(reference, lambda table: Path(table).is_dir())
        try:
            if where and declared:
                request = _resolve_in_target(parsed.table, where, declared)
            else:
                request = _resolve_in_session(parsed.table, via)
        except SchemalintError as error:
            failure = LiveError(error.message, help=error.help, location=error.location)
            request = TableRequest(parsed.table, target=where.target.name if where else None, error=failure)
        requests.append(replace(request, version=parsed.version, at=parsed.at))
    return requests


def read_tables(
    requests: Sequence[TableRequest], *, history: bool = True
) -> Iterator[TableDocument | TableFailure]:
    """Read tables in batches, in their order; a table that fails does not stop the others."""
    for start in range(0, len(requests), _BATCH_SIZE):
        batch = requests[start : start + _BATCH_SIZE]
        results = _read_batch(batch, history=history)
        read_at = dt.datetime.now(tz=dt.UTC)
        for request, result in zip(batch, results, strict=True):
            yield _document(request, result, read_at)


def _resolve_in_target(reference: str, where: Environment, found: Declarations) -> TableRequest:
    declared = found.contracts
    if (contract := declared.get(table_key(reference))) is not None:
        return where.request_for(contract)
    if is_path_or_uri(reference):
        return TableRequest(reference, storage=where.storage)
    found.require_complete()
    if where.target.catalog is not None:
        return where.request_by_name(reference)
    close = get_close_matches(table_key(reference), declared, n=1)
    hint = f"did you mean {declared[close[0]].table}?" if close else "give a path, a URI or a declared name"
    raise UsageError(f"no contract declares {reference} in target {where.target.name}", help=hint)


def _resolve_in_session(reference: str, via: NamingCatalog | None) -> TableRequest:
    if via is None or is_path_or_uri(reference):
        return TableRequest(reference)
    catalog, *name = split_path(via.full_name(reference))
    return TableRequest(
        format_path((catalog, *name)), reference, catalog=given_target("", catalog=catalog), via=via
    )


def _read_batch(batch: Sequence[TableRequest], *, history: bool) -> list[LiveTable | LiveError]:
    """Read latest versions concurrently, by location and by name; read other versions one by one."""
    by_location = [request for request in batch if request.is_latest and request.catalog is None]
    storage = by_location[0].storage if by_location else NO_OPTIONS
    located = iter(read_many([request.uri for request in by_location], history=history, storage=storage))
    by_name = [request for request in batch if request.is_latest and request.catalog]
    named = iter(concurrently(partial(_read_or_error, history=history), by_name))
    return [
        next(named if request.catalog else located)
        if request.is_latest
        else _read_or_error(request, history=history)
        for request in batch
    ]


def _read_or_error(request: TableRequest, *, history: bool) -> LiveTable | LiveError:
    if request.error is not None:
        return request.error
    uri, version, at = request.uri, request.version, request.at
    try:
        if request.catalog is not None:
            from schemalint import catalog  # noqa: PLC0415 (only for targets with a catalog)

            return catalog.read(uri, request.catalog, request.via, version=version, at=at, history=history)
        return read_table(uri, version=version, at=at, history=history, storage=request.storage)
    except LiveError as error:
        return error


def _document(
    request: TableRequest, result: LiveTable | LiveError, read_at: dt.datetime
) -> TableDocument | TableFailure:
    if isinstance(result, LiveError):
        return TableFailure(
            request.uri,
            result.message,
            read_at,
            result.help,
            request.table,
            request.target,
            isinstance(result, NoTable),
        )
    return TableDocument(result, read_at, request.table, request.target, request.is_latest)
