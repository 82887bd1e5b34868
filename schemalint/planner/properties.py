"""Statements for properties, features and the table's comment: before the columns, or after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.properties import FEATURE_PREFIX, is_true
from schemalint.delta.statistics import COLUMNS as STATISTICS
from schemalint.model.marker import PENDING
from schemalint.model.plan import Approval, Cost, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import MAPPING, AlterContext, asked_features

WIDENING: Final = "delta.enableTypeWidening"
ROW_TRACKING: Final = "delta.enableRowTracking"


def properties_first(context: AlterContext) -> Iterator[Step]:
    """What columns may need."""
    kinds = change.PropertyChanged | change.FeatureChanged | change.DescriptionChanged
    found: list[Change] = [one for one in context.changes if isinstance(one, kinds)]
    yield from _altered(context, [one for one in found if not _is_late(one)])


def properties_last(context: AlterContext) -> Iterator[Step]:
    """What columns needed until now, and what names columns."""
    yield from _altered(context, [one for one in context.of(change.PropertyChanged) if _is_late(one)])


def pending_noted(context: AlterContext) -> Iterator[Step]:
    """The note of which column is which, before names are given up and taken."""
    if context.pending is None:
        return
    text = context.pending.to_text()
    old = context.live.properties.get(PENDING, UNMANAGED)
    if old == text:
        return
    yield Step(
        StepKind.NOTE_PENDING,
        sql.set_properties(context.table, {PENDING: text}),
        (change.PropertyChanged(PENDING, old, text),),
        ("a run that is cut short must know which column is which",),
        undo=sql.unset_properties(context.table, [PENDING]),
    )


def features_dropped(context: AlterContext) -> Iterator[Step]:
    """Each by a statement of its own, which truncates history or rewrites files."""
    for name in context.drop_features:
        yield Step(
            StepKind.DROP_FEATURE,
            sql.drop_feature(context.table, name),
            (change.FeatureChanged(name, new=False),),
            (f"{name} is listed under drop_features",),
            undo_note="the feature can be added again; the history before the drop stays protected",
            cost=Cost.REWRITE,
            needs=Approval.DESTRUCTIVE,
        )


def _is_late(one: Change) -> bool:
    if not isinstance(one, change.PropertyChanged):
        return False
    if one.key == WIDENING:
        return not is_true(one.new if isinstance(one.new, str) else None)
    if one.key == MAPPING:
        return not isinstance(one.new, str) or one.new.lower() == "none"
    # It follows a rename by itself, and names columns that may have to be added first.
    return one.key == STATISTICS


def _altered(context: AlterContext, changes: Sequence[Change]) -> Iterator[Step]:
    removed = [
        one for one in changes if isinstance(one, change.PropertyChanged) and not isinstance(one.new, str)
    ]
    values = [one for one in changes if one not in removed]
    if values:
        yield _set(context, values)
    if removed:
        keys = [one.key for one in removed]
        old = {one.key: one.old for one in removed if isinstance(one.old, str)}
        yield Step(
            StepKind.UNSET_PROPERTIES,
            sql.unset_properties(context.table, keys),
            tuple(removed),
            tuple(f"property {key} is declared absent" for key in keys),
            undo=sql.set_properties(context.table, old) if old else None,
        )


def _set(context: AlterContext, changes: Sequence[Change]) -> Step:
    properties: dict[str, str] = {}
    reasons: list[str] = []
    for one in changes:
        match one:
            case change.PropertyChanged(key=key, new=str(value)):
                properties[key] = value
                reasons.append(f"property {key} is declared as {value}")
            case change.FeatureChanged(name=name):
                properties[f"{FEATURE_PREFIX}{name}"] = "supported"
                reasons.append(f"feature {name} is asked for")
            case change.DescriptionChanged(new=text):
                properties["comment"] = text if isinstance(text, str) else ""
                reasons.append("the description is declared")
    mode, undo = properties.get(MAPPING, "none").lower(), _unset(context.table, changes)
    in_one = undo is not None or len(asked_features(changes)) == len(changes)
    unmaps = MAPPING in properties and mode == "none"
    adds = context.added_features(changes)
    return Step(
        StepKind.SET_PROPERTIES,
        sql.set_properties(context.table, properties),
        tuple(changes),
        tuple(reasons),
        adds,
        undo=undo,
        undo_note=_left_behind(adds, in_one=in_one),
        commits=2 if is_true(properties.get(ROW_TRACKING)) and "rowTracking" in adds else 1,
        cost=Cost.REWRITE if unmaps else Cost.METADATA,
        needs=Approval.DESTRUCTIVE if unmaps else None,
    )


def _unset(table: str, changes: Sequence[Change]) -> str | None:
    """The statement that brings the old values back, if one does."""
    found = [one for one in changes if isinstance(one, change.PropertyChanged)]
    if mapping := next((one for one in found if one.key == MAPPING), None):
        comes = isinstance(mapping.new, str) and mapping.new.lower() != "none"
        mode = "none" if comes else mapping.old
        # Only a new table can have `id` (DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE).
        can_be = len(changes) == 1 and isinstance(mode, str) and mode.lower() != "id"
        return sql.set_properties(table, {MAPPING: str(mode)}) if can_be else None
    old = {one.key: one.old for one in found if isinstance(one.old, str)}
    for one in changes:
        if isinstance(one, change.DescriptionChanged):
            old["comment"] = one.old if isinstance(one.old, str) else ""
    new = [one.key for one in found if not isinstance(one.old, str)]
    if old and new:
        return None
    if old:
        return sql.set_properties(table, old)
    return sql.unset_properties(table, new) if new else None


def _left_behind(features: frozenset[str], *, in_one: bool) -> str:
    """What taking properties back does not undo."""
    notes = [] if in_one else ["not by one statement: declare the old values, and null for what is new"]
    if features:
        notes.append(f"the features stay in the protocol: {', '.join(sorted(features))}")
    return "; ".join(notes)
