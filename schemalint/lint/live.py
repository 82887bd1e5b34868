"""A contract, its base and the live table: each difference is judged once.

| base | declared | live | result                                                             |
|------|----------|------|--------------------------------------------------------------------|
| A    | A        | A    | nothing                                                            |
| A    | A        | B    | one `Drift`: not applied yet, or drifted; an error if it must stay |
| A    | B        | B    | one `Drift`: already applied, or applied in part where other objects of |
|      |          |      | the edit are not; only the record of the change judged             |
| A    | B        | A    | the change judged once, against git and live                       |
| A    | B        | C    | the rule's finding if C -> B is impossible, else one `Drift`       |
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from schemalint.delta import change, protocol
from schemalint.delta.change import Change, change_path, subject, subject_name
from schemalint.delta.datatype import Struct, Unmanaged, field_at, type_at, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import Path, lowercased, path_key
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.lint.judge import Judge, beside_upgrade, git_context, is_superseded, protocol_upgrades
from schemalint.lint.renamed import Names, with_names
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration, created_state
from schemalint.model.fact import Drift, DriftKind
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule, RuleContext
from schemalint.values import field, frozen, replace

LIVE = ("live",)
GIT_AND_LIVE = ("git", "live")

_NO_NAMES: Names = {}

# What a contract says about itself, or what is never asked of a live table.
_NEVER_APPLIED = (
    change.FieldRemoved,
    change.FieldMoved,
    change.TypeHistoryChanged,
    change.DeletionListed,
    change.DeletionUnlisted,
)


@frozen
class LiveComparison:
    """The three states of one table, effective for one target.

    Attributes:
        base: As declared at the base.
        applied: As declared when it was applied last, if the table says so and git knows it.
        settled: Whether the table says that the very declaration was applied.
        ahead: Whether the table says that a later revision was applied.
        tracking: Which column is which, where that is known better than by names.
        renamed: The columns that the log knows under another name than base and contract; without a tracking.
        of_table: What is said of the live table as it is; those that the base gives too are existing.
    """

    contract: Contract
    live: LiveTable
    base: Contract | None = None
    applied: Contract | None = None
    settled: bool = False
    ahead: bool = False
    tracking: ColumnTracking | None = None
    of_table: tuple[Finding, ...] = ()
    renamed: Names = field(default_factory=dict)


def judge_live(comparison: LiveComparison, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """What the rules say of a contract, its base and the live table, beside what is said of the table itself.

    What they say of the base and the live table too is marked as existing: the change under review did not
    bring it.
    """
    judge = Judge(tuple(rules))
    base = comparison.base
    if base is None:
        return _findings(judge, comparison, {})
    at_base = replace(comparison, contract=base, base=base, tracking=None, of_table=())
    unchanged = _findings(judge, at_base, {})
    worst: dict[Hashable, Severity] = {
        one.identity: one.severity for one in sorted(unchanged, key=lambda one: one.severity)
    }
    return _findings(judge, comparison, worst)


def live_context(
    contract: Contract,
    live: LiveTable,
    base: Contract | None = None,
    tracking: ColumnTracking | None = None,
    renamed: Names = _NO_NAMES,
) -> RuleContext:
    """The log says what the table is."""
    before = live.state if tracking is None else replace(live.state, columns=tracking.live)
    return RuleContext(
        contract=contract,
        before=before,
        after=_over(contract, live.state, renamed, tracking),
        features=live.protocol.features,
        base=base,
        live=live,
        against="live",
    )


def live_changes(ctx: RuleContext) -> tuple[Change, ...]:
    """What has to be done to the live table; nothing of what the contract does not manage."""
    return diff(ctx.before, ctx.after)


def _findings(
    judge: Judge, comparison: LiveComparison, old_sins: Mapping[Hashable, Severity]
) -> tuple[Finding, ...]:
    """What is said of the table; what is said as gravely without the change under review is existing.

    Upgrades come last, as without a live table: see `is_superseded` and `beside_upgrade`.
    """
    contract, base = comparison.contract, comparison.base
    ctx = live_context(contract, comparison.live, base, comparison.tracking, comparison.renamed)
    against = GIT_AND_LIVE if base else LIVE
    found = (
        *_of_changes(judge, ctx, comparison),
        *_undeclared(judge, ctx, comparison),
        *judge(contract, ctx, against),
    )
    said = tuple(_marked(found, old_sins))
    everything = (*said, *comparison.of_table)
    if base is None or protocol_upgrades(git_context(base, contract)):
        for upgrade in protocol_upgrades(ctx, _beyond_repair(ctx, comparison.of_table)):
            if not is_superseded(upgrade, said):
                of_upgrade = tuple(_marked(judge(upgrade, ctx, against), old_sins))
                everything = beside_upgrade(everything, upgrade, of_upgrade)
    return everything


def _beyond_repair(ctx: RuleContext, of_table: Iterable[Finding]) -> frozenset[str]:
    """What the table uses and does not support, where Spark refuses the table: then no statement adds it.

    Where Spark goes on, any statement adds it, whatever it alters: Delta looks at all metadata then
    (``Protocol.upgradeProtocolFromMetadataForExistingTable``; measured on Delta 4.4.0).
    """
    if not any(is_refusal_of_table(one) and not one.existing for one in of_table):
        return frozenset()
    return protocol.needed(ctx.features, ctx.before.active_features) - ctx.features


def is_refusal_of_table(finding: Finding) -> bool:
    """Whether it is why Delta Spark does not read or write the table as it is."""
    return bool(finding.delta_error) and finding.severity >= Severity.ERROR and finding.against == LIVE


def _marked(found: Iterable[Finding], old_sins: Mapping[Hashable, Severity]) -> Iterator[Finding]:
    for one in found:
        old = old_sins.get(one.identity)
        yield replace(one, existing=old is not None and old >= one.severity)


def _of_changes(judge: Judge, ctx: RuleContext, comparison: LiveComparison) -> Iterator[Finding]:
    contract, base = comparison.contract, comparison.base
    pending = live_changes(ctx)
    if base is None:
        for one in pending:
            yield from _gap(judge, one, ctx, comparison)
        return
    of_git = {subject(one): one for one in diff(_asking(base.state), _asking(contract.state))}
    unlike_base = _unlike(base, ctx.before, comparison.renamed)
    for one in pending:
        if subject(one) in of_git and subject(one) not in unlike_base:
            yield from judge(one, ctx, GIT_AND_LIVE)
        else:
            yield from _apart(judge, one, of_git, ctx, comparison)
    yield from _done(judge, of_git, pending, ctx, git_context(base, contract))


def _apart(
    judge: Judge, one: Change, of_git: Mapping[Hashable, Change], ctx: RuleContext, comparison: LiveComparison
) -> Iterator[Finding]:
    """What git does not show, or shows with another beginning than the live table has."""
    if subject(one) in of_git or _inside_added(one, of_git):
        yield from _gap(judge, one, ctx, comparison)
    else:
        cause = next(_impossible(judge, one, ctx), None)
        yield from judge(Drift(one, _drift_kind(one, comparison), cause), ctx, LIVE)


def _gap(judge: Judge, one: Change, ctx: RuleContext, comparison: LiveComparison) -> Iterator[Finding]:
    """The rule's findings if the way from live to declared is barred, else that there is one to go."""
    impossible = tuple(_impossible(judge, one, ctx))
    yield from impossible or judge(Drift(one, _drift_kind(one, comparison)), ctx, LIVE)


