"""The input and the result of a pull."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from schemalint import contract as contracts
from schemalint.author.contract_files import PulledFile
from schemalint.author.pull.live_declaration import Scope
from schemalint.base.errors import ConfigError, ContractError, SchemalintError
from schemalint.base.values import field, frozen
from schemalint.contract.contract_files import contract_files
from schemalint.delta.path import format_path, split_path
from schemalint.model.contract import Contract
from schemalint.project.config import Config
from schemalint.project.config.trust import TrustedTarget, resolve_storage
from schemalint.project.git import EmptyTree, Repository, Worktree, changes, list_files
from schemalint.tables import catalog
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_location import absolute_location
from schemalint.tables.storage import find_tables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers


@frozen
class DeclaredContract:
    """A contract of the working tree, with its file."""

    file: Path
    contract: Contract


@frozen
class PullInput:
    """The existing contracts, and the files for new ones.

    Attributes:
        root: The repository's top level.
        declared: The contracts by table key.
        unreadable: Why other contracts cannot be read; one of them may declare a table that seems to be new.
        target: The target with the tables; None to accept locations only.
        scope: The part of each table to declare.
        table: The name of a new contract; None to derive it from the location.
        output: The file of a new contract.
        into: The file pattern of new contracts, with ``{catalog}``, ``{schema}`` and ``{table}``.
        via: The target's catalog as a running Spark session knows it.
        history: Whether the whole histories may tell the old names of columns, not only the newest commits.
        workers: How many tables are read at the same time.
        writers_since: The time in milliseconds since which `PullResult.writers` has who wrote, by older
            commits than those read anyway; None for these alone.
        numbers: Whether a new table whose name or file another one has gets a number; else it is an error.
    """

    root: Path
    declared: Mapping[str, DeclaredContract]
    unreadable: tuple[ContractError, ...] = ()
    target: TrustedTarget | None = None
    scope: Scope = Scope.MANAGED
    table: str | None = None
    output: Path | None = None
    into: str | None = None
    via: Catalog | None = None
    history: bool = False
    workers: TableWorkers = SIDE_BY_SIDE
    numbers: bool = False
    writers_since: int | None = None


@frozen
class PullFailure:
    """A table that could not be pulled, with the error."""

    table: str
    error: SchemalintError


@frozen
class PullResult:
    """The result of a pull; no file is written yet.

    Attributes:
        files: The files to write.
        unchanged: The names of the tables whose contracts are up to date.
        failed: The tables that could not be pulled.
        writers: `LiveTable.writers` of each table, by its name.
        undeclarable: What no contract declares, and statements cannot change: a sentence each.
    """

    files: tuple[PulledFile, ...]
    unchanged: tuple[str, ...]
    failed: tuple[PullFailure, ...]
    writers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    undeclarable: tuple[str, ...] = ()


def declared_contracts(
    repository: Repository, config: Config
) -> tuple[dict[str, DeclaredContract], tuple[ContractError, ...]]:
    """Return the contracts of the working tree by table key, and why others cannot be read."""
    contracts_by_key: dict[str, DeclaredContract] = {}
    chosen = contract_files(config)
    contents = changes(repository, EmptyTree("one side"), Worktree(), chosen.format_of, chosen.listed)
    errors = [*contracts.unread_files(contents)]
    for file in contents.head.values():
        result = contracts.read_file(file)
        errors += result.errors
        for contract in result.contracts:
            contracts_by_key.setdefault(contract.key, DeclaredContract(repository.root / file.path, contract))
    return contracts_by_key, tuple(errors)


def unseen(repository: Repository, config: Config, files: Collection[Path]) -> tuple[Path, ...]:
    """Return the files that `check` does not read: ignored, outside the globs, or outside the repository."""
    if not files:
        return ()
    root = repository.root.resolve()
    listing = list_files(repository, Worktree(), contract_files(config).listed)
    read = {root / path for path in (*listing.blobs, *listing.on_disk)}
    return tuple(file for file in files if file.parent.resolve() / file.name not in read)


def find(
    target: TrustedTarget, match: str, root: Path, via: Catalog | None, errors: list[PullFailure]
) -> Iterator[str]:
    """Yield the tables of a target that match a glob: names in its catalog, or locations in its root.

    Case does not count. If the catalog, the root or a part of it cannot be listed, the search ends, and the
    error is appended to ``errors``.
    """
    try:
        yield from _find(target, match, root, via)
    except SchemalintError as error:
        errors.append(PullFailure(target.name, error))


def _find(target: TrustedTarget, match: str, root: Path, via: Catalog | None) -> Iterator[str]:
    if target.catalog is not None:
        # Drop the catalog from the names: it differs from target to target.
        yield from (format_path(split_path(name)[1:]) for name in catalog.tables(match, target, via))
        return
    if target.root is None:
        raise ConfigError(
            f"target {target.name} has no root and no catalog",
            help="name the tables, or set a root or a catalog",
        )
    table_root = absolute_location(target.root, root)
    for location in find_tables(table_root, resolve_storage(target)):
        name = location.removeprefix(f"{table_root}/").replace("/", ".")
        if fnmatchcase(name.casefold(), match.casefold()):
            yield location
