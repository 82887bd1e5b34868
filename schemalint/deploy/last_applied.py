"""Find the revision of a contract that was applied last to a live table, and what others altered since.

The marker in the table names it. Without a marker, it is the newest revision that the live table equals. The
user names it where neither tells.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Final

from schemalint.base.errors import SchemalintError
from schemalint.base.values import frozen, replace
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.change import (
    Change,
    DeletionListed,
    FieldRemoved,
    PropertyChanged,
    change_path,
    renames_of,
    subject,
    subject_name,
)
from schemalint.delta.datatype import Struct, field_at, type_at
from schemalint.delta.feature_drop import set_by_drops
from schemalint.delta.path import format_path, is_within, lowercased, path_key
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.deploy.matching_revision import matching_revision, possible_renames
from schemalint.model.column_tracking import ColumnTracking, is_alike, track_back, track_columns
from schemalint.model.effective import Effective
from schemalint.model.marker import Marker, declaration_hash, read_marker, read_pending
from schemalint.model.revision_columns import listed_paths
from schemalint.model.rule_codes import DRIFT_SCHEMA
from schemalint.model.table_plan import Refusal, RefusalKind
from schemalint.planner import PlanOptions, pending_changes
from schemalint.project.git import MissingHistoryError, Repository, Revision, is_ancestor, resolve

NO_BASE: Final = "none"
"""What the user gives for `base` if no revision was ever applied to the table."""


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

    revisions: tuple[Effective, ...] = ()
    is_way_back: bool = False
    judges_drift: bool = True

    @property
    def base(self) -> Effective | None:
        """The applied revision; None if it is unknown."""
        if not self.revisions:
            return None
        return self.revisions[-1] if self.is_way_back else self.revisions[0]

    def tracking(self, live: Struct) -> ColumnTracking | None:
        """Track the live columns through the revisions; return None if the applied revision is unknown."""
        states = [revision.state for revision in self.revisions]
        if not states:
            return None
        if self.is_way_back:
            return track_back(live, states)
        return track_columns(live, states)


def resolved_base(repository: Repository, base: str | None) -> str | None:
    """Return the commit that the user names as applied last; `NO_BASE` and None stay as they are.

    Raises:
        UsageError: The text is no revision.
        MissingHistoryError: The commit is unknown.
    """
    return base if base in (None, NO_BASE) else resolve(repository, str(base))


def find_last_applied(
    revisions: Revisions,
    contract: Effective,
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
        base: The commit that the user names as applied last, or `NO_BASE`; it counts only if it is unknown.
        allow_older: Whether to apply a declaration older than the applied one.

    Raises:
        SchemalintError: The commits are missing, or the pending note in the table is invalid.
    """
    own = declaration_hash(contract)
    noted, marker = read_pending(table.state), read_marker(table)
    if noted is not None and (noted.targets or noted.hash == own):
        return LastApplied((contract,), judges_drift=False)  # the note has the column ids
    if noted is None and marker is not None and marker.hash == own:
        return LastApplied((contract,))
    last_applied: LastApplied | Refusal | _Unknown
    try:
        if noted is not None:
            last_applied = _by_hash(revisions, contract, noted.hash)
        elif marker is not None:
            last_applied = _by_marker(revisions, contract, marker, allow_older=allow_older)
        else:
            last_applied = _by_state(revisions, contract, table)
    except MissingHistoryError as error:
        if base is None or error.command:
            raise
        last_applied = _Unknown()  # the history is here, but too long to be searched
    if isinstance(last_applied, _Unknown):
        if base is None:
            last_applied = last_applied.refusal or LastApplied()
        else:
            last_applied = _named_by_user(revisions, contract, base, allow_older=allow_older)
    if isinstance(last_applied, LastApplied):
        return replace(last_applied, judges_drift=noted is None)
    return last_applied


@frozen
class _Unknown:
    """The revision applied last is unknown, so the user may name it.

    Attributes:
        refusal: Why the table cannot be planned without it; None if its columns tell enough.
    """

    refusal: Refusal | None = None


