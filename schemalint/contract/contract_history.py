"""All revisions of all contracts of a branch, read from git once: of each commit the files that it changed.

The history is read as far back as somebody asks, in a few git processes for any number of tables.

`git diff-tree` says for many commits which files each changed, and `git cat-file` prints these, so every text
is parsed once. The commits in the markers of all tables are related to the branch by one question
(`schemalint.project.git.branch_commits`); `Repository.answers` keeps what git said until a fetch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from threading import RLock
from typing import Final, TypeAlias

from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.overlay import joined_by_key
from schemalint.contract.read_contracts import read_file
from schemalint.contract.renamed_tables import renamed_tables
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.marker import read_marker
from schemalint.project.git import (
    EmptyTree,
    File,
    MissingHistoryError,
    Repository,
    Revision,
    Side,
    changed_files,
    changes,
    fetch_command,
    first_parents,
    is_known,
    list_files,
    read_blobs,
    relate,
    shallow_ends,
    try_resolve,
)

_MOST_CHANGES: Final = 1_000
"""Commits that change contracts, among which the newest ones with a property are searched."""

_FIRST_SLICE: Final = 32
"""Commits that the first look into the past reads; each further look reads four times as many."""

Contracts: TypeAlias = Mapping[str, Contract]


def tables_at(repository: Repository, files: ContractFiles) -> Callable[[str], Contracts]:
    """Return a lookup of all contracts by commit; it gives none for an unknown commit."""

    @lru_cache(maxsize=64)
    def read_all(commit: str) -> dict[str, Contract]:
        if not is_known(repository, commit):
            return {}
        side = Revision(commit, commit, "applied last")
        contents = changes(repository, EmptyTree("one side"), side, files.format_of, files.listed)
        files_read = map(read_file, contents.head.values())
        return joined_by_key(contract for reading in files_read for contract in reading.contracts)

    return read_all


class ContractHistory:
    """The contracts of a branch at each of its commits: a side's commit and its first parents.

    Commits are numbered by their distance from the newest one. Several threads may ask.
    """

    def __init__(self, repository: Repository, files: ContractFiles, head: Side) -> None:
        """Take a side whose commit is the newest one; for the index and the working tree it is ``HEAD``."""
        self._repository, self._chosen, self._head = repository, files, head
        self._read_apart = tables_at(repository, files)
        self._lock = RLock()
        self._depth = -1  # the oldest commit whose contracts are known
        self._expected = 0  # the oldest commit about which somebody will ask
        self._slice = _FIRST_SLICE
        self._changing: list[int] = []  # the known commits that differ from the next one
        self._touched: dict[int, frozenset[str]] = {}  # what differs between a commit and the one before it
        self._files: dict[str, tuple[Contract, ...]] = {}  # the contracts of each file at the depth
        self._alive: dict[str, dict[str, Contract]] = {}  # the same by table key and file
        self._names: dict[str, str] = {}  # the keys of tables by those that their overlays have
        # By table key, from the newest commit on: the first commit of each revision, and the revision.
        self._starts: dict[str, list[int]] = {}
        self._revisions: dict[str, list[Contract | None]] = {}

    @cached_property
    def tip(self) -> str | None:
        """The newest commit; None if there is none yet."""
        return self._head.commit or try_resolve(self._repository, ["HEAD"])[0]

    def expect(self, tables: Iterable[LiveTable]) -> None:
        """Ask git once about the commits that were applied last to all these tables."""
        markers = filter(None, map(read_marker, tables))
        commits = {marker.revision for marker in markers if marker.revision is not None}
        if commits and self.tip is not None:
            relate(self._repository, commits, self.tip)
            self._expected = max((self._number.get(commit, 0) for commit in commits), default=0)

    def at(self, commit: str, key: str) -> Contract | None:
        """Return a table's contract at any commit; None if none can be read, or the commit is unknown."""
        with self._lock:
            number = self._number.get(commit)
            if number is None:
                return self._read_apart(commit).get(key)
            self._read_to(number)
            return self._at(number, key)

    def all_at(self, commit: str) -> Contracts:
        """Return all contracts at any commit; none for an unknown one."""
        with self._lock:
            number = self._number.get(commit)
            if number is None:
                return self._read_apart(commit)
            self._read_to(number)
            return self._among(self._starts, number)

    def commits(self) -> Iterator[str]:
        """Yield the commits that changed contract files, newest first; the oldest known one always counts."""
        index = 0
        while (number := self._changing_number(index)) is not None:
            yield self._chain[number]
            index += 1

    def newest_first(self, key: str) -> Iterator[tuple[str, Contract]]:
        """Yield the revisions of a table's contract, newest first, each with the newest commit that has it.

        Among the commits that have a revision those count that change any contract file. The revisions go on
        under the older name of the table if it was renamed.

        Raises:
            MissingHistoryError: There are older revisions, which a shallow clone lacks or nobody searches.
        """
        oldest: Contract | None = None
        for number, _key, oldest in self._followed(key):
            changing = self._changing_number(bisect_left(self._changing, number))
            if oldest is not None:
                yield self._chain[number if changing is None else changing], oldest
        if oldest is not None:
            self._require_end(oldest)

    def since(self, commit: str, key: str) -> list[Contract]:
        """Return the revisions of a table's contract at a commit and later on the branch, oldest first.

        Empty if none can be read at the commit itself.

        Raises:
            MissingHistoryError: A shallow clone lacks commits between the commit and the branch's newest one.
        """
        with self._lock:
            number = self._number.get(commit)
            oldest = self._newer_than(commit) - 1 if number is None else number
            if oldest >= 0:
                self._read_to(oldest)
            revisions = list(self._followed(key, oldest))
            later = [contract for _number, _key, contract in revisions]
            if number is None:
                later.append(self._apart(commit, revisions[-1][1] if revisions else key, oldest))
                if oldest == len(self._chain) - 1 and later[-1] is not None:
                    self._require_end(later[-1])
            if not later or later[-1] is None:
                return []
            return [contract for contract in reversed(later) if contract is not None]

    def _apart(self, commit: str, key: str, next_newer: int) -> Contract | None:
        """Return a table's contract at a commit outside of the branch, by its key on the branch."""
        contracts = self._read_apart(commit)
        if key in contracts or next_newer < 0:
            return contracts.get(key)
        return renamed_tables(contracts, self.all_at(self._chain[next_newer]), _places).get(key)

    def _followed(self, key: str, oldest: int | None = None) -> Iterator[tuple[int, str, Contract | None]]:
        """Yield a table's contract as it changed, newest first, back to a commit or as far as one can read.

        Yields:
            The number of the first commit, the key of the table there, and the contract; None for none.
        """
        index, newer = 0, False
        while (number := self._start(key, index, oldest)) is not None:
            contract = self._revisions[key][index]
            if contract is None and newer and (old := self._name_before(key, number)) is not None:
                key, index = old, bisect_left(self._starts[old], number)
                continue
            yield number, key, contract
            index, newer = index + 1, contract is not None

    def _name_before(self, key: str, number: int) -> str | None:
        """Return the key that a table had at a commit, whose successor gave it another name."""
        before, after = self.difference(number - 1)
        old = renamed_tables(before, after, _places).get(key)
        return None if old is None else old.key

    def _require_end(self, oldest: Contract) -> None:
        """Require that no commits are left that may have older revisions of a contract."""
        if self._depth < len(self._chain) - 1:
            raise MissingHistoryError(
                f"only the newest {_MOST_CHANGES:,} commits that change contracts are searched for "
                f"revisions of {oldest.table}",
                (),
                otherwise="name the commit that was applied last: --base REV",
            )
        if self._chain[-1] in self._ends:
            raise MissingHistoryError(
                f"this shallow clone lacks the revisions of {oldest.table} before {self._chain[-1][:12]}",
                fetch_command(self._repository, ""),
            )

    def appearance(self, key: str) -> int | None:
        """Return the number of the newest commit whose predecessor lacks a table's contract; None for none.

        For a contract that the newest commit lacks it is -1: nobody has committed it.
        """
        with self._lock:
            self._read_to(0)
            if self._at(0, key) is None:
                return -1
            index = 0
            while (start := self._start(key, index)) is not None and self._revisions[key][index] is not None:
                index += 1
            return None if start is None else start - 1

    def difference(self, number: int) -> tuple[Contracts, Contracts]:
        """Return the contracts that a commit changed, as they were before and after it; see `appearance`."""
        with self._lock:
            keys = self._touched.get(number, frozenset())
            return self._among(keys, number + 1), self._among(keys, number)

    @cached_property
    def _chain(self) -> list[str]:
        if self.tip:
            return first_parents(self._repository, self.tip)
        return []

    @cached_property
    def _ends(self) -> frozenset[str]:
        return shallow_ends(self._repository)

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {commit: number for number, commit in enumerate(self._chain)}

    @cached_property
    def _newer_than(self) -> Callable[[str], int]:
        """Return how many commits of the branch a commit outside of it does not have."""

        @lru_cache(maxsize=4096)
        def count(commit: str) -> int:
            tip = self.tip
            if tip:
                return len(first_parents(self._repository, tip, since=commit))
            return 0

        return count

    def _at(self, number: int, key: str) -> Contract | None:
        index = bisect_right(self._starts.get(key, []), number) - 1
        if index < 0:
            return None
        return self._revisions[key][index]

    def _among(self, keys: Iterable[str], number: int) -> Contracts:
        contracts_by_key = {key: self._at(number, key) for key in keys}
        return {key: contract for key, contract in contracts_by_key.items() if contract is not None}

    def _start(self, key: str, index: int, oldest: int | None = None) -> int | None:
        """Return the first commit of a revision of a contract by its number; None if there are fewer.

        Args:
            key: The key of the table.
            index: The number of the revision, from the newest one on.
            oldest: The oldest commit to look at, which is read already; None to read on.
        """
        with self._lock:
            while index >= len(self._starts.get(key, [])):
                if oldest is not None or not self._read_more():
                    return None
            start = self._starts[key][index]
            if oldest is not None and start > oldest:
                return None
            return start

    def _changing_number(self, index: int) -> int | None:
        with self._lock:
            while index >= len(self._changing):
                if not self._read_more():
                    return None
            return self._changing[index]

    def _read_more(self) -> bool:
        """Read some more of the history; return False if there is no more."""
        last = len(self._chain) - 1
        if self._depth >= last or len(self._changing) >= _MOST_CHANGES:
            return False
        self._read_to(min(max(self._depth, 0) + self._slice, last))
        self._slice *= 4
        return True

    def _read_to(self, number: int) -> None:
        """Read the contracts of all commits up to this one."""
        if self._depth < 0:
            tip = Revision(self._chain[0], self._chain[0], "the newest commit")
            self._apply([(-1, list_files(self._repository, tip, self._chosen.listed).blobs)])
            self._depth = 0
            self._note_end()
        if number > self._depth:
            start, self._depth = self._depth, max(number, self._expected)
            file_changes = changed_files(
                self._repository, self._chain[start : self._depth + 1], self._chosen.listed
            )
            changed = [(start + index, files) for index, files in file_changes]
            self._apply(changed)
            self._changing += (index for index, _files in changed)
            self._note_end()

    def _note_end(self) -> None:
        if self._depth == len(self._chain) - 1 and self._files:
            self._changing.append(self._depth)

    def _apply(self, changed: Sequence[tuple[int, Mapping[str, str | None]]]) -> None:
        """Go back over commits: the files as they were before each."""
        parsed = self._parsed(
            {(path, blob) for _number, files in changed for path, blob in files.items() if blob}
        )
        read = (contract for contracts in parsed.values() for contract in contracts)
        self._names.update((contract.known_as, contract.key) for contract in read if contract.known_as)
        for number, files in changed:
            touched = {
                key
                for path, blob in files.items()
                for key in self._replace(path, parsed.get((path, blob), ()))
            }
            self._touched[number] = frozenset(touched)
            for key in touched:
                in_files = self._alive[key]
                contract = joined_by_key(in_files[path] for path in sorted(in_files)).get(key)
                self._starts.setdefault(key, []).append(number + 1)
                self._revisions.setdefault(key, []).append(contract)

    def _replace(self, path: str, contracts: tuple[Contract, ...]) -> Iterator[str]:
        """Give a file other contracts; yield the keys of old and new ones."""
        for contract in self._files.pop(path, ()):
            key = self._key(contract)
            self._alive[key].pop(path, None)
            yield key
        if contracts:
            self._files[path] = contracts
        for contract in contracts:
            key = self._key(contract)
            self._alive.setdefault(key, {})[path] = contract
            yield key

    def _key(self, contract: Contract) -> str:
        """Return the key of the table that a contract declares, or adds to."""
        if contract.extends:
            return self._names.get(contract.key, contract.key)
        return contract.key

    def _parsed(
        self, blobs: Iterable[tuple[str, str]]
    ) -> Mapping[tuple[str, str | None], tuple[Contract, ...]]:
        """Return the contracts of files by path and blob id."""
        paths: dict[str, list[str]] = {}
        for path, blob in blobs:
            paths.setdefault(blob, []).append(path)
        return {
            (path, blob): read_file(File(path, data, blob, name)).contracts
            for blob, data in read_blobs(self._repository, paths)
            if data is not None
            for path in paths[blob]
            if (name := self._chosen.format_of(path, data)) is not None
        }


def _places(contract: Contract) -> Iterator[str]:
    yield contract.location or contract.default_location
