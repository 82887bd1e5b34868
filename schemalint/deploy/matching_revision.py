"""Find the revision that a table without a marker is at, and columns that may have been renamed by hand.

All managed objects are equal there, and nothing is live that the revision drops or renames and does not
declare anew. If an older revision equals the table too, with other columns under the same names, or if a
missing column could be an undeclared one, only the user knows: ``--base``. A table that equals no revision is
compared with the declaration alone, and nothing of it is renamed or dropped. A history that ends too early,
in a shallow clone, is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemalint.base.values import replace
from schemalint.delta.change import Change, FieldAdded, FieldRemoved, FieldRenamed, renames_of
from schemalint.delta.datatype import (
    UNMANAGED,
    DataType,
    Field,
    Struct,
    field_at,
    map_fields_within,
    path_of_names,
    type_at,
    walk_fields,
)
from schemalint.delta.path import Path, format_path, lowercased, path_key
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.effective import Effective
from schemalint.model.marker import declaration_hash
from schemalint.model.rule_codes import DRIFT_SCHEMA
from schemalint.model.table_plan import Refusal, RefusalKind
from schemalint.planner import PlanOptions, pending_changes


def matching_revision(
    newest_first: Iterable[tuple[str, Effective]], live: TableState
) -> tuple[Effective, ...] | Refusal:
    """Return the revisions since the newest one that a live table equals; none if it equals none.

    The table is refused if an older revision equals it too, with other columns under the same names, and if
    a missing column could be an undeclared one: without a marker nothing shows which it is.

    Args:
        newest_first: The names and contracts of all revisions, the declaration first.
        live: The live table.
    """
    seen: list[Effective] = []
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


def equals(contract: Effective, live: TableState) -> bool:
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


def _is_ambiguous(newest_first: Sequence[Effective], live: TableState) -> bool:
    """Whether a table equals the first and the last revision with different columns under the same names."""
    revisions = [revision.state for revision in reversed(newest_first)]
    tracking = track_columns(live.columns, revisions)
    changes = pending_changes(newest_first[0], live, PlanOptions(tracking))
    return any(isinstance(change, FieldRenamed | FieldAdded) for change in changes)


def _unclear(since: Sequence[Effective], seen: Sequence[Effective], live: TableState) -> Refusal | None:
    """Refuse to add a column beside an undeclared one of its type, which could be it, renamed by hand."""
    if live.column_mapping == "none":
        return None  # columns keep their names
    contract, states = seen[0], [revision.state for revision in seen]
    tracking = track_columns(live.columns, [revision.state for revision in since]) if since else None
    planned = pending_changes(contract, live, PlanOptions(tracking))
    help_text = (
        "rename it back by hand; if it is another column, name the commit that was applied last, or none: "
        "--base REV, --base none"
    )
    refused = possible_renames(planned, contract.state, live, tracking, states, help_text)
    return next(refused, None)


def possible_renames(
    planned: Sequence[Change],
    declared: TableState,
    live: TableState,
    tracking: ColumnTracking | None,
    states: Sequence[TableState],
    help_text: str,
) -> Iterator[Refusal]:
    """Refuse to add the columns that an undeclared live one beside them could be.

    It could be if it has the type of the missing column in a known state. A new column that reuses an old
    name is no missing one.

    Args:
        planned: The changes that add the columns.
        declared: The declaration.
        live: The live table.
        tracking: Which column is which.
        states: The states that a missing column may have had; a column that none of them has is new.
        help_text: What to do.
    """
    retaken = tracking.retaken if tracking else frozenset()
    renames = renames_of(planned)
    dropped = {
        lowercased(renames.parents_back(removed.path))
        for removed in planned
        if isinstance(removed, FieldRemoved)
    }
    for added in planned:
        if not isinstance(added, FieldAdded) or path_key(added.path) in retaken:
            continue
        parent, siblings = renames.back(added.path[:-1]), type_at(declared.columns, added.path[:-1])
        beside = type_at(live.columns, parent)
        if not isinstance(beside, Struct) or not isinstance(siblings, Struct):
            continue
        types = {_bare(known_type) for known_type in _types(states, added.path, parent)}
        for field in beside.fields:
            path = (*parent, field.name)
            is_renamed = renames.forward(path)[-1] != field.name
            if siblings.get(field.name) is not None or is_renamed or lowercased(path) in dropped:
                continue
            if _bare(field.type) in types:
                yield Refusal(
                    RefusalKind.OPERATION,
                    f"{format_path(added.path)} is missing, and the undeclared {field.name} could be it",
                    help_text,
                    DRIFT_SCHEMA,
                )


def _types(states: Sequence[TableState], path: Path, live_parent: Path) -> Iterator[DataType]:
    for state in states:
        for parent in {path[:-1], live_parent}:
            if (type_ := type_at(state.columns, (*parent, path[-1]))) is not None:
                yield type_


def _bare(type_: DataType) -> str:
    """Return the text of a type without what Delta lets everybody change: comments and nullability."""

    def bare(_path: Path, field: Field) -> Field:
        return replace(field, nullable=True, comment=UNMANAGED)

    return print_type(map_fields_within(type_, bare)).lower()
