"""The tables that made files declare, of both sides of a check, with the contracts beside them.

A table of the head pairs with that of the base by what its format calls it, or else by name. A file of the
head is made by the change's own code. So it says what its tables are to be, and nothing else: no exceptions,
no locations, no targets, and not which live table is meant. That is the base's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from schemalint import contract as contracts
from schemalint.base.errors import GitError, SchemalintError, UsageError
from schemalint.base.phrases import first_of
from schemalint.base.printable import visible
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import field, frozen, replace
from schemalint.contract.contract_files import made_files
from schemalint.contract.made_files import MadeReading
from schemalint.contract.made_pairs import paired, paired_uncontracted, stale_base, why_stale
from schemalint.contract.made_side import notes_of, read_file, require_known
from schemalint.contract.overlay import is_overlay
from schemalint.contract.overlay import with_overlays as joined
from schemalint.model.contract import Contract, table_key
from schemalint.model.fact import DuplicateTable
from schemalint.model.finding import Finding, SkippedTable
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.contracts_entry import ContractsEntry, given_made_file
from schemalint.project.git import Contents, EmptyTree, File, Repository, Side, Worktree

_MOST_READERS: Final = 5
"""Readers that a finding names."""


@frozen
class MadeTables:
    """The tables that made files declare.

    Attributes:
        before: Those of the base, by table key.
        after: Those of the head, under the names that the base gives them.
        uncontracted: The tables of both sides without a contract, by table key.
        is_live: Whether live tables are read: without them nothing says the columns of the uncontracted.
        errors: Why files, and tables in them, cannot be read.
        skipped: The files that are missing on one side, and the tables that only the head can read.
        notes: What the files declare and nobody compares, one line each.
        observed: The columns whose types no file declares, by table key.
        texts: Returns the text of a file that positions of the head point into.
        duplicates: The contracts of the head that declare one of the tables once more.
        why_gone: Why the head compares a table of the base no longer, by table key.
    """

    before: Mapping[str, Contract] = field(default_factory=dict)
    after: Mapping[str, Contract] = field(default_factory=dict)
    uncontracted: Mapping[str, tuple[Contract, Contract]] = field(default_factory=dict)
    is_live: bool = False
    errors: tuple[SchemalintError, ...] = ()
    skipped: tuple[SkippedTable, ...] = ()
    notes: tuple[str, ...] = ()
    observed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    texts: Callable[[str], str | None] = lambda _file: None
    duplicates: tuple[DuplicateTable, ...] = ()
    why_gone: Mapping[str, str] = field(default_factory=dict)

    def changed(self, *, everything: bool) -> tuple[Mapping[str, Contract], Mapping[str, Contract]]:
        """Return the tables of base and head that differ, or all of them."""
        before, after = {**self.before}, {**self.after}
        if self.is_live:
            own = before.keys() | after.keys()
            alone = {key: pair for key, pair in self.uncontracted.items() if key not in own}
            before |= {key: old for key, (old, _new) in alone.items()}
            after |= {key: new for key, (_old, new) in alone.items()}
        if everything:
            return before, after
        same = {key for key, contract in after.items() if before.get(key) == contract}
        before, after = (
            {key: contract for key, contract in side.items() if key not in same} for side in (before, after)
        )
        return before, after

    def texts_of(self, contracts: Iterable[Contract]) -> dict[str, str]:
        """Return the texts of the files that positions of contracts point into."""
        files = {contract.file for contract in contracts if contract.is_made}
        return {file: text for file in files if (text := self.texts(file)) is not None}

    def explained(self, finding: Finding, contract: Contract | None) -> Finding:
        """Return a finding with what only such a file tells: who reads the table, what is observed.

        Nobody edits such a file: the help says what its owner does. A reader that the change takes away reads
        the table until it is merged.
        """
        old = self.before.get(contract.key if contract else table_key(finding.table))
        contract = contract or old
        if contract is None or not contract.is_made:
            return finding
        help_text = [finding.help] if finding.help else []
        if finding.path and str(finding.path[0]).lower() in self.observed.get(contract.key, ()):
            help_text.append("the type is observed, not declared")
        elif self._is_observed_live(finding):
            help_text.append("the type before is observed in the live table, not declared")
        consumers = (*contract.consumers, *(old.consumers if old else ()))
        readers = tuple(dict.fromkeys(consumer.described for consumer in consumers))
        if readers and finding.against != ("contract",):
            help_text.append(f"read by {first_of(readers, _MOST_READERS)}")
        return replace(finding, help="; ".join(help_text), fix=None)

    def _is_observed_live(self, finding: Finding) -> bool:
        """Whether only the live table says what a column was: its model at the base declares no type."""
        base = self.before.get(table_key(finding.table))
        if base is None or not base.is_made or "live" not in finding.against or not finding.path:
            return False
        return base.open.columns and base.state.columns.get(str(finding.path[0])) is None


@frozen
class _Files:
    """Where the files of one run are."""

    repository: Repository
    base: Side
    head: Side
    base_from: ContractsEntry | None
    head_from: ContractsEntry | None
    known_at_base: frozenset[str]
    is_ci: bool
    is_live: bool


def made_tables(
    repository: Repository,
    base: Side,
    head: Side,
    deciding: Sequence[Config],
    declarations: tuple[str | None, str | None] = (None, None),
    *,
    is_ci: bool,
    is_live: bool = False,
) -> MadeTables | None:
    """Read the made files, of both sides; None if there are none.

    Args:
        repository: The repository.
        base: The old side.
        head: The new side.
        deciding: The configurations that decide, that of the head last.
        declarations: ``--base-from`` and ``--head-from``.
        is_ci: Whether this is a run in CI.
        is_live: Whether live tables are read: then tables without a contract are judged beside them.

    Raises:
        UsageError: The command line names a file that does not count.
        ConfigError: A format is unknown.
    """
    base_from, head_from = (
        None if value is None else given_made_file(option, value)
        for option, value in zip(_OPTIONS, declarations, strict=True)
    )
    for option, given in zip(_OPTIONS, (base_from, head_from), strict=True):
        if given is not None:
            require_known(given, deciding[-1], option)
    entries = _entries(deciding, filter(None, (head_from, base_from)))
    if not entries:
        return None
    for entry in entries:
        require_known(entry, deciding[-1])
    known_at_base = frozenset(entry.path for entry in made_files(deciding[0]))
    files = _Files(repository, base, head, base_from, head_from, known_at_base, is_ci, is_live)
    return _joined([_sides(files, entry) for entry in entries])


_OPTIONS: Final = ("--base-from", "--head-from")


def _entries(
    deciding: Sequence[Config], declarations: Iterable[ContractsEntry]
) -> tuple[ContractsEntry, ...]:
    """Return the files, each once: with the models that any configuration names."""
    by_path: dict[tuple[str, str], ContractsEntry] = {}
    for config in reversed(deciding):
        for entry in made_files(config):
            key = (entry.path, entry.format)
            models = (*by_path[key].models, *entry.models) if key in by_path else entry.models
            by_path[key] = replace(by_path.get(key, entry), models=tuple(dict.fromkeys(models)))
    for entry in declarations:
        if entry.format not in {other.format for other in by_path.values()}:
            by_path[entry.path, entry.format] = entry
    return tuple(by_path.values())


def _sides(files: _Files, entry: ContractsEntry) -> MadeTables:
    """Read the files of one entry, of both sides."""
    base_from, head_from = (
        declarations if declarations is not None and declarations.format == entry.format else None
        for declarations in (files.base_from, files.head_from)
    )
    try:
        if base_from is not None:
            _require_foreign(files, base_from)
        catalog = _catalog(files, entry, base_from)
        before = _read(files, files.base, entry, base_from, catalog)
        after = _read(files, files.head, entry, head_from, catalog)
        if after is None:
            return _unusable_head(files, entry, "does not exist")
        if head_from is None:
            sides, given_base = (files.base, files.head), base_from is not None
            fault = why_stale(
                files.repository, sides, entry, (before, after), is_ci=files.is_ci, is_given=given_base
            )
            if fault:
                return _unusable_head(files, entry, fault)
    except GitError as error:
        return MadeTables(errors=(error,))
    if before is None:
        return _without_base(files, entry, after)
    old, new = before.origin, after.origin
    if old is not None and new is not None and old.project != new.project:
        message = (
            f"{visible(entry.path)} is of project {new.project!r}, and that of the base of {old.project!r}"
        )
        return MadeTables(errors=(GitError(message, help="compare two files of one project"),))
    errors: list[SchemalintError] = [
        *after.errors,
        *(error for error in before.errors if base_from is not None),
    ]
    if base_from is not None and old is not None:
        errors += stale_base(files.repository, files.base, entry.folder, old)
    if after.errors and not after.contracts:  # a file that is not read takes no table away
        return MadeTables(errors=tuple(errors))
    pairs = paired(before, after)
    return MadeTables(
        pairs.before,
        pairs.after,
        paired_uncontracted(before, after),
        files.is_live,
        errors=(*errors, *pairs.errors),
        skipped=pairs.skipped,
        notes=(*notes_of(entry, after, pairs.notes, is_live=files.is_live),),
        observed=pairs.observed,
        texts=after.text,
        why_gone=pairs.why_gone,
    )


def _read(
    files: _Files,
    side: Side,
    entry: ContractsEntry,
    declarations: ContractsEntry | None,
    catalog: bytes | None,
) -> MadeReading | None:
    """Return what a file declares on one side; None if the side has no such file.

    Observed types are those of the live table, so both sides have the same.

    Raises:
        GitError: The file cannot be read.
    """
    most = entry.most_mib << 20
    if declarations is not None:
        data = _given(declarations.path, most)
        if data is None:
            raise GitError(f"there is no file {visible(declarations.path)}", help="make it first: dbt parse")
        name = declarations.path
    else:
        data, name = git.large_file_at(files.repository, side, entry.path, most), entry.path
    if data is None:
        return None
    return read_file(files.repository, side, entry, data, catalog, name)


def _catalog(files: _Files, entry: ContractsEntry, base_from: ContractsEntry | None) -> bytes | None:
    """Return the file with observed types: that of the base, or outside of CI that of the head."""
    most, path = entry.most_mib << 20, entry.catalog_path
    try:
        if base_from is not None:
            data = _given(base_from.catalog_path, most)
        else:
            data = git.large_file_at(files.repository, files.base, path, most)
        if data is None and not files.is_ci:
            data = git.large_file_at(files.repository, files.head, path, most)
    except GitError:
        return None
    return data


def _given(file: str, most: int) -> bytes | None:
    try:
        return read_given(Path(file), most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GitError(f"{visible(file)} was not read: {error.strerror}") from error


def _require_foreign(files: _Files, declarations: ContractsEntry) -> None:
    """Refuse a base that the change itself brings: in CI the head's own files say nothing about the base."""
    root = files.repository.root.resolve()
    path = Path(declarations.path).resolve()
    if not files.is_ci or not path.is_relative_to(root):
        return
    name = path.relative_to(root).as_posix()
    if git.list_files(files.repository, Worktree(), [git.escape_glob(name)]).blobs:
        raise UsageError(
            f"--base-from names {visible(name)}, a file of the change itself",
            help="make it elsewhere: git worktree add --detach ../base $(schemalint check --show-base)",
        )


