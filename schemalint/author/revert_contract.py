"""Revert changes of a contract; a plain ``git revert`` would declare changes that Delta cannot make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from schemalint import contract as contracts
from schemalint.author.contract_files import read_text
from schemalint.author.reversal import Reversal, reverse_changes
from schemalint.base.document.edit_review import unified_diff
from schemalint.base.errors import ContractError, UsageError
from schemalint.base.values import frozen, replace
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_revisions import Revisions, contracts_at
from schemalint.delta import change
from schemalint.delta.change import Change, subject_name
from schemalint.delta.datatype import Field, Struct, map_fields, walk, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract, table_key
from schemalint.model.contract_edit import (
    DeclareBackfill,
    DeclareChange,
    DeclareLayoutRewrite,
    DeclareRenames,
    DeclareRewrite,
    Edit,
)
from schemalint.model.marker import declaration_hash
from schemalint.model.rewrite import Rewrites
from schemalint.project.git import Repository, Worktree, resolve

# No contract names this target, so contracts are read without any target's differences.
_SHARED = ""


@frozen
class RevertedContract:
    """A reverted contract; no file is written yet.

    Attributes:
        commit: The commit that the contract returns to.
        file: The contract's file, relative to the repository's root.
        before: The current text.
        after: The reverted text.
        notes: The changes that stay, or are reverted only in part.
    """

    table: str
    commit: str
    file: str
    before: str
    after: str
    notes: tuple[str, ...]

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty if there is none."""
        return unified_diff(self.file, self.before, self.after)


def revert(
    repository: Repository,
    files: ContractFiles,
    table: str,
    to: str | None,
    live: Callable[[Contract], Sequence[TableState] | None] = lambda _contract: None,
) -> RevertedContract:
    """Return the contract of the working tree, edited so that it reverts changes.

    Args:
        repository: The repository of the contracts.
        files: The files with contracts.
        table: The table's name.
        to: The revision to return to; None for the last one with another declaration of the table.
        live: Return the live tables of a contract in all targets; None if they are not known.

    Raises:
        UsageError: The table or the revision does not exist.
        ContractError: A contract is unreadable, or its layout cannot be edited in place.
    """
    declarations = contracts_at(repository, Worktree(), files)
    declared, key = declarations.contracts, table_key(table)
    if key not in declared:
        declarations.require_complete()
        raise UsageError(f"no contract declares {table}", help=f"declared: {', '.join(sorted(declared))}")
    contract = declared[key]
    if not contract.is_edited:
        raise UsageError(
            f"{contract.table} is declared in {contract.file}, and schemalint edits no files of the format "
            f"{contract.dialect}",
            help="revert it there: git log says what it was",
        )
    revisions = Revisions(repository, files, _SHARED, Worktree())
    commit = _last_different_commit(revisions, contract) if to is None else resolve(repository, to)
    if revisions.at(commit, key) is None:
        raise UsageError(f"{contract.table} is not declared at {commit[:12]}", help="see git log")
    since = [*revisions.since(commit, key), contract]
    for revision in since:
        _require_unique_names(revision, contract)
    reversal = reverse_changes(since, live(contract))
    before = read_text(repository.root / contract.file, contract.file)
    after = reverted_text(contract, before, reversal)
    return RevertedContract(contract.table, commit, contract.file, before, after, reversal.notes)


def _require_unique_names(revision: Contract, contract: Contract) -> None:
    """Raise a ContractError for a revision with two columns of one name: it is not known which is which."""
    for path, type_ in walk(revision.state.columns):
        if isinstance(type_, Struct) and not type_.has_unique_names:
            inside = f" inside {format_path(path)}" if path else ""
            raise ContractError(
                f"{contract.table} cannot be reverted: {revision.file} has two columns of one name{inside}"
                f"{'' if revision is contract else ' in an earlier revision'}",
                help="rename or remove one of the two, or name a later revision with --to",
                location=contract.locate(("columns",)),
            )


def _last_different_commit(revisions: Revisions, contract: Contract) -> str:
    current = declaration_hash(contract)
    for commit, older in revisions.newest_first(contract.key):
        converts_alike = (older.backfills, older.rewrites) == (contract.backfills, contract.rewrites)
        if declaration_hash(older) != current or not converts_alike:
            return commit
    raise UsageError(
        f"no earlier revision has another declaration of {contract.table}",
        help="name a revision with --to; in a shallow clone, run git fetch --unshallow first",
    )


