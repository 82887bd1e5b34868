"""Find the revision of a contract that was applied last to a live table, and all revisions since.

The marker in the table names it. Without a marker, it is the newest revision that the table matches.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

from schemalint.contract.revisions import Revisions
from schemalint.delta.change import (
    Change,
    DeletionListed,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    change_path,
    subject,
    subject_name,
)
from schemalint.delta.datatype import Field, Struct, field_at, type_at
from schemalint.delta.path import format_path, is_within, lowercased, path_key
from schemalint.delta.renames import renames_of
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.errors import SchemalintError
from schemalint.git import Repository, Revision, is_ancestor, resolve
from schemalint.model.column_tracking import ColumnTracking, track_back, track_columns
from schemalint.model.contract import Contract
from schemalint.model.marker import Marker, declaration_hash, read_marker, read_pending
from schemalint.model.plan import Refusal, RefusalKind
from schemalint.model.rule_codes import DRIFT_SCHEMA
from schemalint.planner import PlanOptions, pending_changes
from schemalint.values import frozen, replace


@frozen
class LastApplied:
    """The revisions of a table's contract since the last apply.

    Attributes:
        revisions: The revisions, oldest first: from the applied one to the declaration. Empty if the applied
            revision is unknown.
        is_way_back: Whether the declaration is older than the applied revision; it is then the first, and the
            applied revision the last.
        judges_drift: Whether the table should match the applied revision; an interrupted run leaves it
            between two revisions.
    """

    revisions: tuple[Contract, ...] = ()
    is_way_back: bool = False
    judges_drift: bool = True

    @property
    def base(self) -> Contract | None:
        """The applied revision; None if it is unknown."""
        return self.revisions[-1 if self.is_way_back else 0] if self.revisions else None

    def tracking(self, live: Struct) -> ColumnTracking | None:
        """Track the live columns through the revisions; return None if the applied revision is unknown."""
        states = [revision.state for revision in self.revisions]
        if not states:
            return None
        return track_back(live, states) if self.is_way_back else track_columns(live, states)


def find_last_applied(
    revisions: Revisions,
    contract: Contract,
    table: LiveTable,
    *,
    base: str | None = None,
    allow_older: bool = False,
) -> LastApplied | Refusal:
    """Find the revisions since the last apply, or return why the table cannot be planned.

    Args:
        revisions: The revisions of all contracts.
        contract: The declaration, effective for the target.
        table: The live table.
        base: The commit that the user names as applied last.
        allow_older: Whether to apply a declaration older than the applied one.

    Raises:
        SchemalintError: The commits are missing, or the pending note in the table is invalid.
    """
    own = declaration_hash(contract)
    noted = read_pending(table.state)
    if noted is not None and (noted.targets or noted.hash == own):
        return LastApplied((contract,), judges_drift=False)  # the note has the column ids
    if base is not None:
        return _from_commit(revisions, contract, resolve(revisions.repository, base))
    if noted is not None:
        found = _by_hash(revisions, contract, noted.hash)
        return replace(found, judges_drift=False) if isinstance(found, LastApplied) else found
    marker = read_marker(table)
    if marker is None or marker.table_id not in (None, table.metadata.table_id):
        return _by_state(revisions, contract, table)
    if marker.hash == own:
        return LastApplied((contract,))
    return _by_marker(revisions, contract, marker, allow_older=allow_older)


def drift(
    contract: Contract, found: LastApplied, table: LiveTable, options: PlanOptions, *, repair: bool
) -> Iterator[Refusal]:
    """Refuse what others altered since the last apply; with `repair`, only what must not be overwritten."""
    base = found.base
    if base is None or not found.judges_drift:
        return
    planned = pending_changes(contract, table.state, options)
    yield from _possibly_renamed(planned, base, contract, table, options)
    if repair:
        return
    altered = _by_subject(pending_changes(base, table.state))
    suspects = {key: change for key, change in _by_subject(planned).items() if key in altered} | {
        key: change for key, change in altered.items() if _is_dropped(change, planned)
    }
    for differences in _since_later_revisions(found, table):
        suspects = {key: change for key, change in suspects.items() if key in differences}
    for change in suspects.values():
        yield _drifted(subject_name(change) or "the table")
    yield from _recreated(base, contract, table)


def unseen_edits(
    found: LastApplied, table: LiveTable, tracking: ColumnTracking | None
) -> Iterator[FieldRemoved | DeletionListed]:
    """Yield the edits of the contract since the last apply that a live table alone does not show.

    These are live columns that it no longer mentions, and listed drops with a type that the column never had.
    An older revision, which the user applies again, may lack newer columns.
    """
    if tracking is None or found.is_way_back:
        return
    yield from tracking.left_out
    *older, contract = found.revisions
    history = {path_key(entry.path) for state in older[:1] for entry in state.state.dropped}
    for entry in contract.state.dropped:
        states = (table.state, *(revision.state for revision in older))
        types = [old for state in states if (old := type_at(state.columns, entry.path)) is not None]
        if entry.type is None or path_key(entry.path) in history or not older:
            continue
        if types and print_type(entry.type) not in map(print_type, types):
            yield DeletionListed(entry.path, entry.type)


def _by_subject(changes: Sequence[Change]) -> dict[Hashable, Change]:
    """Return the changes of a live table by their subjects, columns under their live names."""
    renames = renames_of(changes)
    return {
        subject(change, renames.back(path) if (path := change_path(change)) else None): change
        for change in changes
    }


def _is_dropped(altered: Change, planned: Sequence[Change]) -> bool:
    """Whether the plan drops the altered column, or a parent of it."""
    renames, path = renames_of(planned), change_path(altered)
    removed = [change.path for change in planned if isinstance(change, FieldRemoved)]
    live_paths = [lowercased((*renames.back(new[:-1]), new[-1])) for new in removed]
    return path is not None and any(is_within(path, above) for above in live_paths)


def _since_later_revisions(found: LastApplied, table: LiveTable) -> Iterator[Collection[Hashable]]:
    """Yield what differs from each later revision: an interrupted run may have applied it in part."""
    if found.is_way_back:
        return
    states = [revision.state for revision in found.revisions]
    for number, revision in enumerate(found.revisions[1:-1], start=2):
        tracking = track_columns(table.state.columns, states[:number])
        yield _by_subject(pending_changes(revision, table.state, PlanOptions(tracking))).keys()


def _drifted(name: str) -> Refusal:
    return Refusal(
        RefusalKind.OPERATION,
        f"{name} matches neither the contract nor what was applied last",
        "someone altered the table: add the change to the contract, or overwrite it: --repair-drift",
        DRIFT_SCHEMA,
    )


def _recreated(base: Contract, contract: Contract, table: LiveTable) -> Iterator[Refusal]:
    """Refuse to drop columns again that a writer recreated after the contract dropped them."""
    listed = {lowercased(entry.path) for entry in base.state.dropped}
    for entry in contract.state.dropped:
        kept = field_at(contract.state.columns, entry.path) is not None
        if lowercased(entry.path) in listed and not kept and field_at(table.state.columns, entry.path):
            yield Refusal(
                RefusalKind.OPERATION,
                f"{format_path(entry.path)} was dropped, and exists again",
                "a writer recreated it: declare it, or drop it by hand once no writer needs it",
                DRIFT_SCHEMA,
            )


def _possibly_renamed(
    planned: Sequence[Change], base: Contract, contract: Contract, table: LiveTable, options: PlanOptions
) -> Iterator[Refusal]:
    """Refuse to add a column that was applied before, while an undeclared sibling of its type is live.

    Someone may have renamed it by hand. A new column that reuses an old name is not refused.
    """
    retaken = options.tracking.retaken if options.tracking else frozenset()
    renames = renames_of(planned)
    dropped = {
        lowercased((*renames.back(removed.path[:-1]), removed.path[-1]))
        for removed in planned
        if isinstance(removed, FieldRemoved)
    }
    for added in planned:
        if not isinstance(added, FieldAdded) or path_key(added.path) in retaken:
            continue
        parent = renames.back(added.path[:-1])
        live, before = type_at(table.state.columns, parent), type_at(base.state.columns, parent)
        declared = type_at(contract.state.columns, added.path[:-1])
        if not (isinstance(live, Struct) and isinstance(before, Struct) and isinstance(declared, Struct)):
            continue
        known = before.get(added.field.name)
        for field in live.fields:
            path = (*parent, field.name)
            is_renamed = renames.forward(path)[-1] != field.name
            if declared.get(field.name) is not None or is_renamed or lowercased(path) in dropped:
                continue
            if known is not None and _have_equal_types(field, known):
                yield Refusal(
                    RefusalKind.OPERATION,
                    f"{format_path(added.path)} is missing, and the undeclared {field.name} could be it",
                    "rename it back by hand, or declare the rename",
                    DRIFT_SCHEMA,
                )


def _have_equal_types(first: Field, second: Field) -> bool:
    return print_type(first.type) == print_type(second.type)


def _by_marker(
    revisions: Revisions, contract: Contract, marker: Marker, *, allow_older: bool
) -> LastApplied | Refusal:
    repository = revisions.repository
    commit = _known(repository, marker.revision) if marker.revision is not None else None
    if commit is not None and is_ancestor(repository, commit, revisions.tip):
        return _from_commit(revisions, contract, commit)
    if commit is not None and is_ancestor(repository, revisions.tip, commit):
        if allow_older:
            return _way_back(revisions, contract, commit)
        return Refusal(
            RefusalKind.OPERATION,
            f"the table is ahead: {commit[:12]} was applied, which is newer than this revision",
            "was an old job started again? --allow-older applies it anyway",
        )
    return _by_hash(revisions, contract, marker.hash)


def _by_hash(revisions: Revisions, contract: Contract, hash_: str) -> LastApplied | Refusal:
    for commit, found in revisions.newest_first(contract.key):
        if declaration_hash(found) == hash_:
            return _from_commit(revisions, contract, commit)
    return Refusal(
        RefusalKind.OPERATION,
        "the contract applied last is not in the history of this branch",
        "name the commit that was applied last: --base REV",
    )


def _from_commit(revisions: Revisions, contract: Contract, commit: str) -> LastApplied:
    since = revisions.since(commit, contract.key)
    if revisions.at(commit, contract.key) is None:
        return LastApplied()
    return LastApplied(_without_repeats([*since, contract]))


def _way_back(revisions: Revisions, contract: Contract, commit: str) -> LastApplied:
    applied = replace(revisions, head=Revision(commit, commit, "applied last"))
    since = applied.since(revisions.tip, contract.key)
    if applied.at(commit, contract.key) is None:
        return LastApplied()
    return LastApplied(_without_repeats([contract, *since]), is_way_back=True)


def _by_state(revisions: Revisions, contract: Contract, table: LiveTable) -> LastApplied | Refusal:
    """Find the newest revision that the table matches; refuse if an older one matches under other names."""
    newest = ""
    since: list[Contract] = []  # from the current revision of the loop to the newest match
    for commit, found in revisions.newest_first(contract.key):
        if since and declaration_hash(found) == declaration_hash(since[0]):
            continue
        since = [found, *since] if since else []
        if pending_changes(found, table.state):
            continue
        if not since:
            newest, since = commit, [found]
        elif _is_ambiguous(since, table):
            return Refusal(
                RefusalKind.OPERATION,
                f"the table matches the contract at {commit[:12]} and at {newest[:12]}, "
                "with renames in between",
                "name the commit that was applied last: --base REV",
            )
    return _from_commit(revisions, contract, newest) if newest else LastApplied()


def _is_ambiguous(revisions: Sequence[Contract], table: LiveTable) -> bool:
    """Whether a table matches the first and the last revision with different columns under the same names."""
    tracking = track_columns(table.state.columns, [revision.state for revision in revisions])
    changes = pending_changes(revisions[-1], table.state, PlanOptions(tracking))
    return any(isinstance(change, FieldRenamed | FieldAdded) for change in changes)


def _without_repeats(revisions: Sequence[Contract]) -> tuple[Contract, ...]:
    """Merge equal neighbours and keep the later one, for the parts that the hash does not cover."""
    kept: list[Contract] = []
    for revision in revisions:
        if kept and declaration_hash(kept[-1]) == declaration_hash(revision):
            kept[-1] = revision
        else:
            kept.append(revision)
    return tuple(kept)


def _known(repository: Repository, revision: str) -> str | None:
    """Return the commit; None if it no longer exists, an error if only this shallow clone lacks it."""
    try:
        return resolve(repository, revision)
    except SchemalintError:
        if repository.is_shallow():
            raise
        return None
