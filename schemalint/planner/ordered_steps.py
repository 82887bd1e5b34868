"""Plan one table: ordered steps from its live state to its declaration, with the lines that ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from schemalint.base.errors import InternalError, Location
from schemalint.base.values import frozen, replace
from schemalint.delta.change import (
    Change,
    FieldAdded,
    FieldMoved,
    FieldRemoved,
    FieldRenamed,
    Renames,
    TypeChanged,
    change_path,
    renames_of,
)
from schemalint.delta.datatype import Struct, map_fields
from schemalint.delta.diff import diff
from schemalint.delta.engine import Engine, client_of_commit
from schemalint.delta.engine_answers import activated_by
from schemalint.delta.feature import drop_order
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import format_path
from schemalint.delta.protocol import features_of_versions, needed_to_alter
from schemalint.delta.table import LiveTable, TableState
from schemalint.model.change_kind import anchors_of, column_anchors, kind_of
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.contract import Anchor
from schemalint.model.declaration import apply_declaration
from schemalint.model.effective import Effective
from schemalint.model.finding import Finding, Severity
from schemalint.model.marker import Pending, declaration_hash, read_marker, read_pending
from schemalint.model.table_plan import Refusal, RefusalKind, Step, StepKind, TablePlan
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.column_steps import (
    columns_added,
    columns_added_first,
    columns_dropped,
    columns_dropped_last,
    columns_renamed,
    columns_set_aside,
    emptied_structs,
)
from schemalint.planner.columns_in_place import columns_altered
from schemalint.planner.constraint_steps import constraints_added, constraints_dropped, constraints_of_filled
from schemalint.planner.create_steps import create_steps
from schemalint.planner.data_skipping_steps import (
    clustering_removed,
    clustering_set,
    moves_beyond_statistics,
    statistics_removed,
    with_clustering_restored,
    with_statistics_restored,
)
from schemalint.planner.fills import filled_before_drops, filled_last, refused_fills, with_size
from schemalint.planner.name_swaps import needs_note, target_paths, with_target_names
from schemalint.planner.property_steps import (
    features_dropped,
    pending_noted,
    policy_removed_last,
    properties_first,
    properties_last,
)
from schemalint.planner.refusals import refused_changes, refused_contract
from schemalint.planner.requirements import with_requirements
from schemalint.planner.rewrites import refused_rewrites, rewrite_step
from schemalint.planner.simulate import simulate
from schemalint.planner.statements import named_table, path_table


@frozen
class PlanOptions:
    """Options of a plan.

    Attributes:
        tracking: Which column is which; None pairs columns by name, and then nothing is renamed or dropped.
        reorder: Whether to move existing columns.
    """

    tracking: ColumnTracking | None = None
    reorder: bool = False


DEFAULTS: Final = PlanOptions()


def plan_table(
    contract: Effective,
    live: LiveTable | None,
    uri: str,
    findings: Iterable[Finding] = (),
    options: PlanOptions = DEFAULTS,
    *,
    name: str | None = None,
) -> TablePlan:
    """Return the plan from a live table to its declaration.

    Args:
        contract: The effective contract for the target.
        live: The live table; None if the plan creates it.
        uri: The location of the table.
        findings: The rules' findings on the contract and the live table; an error leaves no steps.
        options: The options of the plan; the columns are tracked from `after_interrupted_run`.
        name: The full name of the table, if the statements use it instead of the location.

    Raises:
        LiveError: The pending note in the table is invalid.
    """
    refusals = list(refused_by_rules(findings))
    reported = {refusal.finding.object for refusal in refusals if refusal.finding is not None}
    refusals += (refusal for refusal in refused_contract(contract, live) if refusal.about not in reported)
    hash_, consumers = declaration_hash(contract), contract.consumers
    plan = TablePlan(contract.table, uri, hash_, name=name, consumers=consumers)
    table = named_table(name) if name else path_table(uri)
    if live is None:
        steps = with_sources(create_steps(contract, table), (), contract.anchors)
        return _planned(plan, contract, TableState(), refusals, steps)
    plan = replace(
        plan,
        table_id=live.metadata.table_id,
        version=live.version,
        live=live.state,
        features=live.protocol.features,
        has_delta_rs=_has_delta_rs(live),
        tracking=options.tracking,
        reorder=options.reorder,
        marker=read_marker(live),
        writes_marker=_lacks_marker(live, plan.declaration_hash),
    )
    first = _interrupted_steps(contract, live.state, table)
    if isinstance(first, Refusal):
        return plan.refused(first)
    if first:
        rest = plan_table(contract, _after(live, first), uri, findings, options, name=name)
        return replace(rest, live=live.state, steps=() if rest.refusals else (*first, *rest.steps))
    if (rewrite := _rewrite(plan, contract, live, refusals, table)) is not None:
        if rewrite.refusals:
            return rewrite
        after = replace(options, tracking=_rewritten(options.tracking, rewrite.steps))
        rest = plan_table(contract, _after(live, rewrite.steps), uri, findings, after, name=name)
        steps = () if rest.refusals else (*rewrite.steps, *rest.steps)
        return replace(rest, live=live.state, steps=steps, size=rewrite.size, tracking=options.tracking)
    noted = read_pending(live.state)
    is_noted = noted is not None and bool(noted.targets)
    if noted is not None and is_noted:
        options = replace(
            options, tracking=resume_tracking(live.state.columns, contract.state.columns, noted.targets)
        )
    changes = pending_changes(contract, live.state, replace(options, reorder=False))
    refused = refused_changes(
        pending_changes(contract, live.state, options), live.state, contract, options.tracking
    )
    in_the_way = (*refused, *refused_fills(changes, live.state, contract))
    refusals += (refusal for refusal in in_the_way if refusal.about not in reported)
    if refusals:
        return plan.refused(*refusals)
    context = AlterContext(
        table,
        live.state,
        changes,
        drop_features=drop_order(contract.drop_features & live.protocol.features),
        truncated_features=contract.truncated_features,
        engine=contract.engine,
        backfills=contract.backfills,
    )
    context = with_statistics_restored(with_clustering_restored(context, contract.state), contract.state)
    if options.tracking and not is_noted and needs_note(changes, alter_steps(context), options.tracking):
        note = Pending(plan.declaration_hash, target_paths(live.state, options.tracking, contract.state))
        context = replace(context, pending=note)
    if options.reorder:
        moved = simulate(live.state, alter_steps(context))
        context = replace(context, changes=(*context.changes, *_moves(contract, moved)), moved=moved)
    steps = with_sources(alter_steps(context), context.changes, contract.anchors)
    refusals += moves_beyond_statistics(live.state, steps)
    return _planned(with_size(plan, live, steps), contract, live.state, refusals, steps)


def _has_delta_rs(live: LiveTable) -> bool:
    clients = filter(None, map(client_of_commit, live.writers))
    return any(name == "deltalake" for name, _version in clients)


def _rewrite(
    plan: TablePlan, contract: Effective, live: LiveTable, refusals: Sequence[Refusal], table: str
) -> TablePlan | None:
    """Return the plan of the rewrite that is due before all other steps; None if none is."""
    if not contract.rewrites.due(live.state, contract.state):
        return None
    reported = {refusal.finding.object for refusal in refusals if refusal.finding is not None}
    refused = [refusal for refusal in refused_rewrites(contract, live.state) if refusal.about not in reported]
    if refused or refusals:
        return plan.refused(*refusals, *refused)
    step = rewrite_step(contract, live.state, table)
    steps = with_requirements(live.state, with_sources([step], step.changes, contract.anchors))
    size = live.size() if live.size is not None else None
    return replace(plan, steps=steps, size=size)


def _rewritten(tracking: ColumnTracking | None, steps: Sequence[Step]) -> ColumnTracking | None:
    if tracking is None:
        return None
    types = [change for step in steps for change in step.changes if isinstance(change, TypeChanged)]
    columns = apply_changes(TableState(tracking.live), types).columns
    return replace(tracking, live=columns)


def pending_changes(
    contract: Effective, live: TableState, options: PlanOptions = DEFAULTS
) -> tuple[Change, ...]:
    """Return the changes that a live table needs; without `reorder`, existing columns keep their order."""
    declared, before = with_version_features(contract.settable_state, live.features), live
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
    changes = (_without_column_ids(change) for change in diff(before, after))
    return tuple(change for change in changes if options.reorder or not isinstance(change, FieldMoved))


def with_version_features(declared: TableState, supported: frozenset[str]) -> TableState:
    """Return the declared state with the features that its protocol versions add to the table.

    ``delta.minWriterVersion = 4`` gives an existing table the same protocol as a request for each feature
    that it implies (measured on Delta 4.4.0). A plan names these features.
    """
    by_version = features_of_versions(declared.set_properties, supported)
    return replace(declared, features=declared.features | by_version)


def _moves(contract: Effective, state: TableState) -> Iterator[FieldMoved]:
    """Yield the moves of columns in a state in which every column exists under its declared name."""
    for change in pending_changes(contract, state, PlanOptions(reorder=True)):
        if isinstance(change, FieldMoved):
            yield change


def after_interrupted_run(contract: Effective, live: LiveTable) -> LiveTable:
    """Return the table from which the declaration is planned.

    Most tables stay as they are. If a run of another revision was interrupted, it is the table with all names
    that this run noted: the plan brings the columns there first.

    Raises:
        LiveError: The pending note in the table is invalid.
    """
    steps = _interrupted_steps(contract, live.state, "")
    return live if isinstance(steps, Refusal) else _after(live, steps)


def _after(live: LiveTable, steps: Sequence[Step]) -> LiveTable:
    if not steps:
        return live
    return replace(live, metadata=replace(live.metadata, state=simulate(live.state, steps)))


def _interrupted_steps(contract: Effective, live: TableState, table: str) -> tuple[Step, ...] | Refusal:
    """Return the steps to the names that an interrupted run of another revision noted, and to no other."""
    noted = read_pending(live)
    if noted is None or not noted.targets or noted.hash == declaration_hash(contract):
        return ()
    done = Pending(noted.hash, {})
    changes = tuple(
        change for change in diff(live, with_target_names(live, noted.targets)) if change_path(change)
    )
    if (emptied := next(emptied_structs(changes, live.columns), None)) is not None:
        parent = format_path(emptied) or "the table"
        reason = f"an interrupted run of another revision drops all columns of {parent}"
        help_text = "apply that revision first: it adds the columns that replace them"
        return Refusal(RefusalKind.OPERATION, reason, help_text)
    # The steps after these add the suspended constraints again, with the declared expressions.
    context = AlterContext(table, live, changes, engine=contract.engine, backfills=contract.backfills)
    left_to_others = {StepKind.ADD_CONSTRAINT, StepKind.FILL}
    steps = tuple(step for step in alter_steps(context) if step.kind not in left_to_others)
    last_steps = alter_steps(AlterContext(table, simulate(live, steps), (), pending=done))
    return with_requirements(live, (*steps, *last_steps))


def _planned(
    plan: TablePlan,
    contract: Effective,
    live: TableState,
    refusals: Sequence[Refusal],
    steps: tuple[Step, ...],
) -> TablePlan:
    if refusals:
        return plan.refused(*refusals)
    steps = _with_missing_features(live, steps, contract.engine)
    left = pending_changes(contract, simulate(live, steps))
    if left:
        raise InternalError(f"the plan of {contract.table} does not lead to its declaration: {left[0]}")
    return replace(
        plan, steps=with_requirements(live, steps), writes_marker=plan.writes_marker or plan.live is None
    )


def _with_missing_features(
    live: TableState, steps: tuple[Step, ...], engine: Engine | None
) -> tuple[Step, ...]:
    """Add the features that the table needs but does not support to the first step: any commit adds them.

    Measured on Delta 4.4.0 for legacy tables with properties of deletion vectors or of the change data feed.
    """
    active = activated_by(engine, live.active_features, live.features)
    missing = needed_to_alter(live.features, active) - live.features
    return tuple(
        step if index else replace(step, adds_features=step.adds_features | missing)
        for index, step in enumerate(steps)
    )


def _lacks_marker(live: LiveTable, hash_: str) -> bool:
    marker = read_marker(live)
    return marker is None or marker.hash != hash_ or read_pending(live.state) is not None


def refused_by_rules(findings: Iterable[Finding]) -> Iterator[Refusal]:
    """Refuse what a finding forbids, which is an error of its rule."""
    for finding in findings:
        if finding.severity >= Severity.ERROR:
            yield Refusal(RefusalKind.RULE, finding.message, finding.help, finding.code, finding)


def _without_column_ids(change: Change) -> Change:
    """Remove the ids of a new column: Delta assigns them later."""
    if not isinstance(change, FieldAdded):
        return change
    (bare,) = map_fields(Struct((change.field,)), lambda _path, field: replace(field, column_id=None)).fields
    return replace(change, field=bare)


def with_sources(
    steps: Iterable[Step], changes: Iterable[Change], anchors: Mapping[Anchor, Location]
) -> tuple[Step, ...]:
    """Return the steps, each with the locations in the contract that declare its changes.

    Args:
        steps: The steps; their changes use the names that the columns have at that moment.
        changes: All changes of the table.
        anchors: The locations of the contract's anchors.
    """
    renames = renames_of(changes)
    return tuple(
        replace(step, sources=tuple(dict.fromkeys(_sources(step, renames, anchors)))) for step in steps
    )


def _sources(step: Step, renames: Renames, anchors: Mapping[Anchor, Location]) -> Iterator[Location]:
    for change in step.changes:
        locations = (anchors.get(anchor) for anchor in _candidates(change, renames))
        location = next((location for location in locations if location is not None), None)
        if location is not None:
            yield location


def _candidates(change: Change, renames: Renames) -> Iterator[Anchor]:
    """Yield anchors with the names in the contract; a deletion can be listed under old names."""
    match change:
        case FieldRenamed(path=path, old_name=old):
            # The contract knows only the final name of a rename through a temporary name.
            yield from column_anchors(kind_of(change).anchor, renames.forward((*path[:-1], old)))
        case FieldRemoved(path=path):
            yield from anchors_of(replace(change, path=(*renames.forward(path[:-1]), path[-1])))
        case FieldAdded(path=path) | TypeChanged(path=path):
            yield from column_anchors(kind_of(change).anchor, renames.forward(path))
    yield from anchors_of(change)


def alter_steps(context: AlterContext) -> Iterator[Step]:
    """Yield the steps in an order in which each step finds what it needs.

    Properties and features precede the columns that need them. Constraints, clustering and a list of
    statistics columns that block a change of columns are removed first and restored afterwards.
    """
    yield from properties_first(context)
    yield from pending_noted(context)
    yield from constraints_dropped(context)
    yield from clustering_removed(context)
    yield from statistics_removed(context)
    yield from columns_added_first(context)
    yield from filled_before_drops(context)
    yield from columns_dropped(context)
    yield from columns_set_aside(context)
    yield from columns_renamed(context)
    yield from columns_added(context)
    yield from columns_dropped_last(context)
    yield from columns_altered(context)
    yield from constraints_added(context)
    yield from properties_last(context)
    yield from features_dropped(context)
    yield from policy_removed_last(context)
    yield from clustering_set(context)
    yield from filled_last(context)
    yield from constraints_of_filled(context)
