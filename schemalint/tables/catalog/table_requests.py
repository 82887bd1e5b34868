"""Resolve the tables that a command names, by location or by name, and read them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path

from schemalint.base.errors import LiveError, SchemalintError, UsageError
from schemalint.base.values import field, frozen, replace
from schemalint.contract.contract_files import contract_files, made_files
from schemalint.contract.contract_revisions import Declarations, contracts_at
from schemalint.contract.made_side import with_made_tables
from schemalint.delta.path import format_path, split_path
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Effective, Environment, effective
from schemalint.project import git
from schemalint.project.config.trust import Trusted, TrustedTarget, given_target, resolve_storage
from schemalint.project.git import Repository
from schemalint.tables import catalog
from schemalint.tables.catalog import Catalog, NamingCatalog
from schemalint.tables.catalog.table_location import (
    choose_target,
    is_found_by_name,
    require_reachable,
    table_location,
)
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import (
    NO_OPTIONS,
    TableReference,
    holds_files,
    is_path_or_uri,
    is_remote,
    parse_reference,
    read_table,
)
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers
from schemalint.tables.table_json import TableDocument, TableFailure


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
    contract: Effective | None = None
    via: Catalog | None = field(default=None, repr=False)
    error: LiveError | None = None

    @property
    def is_latest(self) -> bool:
        """Whether the request is for the latest version."""
        return self.error is None and self.version is None and self.at is None


@frozen
class TargetContracts:
    """A target, and the repository whose contracts declare its tables."""

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

    @cached_property
    def environment(self) -> Environment:
        """What counts for contracts in the target."""
        from schemalint.contract.consumers import environment  # noqa: PLC0415 (only with contracts)

        return environment(self.settings.config, target=self.target.name, engines=self.target.engines)

    @cached_property
    def declared(self) -> Declarations:
        """The tables that the working tree declares, in contracts and elsewhere, and that are not absent."""
        if self.repository is None:
            return Declarations({})
        config = self.settings.config
        declarations = contracts_at(self.repository, git.Worktree(), contract_files(config))
        if made_files(config):
            declarations = with_made_tables(self.repository, git.Worktree(), config, declarations)
        present = {
            key: contract
            for key, contract in declarations.contracts.items()
            if not effective(contract, self.environment).absent
        }
        return replace(declarations, contracts=present)

    def request_for(self, declared: Contract) -> TableRequest:
        """Return the request for a declared table."""
        contract = effective(declared, self.environment)
        if is_found_by_name(contract, self.target):
            return replace(self.request_by_name(contract.table), contract=contract)
        uri = table_location(contract, self.target, self.folder)
        return TableRequest(
            uri, contract.table, storage=self.storage, target=self.target.name, contract=contract
        )

    def request_by_name(self, name: str) -> TableRequest:
        """Return the request for a table in the target's catalog."""
        full_name = catalog.full_name(name, self.target)
        return TableRequest(full_name, name, target=self.target.name, catalog=self.target, via=self.via)


def open_target(
    repository: Repository | None, settings: Trusted, target_name: str | None, via: Catalog | None = None
) -> TargetContracts | None:
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
    environment = TargetContracts(settings, choose_target(settings, target_name), repository, via)
    require_reachable(environment.target, environment.folder)
    return environment


def table_requests(
    references: Sequence[str], where: TargetContracts | None, via: NamingCatalog | None = None
) -> list[TableRequest]:
    """Resolve references: paths, URIs and names.

    With a target, names are those of declared tables and of its catalog; without one, those of the Spark
    session. The request keeps the error of an unknown name, and of a contract without a location in the
    target, so that the other tables are still read.

    Raises:
        SchemalintError: The contracts cannot be read.
    """
    declared = where.declared if where else None
    requests = []
    for reference in references:
        parsed = TableReference(reference)
        try:
            parsed = parse_reference(reference, partial(_exists, where))
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
    requests: Sequence[TableRequest], *, history: bool = True, workers: TableWorkers = SIDE_BY_SIDE
) -> Iterator[TableDocument | TableFailure]:
    """Read tables side by side, in their order; a table that fails does not stop the others."""

    def read(request: TableRequest) -> TableDocument | TableFailure:
        return _document(request, _read_or_error(request, history=history), dt.datetime.now(tz=dt.UTC))

    overlap = any(request.catalog is not None or is_remote(request.uri) for request in requests)
    workers = workers if overlap else replace(workers, jobs=1)
    return workers.stream("reading", read, requests, lambda request: request.table or request.uri)


def _exists(where: TargetContracts | None, table: str) -> bool:
    """Whether a path or URI that ends like a version exists as it is written: Delta takes it literally then.

    An empty folder exists too (measured on Delta 4.4.0: DELTA_TABLE_NOT_FOUND, although the version exists).
    """
    if not is_path_or_uri(table):
        return False
    return Path(table).is_dir() or holds_files(table, where.storage if where else NO_OPTIONS)


def _resolve_in_target(reference: str, where: TargetContracts, declarations: Declarations) -> TableRequest:
    declared = {**declarations.uncontracted, **declarations.contracts}
    if (contract := declared.get(table_key(reference))) is not None:
        return where.request_for(contract)
    if is_path_or_uri(reference):
        return TableRequest(reference, storage=where.storage)
    declarations.require_complete()
    if where.target.catalog is not None:
        return where.request_by_name(reference)
    close = get_close_matches(table_key(reference), declared, n=1)
    hint = f"did you mean {declared[close[0]].table}?" if close else "give a path, a URI or a declared name"
    raise UsageError(f"no contract declares {reference} in target {where.target.name}", help=hint)


def _resolve_in_session(reference: str, via: NamingCatalog | None) -> TableRequest:
    if via is None or is_path_or_uri(reference):
        return TableRequest(reference)
    name = split_path(via.full_name(reference))
    return TableRequest(format_path(name), reference, catalog=given_target("", catalog=name[0]), via=via)


def _read_or_error(request: TableRequest, *, history: bool) -> LiveTable | LiveError:
    if request.error is not None:
        return request.error
    uri, version, at = request.uri, request.version, request.at
    try:
        if request.catalog is not None:
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
            help=result.help,
            table=request.table,
            target=request.target,
            missing=isinstance(result, NoTable),
        )
    return TableDocument(result, read_at, request.table, request.target, request.is_latest)
