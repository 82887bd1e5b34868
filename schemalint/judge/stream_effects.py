"""What a change of a contract does to the declared streams: plan the table, and ask the model of streams."""

from __future__ import annotations

from itertools import count

from schemalint.base.values import replace
from schemalint.delta import properties
from schemalint.delta.change import Change, FieldRemoved, FieldRenamed, PropertyChanged, TypeChanged
from schemalint.delta.datatype import map_fields
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import Protocol
from schemalint.delta.streams import Blocking
from schemalint.delta.table import LiveTable, Metadata
from schemalint.delta.widening import TypeStep, step
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.declaration import created_state
from schemalint.model.effective import Effective
from schemalint.model.fact import AffectedStreams
from schemalint.model.stream_report import stream_reports, waiting_streams
from schemalint.planner import (
    PlanOptions,
    after_interrupted_run,
    only_stops_streams,
    plan_table,
    planned_commits,
)
from schemalint.plugin import RuleContext


def affected_streams(ctx: RuleContext, tracking: ColumnTracking | None = None) -> AffectedStreams | None:
    """Return what the change does to each declared stream; None if the table gets no plan.

    Without a statement, only streams count that wait for what the table has already.

    A query counts as one that runs during the change: the worse case, and the declaration does not say.

    Args:
        ctx: The table and its declaration.
        tracking: Which live column is which; None to track them from the base.
    """
    causes = [(kind, change) for change in ctx.changes if (kind := _kind_of(change)) is not None]
    if any(_is_refused(change, ctx) for _kind, change in causes):
        return None
    if ctx.live is not None:
        table = after_interrupted_run(ctx.contract, ctx.live)
    elif ctx.base is not None:
        table = _created_table(ctx.base)
    else:
        return None
    if tracking is None and ctx.base is not None:
        tracking = track_columns(table.state.columns, [ctx.base.state, ctx.contract.state])
    plan = plan_table(ctx.contract, table, table.uri, options=PlanOptions(tracking))
    if plan.refusals:
        return None
    if not plan.steps:
        waiting = waiting_streams(ctx.contract.table, ctx.consumers, ctx.engine)
        return AffectedStreams(waiting) if waiting else None
    commits = planned_commits(plan)
    if ctx.live is None:
        commits = tuple(replace(commit, version=None) for commit in commits)
    reports = tuple(stream_reports(ctx.contract.table, ctx.consumers, commits, ctx.engine))
    if ctx.contract.delays_cosmetic and only_stops_streams(plan, ctx.consumers):
        without = stream_reports(ctx.contract.table, ctx.consumers, (), ctx.engine)
        return AffectedStreams(tuple(without), spared=reports)
    return AffectedStreams(reports, tuple(causes), is_live=ctx.live is not None)


def _kind_of(change: Change) -> Blocking | None:
    """Return the kind that a change has for a tracked stream, None for any other change."""
    match change:
        case FieldRenamed():
            return Blocking.RENAME
        case FieldRemoved():
            return Blocking.DROP
        case TypeChanged(old=old, new=new) if step(old, new) is TypeStep.WIDENING:
            return Blocking.TYPE_CHANGE
        case PropertyChanged(key=properties.COLUMN_MAPPING_MODE, new=None | "none"):
            return Blocking.DROP  # of the names that the columns have in data files
        case _:
            return None


def _is_refused(change: Change, ctx: RuleContext) -> bool:
    """Return whether rules refuse a change; the planner leaves it to them."""
    return isinstance(change, FieldRenamed | FieldRemoved | TypeChanged) and not ctx.alters(change)


def _created_table(contract: Effective) -> LiveTable:
    """Return the table that Delta creates from a contract."""
    features = contract.created_features
    readers = frozenset(name for name in features if name in FEATURES and FEATURES[name].reader)
    state = replace(created_state(contract.state), features=features)
    if state.column_mapping != "none":
        names = (f"col-{number}" for number in count())
        columns = map_fields(state.columns, lambda _path, field: replace(field, physical_name=next(names)))
        state = replace(state, columns=columns)
    return LiveTable("", 0, Protocol(3, 7, readers, features), Metadata("", state))
