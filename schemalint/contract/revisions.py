"""Read contracts at revisions: of one side, at one commit, and at all commits since a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field  # noqa: TID251 (__post_init__)
from functools import lru_cache

from schemalint import contract as contracts
from schemalint.document import candidate
from schemalint.errors import ContractError
from schemalint.git import (
    EmptyTree,
    File,
    Repository,
    Revision,
    Side,
    changes,
    first_parents,
    is_known,
    resolve,
    try_resolve,
)
from schemalint.model.contract import Contract
from schemalint.printable import visible
from schemalint.values import frozen

# Contracts are YAML files: commits that touch none of these paths change no contract.
_PATHS = ("*.yml", "*.yaml")


@frozen
class Declarations:
    """The contracts of one side.

    Attributes:
        contracts: By table key, without tables that are declared twice.
        errors: Files and contracts that cannot be read, and tables that are declared twice.
    """

    contracts: Mapping[str, Contract]
    errors: tuple[ContractError, ...] = ()

    def require_complete(self) -> Mapping[str, Contract]:
        """Return the contracts.

        Raises:
            ContractError: Another one cannot be read.
        """
        for error in self.errors:
            raise error
        return self.contracts


def contracts_at(repository: Repository, side: Side, globs: Sequence[str]) -> Declarations:
    """Return all contracts of one side; one that cannot be read does not hide the others."""
    contents = changes(repository, EmptyTree("one side"), side, candidate, globs)
    found: dict[str, Contract] = {}
    errors = [*contracts.unread_files(contents)]
    twice: set[str] = set()
    for file in contents.head.values():
        result = contracts.read(visible(file.path), file.data)
        errors += result.errors
        for contract in result.contracts:
            first = found.setdefault(contract.key, contract)
            if first is not contract:
                twice.add(contract.key)
                error = ContractError(
                    f"{contract.table} is declared twice",
                    help=f"the other contract is at {contracts.locate(first, ('table',))}",
                    location=contracts.locate(contract, ("table",)),
                )
                errors.append(error)
    return Declarations({key: found[key] for key in found if key not in twice}, tuple(errors))


def table_at(repository: Repository, globs: Sequence[str]) -> Callable[[str, str], Contract | None]:
    """Return a lookup of contracts by commit and table key; it gives None for unknown ones."""
    read = tables_at(repository, globs)
    return lambda commit, key: read(commit).get(key)


def tables_at(repository: Repository, globs: Sequence[str]) -> Callable[[str], Mapping[str, Contract]]:
    """Return a lookup of all contracts by commit; it gives none for an unknown commit."""

    @lru_cache(maxsize=64)
    def read(commit: str) -> dict[str, Contract]:
        found: dict[str, Contract] = {}
        if not is_known(repository, commit):
            return found
        for file in files_at(repository, Revision(commit, commit, "applied last"), globs):
            found.update({contract.key: contract for contract in _parsed(visible(file.path), file.data)})
        return found

    return read


def newest_readable(
    repository: Repository, globs: Sequence[str], side: Side
) -> Callable[[str], tuple[str, Contract] | None]:
    """Return a search for the newest commit of a side's branch with a readable contract of a table."""
    read = table_at(repository, globs)

    def find(key: str) -> tuple[str, Contract] | None:
        commits = first_parents(repository, side.commit, paths=_PATHS) if side.commit else []
        revisions = ((commit, read(commit, key)) for commit in commits)
        return next(((commit, contract) for commit, contract in revisions if contract is not None), None)

    return find


@lru_cache(maxsize=4096)  # most files are equal from one commit to the next
def _parsed(path: str, data: bytes) -> tuple[Contract, ...]:
    return contracts.read(path, data).contracts


def files_at(repository: Repository, side: Side, globs: Sequence[str]) -> Iterable[File]:
    """Return the contract files of one side."""
    return changes(repository, EmptyTree("one side"), side, candidate, globs).head.values()


@dataclass(frozen=True)
class Revisions:
    """The revisions of contracts, effective for one target.

    Attributes:
        repository: The git repository.
        globs: The paths of contract files.
        target: The target for which contracts are effective.
        head: The side with the declared contracts: a commit or the working tree.
        read_all: Look up all contracts of a commit, before a target's overlay.
    """

    repository: Repository
    globs: Sequence[str]
    target: str
    head: Side
    read_all: Callable[[str], Mapping[str, Contract]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "read_all", tables_at(self.repository, self.globs))

    @property
    def tip(self) -> str:
        """The commit of the head; for a working tree, ``HEAD``.

        Raises:
            MissingHistoryError: There is no commit yet.
        """
        return self.head.commit or resolve(self.repository, "HEAD")

    @property
    def is_unborn(self) -> bool:
        """Whether there is no commit yet."""
        return self.head.commit is None and try_resolve(self.repository, ["HEAD"]) == [None]

    def at(self, commit: str, key: str) -> Contract | None:
        """Return a table's contract at a commit, or None if no contract of it can be read."""
        contract = self.read_all(commit).get(key)
        return contracts.effective(contract, self.target) if contract else None

    def commits(self) -> list[str]:
        """Return the commits of the branch that changed contracts, newest first."""
        return [] if self.is_unborn else first_parents(self.repository, self.tip, paths=_PATHS)

    def newest_first(self, key: str) -> Iterator[tuple[str, Contract]]:
        """Yield a table's contract at each commit of the branch that changed contracts, newest first."""
        for commit in self.commits():
            if (contract := self.at(commit, key)) is not None:
                yield commit, contract

    def since(self, commit: str, key: str) -> list[Contract]:
        """Return a table's readable contracts at a commit and each later one, oldest first."""
        later = first_parents(self.repository, self.tip, since=commit, paths=_PATHS)
        found = [self.at(revision, key) for revision in (commit, *reversed(later))]
        return [contract for contract in found if contract is not None]
