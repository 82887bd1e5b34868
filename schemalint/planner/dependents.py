"""Refuse the changes that a live table's own objects prevent: those that the contract does not manage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemalint.delta.change import Change, FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.datatype import Struct, field_at, walk
from schemalint.delta.path import format_path, path_key
from schemalint.delta.renames import renames_of
from schemalint.delta.table import TableState
from schemalint.delta.type_verdict import alters_stored_type
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration
from schemalint.model.finding import ObjectRef
from schemalint.model.plan import Refusal, RefusalKind
from schemalint.planner.alter_context import AlterContext

_LIVE: Final = RefusalKind.LIVE


def used_by_constraints(
    changes: Iterable[Change], live: TableState, declared: TableState
) -> Iterator[Refusal]:
    """Refuse changes of columns that a constraint uses, if the planner may not drop or rewrite it."""
    renames = renames_of(changes)
    for change in changes:
        if not isinstance(change, TypeChanged | FieldRenamed | FieldRemoved):
            continue
        last = change.old_name if isinstance(change, FieldRenamed) else change.path[-1]
        path = (*renames.back(change.path[:-1]), last)
        if isinstance(change, TypeChanged):
            if not alters_stored_type(change.old, change.new, nested=len(change.path) > 1):
                continue
            path = renames.back(change.path)
        for name in (*live.constraint_users.of(path), *live.constraint_users.unparsed):
            if name not in declared.constraints:
                yield Refusal(
                    _LIVE,
                    f"{format_path(path)} is used by the constraint {name}, which the contract does not "
                    "manage",
                    f"declare the constraint, or declare it null to drop it: `constraints: {{{name}: …}}`",
                    about=ObjectRef("column", format_path(change.path)),
                )
    removed = [change.path for change in changes if isinstance(change, FieldRemoved)]
    for path in removed:
        for name in declared.constraint_users.of(path) if field_at(declared.columns, path) is None else ():
            yield Refusal(
                RefusalKind.DECLARATION,
                f"the constraint {name} uses {format_path(path)}, which the contract drops",
                "rewrite the constraint without it, or keep the column",
                about=ObjectRef("constraint", name),
            )


def used_by_clustering(changes: Sequence[Change], live: TableState, contract: Contract) -> Iterator[Refusal]:
    """Refuse changes that remove an unmanaged clustering: no step would restore it."""
    renames = renames_of(changes)
    if not isinstance(live.clustered_by, tuple) or isinstance(contract.state.clustered_by, tuple):
        return
    if (
        live.clustered_by
        and AlterContext("", live, tuple(changes), None, tuple(contract.drop_features)).unmaps
    ):
        reason = (
            "column mapping cannot be removed: the table has a clustering that the contract does not manage"
        )
        yield Refusal(_LIVE, reason, "declare the clustering: `clustered_by: […]`")
    for change in changes:
        if isinstance(change, FieldRemoved):
            path = (*renames.back(change.path[:-1]), change.path[-1])
            if live.clustering.within(path_key(path)):
                yield Refusal(
                    _LIVE,
                    f"{format_path(path)} cannot be dropped: the table is clustered by it, and the contract "
                    "does not manage the clustering",
                    "declare the new clustering: `clustered_by: […]`",
                )


def taken_names(live: TableState, declared: TableState, tracking: ColumnTracking | None) -> Iterator[Refusal]:
    """Refuse names that two columns would have."""
    goal = apply_declaration(declared, live, tracking=tracking) if tracking else live
    for path, type_ in walk(goal.columns):
        names = Counter(field.name.lower() for field in type_.fields) if isinstance(type_, Struct) else {}
        for name, times in names.items():
            if times > 1:
                yield Refusal(
                    _LIVE,
                    f"an undeclared column {format_path((*path, name))} exists already",
                    "drop or rename it by hand, or choose another name",
                )
