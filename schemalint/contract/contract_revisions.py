"""Read contracts at revisions: of one side, and of a branch, effective for one target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property

from schemalint import contract as contracts
from schemalint.base.errors import ContractError, SchemalintError
from schemalint.base.values import field, frozen
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_history import ContractHistory
from schemalint.contract.overlay import is_overlay, with_overlays
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective, Environment, effective
from schemalint.model.marker import declaration_hash
from schemalint.project.git import (
    EmptyTree,
    MissingHistoryError,
    Repository,
    Side,
    changes,
    is_ancestor,
    is_known,
    resolve,
)


@frozen
class Declarations:
    """The contracts of one side.

    Attributes:
        contracts: By table key, without tables that are declared twice.
        errors: Files and contracts that cannot be read, and tables that are declared twice.
        notes: What made files declare and nobody compares, one line each.
        uncontracted: The tables of these files that have no contract, by table key.
    """

    contracts: Mapping[str, Contract]
    errors: tuple[SchemalintError, ...] = ()
    notes: tuple[str, ...] = ()
    uncontracted: Mapping[str, Contract] = field(default_factory=dict)

    def require_complete(self) -> Mapping[str, Contract]:
        """Return the contracts.

        Raises:
            SchemalintError: A contract of the side cannot be read.
        """
        for error in self.errors:
            raise error
        return self.contracts


def contracts_at(repository: Repository, side: Side, files: ContractFiles) -> Declarations:
    """Return all contracts of one side; one that cannot be read does not hide the others."""
    contents = changes(repository, EmptyTree("one side"), side, files.format_of, files.listed)
    contracts_by_key: dict[str, Contract] = {}
    overlays: dict[tuple[str, str | None], Contract] = {}
    errors = [*contracts.unread_files(contents)]
    twice: set[str] = set()
    for file in contents.head.values():
        result = contracts.read_file(file)
        errors += result.errors
        for contract in result.contracts:
            if is_overlay(contract):
                first = overlays.setdefault((contract.key, contract.extends), contract)
            else:
                first = contracts_by_key.setdefault(contract.key, contract)
            if first is not contract:
                twice.add(contract.key)
                error = ContractError(
                    f"{contract.table} is declared twice",
                    help=f"the other contract is at {first.locate(('table',))}",
                    location=contract.locate(("table",)),
                )
                errors.append(error)
    joined, faults = with_overlays(contracts_by_key, overlays.values())
    return Declarations({key: joined[key] for key in joined if key not in twice}, (*errors, *faults))


@frozen
class Revisions:
    """The revisions of contracts, effective for one target.

    Attributes:
        repository: The git repository.
        files: The files with contracts.
        target: The target for which contracts are effective; None for what all targets share.
        head: The side with the declared contracts: a commit or the working tree.
    """

    repository: Repository
    files: ContractFiles
    target: str | None
    head: Side

    @cached_property
    def history(self) -> ContractHistory:
        """The contracts at each commit, before a target's overlay."""
        return ContractHistory(self.repository, self.files, self.head)

    @property
    def tip(self) -> str:
        """The commit of the head; for a working tree, ``HEAD``.

        Raises:
            MissingHistoryError: There is no commit yet.
        """
        return self.history.tip or resolve(self.repository, "HEAD")

    def at(self, commit: str, key: str) -> Effective | None:
        """Return a table's contract at a commit, or None if no contract of it can be read."""
        contract = self.history.at(commit, key)
        return self._effective(contract) if contract else None

    def with_hash(self, declaration: str, key: str) -> Effective | None:
        """Return the newest revision of a table's contract with this hash; None if none is known."""
        with suppress(MissingHistoryError):
            for _commit, contract in self.newest_first(key):
                if declaration_hash(contract) == declaration:
                    return contract
        return None

    def comes_after(self, commit: str) -> bool:
        """Return whether a commit is a descendant of the head; False if the clone lacks the history."""
        tip = self.history.tip
        if tip is None or not is_known(self.repository, commit):
            return False
        try:
            return tip != resolve(self.repository, commit) and is_ancestor(self.repository, tip, commit)
        except MissingHistoryError:
            return False

    def expect(self, tables: Iterable[LiveTable]) -> None:
        """Ask git once about the commits that were applied last to all these tables."""
        self.history.expect(tables)

    def commits(self) -> Iterator[str]:
        """Yield the commits of the branch that changed contracts, newest first."""
        return self.history.commits()

    def newest_first(self, key: str) -> Iterator[tuple[str, Effective]]:
        """Yield the revisions of a table's contract, newest first; see `ContractHistory.newest_first`."""
        for commit, contract in self.history.newest_first(key):
            yield commit, self._effective(contract)

    def since(self, commit: str, key: str) -> list[Effective]:
        """Return the revisions of a table's contract at a commit and later, oldest first."""
        return list(map(self._effective, self.history.since(commit, key)))

    def _effective(self, contract: Contract) -> Effective:
        return effective(contract, Environment(self.target))