def _by_marker(
    revisions: Revisions, contract: Effective, marker: Marker, *, allow_older: bool
) -> LastApplied | Refusal | _Unknown:
    commit = _known(revisions.repository, marker.revision) if marker.revision is not None else None
    if commit is not None:
        last_applied = _related(revisions, contract, commit, allow_older=allow_older)
        if last_applied is not None:
            return last_applied
    return _by_hash(revisions, contract, marker.hash)


def _by_hash(revisions: Revisions, contract: Effective, hash_: str) -> LastApplied | _Unknown:
    since: list[Effective] = [contract]
    for _commit, revision in revisions.newest_first(contract.key):
        since.append(revision)
        if declaration_hash(revision) == hash_:
            return LastApplied(_without_repeats(reversed(since)))
    return _Unknown(
        Refusal(
            RefusalKind.OPERATION,
            "the contract applied last is not in the history of this branch",
            "name the commit that was applied last: --base REV",
        )
    )


def _by_state(revisions: Revisions, contract: Effective, table: LiveTable) -> LastApplied | _Unknown:
    revisions_by_commit = (
        (commit[:12], revision) for commit, revision in revisions.newest_first(contract.key)
    )
    head = (revisions.head.commit or "")[:12] or "the working tree"
    since = matching_revision([(head, contract), *revisions_by_commit], table.state)
    if isinstance(since, Refusal):
        return _Unknown(since)
    return LastApplied(_without_repeats(since)) if since else _Unknown()


def _named_by_user(
    revisions: Revisions, contract: Effective, base: str, *, allow_older: bool
) -> LastApplied | Refusal:
    if base == NO_BASE:
        return LastApplied()
    commit = resolve(revisions.repository, base)
    related = _related(revisions, contract, commit, allow_older=allow_older)
    return (
        related
        or _since(revisions, contract, commit)
        or Refusal(
            RefusalKind.OPERATION,
            f"{contract.table} has no readable contract at {commit[:12]}, the named base",
            "name the commit that was applied last, or that none was: --base REV, --base none",
        )
    )


def _related(
    revisions: Revisions, contract: Effective, commit: str, *, allow_older: bool
) -> LastApplied | Refusal | None:
    """Return the revisions between an applied commit and the declaration, if one is the other's ancestor.

    None also if the commit has no readable contract of the table.
    """
    if is_ancestor(revisions.repository, commit, revisions.tip):
        return _since(revisions, contract, commit)
    if not is_ancestor(revisions.repository, revisions.tip, commit):
        return None
    if allow_older:
        return _way_back(revisions, contract, commit)
    return Refusal(
        RefusalKind.OPERATION,
        f"the table is ahead: {commit[:12]} was applied, which is newer than this revision",
        "was an old job started again? --allow-older applies it anyway",
    )


def _since(revisions: Revisions, contract: Effective, commit: str) -> LastApplied | None:
    since = revisions.since(commit, contract.key)
    return LastApplied(_without_repeats([*since, contract])) if since else None


def _way_back(revisions: Revisions, contract: Effective, commit: str) -> LastApplied | None:
    applied = replace(revisions, head=Revision(commit, commit, "applied last"))
    since = applied.since(revisions.tip, contract.key)
    if applied.at(commit, contract.key) is None:
        return None
    return LastApplied(_without_repeats([contract, *since]), is_way_back=True)


def _without_repeats(revisions: Iterable[Effective]) -> tuple[Effective, ...]:
    """Merge equal neighbours and keep the later one, for the parts that the hash does not cover."""
    kept: list[Effective] = []
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


