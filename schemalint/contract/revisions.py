"""Contracts at revisions: of one side, of one commit, and of all commits since one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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

# Where contracts stand: commits that touch none of these have none that differs.
_PATHS = ("*.yml", "*.yaml")


def contracts_at(repository: Repository, side: Side, globs: Sequence[str]) -> dict[str, Contract]:
    """All contracts of one side by table key; files that cannot be read raise.

    Raises:
        ContractError: A contract cannot be read.
    """
    found: dict[str, Contract] = {}
    for file in files_at(repository, side, globs):
        result = contracts.read(visible(file.path), file.data)
        if result.errors:
            raise result.errors[0]
        for one in result.contracts:
            other = found.setdefault(one.key, one)
            if other is not one:
                raise ContractError(
                    f"{one.table} is declared twice",
                    help=f"the other contract stands at {contracts.locate(other, ('table',))}",
                    location=contracts.locate(one, ("table",)),
                )
    return found


def table_at(repository: Repository, globs: Sequence[str]) -> Callable[[str, str], Contract | None]:
    """A table's contract by commit and key; None if that is not known here. Each commit is read once."""

    @lru_cache(maxsize=64)
    def read(commit: str) -> dict[str, Contract]:
        found: dict[str, Contract] = {}
        if not is_known(repository, commit):
            return found
        for file in files_at(repository, Revision(commit, commit, "applied last"), globs):
            found.update({one.key: one for one in _parsed(visible(file.path), file.data)})
        return found

    return lambda commit, key: read(commit).get(key)


def newest_readable(
    repository: Repository, globs: Sequence[str], side: Side
) -> Callable[[str], tuple[str, Contract] | None]:
    """The newest commit of a side's branch in which a table's contract can be read, and that contract."""
    read = table_at(repository, globs)

    def find(key: str) -> tuple[str, Contract] | None:
        commits = first_parents(repository, side.commit, paths=_PATHS) if side.commit else []
        there = ((commit, read(commit, key)) for commit in commits)
        return next(((commit, found) for commit, found in there if found is not None), None)

    return find


@lru_cache(maxsize=4096)  # from one commit to the next, most files stay as they are
def _parsed(path: str, data: bytes) -> tuple[Contract, ...]:
    return contracts.read(path, data).contracts


def files_at(repository: Repository, side: Side, globs: Sequence[str]) -> Iterable[File]:
    """The files of one side that are contracts."""
    return changes(repository, EmptyTree("one side"), side, candidate, globs).head.values()


@dataclass(frozen=True)
class Revisions:
    """The revisions of contracts, effective for one target.

    Attributes:
        head: The side that the declarations come from: a commit or the working tree.
    """

    repository: Repository
    globs: Sequence[str]
    target: str
    head: Side
    read: Callable[[str, str], Contract | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", table_at(self.repository, self.globs))

    @property
    def tip(self) -> str:
        """The commit at or below the head.

        Raises:
            MissingHistoryError: There is no commit yet.
        """
        return self.head.commit or resolve(self.repository, "HEAD")

    @property
    def is_unborn(self) -> bool:
        """Whether there is no commit yet."""
        return self.head.commit is None and try_resolve(self.repository, ["HEAD"]) == [None]

    def at(self, commit: str, key: str) -> Contract | None:
        """A table's contract at a commit; None if there is none that can be read."""
        found = self.read(commit, key)
        return contracts.effective(found, self.target) if found else None

    def newest_first(self, key: str) -> Iterator[tuple[str, Contract]]:
        """A table's contract at each commit of the branch that changed contracts."""
        if self.is_unborn:
            return
        for commit in first_parents(self.repository, self.tip, paths=_PATHS):
            if (found := self.at(commit, key)) is not None:
                yield commit, found

    def since(self, commit: str, key: str) -> list[Contract]:
        """A table's contract at a commit and at each one since, oldest first; without those that lack it."""
        later = first_parents(self.repository, self.tip, since=commit, paths=_PATHS)
        found = [self.at(one, key) for one in (commit, *reversed(later))]
        return [one for one in found if one is not None]
