"""Plan one table: the steps from its live state to its declaration, or why there are none.

First come the steps that finish an interrupted run of another revision, then the rewrite that is due; all
other steps are planned for the table as they leave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from schemalint.base.errors import InternalError
from schemalint.base.values import frozen, replace
from schemalint.delta.change import Change, TypeChanged, change_path
from schemalint.delta.commit_engines import client_of_commit
from schemalint.delta.diff import diff
from schemalint.delta.engine_answers import activated_by
from schemalint.delta.feature import drop_order
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import format_path
from schemalint.delta.protocol import needed_to_alter
from schemalint.delta.table import LiveTable, TableState
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.effective import Effective
from schemalint.model.finding import Finding, ObjectRef, Severity
from schemalint.model.marker import Pending, declaration_hash, read_marker, read_pending
from schemalint.model.table_plan import Refusal, RefusalKind, Step, StepKind, TablePlan
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.column_steps import emptied_structs
from schemalint.planner.create_steps import create_steps
from schemalint.planner.data_skipping_steps import (
    moves_beyond_statistics,
    with_clustering_restored,
    with_statistics_restored,
)
from schemalint.planner.fills.steps import refused_fills, with_size
from schemalint.planner.name_swaps import needs_note, target_paths, with_target_names
from schemalint.planner.ordered_steps import alter_steps, with_sources
from schemalint.planner.pending_changes import DEFAULTS, PlanOptions, pending_changes, pending_moves
from schemalint.planner.refusals import refused_changes, refused_contract
from schemalint.planner.requirements import with_requirements
from schemalint.planner.rewrites.steps import refused_rewrites, rewrite_step
from schemalint.planner.simulate import simulate
from schemalint.planner.statements import named_table, path_table


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
    planner = _TablePlanner(contract, uri, tuple(refused_by_rules(findings)), name)
    return planner.creation() if live is None else planner.plan(live, options)


def refused_by_rules(findings: Iterable[Finding]) -> Iterator[Refusal]:
    """Refuse what a finding forbids, which is an error of its rule."""
    for finding in findings:
        if finding.severity >= Severity.ERROR:
            yield Refusal(RefusalKind.RULE, finding.message, finding.help, finding.code, finding)


def after_interrupted_run(contract: Effective, live: LiveTable) -> LiveTable:
    """Return the table from which the declaration is planned.

    Most tables stay as they are. If a run of another revision was interrupted, it is the table with all names
    that this run noted: the plan brings the columns there first.

    Raises:
        LiveError: The pending note in the table is invalid.
    """
    steps = _interrupted_steps(contract, live.state, "")
    return live if isinstance(steps, Refusal) else _after(live, steps)


@frozen
class _TablePlanner:
    """What the plan of one table is made from, whatever state the table is in.

    Attributes:
        contract: The effective contract for the target.
        uri: The location of the table.
        by_rules: The refusals of rules.
        name: The full name of the table, if the statements use it instead of the location.
    """

    contract: Effective
    uri: str
    by_rules: tuple[Refusal, ...]
    name: str | None

    def creation(self) -> TablePlan:
        """Return the plan that creates the table."""
        refusals = self._refusals(None)
        steps = with_sources(create_steps(self.contract, self._table), (), self.contract.anchors)
        return self._planned(self._empty_plan(None), TableState(), refusals, steps)

    def plan(self, live: LiveTable, options: PlanOptions) -> TablePlan:
        """Return the plan of a table that exists."""
        contract, plan = self.contract, self._empty_plan(live)
        plan = replace(plan, tracking=options.tracking, reorder=options.reorder)
        interrupted = _interrupted_steps(contract, live.state, self._table)
        if isinstance(interrupted, Refusal):
            return plan.refused(interrupted)
        if interrupted:
            return _preceded(interrupted, self.plan(_after(live, interrupted), options), live)
        refusals = self._refusals(live)
        if not contract.rewrites.due(live.state, contract.state):
            return self._alteration(plan, live, refusals, options)
        refusals = (*refusals, *self._unreported(refused_rewrites(contract, live.state)))
        if refusals:
            return plan.refused(*refusals)
        steps = self._rewrite(live.state)
        rest = self.plan(_after(live, steps), replace(options, tracking=_rewritten(options.tracking, steps)))
        rest = replace(rest, tracking=options.tracking, size=live.size() if live.size is not None else None)
        return _preceded(steps, rest, live)

    @cached_property
    def _table(self) -> str:
        """The table in SQL."""
        return named_table(self.name) if self.name else path_table(self.uri)

    @cached_property
    def _reported(self) -> frozenset[ObjectRef]:
        """What a rule refuses: nothing else refuses the same."""
        return frozenset(refusal.finding.object for refusal in self.by_rules if refusal.finding is not None)

    def _unreported(self, refusals: Iterable[Refusal]) -> Iterator[Refusal]:
        """Yield the refusals that repeat none of a rule."""
        for refusal in refusals:
            if refusal.about not in self._reported:
                yield refusal

    def _refusals(self, live: LiveTable | None) -> tuple[Refusal, ...]:
        """Return what rules refuse, and what refuses any plan of the contract."""
        return (*self.by_rules, *self._unreported(refused_contract(self.contract, live)))

    def _empty_plan(self, live: LiveTable | None) -> TablePlan:
        """Return the plan without steps."""
        contract, hash_ = self.contract, declaration_hash(self.contract)
        plan = TablePlan(contract.table, self.uri, hash_, name=self.name, consumers=contract.consumers)
        if live is None:
            return replace(plan, writes_marker=True)
        marker = read_marker(live)
        is_marked = marker is not None and marker.hash == hash_ and read_pending(live.state) is None
        return replace(
            plan,
            table_id=live.metadata.table_id,
            version=live.version,
            live=live.state,
            features=live.protocol.features,
            has_delta_rs=_has_delta_rs(live),
            marker=marker,
            writes_marker=not is_marked,
        )

    def _rewrite(self, live: TableState) -> tuple[Step, ...]:
        """Return the step that writes the table anew."""
        step = rewrite_step(self.contract, live, self._table)
        return with_requirements(live, with_sources([step], step.changes, self.contract.anchors))

    def _alteration(
        self, plan: TablePlan, live: LiveTable, refusals: Sequence[Refusal], options: PlanOptions
    ) -> TablePlan:
        """Return the plan of a table that no interrupted run has left, and that needs no rewrite."""
        contract = self.contract
        noted = read_pending(live.state)
        is_noted = noted is not None and bool(noted.targets)
        if noted is not None and is_noted:
            tracking = resume_tracking(live.state.columns, contract.state.columns, noted.targets)
            options = replace(options, tracking=tracking)
        changes = pending_changes(contract, live.state, replace(options, reorder=False))
        with_moves = pending_changes(contract, live.state, options)
        in_the_way = (
            *refused_changes(with_moves, live.state, contract, options.tracking),
            *refused_fills(changes, live.state, contract),
        )
        refusals = (*refusals, *self._unreported(in_the_way))
        if refusals:
            return plan.refused(*refusals)
        context = self._context(live, changes)
        if options.tracking and not is_noted and needs_note(changes, alter_steps(context), options.tracking):
            targets = target_paths(live.state, options.tracking, contract.state)
            context = replace(context, pending=Pending(plan.declaration_hash, targets))
        if options.reorder:
            moved = simulate(live.state, alter_steps(context))
            context = replace(context, changes=(*changes, *pending_moves(contract, moved)), moved=moved)
        steps = with_sources(alter_steps(context), context.changes, contract.anchors)
        beyond = tuple(moves_beyond_statistics(live.state, steps))
        return self._planned(with_size(plan, live, steps), live.state, beyond, steps)

    def _context(self, live: LiveTable, changes: tuple[Change, ...]) -> AlterContext:
        contract = self.contract
        context = AlterContext(
            self._table,
            live.state,
            changes,
            drop_features=drop_order(contract.drop_features & live.protocol.features),
            truncated_features=contract.truncated_features,
            engine=contract.engine,
            backfills=contract.backfills,
        )
        return with_statistics_restored(with_clustering_restored(context, contract.state), contract.state)

    def _planned(
        self, plan: TablePlan, live: TableState, refusals: Sequence[Refusal], steps: tuple[Step, ...]
    ) -> TablePlan:
        """Return the plan with its steps, which lead to the declaration.

        Raises:
            InternalError: The steps do not.
        """
        if refusals:
            return plan.refused(*refusals)
        steps = self._with_missing_features(live, steps)
        left = pending_changes(self.contract, simulate(live, steps))
        if left:
            raise InternalError(f"the plan of {plan.table} does not lead to its declaration: {left[0]}")
        return replace(plan, steps=with_requirements(live, steps))

    def _with_missing_features(self, live: TableState, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Add the features that the table needs but does not support to the first step: any commit adds them.

        Measured on Delta 4.4.0 for legacy tables with properties of deletion vectors or of the change data
        feed.
        """
        if not steps:
            return steps
        active = activated_by(self.contract.engine, live.active_features, live.features)
        missing = needed_to_alter(live.features, active) - live.features
        first, *rest = steps
        return (replace(first, adds_features=first.adds_features | missing), *rest)


def _preceded(steps: tuple[Step, ...], rest: TablePlan, live: LiveTable) -> TablePlan:
    """Return the plan of a table with the steps that come before it; a refusal of the rest leaves no step."""
    return replace(rest, live=live.state, steps=() if rest.refusals else (*steps, *rest.steps))


def _has_delta_rs(live: LiveTable) -> bool:
    clients = filter(None, map(client_of_commit, live.writers))
    return any(name == "deltalake" for name, _version in clients)


def _rewritten(tracking: ColumnTracking | None, steps: Sequence[Step]) -> ColumnTracking | None:
    """Return which column is which once the columns of a rewrite have their new types."""
    if tracking is None:
        return None
    types = [change for step in steps for change in step.changes if isinstance(change, TypeChanged)]
    return replace(tracking, live=apply_changes(TableState(tracking.live), types).columns)


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