def drift(
    contract: Effective, last_applied: LastApplied, table: LiveTable, options: PlanOptions, *, repair: bool
) -> Iterator[Refusal]:
    """Refuse what others altered since the last apply; with `repair`, only what it must not overwrite."""
    base = last_applied.base
    if base is None or not last_applied.judges_drift:
        return
    planned = pending_changes(contract, table.state, options)
    yield from possible_renames(
        planned,
        contract.state,
        table.state,
        options.tracking,
        [base.state],
        "rename it back by hand, or declare the rename",
    )
    yield from _recreated(base, contract, table)
    yield from _altered_before_drop(planned, contract, options.tracking)
    if repair:
        return
    altered = _by_subject(pending_changes(base, table.state))
    suspects = {key: change for key, change in _by_subject(planned).items() if key in altered} | {
        key: change for key, change in altered.items() if _is_dropped(change, planned)
    }
    for differences in _since_later_revisions(last_applied, table):
        suspects = {key: change for key, change in suspects.items() if key in differences}
    dropped = set_by_drops(contract.drop_features, table.state)
    for change in suspects.values():
        if isinstance(change, PropertyChanged) and change.key in dropped:
            continue  # a DROP FEATURE set it, and an interrupted one too
        yield Refusal(
            RefusalKind.OPERATION,
            f"{subject_name(change) or 'the table'} matches neither the contract nor what was applied last",
            "someone altered the table: add the change to the contract, or overwrite it: --repair-drift",
            DRIFT_SCHEMA,
        )


def unseen_edits(
    last_applied: LastApplied, table: LiveTable, tracking: ColumnTracking | None
) -> Iterator[FieldRemoved | DeletionListed]:
    """Yield the edits of the contract since the last apply that a live table alone does not show.

    These are live columns that it no longer mentions, and listed drops with a type that the column never had.
    An older revision, which the user applies again, may lack newer columns.
    """
    if tracking is None or last_applied.is_way_back:
        return
    yield from tracking.left_out
    *older, contract = last_applied.revisions
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
    removed = (change.path for change in planned if isinstance(change, FieldRemoved))
    return path is not None and any(
        is_within(path, lowercased(renames.parents_back(above))) for above in removed
    )


def _since_later_revisions(last_applied: LastApplied, table: LiveTable) -> Iterator[Collection[Hashable]]:
    """Yield what differs from each later revision: an interrupted run may have applied it in part."""
    if last_applied.is_way_back:
        return
    states = [revision.state for revision in last_applied.revisions]
    for number, revision in enumerate(last_applied.revisions[1:-1], start=2):
        tracking = track_columns(table.state.columns, states[:number])
        yield _by_subject(pending_changes(revision, table.state, PlanOptions(tracking))).keys()


def _recreated(base: Effective, contract: Effective, table: LiveTable) -> Iterator[Refusal]:
    """Refuse to drop columns again that a writer recreated after the contract dropped them."""
    old = frozenset(base.state.dropped_by_key) - listed_paths(base.state, contract.state)
    for entry in contract.state.dropped:
        states = (contract.state, base.state)
        is_declared = any(field_at(state.columns, entry.path) is not None for state in states)
        if path_key(entry.path) in old and not is_declared and field_at(table.state.columns, entry.path):
            yield Refusal(
                RefusalKind.OPERATION,
                f"{format_path(entry.path)} was dropped, and exists again",
                "a writer recreated it: declare it, or drop it by hand once no writer needs it",
                DRIFT_SCHEMA,
            )


def _altered_before_drop(
    planned: Sequence[Change], contract: Effective, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """Refuse to drop a column of a type that no revision gives it: it may be another column by now."""
    for removed in planned:
        if not isinstance(removed, FieldRemoved) or tracking is None:
            continue
        live = removed.field.type
        listed = contract.state.dropped_by_key.get(path_key(removed.path), ())
        old_types = tracking.dropped_types.get(removed.field.column_id or 0, ())
        types = (*old_types, *(entry.type for entry in listed if entry.type is not None))
        is_widened = contract.open.widening and any(step(old, live) == TypeStep.WIDENING for old in types)
        if types and not is_widened and not any(is_alike(old, live) for old in types):
            yield Refusal(
                RefusalKind.OPERATION,
                f"{format_path(removed.path)} has the type {print_type(live)}, which no revision gives it",
                "someone made it anew: declare it, or drop it by hand once nobody needs it",
                DRIFT_SCHEMA,
            )