def _impossible(judge: Judge, one: Change, ctx: RuleContext) -> Iterator[Finding]:
    return (found for found in judge(one, ctx, LIVE) if found.severity >= Severity.ERROR)


def _drift_kind(one: Change, comparison: LiveComparison) -> DriftKind:
    """Drifted, if it is known what was applied last, or what a column was called, and that is not live."""
    applied, renamed = comparison.applied, comparison.renamed
    if comparison.contract.managed_by != "schemalint":
        return DriftKind.DIFFERS
    if comparison.settled or (applied and subject(one) in _unlike(applied, comparison.live.state, renamed)):
        return DriftKind.DRIFTED
    if comparison.ahead:
        return DriftKind.AHEAD
    is_known = isinstance(one, change.FieldRenamed) and path_key(one.path) in renamed
    return DriftKind.DRIFTED if is_known else DriftKind.NOT_APPLIED


def _unlike(declared: Contract, live: TableState, renamed: Names) -> set[Hashable]:
    """What of a live table is not as a contract declares it."""
    return {subject(one) for one in diff(live, _over(declared, live, renamed))}


def _over(
    contract: Contract, live: TableState, renamed: Names, tracking: ColumnTracking | None = None
) -> TableState:
    declared = replace(contract.state, columns=with_names(contract.state.columns, renamed))
    return apply_declaration(declared, live, open_widening=contract.open.widening, tracking=tracking)