def _unusable_head(files: _Files, entry: ContractsEntry, fault: str) -> MadeTables:
    message = f"{visible(entry.path)} {fault}"
    if files.is_ci:
        return MadeTables(errors=(GitError(message, help="run dbt parse before schemalint check"),))
    return MadeTables(skipped=(SkippedTable(visible(entry.path), f"{message}: run dbt parse"),))


def _without_base(files: _Files, entry: ContractsEntry, after: MadeReading) -> MadeTables:
    """Return the tables of a head without a base: all are new, unless the base has them somewhere else."""
    new = paired(MadeReading(), after)
    tables = MadeTables(
        after=new.after,
        errors=after.errors,
        notes=(*notes_of(entry, after, is_live=False),),
        observed=new.observed,
        texts=after.text,
    )
    if isinstance(files.base, EmptyTree) or entry.path not in files.known_at_base:
        return tables
    reason = f"the base has no {visible(entry.path)}"
    if files.is_ci:
        error = GitError(reason, help=f"name that of the base: --base-from {entry.format}:FILE")
        return replace(tables, errors=(*tables.errors, error))
    skipped = SkippedTable(visible(entry.path), f"{reason}: give --base-from {entry.format}:FILE")
    return MadeTables(errors=after.errors, notes=tables.notes, skipped=(skipped,))


