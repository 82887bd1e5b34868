"""The edit of a contract that takes a change back: a plain ``git revert`` asks for what Delta cannot do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from schemalint import contract as contracts
from schemalint.contract.revisions import Revisions, contracts_at
from schemalint.delta import change
from schemalint.delta.change import Change, subject_name
from schemalint.delta.datatype import Field, Struct, map_fields, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import Path, lowercased
from schemalint.delta.table import TableState
from schemalint.document import TextEdit, apply_edits, decode
from schemalint.document.review import read_by_another, unified_diff
from schemalint.errors import ContractError, UsageError
from schemalint.git import Repository, Worktree, resolve
from schemalint.model.contract import Contract, table_key
from schemalint.model.finding import DeclareChange, DeclareRenames, Edit
from schemalint.model.marker import declaration_hash
from schemalint.revert.declaration import Reversal, reverse_changes
from schemalint.values import frozen, replace

# A target that no contract names: what all targets share.
_SHARED = ""


@frozen
class Reverted:
    """A contract that takes a change back; nothing is written yet.

    Attributes:
        commit: The one that it goes back to.
        file: Of the contract, relative to the repository's root.
        notes: What stays, or comes back otherwise than it was.
    """

    table: str
    commit: str
    file: str
    before: str
    after: str
    notes: tuple[str, ...]

    @property
    def diff(self) -> str:
        """What changes, as a unified diff; empty if nothing does."""
        return unified_diff(self.file, self.before, self.after)


def revert(repository: Repository, globs: Sequence[str], table: str, to: str | None = None) -> Reverted:
    """The contract of the working tree, edited so that it takes changes back.

    Args:
        repository: Whose contracts they are.
        globs: Which files are looked at.
        table: A name.
        to: The revision to go back to; None for the last one that declared the table otherwise.

    Raises:
        UsageError: There is no such table, or no such revision of it.
        ContractError: A contract cannot be read, or its layout cannot be edited in place.
    """
    declared = contracts_at(repository, Worktree(), globs)
    key = table_key(table)
    if key not in declared:
        raise UsageError(f"no contract declares {table}", help=f"declared: {', '.join(sorted(declared))}")
    contract = declared[key]
    revisions = Revisions(repository, globs, _SHARED, Worktree())
    commit = _before(revisions, contract) if to is None else resolve(repository, to)
    if revisions.at(commit, key) is None:
        raise UsageError(f"{contract.table} is not declared at {commit[:12]}", help="see git log")
    back = reverse_changes([*revisions.since(commit, key), contract])
    before = _text(repository, contract.file)
    after = _edited(contract, before, back)
    return Reverted(contract.table, commit, contract.file, before, after, back.notes)


def _text(repository: Repository, file: str) -> str:
    try:
        return decode((repository.root / file).read_bytes(), file)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def _before(revisions: Revisions, contract: Contract) -> str:
    own = declaration_hash(contract)
    for commit, found in revisions.newest_first(contract.key):
        if declaration_hash(found) != own:
            return commit
    raise UsageError(
        f"there is no revision in which {contract.table} was declared otherwise",
        help="name one with --to; a shallow clone has none: git fetch --unshallow",
    )


def _edited(contract: Contract, text: str, back: Reversal) -> str:
    found = [one for one in diff(back.now, back.wanted) if not isinstance(one, change.FieldMoved)]
    if not found:
        return text
    changes = contracts.text_changes(contract, text, list(_edits(found)))
    after = apply_edits(text, [TextEdit(one.start, one.end, one.text) for one in changes], contract.file)
    read_by_another(after)
    found_again = contracts.read(contract.file, after).contracts
    again = next(one.state for one in found_again if one.key == contract.key)
    left = _left(back.wanted, again)
    if left:
        raise ContractError(
            f"{contract.table} cannot be taken back in place: {left} is left",
            help="make the change by hand",
            location=contracts.locate(contract, ("table",)),
        )
    _require_same_columns(contract, found, diff(contract.state, again))
    return after


def _require_same_columns(contract: Contract, meant: Iterable[Change], read: Iterable[Change]) -> None:
    """A swap that is swapped back is declared in the very words of the first one, which are no news."""
    if _fates(meant) != _fates(read):
        raise ContractError(
            f"{contract.table}: a swap cannot be taken back while its `renamed_from` is still declared",
            help="take `renamed_from` out of these columns, commit and apply that, then revert with --to",
            location=contracts.locate(contract, ("columns",)),
        )


def _fates(changes: Iterable[Change]) -> set[tuple[str, Path, str | None]]:
    """Which columns come, go, and get another name."""
    kinds = change.FieldAdded | change.FieldRemoved | change.FieldRenamed
    return {
        (type(one).__name__, lowercased(one.path), getattr(one, "old_name", None))
        for one in changes
        if isinstance(one, kinds)
    }


def _edits(changes: Iterable[Change]) -> Iterator[Edit]:
    """Renames of one struct's fields are one edit: in a swap each name is taken before it is given up."""
    for _parent, run in groupby(changes, key=_renamed_in):
        found = list(run)
        renames = tuple(one for one in found if isinstance(one, change.FieldRenamed))
        if renames:
            yield DeclareRenames(renames)
        else:
            yield from (DeclareChange(_as_written(one)) for one in found)


def _renamed_in(one: Change) -> Path | None:
    return one.path[:-1] if isinstance(one, change.FieldRenamed) else None


def _left(wanted: TableState, again: TableState) -> str:
    """What the edited text does not say; empty if it says all."""
    goal = replace(wanted, columns=map_fields(wanted.columns, _unnumbered))
    for one in diff(goal, again):
        if not isinstance(one, change.FieldMoved):
            return f"{type(one).__name__} {subject_name(one)}".strip()
    return "" if _former_names(goal) == _former_names(again) else "renamed_from"


def _former_names(state: TableState) -> dict[Path, str | None]:
    return {lowercased(path): one.renamed_from for path, one in walk_fields(state.columns)}


def _as_written(one: Change) -> Change:
    """Without the numbers that told fields apart."""
    if not isinstance(one, change.FieldAdded):
        return one
    (bare,) = map_fields(Struct((one.field,)), _unnumbered).fields
    return replace(one, field=bare)


def _unnumbered(_path: Path, one: Field) -> Field:
    return replace(one, column_id=None)
