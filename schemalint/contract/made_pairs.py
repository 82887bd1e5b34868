"""Both sides of made files: which tables pair, and whether a file was made from its sources.

What a format calls a table stays (`MadeReading.identities`), its name need not: a pull request builds into a
schema of its own. So the head's tables keep the names of the base, unless one table goes another way than
those around it: that one has moved.

A file is not made again by itself: what is older than its project says nothing about the change.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from schemalint.base.errors import ContractError, GitError, Location, SchemalintError
from schemalint.base.printable import visible
from schemalint.base.values import field, frozen, grouped, replace
from schemalint.contract.made_files import MadeReading, Origin
from schemalint.delta.path import Path, format_path, split_path
from schemalint.model.contract import Contract, table_key
from schemalint.model.finding import SkippedTable
from schemalint.project import git
from schemalint.project.config.contracts_entry import ContractsEntry
from schemalint.project.git import Repository, Revision, Side


@frozen
class Pairs:
    """The tables of both sides.

    Attributes:
        before: Those of the base, by table key.
        after: Those of the head, by table key, under the names of the base.
        observed: The columns whose types no file declares, by table key.
        errors: The tables of the head that claim to be the same one.
        notes: What the sides differ in besides their tables.
        skipped: The tables of the head that the base has with an error.
        why_gone: Why the head compares a table of the base no longer, by table key.
    """

    before: Mapping[str, Contract]
    after: Mapping[str, Contract]
    observed: Mapping[str, frozenset[str]]
    errors: tuple[ContractError, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: tuple[SkippedTable, ...] = ()
    why_gone: Mapping[str, str] = field(default_factory=dict)


def paired(before: MadeReading, after: MadeReading) -> Pairs:
    """Return the tables of both sides; one of the head has the name that the base gives it."""
    # Many tables are declared in one file; a removed one is no other one of it under a new name.
    base = [replace(contract, document_index=index) for index, contract in enumerate(before.contracts)]
    by_identity = {
        before.identities[contract.key]: contract for contract in base if contract.key in before.identities
    }
    partners = [(by_identity.get(after.identities.get(each.key, "")), each) for each in after.contracts]
    moves = _Moves([(old, new) for old, new in partners if old is not None])
    by_key = {contract.key: contract for contract in base}
    head: dict[str, Contract] = {}
    names: dict[str, str] = {}
    errors: list[ContractError] = []
    for index, (partner, new) in enumerate(partners):
        old = partner or by_key.get(new.key)
        name = new.table if old is None or moves.is_moved(old, new) else old.table
        document = len(base) + index if old is None else old.document_index
        contract = replace(new, table=name, document_index=document)
        names[new.key] = contract.key
        if head.setdefault(contract.key, contract) is not contract:
            errors.append(_twice(contract, after.identities.get(new.key, "")))
    return Pairs(
        {
            key: contract
            for key, contract in by_key.items()
            if key in head or before.identities.get(key) not in after.unreadable
        },
        head,
        {**before.observed, **{names[key]: columns for key, columns in after.observed.items()}},
        tuple(errors),
        (*moves.notes(), *_variants(before, after)),
        tuple(
            SkippedTable(new.table, "its declaration in the base has an error: judged as new")
            for partner, new in partners
            if partner is None and after.identities.get(new.key) in before.unreadable
        ),
        {
            contract.key: after.reasons[identity]
            for identity, contract in by_identity.items()
            if identity in after.reasons
        },
    )


def paired_uncontracted(before: MadeReading, after: MadeReading) -> dict[str, tuple[Contract, Contract]]:
    """Return the tables that have a contract on neither side, by their keys at the base.

    One that is new, gone or elsewhere is none of them: nobody promised it to anybody.
    """
    old, new = (replace(side, contracts=side.uncontracted, observed={}) for side in (before, after))
    pairs = paired(old, new)
    return {key: (contract, pairs.after[key]) for key, contract in pairs.before.items() if key in pairs.after}


class _Moves:
    """Where the head builds the tables of the base, and which of them go another way than the others."""

    def __init__(self, pairs: list[tuple[Contract, Contract]]) -> None:
        """Take the tables of the base, each with that of the head which has its identity."""
        places = [(_place(old), _place(new)) for old, new in pairs]
        self._are_here = sum(old == new for old, new in places) * 2 >= len(places)
        self._keep_names = sum(_name(old) == _name(new) for old, new in pairs) * 2 >= len(pairs)
        self._others = {old: Counter(new).most_common(1)[0][0] for old, new in grouped(places).items()}

    def is_moved(self, old: Contract, new: Contract) -> bool:
        """Whether a table goes another way than those around it."""
        place = _place(old)
        expected = place if self._are_here else self._others.get(place, place)
        return _place(new) not in (expected, place) or (self._keep_names and _name(old) != _name(new))

    def notes(self) -> Iterator[str]:
        """Yield what the head builds elsewhere, all of it."""
        if not self._are_here:
            ways = ", ".join(
                f"{format_path(old)} as {format_path(new)}" for old, new in self._others.items() if old != new
            )
            yield f"judged as the tables of the base, which it builds elsewhere: {ways}"
        if not self._keep_names:
            yield "judged as the tables of the base, which it gives other names"


def _place(contract: Contract) -> Path:
    return split_path(table_key(contract.table))[:-1]


def _name(contract: Contract) -> str:
    return split_path(contract.table)[-1].casefold()


def _twice(contract: Contract, identity: str) -> ContractError:
    return ContractError(
        f"{contract.table} is the table of two declarations, of which {identity or 'one'} is the second",
        help="give one of them another name",
        location=contract.anchors.get(("table",)) or Location(contract.file),
    )


def _variants(before: MadeReading, after: MadeReading) -> Iterator[str]:
    old, new = before.origin, after.origin
    if old is not None and new is not None and old.variant != new.variant:
        yield f"made {new.variant}, and that of the base {old.variant}: they write tables differently"


def stale_base(repository: Repository, base: Side, folder: str, origin: Origin) -> list[SchemalintError]:
    """Return an error if the project changed between what the base's file is made from and the base."""
    if not isinstance(base, Revision):
        return []
    commit = base.commit
    advice = f"make it of that commit: git worktree add --detach ../base {commit[:12]}, and dbt parse there"
    if origin.commit is not None:
        if not git.is_known(repository, origin.commit):
            message = f"--base-from is of commit {origin.commit[:12]}, which this clone does not have"
            return [GitError(message, help=advice)]
        made_of = Revision(origin.commit, origin.commit, "the file says so")
        if git.sources_differ(repository, made_of, base, folder):
            message = (
                f"--base-from is of commit {origin.commit[:12]}, and the project differs at {commit[:12]}"
            )
            return [GitError(message, help=advice)]
        return []
    changed = git.sources_changed_at(repository, commit, folder)
    made_at = _time(origin.made_at)
    if made_at is None or (changed is not None and made_at < changed):
        changed_at = "at no time" if changed is None else f"{changed:%Y-%m-%dT%H:%M:%SZ}"
        message = (
            f"--base-from is older than the project at {commit[:12]}: made {origin.made_at or 'at no time'}, "
            f"changed {changed_at}"
        )
        return [GitError(message, help=advice)]
    return []


