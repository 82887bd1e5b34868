"""One table: from what it is to what is declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemalint.delta import change
from schemalint.delta.change import Change, change_path
from schemalint.delta.datatype import Struct, map_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import format_path
from schemalint.delta.protocol import needed_to_alter
from schemalint.delta.table import LiveTable, TableState
from schemalint.errors import InternalError
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration
from schemalint.model.finding import Finding, Severity
from schemalint.model.marker import Pending, declaration_hash, read_marker, read_pending
from schemalint.model.plan import Refusal, Step, StepKind, TablePlan
from schemalint.planner.alter import alter_steps
from schemalint.planner.alteration import AlterContext
from schemalint.planner.clustering import clustered_anew
from schemalint.planner.create import create_steps
from schemalint.planner.limits import emptied_structs, refused_changes, refused_contract
from schemalint.planner.naming import finished, needs_note, targets
from schemalint.planner.require import with_requirements
from schemalint.planner.simulate import simulate
from schemalint.planner.sql import named_table, path_table
from schemalint.planner.step_source import with_sources
from schemalint.values import frozen, replace


@frozen
class PlanOptions:
    """How a plan is to be made.

    Attributes:
        tracking: Which column is which; None where names have to tell, and nothing is renamed or dropped.
        reorder: Whether columns that are there are moved.
    """

    tracking: ColumnTracking | None = None
    reorder: bool = False


DEFAULTS: Final = PlanOptions()


def plan_table(
    contract: Contract,
    live: LiveTable | None,
    uri: str,
    findings: Iterable[Finding] = (),
    options: PlanOptions = DEFAULTS,
    *,
    name: str | None = None,
) -> TablePlan:
    """The way from a live table to its declaration.

    Args:
        contract: Effective for the target.
        live: None if there is no table: it is created.
        uri: Where the table lies, or is to lie.
        findings: What the rules say of the contract and the live table: an error means no steps.
        options: What else is known and wanted.
        name: Its full name, if the statements are to reach it by that.

    Raises:
        LiveError: The table notes what is on its way, and that cannot be understood.
    """
    refusals = list(_by_rules(findings))
    said = {one.finding.object for one in refusals if one.finding is not None}
    refusals += (one for one in refused_contract(contract, live) if one.about not in said)
    plan = TablePlan(contract.table, uri, declaration_hash(contract), name=name)
    table = named_table(name) if name else path_table(uri)
    if live is None:
        made = with_sources(create_steps(contract, table), (), contract.anchors)
        return _planned(plan, contract, TableState(), refusals, made)
    plan = replace(
        plan,
        table_id=live.metadata.table_id,
        version=live.version,
        live=live.state,
        features=live.protocol.features,
        record=_lacks_record(live, plan.hash),
    )
    noted = read_pending(live.state)
    if noted is not None and noted.targets and noted.hash != plan.hash:
        return _finishing(plan, table, live.state, noted)
    is_noted = noted is not None and bool(noted.targets) and noted.hash == plan.hash
    if noted is not None and is_noted:
        options = replace(
            options, tracking=resume_tracking(live.state.columns, contract.state.columns, noted.targets)
        )
    changes = pending(contract, live.state, replace(options, reorder=False))
    refused = refused_changes(pending(contract, live.state, options), live.state, contract, options.tracking)
    refusals += (one for one in refused if one.about not in said)
    if refusals:
        return replace(plan, refusals=tuple(refusals), record=False)
    gone = tuple(sorted(contract.drop_features & live.protocol.features))
    context = clustered_anew(AlterContext(table, live.state, changes, drop_features=gone), contract.state)
    if options.tracking and not is_noted and needs_note(changes, alter_steps(context), options.tracking):
        note = Pending(plan.hash, targets(live.state, options.tracking, contract.state))
        context = replace(context, pending=note)
    steps = with_sources(alter_steps(context), context.changes, contract.anchors)
    if options.reorder:
        steps = (*steps, *_moves(contract, simulate(live.state, steps), table))
    return _planned(plan, contract, live.state, refusals, steps)


def pending(contract: Contract, live: TableState, options: PlanOptions = DEFAULTS) -> tuple[Change, ...]:
    """What is to be done to a live table; columns keep their order unless they are to be moved."""
    declared, before = contract.state, live
    if options.tracking is None:
        declared = replace(declared, dropped=())
    else:
        before = replace(live, columns=options.tracking.live)
    after = apply_declaration(
        declared,
        live,
        open_widening=contract.open.widening,
        tracking=options.tracking,
        reorder=options.reorder,
    )
    changes = (_without_numbers(one) for one in diff(before, after))
    return tuple(one for one in changes if options.reorder or not isinstance(one, change.FieldMoved))


def _moves(contract: Contract, state: TableState, table: str) -> tuple[Step, ...]:
    """Known only where every column is there under its name."""
    changes = [
        one
        for one in pending(contract, state, PlanOptions(reorder=True))
        if isinstance(one, change.FieldMoved)
    ]
    return with_sources(alter_steps(AlterContext(table, state, tuple(changes))), changes, contract.anchors)


def _finishing(plan: TablePlan, table: str, live: TableState, noted: Pending) -> TablePlan:
    """Columns first get the names that an interrupted run wanted; the rest is planned anew after that."""
    done = Pending(noted.hash, {})
    names = tuple(one for one in diff(live, finished(live, noted.targets)) if change_path(one))
    if (emptied := next(emptied_structs(names, live), None)) is not None:
        what = format_path(emptied) or "the table"
        reason = f"another revision was being applied, by which all of {what} was to go"
        refusal = Refusal(reason, "apply that one first: its statements know what comes instead")
        return replace(plan, refusals=(refusal,), record=False)
    # A constraint that goes off for it comes back with the plan after it, in the words of the declaration.
    renamed = tuple(
        step
        for step in alter_steps(AlterContext(table, live, names))
        if step.kind is not StepKind.ADD_CONSTRAINT
    )
    after = alter_steps(AlterContext(table, simulate(live, renamed), (), pending=done))
    return replace(plan, steps=with_requirements(live, (*renamed, *after)), record=False, again=True)


def _planned(
    plan: TablePlan,
    contract: Contract,
    live: TableState,
    refusals: Sequence[Refusal],
    steps: tuple[Step, ...],
) -> TablePlan:
    if refusals:
        return replace(plan, refusals=tuple(refusals), record=False)
    steps = _with_what_lacks(live, steps)
    left = pending(contract, simulate(live, steps))
    if left:
        raise InternalError(f"the plan of {contract.table} does not lead to its declaration: {left[0]}")
    return replace(plan, steps=with_requirements(live, steps), record=plan.record or plan.live is None)


def _with_what_lacks(live: TableState, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The first statement adds what the table needs already and does not support, whatever it is about.

    Measured on Delta 4.4.0 for legacy tables with properties of deletion vectors or of the change data feed.
    """
    lacks = needed_to_alter(live.features, live.active_features) - live.features
    return tuple(
        step if number else replace(step, adds_features=step.adds_features | lacks)
        for number, step in enumerate(steps)
    )


def _lacks_record(live: LiveTable, hash_: str) -> bool:
    marker = read_marker(live)
    return (
        marker is None
        or marker.hash != hash_
        or marker.table_id not in (None, live.metadata.table_id)
        or read_pending(live.state) is not None
    )


def _by_rules(findings: Iterable[Finding]) -> Iterator[Refusal]:
    for one in findings:
        if one.severity >= Severity.ERROR:
            yield Refusal(one.message, one.help, one.code, one)


def _without_numbers(one: Change) -> Change:
    """A new column has no id before Delta gives it one."""
    if not isinstance(one, change.FieldAdded):
        return one
    (bare,) = map_fields(Struct((one.field,)), lambda _path, field: replace(field, column_id=None)).fields
    return replace(one, field=bare)
