"""Statements for properties, features and the table's comment, before or after the columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    DefaultChanged,
    DescriptionChanged,
    FeatureChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    PropertyChanged,
    TypeChanged,
)
from schemalint.delta.change_data import FEED_KEYS
from schemalint.delta.column_names import CHANGE_DATA_COLUMNS
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.engine_answers import drops_fast
from schemalint.delta.feature import CHECKPOINT_PROTECTION, FEATURES, TableFeature
from schemalint.delta.feature_drop import rewrites_files
from schemalint.delta.properties import (
    COLUMN_MAPPING_MODE,
    DELETION_VECTORS,
    FEATURE_PREFIX,
    ICEBERG_COMPAT_KEYS,
    find_property,
    is_true,
    property_value,
)
from schemalint.delta.statistics import STATISTICS_COLUMNS
from schemalint.delta.table import TableState
from schemalint.model.marker import PENDING
from schemalint.model.table_plan import Approval, Cost, Step, StepKind
from schemalint.planner import statements
from schemalint.planner.alter_context import AlterContext, requested_features

# DROP FEATURE makes three empty commits with checkpoints; with TRUNCATE HISTORY only one (measured on Delta
# 4.4.0).
_BARRIER_COMMITS: Final = 2
_ICEBERG_V3: Final = "delta.enableIcebergCompatV3"
_LOG_RETENTION: Final = "delta.logRetentionDuration"
_RETENTION: Final = "delta.dropFeatureTruncateHistory.retentionDuration"

# DROP FEATURE v2Checkpoint sets the policy `classic` if the table has another policy, or if the newest
# checkpoint is a V2 one (V2CheckpointPreDowngradeCommand; measured on Delta 4.4.0).
_V2_CHECKPOINT: Final = "v2Checkpoint"
_POLICY: Final = "delta.checkpointPolicy"
_CLASSIC: Final = "classic"

WIDENING: Final = "delta.enableTypeWidening"
ROW_TRACKING: Final = "delta.enableRowTracking"


def properties_first(context: AlterContext) -> Iterator[Step]:
    """Set what the columns may need."""
    early, _late = _divided(context)
    yield from _altered(context, early)


def properties_last(context: AlterContext) -> Iterator[Step]:
    """Remove what the columns needed until now, and set what names columns.

    Column mapping is removed by a statement of its own: Delta makes two commits if the statement also changes
    other properties (measured on Delta 4.4.0), and the first of them would look like another writer's.
    """
    _early, late = _divided(context)
    yield from _altered(context, [change for change in late if not _is_mapping_mode(change)])
    yield from _altered(context, [change for change in late if _is_mapping_mode(change)])


def pending_noted(context: AlterContext) -> Iterator[Step]:
    """Note which column is which, before columns swap or reuse names."""
    if context.pending is None:
        return
    text = context.pending.to_text()
    old = context.live.properties.get(PENDING, UNMANAGED)
    if old == text:
        return
    yield Step(
        StepKind.NOTE_PENDING,
        statements.set_properties(context.table, {PENDING: text}),
        (PropertyChanged(PENDING, old, text),),
        ("after an interrupted run, the next one must know which column is which",),
        undo=statements.unset_properties(context.table, [PENDING]),
    )


def features_dropped(context: AlterContext) -> Iterator[Step]:
    """Drop each feature by a statement of its own, which may truncate history or rewrite files."""
    supported = context.live.features
    at_once = drops_fast(context.engine)
    for name in context.drop_features:
        row, truncates = FEATURES[name], name in context.truncated_features
        protects = row.drop_needs_history and not truncates and at_once
        adds = frozenset[str]()
        if protects:
            adds = frozenset({CHECKPOINT_PROTECTION}) - supported
        supported |= adds
        if name == _V2_CHECKPOINT and (removed := _policy_removed(context)) is not None:
            yield from _policy_held(context, removed)
        yield Step(
            StepKind.DROP_FEATURE,
            statements.drop_feature(context.table, name, truncates=truncates),
            (FeatureChanged(name, new=False),),
            (f"{name} is listed under drop_features{' with truncate_history' if truncates else ''}",),
            adds,
            undo_note=_note_of_drop(row, context.live, truncates=truncates, at_once=at_once),
            commits=row.drop_commits - (_BARRIER_COMMITS if row.drop_needs_history and not protects else 0),
            cost=Cost.REWRITE if rewrites_files(name, context.live, context.changes) else Cost.METADATA,
            needs=frozenset({Approval.DESTRUCTIVE}),
        )


def policy_removed_last(context: AlterContext) -> Iterator[Step]:
    """Remove the checkpoint policy after the drop of ``v2Checkpoint``, which may set it."""
    if (removed := _policy_removed(context)) is not None:
        yield from _altered(context, [replace(removed, old=_CLASSIC)])


def _policy_removed(context: AlterContext) -> PropertyChanged | None:
    """Return the removal of the checkpoint policy if it has to wait for the drop of ``v2Checkpoint``."""
    if _V2_CHECKPOINT not in context.drop_features:
        return None
    of_policy = (change for change in context.of(PropertyChanged) if change.key == _POLICY)
    return next(filter(_is_removal, of_policy), None)


def _policy_held(context: AlterContext, removed: PropertyChanged) -> Iterator[Step]:
    """Set the policy that the drop sets only if the newest checkpoint is a V2 one, so that it is known."""
    held = replace(removed, new=_CLASSIC)
    if held.old != held.new:
        reason = f"DROP FEATURE {_V2_CHECKPOINT} may set property {_POLICY}, which is removed after it"
        yield replace(_set(context, [held]), reasons=(reason,))


def _note_of_drop(row: TableFeature, live: TableState, *, truncates: bool, at_once: bool) -> str:
    again = "the feature can be added again"
    if truncates:
        period = property_value(_RETENTION, live.properties)
        return (
            f"the versions before the drop are deleted; {again}. While older versions use the feature, the "
            f"first run only removes its traces, and a run after the retention period ({period}) drops it"
        )
    if not row.drop_needs_history:
        return again
    if at_once:
        return f"{again}; the history before the drop stays protected"
    return (
        f"{again}. While older versions use the feature, a run only removes its traces; it drops the feature "
        f"once they have left the history ({_LOG_RETENTION}). truncate_history needs a day"
    )


def _divided(context: AlterContext) -> tuple[list[Change], list[Change]]:
    """Return the changes to make before the columns, and those to make after them.

    A change that could come first waits with others if that saves a statement.
    """
    early: list[Change] = []
    late: list[Change] = []
    kinds = PropertyChanged | FeatureChanged | DescriptionChanged
    held = _policy_removed(context)
    candidates = [change for change in context.changes if isinstance(change, kinds) and change is not held]
    for is_removal in (False, True):
        changes = [change for change in candidates if _is_removal(change) == is_removal]
        waiting = [change for change in changes if _waits(context, change)]
        rest = [change for change in changes if not _waits(context, change)]
        can_wait = all(map(_is_free, rest)) and not all(map(_is_mapping_mode, waiting))
        late += changes if can_wait else waiting
        early += [] if can_wait else rest
    return early, late


def _is_removal(change: Change) -> bool:
    return isinstance(change, PropertyChanged) and not isinstance(change.new, str)


def _is_mapping_mode(change: Change) -> bool:
    return isinstance(change, PropertyChanged) and change.key == COLUMN_MAPPING_MODE


def _is_free(change: Change) -> bool:
    """Whether nothing depends on when the change is made."""
    is_own = isinstance(change, PropertyChanged) and not change.key.lower().startswith("delta.")
    return is_own or isinstance(change, DescriptionChanged)


def _waits(context: AlterContext, change: Change) -> bool:
    """Whether Delta refuses a change, or the columns need the old value, until the columns are altered."""
    if not isinstance(change, PropertyChanged):
        return False
    if change.key in FEED_KEYS:
        # The feed can be enabled once the columns with its names are renamed or dropped.
        in_the_way = any(field.name in CHANGE_DATA_COLUMNS for field in context.live.columns.fields)
        return in_the_way and is_true(change.new)
    if change.key == WIDENING:
        is_off = not is_true(change.new)
        return is_off and bool(context.of(TypeChanged))
    if change.key == COLUMN_MAPPING_MODE:
        return not isinstance(change.new, str) or change.new.lower() == "none"
    if change.key in ICEBERG_COMPAT_KEYS and is_true(change.new):
        return _is_iceberg_late(context)
    # Delta updates the property on a rename; and it can name columns that are added first. Without the
    # property nothing keeps Delta from dropping columns.
    return (
        change.key == STATISTICS_COLUMNS
        and not _is_removal(change)
        and any(isinstance(other, FieldAdded | FieldRenamed | FieldRemoved) for other in context.changes)
    )


def _is_iceberg_late(context: AlterContext) -> bool:
    """Whether the table has what an Iceberg compatibility refuses, until other statements have changed it.

    These are types and defaults of columns, and deletion vectors, which a statement of its own must disable
    (IcebergCompat.scala, CheckDeletionVectorDisabled; measured on Delta 4.4.0).
    """
    alters = any(isinstance(other, FieldRemoved | TypeChanged | DefaultChanged) for other in context.changes)
    return alters or context.live.enabled(DELETION_VECTORS)


def _altered(context: AlterContext, changes: Sequence[Change]) -> Iterator[Step]:
    """Remove properties, and then set others: of some that exclude each other, one must be gone first."""
    removed = [change for change in changes if isinstance(change, PropertyChanged) and _is_removal(change)]
    values = [change for change in changes if not _is_removal(change)]
    if removed:
        keys = [changed.key for changed in removed]
        unmaps = any(
            changed.key == COLUMN_MAPPING_MODE and str(changed.old).lower() != "none" for changed in removed
        )
        yield Step(
            StepKind.UNSET_PROPERTIES,
            statements.unset_properties(context.table, keys),
            tuple(removed),
            tuple(f"property {key} is declared absent" for key in keys),
            undo=_undo(context.table, removed),
            undo_note=_undo_note(removed),
            cost=Cost.REWRITE if unmaps else Cost.METADATA,
            needs=frozenset({Approval.DESTRUCTIVE} if unmaps else ()),
        )
    if values:
        yield _set(context, values)


def _set(context: AlterContext, changes: Sequence[Change]) -> Step:
    properties: dict[str, str] = {}
    reasons: list[str] = []
    for change in changes:
        match change:
            case PropertyChanged(key=key, new=str(value)):
                properties[key] = value
                reasons += [f"property {key} is declared as {value}", *filter(None, [other_engine_note(key)])]
            case FeatureChanged(name=name):
                properties[f"{FEATURE_PREFIX}{name}"] = "supported"
                reasons.append(f"feature {name} is declared")
            case DescriptionChanged(new=text):
                properties["comment"] = text if isinstance(text, str) else ""
                reasons.append("the description is declared")
    unmaps = properties.get(COLUMN_MAPPING_MODE, "").lower() == "none"
    adds = context.added_features(changes)
    return Step(
        StepKind.SET_PROPERTIES,
        statements.set_properties(context.table, properties),
        tuple(changes),
        tuple(reasons),
        adds,
        undo=_undo(context.table, changes),
        undo_note=_undo_note(changes),
        commits=2 if is_true(properties.get(ROW_TRACKING)) and "rowTracking" in adds else 1,
        cost=Cost.REWRITE if unmaps else Cost.METADATA,
        needs=frozenset({Approval.DESTRUCTIVE} if unmaps else ()),
    )


def other_engine_note(key: str) -> str | None:
    """Return which engine must run a statement that sets this property, if it is not Delta Spark."""
    row = find_property(key)
    if row is None or row.engine == DELTA_SPARK:
        return None
    return f"property {key} belongs to {row.engine}: Delta Spark refuses the statement"


def _undo(table: str, changes: Sequence[Change]) -> str | None:
    """Return the statement that restores the old values; None if one statement cannot."""
    of_properties = [change for change in changes if isinstance(change, PropertyChanged)]
    if _final_key(of_properties) is not None:
        return None
    old = {changed.key: changed.old for changed in of_properties if isinstance(changed.old, str)}
    for change in changes:
        if isinstance(change, DescriptionChanged):
            old["comment"] = change.old if isinstance(change.old, str) else ""
    new = [changed.key for changed in of_properties if not isinstance(changed.old, str)]
    if old and new:
        return None
    if old:
        return statements.set_properties(table, old)
    if new:
        return statements.unset_properties(table, new)
    return None


def _final_key(changes: Iterable[PropertyChanged]) -> str | None:
    """Return the property whose old value no statement restores (measured on Delta 4.4.0); None without one.

    Only a new table can have the column mapping mode ``id``
    (DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE), and Delta never disables icebergCompatV3.
    """
    for changed in changes:
        was_by_id = isinstance(changed.old, str) and changed.old.lower() == "id"
        if changed.key == COLUMN_MAPPING_MODE and was_by_id:
            return changed.key
        if changed.key == _ICEBERG_V3 and is_true(changed.new):
            return changed.key
    return None


def _undo_note(changes: Sequence[Change]) -> str:
    """Return why one statement cannot undo the step; empty if one can."""
    if key := _final_key(change for change in changes if isinstance(change, PropertyChanged)):
        return f"Delta cannot restore {key}"
    if _undo("", changes) is not None or len(requested_features(changes)) == len(changes):
        return ""
    return "needs several statements: declare the old values, and null for new keys"
