"""Judge a contract with its base and its live table: each difference once.

| base | declared | live | result                                                                   |
|------|----------|------|--------------------------------------------------------------------------|
| A    | A        | A    | no finding                                                               |
| A    | A        | B    | one `Drift`: not applied yet, or drifted; its cause is the error that    |
|      |          |      | forbids B -> A, if there is one                                          |
| A    | B        | B    | one `Drift`: already applied, or applied in part if other objects of the |
|      |          |      | edit are not; only contract-scoped rules judge the change itself         |
| A    | B        | A    | the change is judged once, against git and live                          |
| A    | B        | C    | the errors of rules that forbid C -> B; without any, one `Drift`         |
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property

from schemalint.base.values import frozen, replace
from schemalint.delta import change, protocol
from schemalint.delta.change import Change, change_path, subject, subject_name
from schemalint.delta.datatype import Struct, Unmanaged, field_at, type_at, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import Path, PathIndex, lowercased, path_key
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.judge.case import Case, Purpose, differing_subjects, git_context, live_context
from schemalint.judge.column_log import with_names
from schemalint.judge.consumer_findings import reader_findings
from schemalint.judge.follow_ups import with_follow_ups
from schemalint.judge.protocol_upgrades import protocol_upgrades, standing_upgrades, with_upgrade_findings
from schemalint.judge.rule_judge import AskedRules, highest_severities, marked, without_ambiguous_columns
from schemalint.judge.table_judge import LIVE, is_refusal_of_table, kept_refusals, table_findings
from schemalint.judge.undeclared_features import undeclared_features
from schemalint.model.declaration import created_state
from schemalint.model.effective import Effective
from schemalint.model.fact import Drift, DriftKind
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import RuleContext

GIT_AND_LIVE = ("git", "live")

# Changes of the contract's own records, and changes that a declaration never makes in a live table.
_NEVER_APPLIED = (
    change.FieldRemoved,
    change.FieldMoved,
    change.TypeHistoryChanged,
    change.DeletionListed,
    change.DeletionUnlisted,
)


def with_table(rules: AskedRules, case: Case, live: LiveTable) -> tuple[Finding, ...]:
    """Return the findings of a contract, its base and the live table, with those of the table itself.

    Findings that the base and the live table give too are marked as existing: the change under review did
    not cause them.
    """
    of_table = _of_table(rules, case, live)
    severities: Mapping[Hashable, Severity] = {}
    if case.base is not None:
        at_base = replace(case, declared=case.base, tracking=None)
        unchanged = _findings(rules, at_base, live, (), {})
        if not unchanged and not of_table and case == at_base:
            return ()
        severities = highest_severities(unchanged)

    def judged(contract: Effective) -> tuple[Finding, ...]:
        return _findings(rules, replace(case, declared=contract), live, of_table, severities)

    return with_follow_ups(judged(case.edit), case.edit, judged)


def _of_table(rules: AskedRules, case: Case, live: LiveTable) -> tuple[Finding, ...]:
    """Return the findings of the table itself; those that the base contract gives too are existing."""
    findings = table_findings(rules, live, case.contract)
    if case.purpose is Purpose.PLAN:
        return tuple(filter(is_refusal_of_table, findings))
    at_base = table_findings(rules, live, case.base) if case.base and findings else ()
    return tuple(marked(findings, highest_severities(at_base)))


def _findings(
    rules: AskedRules,
    case: Case,
    live: LiveTable,
    of_table: tuple[Finding, ...],
    at_base: Mapping[Hashable, Severity],
) -> tuple[Finding, ...]:
    """Return all findings of a table; those of ``at_base``, if at least as severe there, are existing."""
    contract, base = case.contract, case.base
    # A plan has no base, but it tracks the columns since the last apply.
    before = base or (case.applied if case.tracking else None)
    ctx = live_context(contract, live, before, case.tracking, case.renamed)
    against = GIT_AND_LIVE if base else LIVE
    of_states = (
        *_of_changes(rules, ctx, case),
        *_undeclared(rules, ctx, case),
        *(undeclared_features(rules, ctx, case) if case.purpose is Purpose.CHECK else ()),
        *rules(contract, ctx, against),
    )
    of_declaration = tuple(without_ambiguous_columns(tuple(marked(of_states, at_base))))
    upgrades = standing_upgrades(ctx, of_declaration, _unaddable_features(ctx, of_table))
    of_readers = reader_findings(rules, ctx, upgrades, of_declaration, against, case.tracking)
    reported = {finding.place for finding in of_declaration}
    kept = (finding for finding in kept_refusals(rules, live, contract) if finding.place not in reported)
    findings = (*of_declaration, *of_table, *marked(kept, at_base))
    if upgrades and (base is None or protocol_upgrades(git_context(base, contract))):
        for upgrade in upgrades:
            of_upgrade = tuple(marked(rules(upgrade, ctx, against), at_base))
            findings = with_upgrade_findings(findings, upgrade, of_upgrade)
    return (*findings, *marked(of_readers, at_base))


def _unaddable_features(ctx: RuleContext, of_table: Iterable[Finding]) -> frozenset[str]:
    """Return the features that a table uses without supporting them, if Spark refuses the table.

    No statement can add them then. If Spark accepts the table, every statement adds them, because Delta
    examines all metadata (``Protocol.upgradeProtocolFromMetadataForExistingTable``; measured on Delta 4.4.0).
    """
    if not any(is_refusal_of_table(finding) and not finding.existing for finding in of_table):
        return frozenset()
    return protocol.needed_features(ctx.features, ctx.before.active_features) - ctx.features


def _of_changes(rules: AskedRules, ctx: RuleContext, case: Case) -> Iterator[Finding]:
    contract, base = case.contract, case.base
    pending = ctx.changes
    if base is None:
        for pending_change in pending:
            yield from _missing_step(rules, pending_change, ctx, case)
        for edit in case.unseen:
            yield from rules(edit, ctx, LIVE)
        return
    changes = diff(
        _with_requested_features(base.settable_state), _with_requested_features(contract.settable_state)
    )
    of_git = _Changes(changes)
    differs_from_base = differing_subjects(base, ctx.before, case.renamed) if pending else set()
    for pending_change in pending:
        if subject(pending_change) in of_git.by_subject and subject(pending_change) not in differs_from_base:
            yield from rules.without_records(pending_change, ctx, GIT_AND_LIVE)
        else:
            yield from _live_only(rules, pending_change, of_git, ctx, case)
    if changes:
        yield from _of_applied_changes(rules, of_git, _Changes(pending), ctx, git_context(base, contract))


def _live_only(
    rules: AskedRules,
    pending_change: Change,
    of_git: _Changes,
    ctx: RuleContext,
    case: Case,
) -> Iterator[Finding]:
    """Judge a pending change that git does not show, or shows from another old value than the live one."""
    path = change_path(pending_change)
    if subject(pending_change) in of_git.by_subject or (path is not None and of_git.add(path)):
        yield from _missing_step(rules, pending_change, ctx, case)
    else:
        yield from _of_drift(rules, pending_change, ctx, case)


def _missing_step(
    rules: AskedRules, pending_change: Change, ctx: RuleContext, case: Case
) -> Iterator[Finding]:
    """Yield the errors of rules that refuse a pending change; without any, the finding of the drift."""
    errors = tuple(rules.errors(pending_change, ctx, LIVE))
    yield from errors or _of_drift(rules, pending_change, ctx, case)


def _of_drift(rules: AskedRules, pending_change: Change, ctx: RuleContext, case: Case) -> Iterator[Finding]:
    """Yield the finding of the drift, with the error that forbids the change, of selected rules or not.

    A table that nobody contracted is what it is.
    """
    if not case.contract.is_contracted:
        return
    cause = next(rules.of_delta.errors(pending_change, ctx, LIVE), None)
    yield from rules(_drift(pending_change, case, cause), ctx, LIVE)


def _drift(
    pending_change: Change,
    case: Case,
    cause: Finding | None = None,
    kind: DriftKind | None = None,
) -> Drift:
    """Return a pending change as drift, with the commit that made it if somebody else did."""
    kind = kind or _drift_kind(pending_change, case)
    asks = kind in (DriftKind.DRIFTED, DriftKind.UNDECLARED)
    origin = case.origin_of(pending_change).text if case.origin_of and asks else ""
    return Drift(pending_change, kind, cause, origin, case.all_contracts)


def _drift_kind(pending_change: Change, case: Case) -> DriftKind:
    """Return the kind of drift: drifted if the live table differs from its last applied or logged state."""
    if case.contract.managed_by != "schemalint":
        return DriftKind.MANAGED_ELSEWHERE
    if case.is_applied:
        return DriftKind.DRIFTED
    if subject(pending_change) in case.differs_from_applied:
        return DriftKind.DRIFTED
    if case.ahead:
        return DriftKind.AHEAD
    is_logged_rename = (
        isinstance(pending_change, change.FieldRenamed) and path_key(pending_change.path) in case.renamed
    )
    return DriftKind.DRIFTED if is_logged_rename else DriftKind.NOT_APPLIED


def _with_requested_features(state: TableState) -> TableState:
    """Add the features that properties request to the features: Delta stores them only in the protocol."""
    return replace(state, features=state.requested_features)


def _of_applied_changes(
    rules: AskedRules,
    of_git: _Changes,
    pending: _Changes,
    live_ctx: RuleContext,
    git_ctx: RuleContext,
) -> Iterator[Finding]:
    """Judge git's changes that the live table already has, and the contract's records of all of them."""
    listed = git_ctx.contract.state.dropped_by_key
    applied = {key for key, git_change in of_git.by_subject.items() if _is_applied(git_change, pending)}
    waiting = [
        key in pending.by_subject if _is_never_applied(git_change) else key not in applied
        for key, git_change in of_git.by_subject.items()
        if not isinstance(git_change, change.FieldMoved)
    ]
    kind = DriftKind.APPLIED_IN_PART if any(waiting) else DriftKind.APPLIED
    for key, git_change in of_git.by_subject.items():
        yield from rules.record(git_change, git_ctx)
        if isinstance(git_change, change.FieldRemoved) and path_key(git_change.path) not in listed:
            if field_at(live_ctx.before.columns, git_change.path):
                yield from rules(git_change, live_ctx, GIT_AND_LIVE)
        elif key in applied:
            yield from rules(Drift(git_change, kind), live_ctx, LIVE)


def _is_applied(git_change: Change, pending: _Changes) -> bool:
    """Return whether no pending change concerns the object of a git change, its children or its parents."""
    if _is_never_applied(git_change) or subject(git_change) in pending.by_subject:
        return False
    path = change_path(git_change)
    return not path or not pending.concern(path)


def _is_never_applied(git_change: Change) -> bool:
    """Return whether a git change never alters a table: a removed line manages less and removes nothing.

    A property that belongs in the protocol alters the feature that it requests instead.
    """
    is_unmanaged = isinstance(getattr(git_change, "new", None), Unmanaged)
    return (
        is_unmanaged
        or git_change == change.FeatureChanged(subject_name(git_change), new=False)
        or isinstance(git_change, _NEVER_APPLIED)
        or (isinstance(git_change, change.PropertyChanged) and is_protocol_key(git_change.key))
    )


def _undeclared(rules: AskedRules, ctx: RuleContext, case: Case) -> Iterator[Finding]:
    """Judge live fields that neither contract nor base declares, unless writers may add columns."""
    if ctx.contract.open.columns:
        return
    declared = with_names(ctx.contract.state.columns, case.renamed)
    listed = ctx.contract.state.dropped_by_key
    created = created_state(ctx.base.state).columns if ctx.base else Struct()
    for path, live in walk_fields(ctx.before.columns):
        parent = type_at(declared, path[:-1])
        if not isinstance(parent, Struct) or path_key(path) in listed or _is_declared(parent, live.name):
            continue
        if field_at(created, path) is None:
            kind = DriftKind.AHEAD if _is_of_later_revision(path, case) else DriftKind.UNDECLARED
            yield from rules(_drift(change.FieldRemoved(path, live), case, kind=kind), ctx, LIVE)


def _is_of_later_revision(path: Path, case: Case) -> bool:
    """Return whether an undeclared live column comes from a later revision that was applied."""
    applied = case.applied
    if case.is_applied or not case.ahead:
        return False
    return applied is None or field_at(applied.state.columns, path) is not None


def _is_declared(parent: Struct, name: str) -> bool:
    return parent.get(name) is not None or name.lower() in parent.old_names


@frozen
class _Changes:
    """Changes by their subjects and paths."""

    all: tuple[Change, ...]

    @cached_property
    def by_subject(self) -> Mapping[Hashable, Change]:
        return {subject(item): item for item in self.all}

    @cached_property
    def _by_path(self) -> PathIndex[Change]:
        return PathIndex((path, item) for item in self.all if (path := change_path(item)))

    @cached_property
    def _added(self) -> PathIndex[Change]:
        return PathIndex(
            (lowercased(item.path), item) for item in self.all if isinstance(item, change.FieldAdded)
        )

    def concern(self, path: Path) -> bool:
        """Whether a change concerns the object at a path, or inside it, or adds one around it."""
        return bool(self._by_path.within(path)) or self.add(path)

    def add(self, path: Path) -> bool:
        """Whether a change adds the object at a path, or one around it."""
        return bool(self._added.around(path))
