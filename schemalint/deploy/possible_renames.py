"""Find live columns that could be missing ones, renamed by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.base.values import replace
from schemalint.delta.change import Change, FieldAdded, FieldRemoved
from schemalint.delta.datatype import UNMANAGED, DataType, Field, Struct, map_fields_within, type_at
from schemalint.delta.path import Path, format_path, lowercased, path_key
from schemalint.delta.renames import renames_of
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.plan import Refusal, RefusalKind
from schemalint.model.rule_codes import DRIFT_SCHEMA


def possible_renames(
    planned: Sequence[Change],
    declared: TableState,
    live: TableState,
    tracking: ColumnTracking | None,
    known: Sequence[TableState],
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
        known: The states that a missing column may have had; a column that none of them has is new.
        help_text: What to do.
    """
    retaken = tracking.retaken if tracking else frozenset()
    renames = renames_of(planned)
    dropped = {
        lowercased((*renames.back(removed.path[:-1]), removed.path[-1]))
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
        types = {_bare(known_type) for known_type in _types(known, added.path, parent)}
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


def _types(known: Sequence[TableState], path: Path, live_parent: Path) -> Iterator[DataType]:
    for state in known:
        for parent in {path[:-1], live_parent}:
            if (type_ := type_at(state.columns, (*parent, path[-1]))) is not None:
                yield type_


def _bare(type_: DataType) -> str:
    """Return the text of a type without what Delta lets everybody change: comments and nullability."""

    def bare(_path: Path, field: Field) -> Field:
        return replace(field, nullable=True, comment=UNMANAGED)

    return print_type(map_fields_within(type_, bare)).lower()