def _asking(state: TableState) -> TableState:
    """With the features that properties ask for among the features: they go into the protocol alone."""
    return replace(state, features=state.asked_features)


def _done(
    judge: Judge,
    of_git: Mapping[Hashable, Change],
    pending: Sequence[Change],
    live_ctx: RuleContext,
    git_ctx: RuleContext,
) -> Iterator[Finding]:
    """What git shows as changed and live needs no more; and what the contract owes itself."""
    listed = {path_key(entry.path) for entry in git_ctx.contract.state.dropped}
    applied = [one for one in of_git.values() if _is_applied(one, pending)]
    open_objects = {subject(one) for one in pending}
    waiting = [
        object_ in open_objects if _is_never_applied(one) else one not in applied
        for object_, one in of_git.items()
        if not isinstance(one, change.FieldMoved)
    ]
    kind = DriftKind.APPLIED_IN_PART if any(waiting) else DriftKind.APPLIED
    for one in of_git.values():
        yield from judge.record(one, git_ctx)
        if isinstance(one, change.FieldRemoved) and path_key(one.path) not in listed:
            if field_at(live_ctx.before.columns, one.path):
                yield from judge(one, live_ctx, GIT_AND_LIVE)
        elif one in applied:
            yield from judge(Drift(one, kind), live_ctx, LIVE)


def _is_applied(one: Change, pending: Sequence[Change]) -> bool:
    """Whether nothing is left to be done of what git shows, neither to the object nor to one around it."""
    if _is_never_applied(one) or subject(one) in {subject(other) for other in pending}:
        return False
    path = change_path(one)
    missing = [lowercased(other.path) for other in pending if isinstance(other, change.FieldAdded)]
    open_paths = [other for open_ in pending if (other := change_path(open_))]
    return not path or not (_any_within(open_paths, path) or _any_above(missing, path))


def _is_never_applied(one: Change) -> bool:
    """Whether no table is altered for it: a line that is taken away manages less, and removes nothing.

    For a property that goes into the protocol the feature is altered that it asks for.
    """
    taken_away = isinstance(getattr(one, "new", None), Unmanaged)
    return (
        taken_away
        or one == change.FeatureChanged(subject_name(one), new=False)
        or isinstance(one, _NEVER_APPLIED)
        or (isinstance(one, change.PropertyChanged) and is_protocol_key(one.key))
    )


def _undeclared(judge: Judge, ctx: RuleContext, comparison: LiveComparison) -> Iterator[Finding]:
    """Live fields that nobody declares, neither now nor at the base, if the table is not open for such."""
    if ctx.contract.open.columns:
        return
    declared = with_names(ctx.contract.state.columns, comparison.renamed)
    listed = {path_key(entry.path) for entry in ctx.contract.state.dropped}
    for path, live in walk_fields(ctx.before.columns):
        parent = type_at(declared, path[:-1])
        if not isinstance(parent, Struct) or path_key(path) in listed or _declared(parent, live.name):
            continue
        if ctx.base is None or field_at(created_state(ctx.base.state).columns, path) is None:
            kind = DriftKind.AHEAD if _is_of_later(path, comparison) else DriftKind.UNDECLARED
            yield from judge(Drift(change.FieldRemoved(path, live), kind), ctx, LIVE)


def _is_of_later(path: Path, comparison: LiveComparison) -> bool:
    """Whether a live column that is not declared is one of the later revision that was applied."""
    applied = comparison.applied
    if comparison.settled or not comparison.ahead:
        return False
    return applied is None or field_at(applied.state.columns, path) is not None


def _declared(parent: Struct, name: str) -> bool:
    renamed = {one.renamed_from.lower() for one in parent.fields if one.renamed_from}
    return parent.get(name) is not None or name.lower() in renamed


def _inside_added(one: Change, of_git: Mapping[Hashable, Change]) -> bool:
    path = change_path(one)
    added = [lowercased(other.path) for other in of_git.values() if isinstance(other, change.FieldAdded)]
    return path is not None and _any_above(added, path)


def _any_within(paths: Iterable[Path], path: Path) -> bool:
    return any(other[: len(path)] == path for other in paths)


def _any_above(paths: Iterable[Path], path: Path) -> bool:
    return any(path[: len(other)] == other for other in paths)
