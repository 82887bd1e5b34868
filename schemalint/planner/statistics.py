"""Take the list of columns with statistics off a table while columns are dropped, if Delta would break it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.base.values import replace
from schemalint.delta.change import Change, PropertyChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.statistics import STATISTICS_COLUMNS, broken_by_drops
from schemalint.delta.table import TableState
from schemalint.model.finding import ObjectRef
from schemalint.model.plan import Refusal, RefusalKind, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alter_context import AlterContext


def with_statistics_restored(context: AlterContext, declared: TableState) -> AlterContext:
    """Let the changes set the declared list again after the drops, if it is taken off before them."""
    value = declared.properties.get(STATISTICS_COLUMNS)
    if value is None or broken_by_drops(context.changes, context.live.properties) is None:
        return context
    others = [change for change in context.changes if not _is_about_list(change)]
    return replace(context, changes=(*others, PropertyChanged(STATISTICS_COLUMNS, UNMANAGED, value)))


def statistics_removed(context: AlterContext) -> Iterator[Step]:
    """Remove the list before columns are dropped, unless the contract removes it anyway."""
    value = broken_by_drops(context.changes, context.live.properties)
    if value is None or any(_is_about_list(change) and _removes(change) for change in context.changes):
        return
    yield Step(
        StepKind.UNSET_PROPERTIES,
        sql.unset_properties(context.table, [STATISTICS_COLUMNS]),
        (PropertyChanged(STATISTICS_COLUMNS, value, UNMANAGED),),
        (f"Delta cannot drop columns beside {STATISTICS_COLUMNS} with these names: it is set again below",),
        undo=sql.set_properties(context.table, {STATISTICS_COLUMNS: value}),
    )


def statistics_in_the_way(
    changes: Iterable[Change], live: TableState, declared: TableState
) -> Iterator[Refusal]:
    """Refuse to drop columns beside a list that the contract does not declare.

    A run that is interrupted after the removal of the list could not put it back.
    """
    value = broken_by_drops(changes, live.properties)
    if value is not None and STATISTICS_COLUMNS not in declared.properties:
        yield Refusal(
            RefusalKind.LIVE,
            f"no column can be dropped beside {STATISTICS_COLUMNS} = {value}: Delta then writes the list "
            "again, without the quotes that its names need",
            f"declare {STATISTICS_COLUMNS} in the contract: the plan then takes it off, and sets it again",
            about=ObjectRef("property", STATISTICS_COLUMNS),
        )


def _is_about_list(change: Change) -> bool:
    return isinstance(change, PropertyChanged) and change.key == STATISTICS_COLUMNS


def _removes(change: Change) -> bool:
    return isinstance(change, PropertyChanged) and not isinstance(change.new, str)
