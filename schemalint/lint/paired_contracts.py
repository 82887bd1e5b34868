"""The contracts of both sides of a check, paired by table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.base.printable import visible
from schemalint.lint.consumers import with_consumers
from schemalint.lint.scopes import configurations_of
from schemalint.model.finding import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.base.errors import SchemalintError
    from schemalint.lint.check_input import CheckInput
    from schemalint.model.contract import Contract
    from schemalint.project.git import File


class PairedContracts:
    """The parsed contracts of the selected files, by table key.

    Attributes:
        before: Those of the base.
        after: Those of the head.
        unreadable: The tables whose contract is in an unreadable file of the head.
        errors: The errors of the head's files.
        skipped: Tables that are not compared with the base itself.
    """

    def __init__(self, request: CheckInput, paths: Iterable[str]) -> None:
        """Read the contracts in these files."""
        self._request = request
        self._broken_before = False
        self.before: dict[str, Contract] = {}
        self.after: dict[str, Contract] = {}
        self.unreadable: set[str] = set()
        self.errors: list[SchemalintError] = []
        self.skipped: list[Skipped] = []
        # A contract that stays says what its table was, not a copy that the change deletes.
        ordered = sorted(paths, key=lambda path: path not in request.contents.head)
        for path in request.counted("reading", ordered):
            self._read(path)
        self._add_declared(request)
        if self._broken_before:
            self._read_older_bases()
        deciding = request.configurations
        for key, contract in self.after.items():
            old = self.before.get(key)
            of_table = configurations_of(deciding, old.file if old else None, contract.file)
            self.after[key] = with_consumers(contract, *of_table)
        for key, contract in self.before.items():
            self.before[key] = with_consumers(contract, deciding[0])

    def hidden(self) -> set[str]:
        """Return the tables whose contract is missing only because its file is unreadable."""
        return self.unreadable - self.after.keys()

    def tables(self) -> list[str]:
        """Return the keys of the tables to judge, in order."""
        return sorted({*self.before, *self.after} - self.hidden())

    def _add_declared(self, request: CheckInput) -> None:
        """Add the tables of other tools' files: a table is known by its name, whatever declares it."""
        if request.declared is None:
            return
        self.errors += request.declared.errors
        self.skipped += request.declared.skipped
        sides = request.declared.changed(everything=request.everything)
        for known, declared in zip((self.before, self.after), sides, strict=True):
            for key, contract in declared.items():
                known.setdefault(key, contract)

    def _read(self, path: str) -> None:
        base, head = self._request.contents.base.get(path), self._request.contents.head.get(path)
        before = _parsed(base)
        after = before if is_unchanged(self._request, path) else _parsed(head, before)
        if head is not None and after.errors:
            self.errors += after.errors
            self.unreadable |= {contract.key for contract in before.contracts}
        elif before.errors:
            self._broken_before = True
        for contract in before.contracts:
            self.before.setdefault(contract.key, contract)
        for contract in after.contracts:
            self.after.setdefault(contract.key, contract)

    def _read_older_bases(self) -> None:
        """Take contracts from older revisions where a file of the base is unreadable.

        The contract may have been in any file, so it is identified by its table name.
        """
        reason = "a file of the base is unreadable"
        for key in sorted(self.after.keys() - self.before.keys()):
            table, older = self.after[key].table, self._request.readable(key)
            if older is None:
                self.skipped.append(
                    Skipped(table, f"{reason}, and no earlier commit has this contract: judged as new")
                )
                continue
            commit, contract = older
            self.before[key] = contract
            self.skipped.append(Skipped(table, f"{reason}: compared with {commit[:12]}"))


def is_unchanged(request: CheckInput, path: str) -> bool:
    """Return whether a file is the same on both sides."""
    base, head = request.contents.base.get(path), request.contents.head.get(path)
    return base is not None and head is not None and base.data == head.data


def _parsed(file: File | None, older: contracts.ReadResult | None = None) -> contracts.ReadResult:
    if file is None:
        return contracts.ReadResult()
    return contracts.read(visible(file.path), file.data, older)
