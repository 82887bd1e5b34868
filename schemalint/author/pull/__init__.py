"""Create and update contracts from live tables."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path

from schemalint import contract as contracts
from schemalint.author.contract_files import PulledFile, file_name, read_text, require_pattern
from schemalint.author.pull.difference import declared_changes
from schemalint.author.pull.live_declaration import Scope, declaration
from schemalint.author.pull.lookup import Lookup, TableLookup
from schemalint.author.pull.pull_input import PullFailure, PullInput, PullResult
from schemalint.base.errors import ContractError, LiveError, SchemalintError, UsageError
from schemalint.base.files import shown
from schemalint.base.values import replace
from schemalint.delta.invariants import invariants_of
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract, table_key
from schemalint.model.contract_edit import DeclareChange
from schemalint.project.config.trust import given_target, resolve_storage
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage import NO_OPTIONS


def pull(request: PullInput, references: Iterable[str]) -> PullResult:
    """Pull tables, given by the names of contracts, by names in a target, or by locations.

    A failed table does not stop the others.

    Raises:
        UsageError: Two tables have the same file, or the file pattern is invalid.
    """
    if request.into is not None:
        require_pattern(request.into)
    pulling = _Pulling(request)
    pulling.tables(references)
    return pulling.result()


class _SharedFileError(UsageError):
    """Two tables would be written into the same file."""


class _Pulling:
    def __init__(self, request: PullInput) -> None:
        self._request = request
        self._lookup = Lookup(request)
        self._texts: dict[Path, tuple[str | None, str]] = {}
        self._printed: list[PulledFile] = []
        self._tables: dict[str, str] = {}
        self._unchanged: list[str] = []
        self._failed: list[PullFailure] = []
        self._writers: dict[str, Mapping[str, int]] = {}
        self._undeclarable: list[str] = []

    def result(self) -> PullResult:
        changed_texts = (
            PulledFile(path, *texts) for path, texts in self._texts.items() if texts[0] != texts[1]
        )
        return PullResult(
            (*self._printed, *changed_texts),
            tuple(self._unchanged),
            tuple(self._failed),
            self._writers,
            tuple(self._undeclarable),
        )

    def tables(self, references: Iterable[str]) -> None:
        """Pull tables; they are read side by side."""
        lookups: list[TableLookup] = []
        for reference in references:
            with self._collect_failure(reference):
                lookups.append(self._lookup.find(reference))
        live_tables = self._live_tables(lookups)
        results = live_tables.stream(lookup.contract for lookup in lookups)
        for lookup, result in zip(lookups, results, strict=True):
            with self._collect_failure(lookup.reference):
                if isinstance(result, SchemalintError):
                    raise result
                if result is None:
                    location = live_tables.location(lookup.contract)
                    message = f"{lookup.reference}: there is no Delta table at {location}"
                    raise LiveError(message, help="Check the spelling, and the target.")
                self._pull(lookup, result)

    @contextmanager
    def _collect_failure(self, reference: str) -> Iterator[None]:
        try:
            yield
        except _SharedFileError:
            raise
        except SchemalintError as error:
            self._failed.append(PullFailure(reference, error))

    def _pull(self, lookup: TableLookup, table: LiveTable) -> None:
        since = self._request.writers_since
        self._writers[lookup.contract.table] = table.writers if since is None else table.writers_since(since)
        self._undeclarable += (
            f"{lookup.contract.table}: no contract declares the invariant of {format_path(path)}: "
            f"{invariant.expression or 'it cannot be read'}"
            for path, invariant in invariants_of(table.state.columns)
        )
        if lookup.file is not None:
            self._update(lookup.file, lookup.contract.table, table)
            return
        state = declaration(table, self._request.scope)
        contract = replace(lookup.contract, state=state, owner=_owner(table))
        file = self._file_of_new(contract)
        if file is not None and os.path.lexists(file):
            self._update(file, contract.table, table)
            return
        text = _new_text(contract)
        if file is None:
            self._printed.append(PulledFile(None, None, text))
            return
        other = self._tables.setdefault(_file_key(file), contract.table)
        if other != contract.table:
            raise _SharedFileError(
                f"{other} and {contract.table} would be written into the same file: {shown(file)}",
                help="add a placeholder that tells them apart: {catalog}, {schema}, {table}",
            )
        self._texts[file] = (None, text)

    def _live_tables(self, lookups: Iterable[TableLookup]) -> TargetTables:
        """Return the target's tables; without a target, the tables at the given locations."""
        request = self._request
        target, root = request.target, request.root
        if target is not None:
            storage = resolve_storage(target)
            return TargetTables(target, root, storage, request.via, request.history, request.workers)
        locations = tuple(lookup.contract.location or "" for lookup in lookups)
        without_root = given_target("none", allowed_locations=locations)
        return TargetTables(without_root, root, NO_OPTIONS, None, request.history, request.workers)

    def _file_of_new(self, contract: Contract) -> Path | None:
        if self._request.into is not None:
            catalog = self._request.target.catalog if self._request.target else None
            file = Path.cwd() / file_name(self._request.into, contract.table, catalog)
            if self._request.numbers:
                return self._numbered(file, contract.table)
            return file
        if self._request.output is None:
            return None
        return Path.cwd() / self._request.output

    def _numbered(self, file: Path, table: str) -> Path:
        """Return the file, with a number if there is such a file, or another table has it."""
        numbered = (file.with_name(f"{file.stem}_{number}{file.suffix}") for number in count(2))
        return next(
            candidate
            for candidate in chain((file,), numbered)
            if self._tables.get(_file_key(candidate), table) == table and not os.path.lexists(candidate)
        )

    def _update(self, file: Path, table: str, live_table: LiveTable) -> None:
        if (
            self._request.output is not None
            and (Path.cwd() / self._request.output).resolve() != file.resolve()
        ):
            raise UsageError(f"{table} is declared in {shown(file)}", help="leave --output out")
        before, text = self._texts.get(file) or (read_text(file, shown(file)),) * 2
        after = updated_text(
            shown(file), text, table, live_table, self._lookup.effective, self._request.scope
        )
        self._texts[file] = (before, after)
        if after == text:
            self._unchanged.append(table)