def reverted_text(contract: Contract, text: str, reversal: Reversal) -> str:
    """Return the text of a contract's file with the reversal declared.

    Raises:
        ContractError: The contract's layout cannot be edited in place.
    """
    changes = [
        changed
        for changed in diff(reversal.now, reversal.wanted)
        if not isinstance(changed, change.FieldMoved)
    ]
    fills = [DeclareBackfill(path, fill) for path, fill in reversal.fills.items()]
    rewrites = [*_rewrites(contract.rewrites, reversal.rewrites)]
    if not (changes or fills or rewrites):
        return text
    after = contracts.edited_text(contract, text, [*_edits(changes), *fills, *rewrites])
    edited_contracts = contracts.read(contract.file, after).contracts
    edited = next(
        edited_contract.state for edited_contract in edited_contracts if edited_contract.key == contract.key
    )
    difference = _first_difference(reversal.wanted, edited)
    if difference:
        raise ContractError(
            f"{contract.table} cannot be reverted in place: {difference} remains",
            help="make the change by hand",
            location=contract.locate(("table",)),
        )
    _require_same_columns(contract, changes, diff(contract.state, edited))
    return after


def _require_same_columns(contract: Contract, intended: Iterable[Change], read: Iterable[Change]) -> None:
    """Raise a ContractError for a reverted swap that repeats its ``renamed_from``, which no longer counts."""
    if _column_changes(intended) != _column_changes(read):
        raise ContractError(
            f"{contract.table}: a swap cannot be reverted while its `renamed_from` is still declared",
            help="remove `renamed_from` from these columns, commit and apply that, then revert with --to",
            location=contract.locate(("columns",)),
        )


def _column_changes(changes: Iterable[Change]) -> set[tuple[str, Path, str | None]]:
    """Return the added, removed and renamed columns."""
    kinds = change.FieldAdded | change.FieldRemoved | change.FieldRenamed
    return {
        (type(changed).__name__, lowercased(changed.path), getattr(changed, "old_name", None))
        for changed in changes
        if isinstance(changed, kinds)
    }


def _edits(changes: Iterable[Change]) -> Iterator[Edit]:
    """Yield the edits.

    Renames of one struct are one edit, as a swap takes names before they are free.
    """
    for _kind, run in groupby(changes, key=_together):
        run_of_changes = list(run)
        renames = tuple(changed for changed in run_of_changes if isinstance(changed, change.FieldRenamed))
        if renames:
            yield DeclareRenames(renames)
        else:
            yield from (DeclareChange(_without_numbers(changed)) for changed in run_of_changes)


def _rewrites(now: Rewrites, wanted: Rewrites) -> Iterator[Edit]:
    for path in {**now.columns, **wanted.columns}:
        if (rewrite := wanted.columns.get(path)) != now.columns.get(path):
            yield DeclareRewrite(path, rewrite)
    if wanted.partitioned_by != now.partitioned_by:
        yield DeclareLayoutRewrite(wanted.partitioned_by)


def _together(changed: Change) -> object:
    if isinstance(changed, change.FieldRenamed):
        return changed.path[:-1]
    return None


def _first_difference(expected: TableState, edited: TableState) -> str:
    """Return the first difference between the edited text and the goal; empty if there is none."""
    goal = replace(expected, columns=map_fields(expected.columns, _unnumbered))
    for changed in diff(goal, edited):
        if not isinstance(changed, change.FieldMoved):
            return f"{type(changed).__name__} {subject_name(changed)}".strip()
    if _old_names(goal) == _old_names(edited):
        return ""
    return "renamed_from"


def _old_names(state: TableState) -> dict[Path, str | None]:
    return {lowercased(path): field.renamed_from for path, field in walk_fields(state.columns)}


def _without_numbers(changed: Change) -> Change:
    """Return a change without the numbers that column tracking gave to fields."""
    if not isinstance(changed, change.FieldAdded):
        return changed
    (bare,) = map_fields(Struct((changed.field,)), _unnumbered).fields
    return replace(changed, field=bare)


def _unnumbered(_path: Path, field: Field) -> Field:
    return replace(field, column_id=None)
