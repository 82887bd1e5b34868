"""What is to be pulled, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.catalog.table_location import absolute_location
from schemalint.config import Target, resolve_storage
from schemalint.delta.path import format_path, split_path
from schemalint.document import candidate
from schemalint.errors import ConfigError, SchemalintError
from schemalint.git import EmptyTree, Repository, Worktree, changes, list_files
from schemalint.model.contract import Contract
from schemalint.printable import visible
from schemalint.pull.declaration import Scope
from schemalint.pull.files import PulledFile
from schemalint.storage import find_tables
from schemalint.values import frozen

if TYPE_CHECKING:
    from schemalint.catalog import Catalog


@frozen
class Declared:
    """A contract of the working tree, and its file."""

    file: Path
    contract: Contract


@frozen
class PullInput:
    """Which contracts there are, and where new ones go.

    Attributes:
        root: The repository's top level.
        declared: By table key.
        target: Whose tables are looked at; None for places alone.
        table: The name of a new contract; None to derive it from the place.
        output: The file of a new contract.
        into: The files of new contracts, with ``{catalog}``, ``{schema}`` and ``{table}``.
        via: What a running Spark session knows of the target's catalog.
    """

    root: Path
    declared: Mapping[str, Declared]
    target: Target | None = None
    scope: Scope = Scope.MANAGED
    table: str | None = None
    output: Path | None = None
    into: str | None = None
    via: Catalog | None = None


@frozen
class NotPulled:
    """A table that could not be pulled, and why."""

    table: str
    error: SchemalintError


@frozen
class Pulled:
    """What is to be written; nothing is yet.

    Attributes:
        files: That change.
        unchanged: The names of tables whose contract says already what they are.
    """

    files: tuple[PulledFile, ...]
    unchanged: tuple[str, ...]
    failed: tuple[NotPulled, ...]


def declared_contracts(repository: Repository, globs: Iterable[str]) -> dict[str, Declared]:
    """The contracts of the working tree by table key.

    Raises:
        ContractError: One cannot be read: it could be the one that is asked for.
    """
    found: dict[str, Declared] = {}
    for file in changes(repository, EmptyTree("one side"), Worktree(), candidate, tuple(globs)).head.values():
        result = contracts.read(visible(file.path), file.data)
        if result.errors:
            raise result.errors[0]
        for one in result.contracts:
            found.setdefault(one.key, Declared(repository.root / file.path, one))
    return found


def unseen(repository: Repository, globs: Iterable[str], files: Iterable[Path]) -> tuple[Path, ...]:
    """Those of some files that no check looks at: git or the globs leave them out, or the repository ends."""
    asked = tuple(files)
    if not asked:
        return ()
    root = repository.root.resolve()
    listing = list_files(repository, Worktree(), tuple(globs))
    there = {root / path for path in (*listing.blobs, *listing.on_disk)}
    return tuple(file for file in asked if file.parent.resolve() / file.name not in there)


def find(target: Target, match: str, root: Path, via: Catalog | None = None) -> Iterator[str]:
    """The tables of a target whose names fit a glob, ignoring case: names in its catalog, places in its root.

    Raises:
        SchemalintError: The catalog, the root or a part of it cannot be listed; then after all others.
    """
    if target.catalog is not None:
        from schemalint import catalog  # noqa: PLC0415 (only where there is one)

        # Without the catalog, which differs from target to target.
        yield from (format_path(split_path(name)[1:]) for name in catalog.tables(match, target, via))
        return
    if target.root is None:
        raise ConfigError(
            f"target {target.name} has no root and no catalog", help="name the tables, or give it one"
        )
    top = absolute_location(target.root, root)
    for place in find_tables(top, resolve_storage(target)):
        if fnmatchcase(place.removeprefix(f"{top}/").replace("/", ".").casefold(), match.casefold()):
            yield place