def _file_key(file: Path) -> str:
    """Return a text that two paths share if some file system takes them for one file."""
    return unicodedata.normalize("NFC", str(file)).casefold()


def _owner(table: LiveTable) -> str | None:
    """Return the owner that the table's properties name."""
    properties = table.state.properties.items()
    return next((value for key, value in properties if key.lower() == "owner" and value), None)


def updated_text(
    file: str,
    text: str,
    table: str,
    live_table: LiveTable,
    effective: Callable[[Contract], Contract],
    scope: Scope,
) -> str:
    """Return the text of a file with one contract updated to its table; the rest stays unchanged.

    Raises:
        UsageError: The file has no contract of the table.
        ContractError: The contract's layout cannot be edited in place.
    """
    contract = effective(_contract_in(file, text, table))
    edits = [DeclareChange(change) for change in declared_changes(contract, live_table, scope)]
    if not edits:
        return text
    after = contracts.edited_text(contract, text, edits)
    left = declared_changes(effective(_contract_in(file, after, table)), live_table, scope)
    if left:
        raise ContractError(
            f"{file}: {table} cannot be updated in place: {type(left[0]).__name__} remains",
            help="make the change by hand, or pull it into a new file",
        )
    return after


def _contract_in(name: str, text: str, table: str) -> Contract:
    result = contracts.read(name, text)
    contract_of_table = next(
        (contract for contract in result.contracts if contract.key == table_key(table)), None
    )
    if contract_of_table is None:
        raise UsageError(f"{name} exists, and has no contract of {table}", help="name another file")
    return contract_of_table


def _new_text(contract: Contract) -> str:
    """Return the text of a new contract, verified by reading it back."""
    text = contracts.print_contract(contract)
    result = contracts.read(contract.file, text)
    if result.errors:
        raise result.errors[0]
    if result.contracts != (contract,):
        raise ContractError(
            f"a contract cannot express all of {contract.table}",
            help="please report it: this is a gap in the format",
        )
    return text
