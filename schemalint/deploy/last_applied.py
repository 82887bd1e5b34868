"""What a live table was brought to last, and what its contract has been since.

The marker in the table says it. Without one, it is the newest revision that the table equals.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

from schemalint.contract.revisions import Revisions
from schemalint.delta import change
from schemalint.delta.change import Change, change_path, subject, subject_name
from schemalint.delta.datatype import Field, Struct, field_at, type_at
from schemalint.delta.path import format_path, lowercased, path_key
from schemalint.delta.renames import renames_of
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.errors import SchemalintError
from schemalint.git import Repository, Revision, is_ancestor, resolve
from schemalint.model.column_tracking import ColumnTracking, track_back, track_columns
from schemalint.model.contract import Contract
from schemalint.model.marker import Marker, declaration_hash, read_marker, read_pending
from schemalint.model.plan import Refusal
from schemalint.planner import PlanOptions, pending
from schemalint.values import frozen, replace


@frozen
class LastApplied:
    """A table's contract since it was applied last.

    Attributes:
        revisions: Oldest first; the last one is the declaration. Empty if it is not known what was applied.
        is_way_back: Whether the declaration is older than what was applied: then it is the first one.
        judges_drift: Whether the table is to be as the applied revision says; it is not while names are on
            their way.
    """

    revisions: tuple[Contract, ...] = ()
    is_way_back: bool = False
    judges_drift: bool = True

    def tracking(self, live: Struct) -> ColumnTracking | None:
        """Which column is which; None if names have to tell."""
        states = [one.state for one in self.revisions]
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
    """The last_applied of a live table, or why there is none that can be built on.

    Args:
        revisions: Of all contracts.
        contract: The declaration, effective for the target.
        table: As it is.
        base: The commit that the user says was applied last.
        allow_older: Whether a declaration may be applied that is older than what was applied.

    Raises:
        SchemalintError: The history is not here, or the table's own note cannot be understood.
    """
    own = declaration_hash(contract)
    noted = read_pending(table.state)
    if noted is not None and (noted.targets or noted.hash == own):
        return LastApplied((contract,), judges_drift=False)  # by ids, which the note has
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
    """What somebody altered since it was applied last; with `repair` only what must not be overwritten."""
    if not (found.revisions and found.judges_drift):
        return
    base = found.revisions[-1 if found.is_way_back else 0]
    wanted = pending(contract, table.state, options)
    yield from _could_be_another(wanted, base, contract, table, options)
    if repair:
        return
    altered = _by_subject(pending(base, table.state))
    suspects = {key: one for key, one in _by_subject(wanted).items() if key in altered} | {
        key: one for key, one in altered.items() if _goes(one, wanted)
    }
    for earlier in _in_between(found, table):
        suspects = {key: one for key, one in suspects.items() if key in earlier}
    for one in suspects.values():
        yield _drifted(subject_name(one) or "the table")
    yield from _brought_back(base, contract, table)


def _by_subject(changes: Sequence[Change]) -> dict[Hashable, Change]:
    """Changes of a live table by what they are about, columns under their live names."""
    renames = renames_of(changes)
    return {subject(one, renames.back(path) if (path := change_path(one)) else None): one for one in changes}


def _goes(one: Change, wanted: Sequence[Change]) -> bool:
    """Whether what was altered is, or is inside of, a column that is to be dropped."""
    renames, path = renames_of(wanted), change_path(one)
    removed = [each.path for each in wanted if isinstance(each, change.FieldRemoved)]
    gone = [lowercased((*renames.back(each[:-1]), each[-1])) for each in removed]
    return path is not None and any(path[: len(above)] == above for above in gone)


def _in_between(found: LastApplied, table: LiveTable) -> Iterator[Collection[Hashable]]:
    """What differs from each revision after the one that was applied: a run of it may have been cut short."""
    if found.is_way_back:
        return
    states = [one.state for one in found.revisions]
    for number, revision in enumerate(found.revisions[1:-1], start=2):
        tracking = track_columns(table.state.columns, states[:number])
        yield _by_subject(pending(revision, table.state, PlanOptions(tracking))).keys()


def _drifted(name: str) -> Refusal:
    return Refusal(
        f"{name} is neither as declared nor as it was applied last",
        "somebody altered the table: take it into the contract, or overwrite it: --repair-drift",
        "DR001",
    )


def _brought_back(base: Contract, contract: Contract, table: LiveTable) -> Iterator[Refusal]:
    """Columns that were dropped by declaration and are there again, with what somebody wrote into them."""
    listed = {lowercased(entry.path) for entry in base.state.dropped}
    for entry in contract.state.dropped:
        kept = field_at(contract.state.columns, entry.path) is not None
        if lowercased(entry.path) in listed and not kept and field_at(table.state.columns, entry.path):
            yield Refusal(
                f"{format_path(entry.path)} was dropped, and is there again",
                "somebody writes it: declare it, or drop it by hand once nobody does",
                "DR001",
            )


def _could_be_another(
    wanted: Sequence[Change], base: Contract, contract: Contract, table: LiveTable, options: PlanOptions
) -> Iterator[Refusal]:
    """Columns that would be added, while one of their type stays that nobody declares and that could be it.

    Somebody renamed it by hand; or it was declared until now, and is neither renamed nor listed as dropped: a
    rename that is taken back looks like that. A new column under the name of an old one is no such case.
    """
    retaken = options.tracking.retaken if options.tracking else frozenset()
    renames = renames_of(wanted)
    going = {
        lowercased((*renames.back(one.path[:-1]), one.path[-1]))
        for one in wanted
        if isinstance(one, change.FieldRemoved)
    }
    for one in wanted:
        if not isinstance(one, change.FieldAdded) or path_key(one.path) in retaken:
            continue
        parent = renames.back(one.path[:-1])
        here, before = type_at(table.state.columns, parent), type_at(base.state.columns, parent)
        declared = type_at(contract.state.columns, one.path[:-1])
        if not (isinstance(here, Struct) and isinstance(before, Struct) and isinstance(declared, Struct)):
            continue
        known = before.get(one.field.name)
        for field in here.fields:
            path = (*parent, field.name)
            is_renamed = renames.forward(path)[-1] != field.name
            if declared.get(field.name) is not None or is_renamed or lowercased(path) in going:
                continue
            if known is not None and _are_alike(field, known):
                yield Refusal(
                    f"{format_path(one.path)} is gone, and {field.name}, which nobody declares, could be it",
                    "rename it back by hand, or declare the rename",
                    "DR001",
                )
            elif before.get(field.name) is not None and _are_alike(field, one.field):
                yield Refusal(
                    f"{format_path(one.path)} would be added, and {field.name}, which is declared no longer, "
                    "could be it",
                    f"declare the rename, or list {field.name} under `dropped`; what takes a rename back is "
                    f"`schemalint revert {contract.table}`",
                    "CM003",
                )


def _are_alike(one: Field, other: Field) -> bool:
    return print_type(one.type) == print_type(other.type)


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
            f"the table is ahead: {commit[:12]} was applied, which comes after this revision",
            "an old job run again? --allow-older applies it all the same",
        )
    return _by_hash(revisions, contract, marker.hash)


def _by_hash(revisions: Revisions, contract: Contract, hash_: str) -> LastApplied | Refusal:
    for commit, found in revisions.newest_first(contract.key):
        if declaration_hash(found) == hash_:
            return _from_commit(revisions, contract, commit)
    return Refusal(
        "what was applied last is no revision of this branch",
        "name the commit that the table is at: --base REV",
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
    """The newest revision that the table equals; not known if an older one does too, under other names."""
    newest = ""
    since: list[Contract] = []  # from the one at hand to the newest that the table equals
    for commit, found in revisions.newest_first(contract.key):
        if since and declaration_hash(found) == declaration_hash(since[0]):
            continue
        since = [found, *since] if since else []
        if pending(found, table.state):
            continue
        if not since:
            newest, since = commit, [found]
        elif _confuses(since, table):
            return Refusal(
                f"the table is as declared at {commit[:12]} and at {newest[:12]}, with renames in between",
                "name the commit that it is at: --base REV",
            )
    return _from_commit(revisions, contract, newest) if newest else LastApplied()


def _confuses(revisions: Sequence[Contract], table: LiveTable) -> bool:
    """Whether a table equals the first and the last revision with other columns in the same places."""
    tracking = track_columns(table.state.columns, [one.state for one in revisions])
    wanted = pending(revisions[-1], table.state, PlanOptions(tracking))
    return any(isinstance(one, change.FieldRenamed | change.FieldAdded) for one in wanted)


def _without_repeats(found: Sequence[Contract]) -> tuple[Contract, ...]:
    """Revisions that differ from the one before; the last one is kept for what the hash does not hold."""
    kept: list[Contract] = []
    for one in found:
        if kept and declaration_hash(kept[-1]) == declaration_hash(one):
            kept[-1] = one
        else:
            kept.append(one)
    return tuple(kept)


def _known(repository: Repository, revision: str) -> str | None:
    """The commit; None if it is gone for good, an error if only this shallow clone lacks it."""
    try:
        return resolve(repository, revision)
    except SchemalintError:
        if repository.is_shallow():
            raise
        return None
