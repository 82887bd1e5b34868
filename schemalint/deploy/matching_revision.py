"""Find the revision that a table without a marker is at: the newest one that the live table equals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemalint.delta.change import FieldAdded, FieldRenamed
from schemalint.delta.datatype import field_at, path_of_names, walk_fields
from schemalint.delta.path import path_key
from schemalint.delta.table import TableState
from schemalint.deploy.possible_renames import possible_renames
from schemalint.model.column_tracking import track_columns
from schemalint.model.contract import Contract
from schemalint.model.marker import declaration_hash
from schemalint.model.plan import Refusal, RefusalKind
from schemalint.planner import PlanOptions, pending_changes


def matching_revision(
    newest_first: Iterable[tuple[str, Contract]], live: TableState
) -> tuple[Contract, ...] | Refusal:
    """Return the revisions since the newest one that a live table equals; none if it equals none.

    The table is refused if an older revision equals it too, with other columns under the same names, and if
    a missing column could be an undeclared one: without a marker nothing shows which it is.

    Args:
        newest_first: The names and contracts of all revisions, the declaration first.
        live: The live table.
    """
    seen: list[Contract] = []
    matching: tuple[str, int] | None = None
    for name, revision in newest_first:
        if seen and declaration_hash(revision) == declaration_hash(seen[-1]):
            continue
        seen.append(revision)
        if not equals(revision, live):
            continue
        if matching is None:
            matching = name, len(seen)
        elif _is_ambiguous(seen[matching[1] - 1 :], live):
            return Refusal(
                RefusalKind.OPERATION,
                f"the table matches the contract at {name} and at {matching[0]}, with renames in between",
                "name the commit that was applied last: --base REV",
            )
    since = tuple(reversed(seen[: matching[1]])) if matching is not None else ()
    return _unclear(since, seen, live) or since


def equals(contract: Contract, live: TableState) -> bool:
    """Return whether a live table equals a revision.

    All managed objects are equal, and no column is live that the revision drops or renames and does not
    declare anew.
    """
    declared = contract.state
    given_up = (
        *(entry.path for entry in declared.dropped),
        *(
            (*path[:-1], column.renamed_from)
            for path, column in walk_fields(declared.columns)
            if column.renamed_from is not None
        ),
    )
    return not pending_changes(contract, live) and not any(
        path_of_names(live.columns, path_key(path))[1] and field_at(declared.columns, path) is None
        for path in given_up
    )


def _is_ambiguous(newest_first: Sequence[Contract], live: TableState) -> bool:
    """Whether a table equals the first and the last revision with different columns under the same names."""
    revisions = [revision.state for revision in reversed(newest_first)]
    tracking = track_columns(live.columns, revisions)
    changes = pending_changes(newest_first[0], live, PlanOptions(tracking))
    return any(isinstance(change, FieldRenamed | FieldAdded) for change in changes)


def _unclear(since: Sequence[Contract], seen: Sequence[Contract], live: TableState) -> Refusal | None:
    """Refuse to add a column beside an undeclared one of its type, which could be it, renamed by hand."""
    if live.column_mapping == "none":
        return None  # columns keep their names
    contract, known = seen[0], [revision.state for revision in seen]
    tracking = track_columns(live.columns, [revision.state for revision in since]) if since else None
    planned = pending_changes(contract, live, PlanOptions(tracking))
    help_text = (
        "rename it back by hand; if it is another column, name the commit that was applied last, or none: "
        "--base REV, --base none"
    )
    refused = possible_renames(planned, contract.state, live, tracking, known, help_text)
    return next(refused, None)