def _joined(parts: Sequence[MadeTables]) -> MadeTables:
    first, *others = parts
    for part in others:
        first = MadeTables(
            before={**part.before, **first.before},
            after={**part.after, **first.after},
            uncontracted={**part.uncontracted, **first.uncontracted},
            is_live=first.is_live or part.is_live,
            errors=(*first.errors, *part.errors),
            skipped=(*first.skipped, *part.skipped),
            notes=(*first.notes, *part.notes),
            observed={**part.observed, **first.observed},
            why_gone={**part.why_gone, **first.why_gone},
            texts=_first_text(first.texts, part.texts),
        )
    return first


def _first_text(
    one: Callable[[str], str | None], other: Callable[[str], str | None]
) -> Callable[[str], str | None]:
    return lambda file: one(file) or other(file)


def with_overlays(declared: MadeTables, contents: Contents) -> MadeTables:
    """Return the tables with what contracts add; what the base cannot add is no error of the change."""
    before, _ = joined(declared.before, _native(contents.base.values(), declared.before))
    native = [*_native(contents.head.values(), declared.after, everything=True)]
    after, errors = joined(declared.after, native)
    duplicates = tuple(
        DuplicateTable(contract, after[contract.key].locate(("table",)), "table", contract.key)
        for contract in native
        if contract.extends is None and contract.key in after
    )
    return replace(
        declared, before=before, after=after, errors=(*declared.errors, *errors), duplicates=duplicates
    )


def _native(
    files: Iterable[File], tables: Mapping[str, Contract], *, everything: bool = False
) -> Iterator[Contract]:
    """Yield the contracts that declare one of the tables, and with ``everything`` all that extend another."""
    for file in files:
        may_extend = everything and b"extends" in file.data
        if may_extend or not tables.keys().isdisjoint(contracts.table_keys(file)):
            for contract in contracts.read_file(file).contracts:
                if (contract.key in tables or contract.extends is not None) and not is_overlay(contract):
                    yield contract
