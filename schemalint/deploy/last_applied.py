"""Find the revision of a contract that was applied last to a live table, and all revisions since.

The marker in the table names it. Without a marker, it is the newest revision that the live table equals. The
user names it where neither tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemalint.base.errors import SchemalintError
from schemalint.base.values import frozen, replace
from schemalint.contract.revisions import Revisions
from schemalint.delta.datatype import Struct
from schemalint.delta.table import LiveTable
from schemalint.deploy.matching_revision import matching_revision
from schemalint.model.column_tracking import ColumnTracking, track_back, track_columns
from schemalint.model.contract import Contract
from schemalint.model.marker import Marker, declaration_hash, read_marker, read_pending
from schemalint.model.plan import Refusal, RefusalKind
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


def resolved_base(repository: Repository, base: str | None) -> str | None:
    """Return the commit that the user names as applied last; `NO_BASE` and None stay as they are.

    Raises:
        UsageError: The text is no revision.
        MissingHistoryError: The commit is unknown.
    """
    return base if base in (None, NO_BASE) else resolve(repository, str(base))


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
        last_applied = (
            last_applied.refusal or LastApplied()
            if base is None
            else _named_by_user(revisions, contract, base, allow_older=allow_older)
        )
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
    revisions: Revisions, contract: Contract, marker: Marker, *, allow_older: bool
) -> LastApplied | Refusal | _Unknown:
    commit = _known(revisions.repository, marker.revision) if marker.revision is not None else None
    if commit is not None:
        last_applied = _related(revisions, contract, commit, allow_older=allow_older)
        if last_applied is not None:
            return last_applied
    return _by_hash(revisions, contract, marker.hash)


def _by_hash(revisions: Revisions, contract: Contract, hash_: str) -> LastApplied | _Unknown:
    since: list[Contract] = [contract]
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


def _by_state(revisions: Revisions, contract: Contract, table: LiveTable) -> LastApplied | _Unknown:
    revisions_by_commit = (
        (commit[:12], revision) for commit, revision in revisions.newest_first(contract.key)
    )
    head = (revisions.head.commit or "")[:12] or "the working tree"
    since = matching_revision([(head, contract), *revisions_by_commit], table.state)
    if isinstance(since, Refusal):
        return _Unknown(since)
    return LastApplied(_without_repeats(since)) if since else _Unknown()


def _named_by_user(
    revisions: Revisions, contract: Contract, base: str, *, allow_older: bool
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
    revisions: Revisions, contract: Contract, commit: str, *, allow_older: bool
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


def _since(revisions: Revisions, contract: Contract, commit: str) -> LastApplied | None:
    since = revisions.since(commit, contract.key)
    return LastApplied(_without_repeats([*since, contract])) if since else None


def _way_back(revisions: Revisions, contract: Contract, commit: str) -> LastApplied | None:
    applied = replace(revisions, head=Revision(commit, commit, "applied last"))
    since = applied.since(revisions.tip, contract.key)
    if applied.at(commit, contract.key) is None:
        return None
    return LastApplied(_without_repeats([contract, *since]), is_way_back=True)


def _without_repeats(revisions: Iterable[Contract]) -> tuple[Contract, ...]:
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