def why_stale(
    repository: Repository,
    sides: tuple[Side, Side],
    entry: ContractsEntry,
    readings: tuple[MadeReading | None, MadeReading],
    *,
    is_ci: bool,
    is_given: bool,
) -> str:
    """Return why the file of a head was not made from its sources; empty if it seems so.

    Whatever the change tells its tool to write elsewhere (``target-path``), a file that it commits at this
    path stays.

    Args:
        repository: The repository.
        sides: Base and head.
        entry: The file.
        readings: What it declares at the base and in the head.
        is_ci: Whether this is a run in CI: there the sources are as new as the checkout.
        is_given: Whether the base comes from ``--base-from``: then git is not to have the file.
    """
    (base, head), (before, after) = sides, readings
    if after.origin is None:
        return ""
    if isinstance(head, Revision) or git.list_files(repository, head, [git.escape_glob(entry.path)]).blobs:
        if is_given:
            if is_ci:
                return "is as git has it, and not of this run"
            return ""
        is_same = before is not None and before.origin == after.origin and isinstance(base, Revision)
        if is_same and git.sources_differ(repository, base, head, entry.folder, entry.path):
            return "is that of the base, and the project differs"
        return ""
    made_at = _time(after.origin.made_at)
    if is_ci or made_at is None:
        return ""
    newer = next(
        (path for path in after.sources if _changed_at(repository, path) > made_at.timestamp()), None
    )
    if newer is None:
        return ""
    return f"is older than {visible(newer)}"


def _changed_at(repository: Repository, path: str) -> float:
    """Return when a file below the repository's top changed on disk; 0 if it is not there."""
    try:
        if ".." in PurePath(path).parts:
            return 0
        return (repository.root / path).lstat().st_mtime
    except (OSError, ValueError):
        return 0


def _time(text: str) -> dt.datetime | None:
    try:
        instant = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    if instant.tzinfo:
        return instant
    return instant.replace(tzinfo=dt.UTC)
