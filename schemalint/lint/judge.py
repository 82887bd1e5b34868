"""Judge a pair of contracts: find the facts, ask the rules, return findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint import limits
from schemalint.delta import feature, protocol
from schemalint.delta.change import TableAdded
from schemalint.delta.diff import diff
from schemalint.delta.engine import Engine
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import lowercased, prefixes
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.requests import granted_features
from schemalint.delta.table import TableState
from schemalint.errors import InternalError, Location, PluginError, SchemalintError
from schemalint.lint.consumers import for_engine
from schemalint.lint.finding_location import locate_finding, object_of, values_of
from schemalint.lint.follow_ups import with_follow_ups
from schemalint.lint.rulebook import BUILT_IN
from schemalint.model.client import ClientSupport
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration, created_state
from schemalint.model.fact import Fact, ProtocolUpgrade, TableRetired
from schemalint.model.finding import Finding, Severity
from schemalint.model.rule_codes import CASE_COLLISION
from schemalint.plugin import Problem, Rule, RuleContext
from schemalint.values import frozen, replace

if TYPE_CHECKING:
    from schemalint.model.stream_report import StreamReport


@frozen
class Judge:
    """The selected rules, as a function of facts."""

    rules: tuple[Rule, ...]

    def __call__(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """Yield the findings of every rule for such a fact.

        Refused changes need no type_changes entry and have no effect, so only table-scoped rules judge them.
        """
        found = tuple(self._by_rule(fact, ctx, against))
        refused = any(rule.scope == "table" and finding.severity >= Severity.ERROR for rule, finding in found)
        yield from (finding for rule, finding in found if rule.scope == "table" or not refused)

    def _by_rule(
        self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]
    ) -> Iterator[tuple[Rule, Finding]]:
        for rule in self.rules:
            if isinstance(fact, rule.subjects):
                own = replace(ctx, options=rule.options) if rule.options else ctx
                for problem in _problems(rule, fact, own):
                    yield rule, _finding(rule, problem, fact, ctx, against)

    def refuses(self, findings: Iterable[Finding]) -> bool:
        """Whether a new finding says that the table cannot be as declared."""
        return any(not finding.existing for finding in self.refusals(findings))

    def refusals(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings that say so; those about readers do not."""
        others = {rule.code for rule in self.rules if rule.scope != "table"}
        for finding in findings:
            if finding.severity >= Severity.ERROR and finding.code not in others:
                yield finding

    def record(self, fact: Fact, ctx: RuleContext) -> Iterator[Finding]:
        """Return the findings of the contract-scoped rules: those about the contract's own records."""
        return Judge(tuple(rule for rule in self.rules if rule.scope == "contract"))(fact, ctx, ("git",))

    def without_records(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """Return the findings of all other rules: a live table has none of the contract's own records."""
        return Judge(tuple(rule for rule in self.rules if rule.scope != "contract"))(fact, ctx, against)


@contextmanager
def collecting(errors: list[SchemalintError], table: str) -> Iterator[None]:
    """Add the error that a table ends with to the errors of the run: it must not hide the other tables.

    An exception that is no error of schemalint is a bug; its traceback goes into a bug report.
    """
    try:
        yield
    except SchemalintError as error:
        errors.append(error)
    except Exception as error:  # noqa: BLE001 (no rule and no table may end the run)
        bug = InternalError(f"a bug in schemalint: {table} fails with {type(error).__name__}")
        bug.__cause__ = error
        errors.append(bug)


def judge_pair(
    before: Contract | None,
    after: Contract | None,
    rules: Sequence[Rule],
    engines: Mapping[str, Engine | None] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """Return the findings of a contract compared with its base, without a live table.

    The contract is judged for every target; a finding of several targets is returned once, with its highest
    severity. A finding that the base contract alone gives too is marked as existing.

    Args:
        before: The base contract; None for a new one.
        after: The contract; None for a removed one.
        rules: The rules.
        engines: The engine of each configured target, None if the configuration does not name it.
    """
    judge = Judge(tuple(rules))
    merged: list[Finding] = []
    for target, old, new in _effective_pairs(before, after, engines):
        found = _judge_effective(judge, old, new)
        if new is not None:
            found = with_follow_ups(found, new, partial(_judge_effective, judge, old), rules)
        merged += (replace(finding, target=target) for finding in found)
    return worst_of_each(merged)


def clients_offline(
    before: Contract | None, after: Contract, engines: Mapping[str, Engine | None] = MappingProxyType({})
) -> Iterator[ClientSupport]:
    """Yield what the declared clients do with a table before and after, for each target; as `judge_pair`."""
    for _target, old, new in _effective_pairs(before, after, engines):
        if new is not None:
            ctx = git_context(old, new)
            yield from clients_of(ctx)


def streams_offline(
    before: Contract | None, after: Contract, engines: Mapping[str, Engine | None] = MappingProxyType({})
) -> Iterator[StreamReport]:
    """Yield what a change does to the declared streams of a table, for each target; as `judge_pair`."""
    for _target, old, new in _effective_pairs(before, after, engines):
        if new is not None:
            yield from streams_of(git_context(old, new))


def streams_of(ctx: RuleContext, tracking: ColumnTracking | None = None) -> tuple[StreamReport, ...]:
    """Return what a change does to the declared streams of a table; none if it has no statement."""
    if ctx.is_new_table or not any(consumer.stream for consumer in ctx.consumers):
        return ()
    from schemalint.lint.stream_effects import affected_streams  # noqa: PLC0415 (only with streams)

    affected = affected_streams(ctx, tracking)
    return affected.streams if affected is not None else ()


def each_stream_once(streams: Iterable[StreamReport]) -> tuple[StreamReport, ...]:
    """Return what happens to each declared stream, of several targets the most harmful answer."""
    found: dict[object, StreamReport] = {}
    for report in streams:
        stream = report.consumer.stream
        key = (report.table, report.consumer.name, report.is_tracked, stream and stream.checkpoint)
        if key not in found or found[key].harm < report.harm:
            found[key] = report
    return tuple(found.values())


def clients_of(ctx: RuleContext) -> tuple[ClientSupport, ...]:
    """Return what the declared clients do with a table before and after the change."""
    if not _has_clients(ctx):
        return ()
    from schemalint.lint.client_support import client_support  # noqa: PLC0415 (only with clients)

    return client_support(ctx, () if ctx.is_new_table else protocol_upgrades(ctx))


def each_client_once(clients: Iterable[ClientSupport]) -> tuple[ClientSupport, ...]:
    """Return what each consumer's client does with each table, of several targets the most harmful answer."""
    found: dict[object, ClientSupport] = {}
    for client in clients:
        consumer = client.consumer
        key = (
            client.table,
            consumer.name,
            consumer.client,
            consumer.version,
            consumer.read_path,
            consumer.access,
        )
        if key not in found or found[key].after.verdict.harm < client.after.verdict.harm:
            found[key] = client
    return tuple(found.values())


def client_findings(
    judge: Judge,
    ctx: RuleContext,
    upgrades: tuple[ProtocolUpgrade, ...],
    findings: Iterable[Finding],
    against: tuple[str, ...],
) -> Iterator[Finding]:
    """Yield the findings about declared clients that lose the table.

    Args:
        judge: The rules.
        ctx: The table and its declaration.
        upgrades: The upgrades that are not superseded.
        findings: The findings about the change itself: what they refuse does not happen.
        against: The sides of the comparison.
    """
    if not _has_clients(ctx):
        return
    from schemalint.lint.client_support import losses_of  # noqa: PLC0415 (only with clients)

    errors = tuple(judge.refusals(findings))
    refused = {_subject(finding) for finding in errors}
    without = {finding.path for finding in errors}
    for loss in losses_of(ctx, upgrades, refused=refused, without=without):
        yield from judge(loss, ctx, against)


def _has_clients(ctx: RuleContext) -> bool:
    return any(consumer.client is not None for consumer in ctx.consumers)


def worst_of_each(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings of several targets once: with the first target, and the highest severity."""
    merged: dict[object, Finding] = {}
    for finding in findings:
        identity = replace(finding, target=None).identity
        known = merged.get(identity)
        if known is None or known.severity < finding.severity:
            merged[identity] = replace(finding, target=known.target if known else finding.target)
    return tuple(merged.values())


def _effective_pairs(
    before: Contract | None, after: Contract | None, engines: Mapping[str, Engine | None]
) -> Iterator[tuple[str | None, Contract | None, Contract | None]]:
    """Yield each target with the contracts that count for it, unless the table is absent from it."""
    named = [name for contract in (before, after) if contract for name in contract.targets]
    for target, engine in _variants(tuple(dict.fromkeys(named)), engines):
        new = _for_engine(_declared_for(target, before, after) if after else None, engine)
        if new is None or not new.absent:
            yield target, _for_engine(present(before, target), engine), new


def _variants(
    named: Sequence[str], engines: Mapping[str, Engine | None]
) -> Iterator[tuple[str | None, Engine | None]]:
    """Yield the targets that the contract names, after one without a name for each engine of the others."""
    others = dict.fromkeys(engine for target, engine in engines.items() if target not in named)
    yield from ((None, engine) for engine in others or dict.fromkeys(engines.values()) or (None,))
    yield from ((target, engines.get(target)) for target in named)


def _declared_for(target: str | None, before: Contract | None, after: Contract) -> Contract:
    """Return the contract for a target; an overlay that newly says ``absent`` gives way to that of the base.

    A change must not take its table out of the comparison.
    """
    new = contracts.effective(after, target)
    if target is None or before is None or not new.absent or present(before, target) is None:
        return new
    overlays = {name: overlay for name, overlay in after.targets.items() if name != target}
    if target in before.targets:
        overlays[target] = before.targets[target]
    return contracts.effective(replace(after, targets=overlays), target)


def _for_engine(contract: Contract | None, engine: Engine | None) -> Contract | None:
    return for_engine(contract, engine) if contract else None


def present(base: Contract | None, target: str | None) -> Contract | None:
    """Return the base contract for a target; None if the target did not have the table."""
    old = contracts.effective(base, target) if base else None
    return None if old is None or old.absent else old


def git_context(before: Contract | None, after: Contract) -> RuleContext:
    """Return the context without a live table: the table that Delta creates from the base replaces it."""
    old = created_state(before.state) if before else TableState()
    return RuleContext(
        contract=after,
        before=old,
        after=apply_declaration(after.state, old),
        features=before.created_features if before else frozenset(),
        base=before,
    )


def git_facts(before: Contract | None, after: Contract, ctx: RuleContext) -> tuple[Fact, ...]:
    """Return the changes between a contract and its base, and the protocol upgrades that follow."""
    if before is None:
        return (TableAdded(after.state), after)
    return (*diff(before.state, after.state), *protocol_upgrades(ctx), after)


def protocol_upgrades(ctx: RuleContext, without: frozenset[str] = frozenset()) -> tuple[ProtocolUpgrade, ...]:
    """Return the protocol upgrade that the declared state requires, if any.

    Args:
        ctx: The declaration and the table.
        without: Features that the upgrade does not include.
    """
    declared = ctx.contract.state.set_properties
    granted = granted_features(ctx.contract.state, ctx.live, new_table=ctx.is_new_table)
    by_version = protocol.features_of_versions(declared, ctx.features)
    needed = protocol.needed_to_alter(ctx.features | by_version, ctx.after.active_features, granted)
    added = needed - ctx.features - without
    if not added:
        return ()
    because = (
        *[("property", key, by_version) for key in protocol.VERSION_KEYS if key in declared][-1:],
        *protocol.feature_causes(
            ctx.after.columns, ctx.after.properties, sorted(granted), sorted(ctx.after.constraints)
        ),
        *(
            [("clustering", "clustered_by", feature.closure(protocol.CLUSTERING))]
            if ctx.after.clustered_by
            else []
        ),
    )
    return (
        ProtocolUpgrade(
            ctx.features,
            ctx.features | added,
            tuple((kind, name, names & added) for kind, name, names in because if names & added),
        ),
    )


def without_ambiguous_columns(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Keep only the finding about the name of columns that share one, ignoring case.

    Which of them the table has is unknown, and so is what else changes.
    """
    shared = {
        lowercased(finding.path)
        for finding in findings
        if finding.code == CASE_COLLISION and not finding.existing
    }
    return [
        finding
        for finding in findings
        if finding.code == CASE_COLLISION or shared.isdisjoint(prefixes(lowercased(finding.path)))
    ]


def is_superseded(upgrade: ProtocolUpgrade, findings: Iterable[Finding]) -> bool:
    """Return whether the causes of an upgrade are refused themselves.

    One statement, `SET TBLPROPERTIES`, sets all properties and features, and Delta executes or refuses it as
    a whole: if it refuses one cause, the others upgrade nothing.
    """
    refused = {
        _subject(finding)
        for finding in findings
        if finding.severity >= Severity.ERROR and not finding.existing
    }
    causes = {_cause(kind, name) for kind, name, _ in upgrade.because}
    set_together = {cause for cause in causes if cause[0] in _TABLE_PROPERTIES}
    if not set_together.isdisjoint(refused):
        refused |= set_together
    return bool(causes) and causes <= refused


def with_upgrade_findings(
    findings: Sequence[Finding], upgrade: ProtocolUpgrade, of_upgrade: Sequence[Finding]
) -> tuple[Finding, ...]:
    """Add the findings of a table's upgrade, with one finding for each line of the contract.

    An upgrade with an error hides the lesser findings of the properties, features and constraints that cause
    it, and of the features that it adds: they can wait until the upgrade is allowed. Columns keep their
    findings, because a column has other lines than the one that causes the upgrade.

    Args:
        findings: The findings so far.
        upgrade: An upgrade that is not superseded.
        of_upgrade: The findings of the upgrade.
    """
    if not any(finding.severity >= Severity.ERROR for finding in of_upgrade):
        return (*findings, *of_upgrade)
    hidden = {_cause(kind, name) for kind, name, _ in upgrade.because if kind != "column"}
    hidden |= {("feature", name) for name in upgrade.added}
    kept = (
        finding
        for finding in findings
        if finding.severity >= Severity.ERROR or _subject(finding) not in hidden
    )
    return (*kept, *of_upgrade)


_TABLE_PROPERTIES = ("property", "feature")


def _subject(finding: Finding) -> tuple[str, str]:
    """Return a finding's object as upgrades name it: a nested field counts as its column."""
    if finding.object.kind == "column" and finding.path:
        return _cause("column", str(finding.path[0]))
    return _cause(finding.object.kind, finding.object.name)


def _cause(kind: str, name: str) -> tuple[str, str]:
    """Normalize a cause: ``delta.feature.<name>`` is the feature, and both version keys are one cause."""
    if kind == "column":
        return kind, name.lower()
    if kind == "property" and name.lower().startswith(FEATURE_PREFIX):
        return "feature", protocol.canonical(name[len(FEATURE_PREFIX) :])
    return kind, protocol.VERSION_KEYS[0] if name in protocol.VERSION_KEYS else name


def _judge_effective(judge: Judge, before: Contract | None, after: Contract | None) -> tuple[Finding, ...]:
    if after is None:
        return tuple(judge(TableRetired(before), git_context(before, before), ("git",))) if before else ()
    ctx = git_context(before, after)
    facts = git_facts(before, after, ctx)
    changes = (fact for fact in facts if not isinstance(fact, ProtocolUpgrade | Contract))
    # Only findings of the contract itself can be existing ones; findings of changes never are.
    of_changes = (finding for fact in changes for finding in judge(fact, ctx, ("git",)))
    findings: Sequence[Finding] = (*of_changes, *_of_contract(judge, before, ctx))
    findings = without_ambiguous_columns(findings)
    # Upgrades come last: an upgrade with a refused cause needs no approval.
    upgrades = tuple(
        fact for fact in facts if isinstance(fact, ProtocolUpgrade) and not is_superseded(fact, findings)
    )
    of_clients = tuple(client_findings(judge, ctx, upgrades, findings, ("git",)))
    of_streams = tuple(stream_findings(judge, ctx, findings, ("git",)))
    for upgrade in upgrades:
        of_upgrade = tuple(judge(upgrade, ctx, ("git",)))
        findings = with_upgrade_findings(findings, upgrade, of_upgrade)
    return (*findings, *of_clients, *of_streams)


def stream_findings(
    judge: Judge,
    ctx: RuleContext,
    findings: Iterable[Finding],
    against: tuple[str, ...],
    tracking: ColumnTracking | None = None,
) -> Iterator[Finding]:
    """Yield the findings about the declared streams of a table; none if the change is refused.

    Args:
        judge: The rules.
        ctx: The table and its declaration.
        findings: The findings about the change itself.
        against: The sides of the comparison.
        tracking: Which live column is which; None to track them from the base.
    """
    if ctx.is_new_table or not any(consumer.stream for consumer in ctx.consumers):
        return
    if judge.refuses(findings):
        return
    from schemalint.lint.stream_effects import affected_streams  # noqa: PLC0415 (only with streams)

    affected = affected_streams(ctx, tracking)
    if affected is not None:
        yield from judge(affected, ctx, against)


def _of_contract(judge: Judge, before: Contract | None, ctx: RuleContext) -> Iterator[Finding]:
    """Yield a contract's own findings; they are existing if the base has them, at least as severe."""
    found = tuple(judge(ctx.contract, ctx, ("git",)))
    at_base = _base_severities(judge, before) if found and before else {}
    for finding in found:
        old = at_base.get(finding.identity)
        yield replace(finding, existing=old is not None and old >= finding.severity)


def _base_severities(judge: Judge, contract: Contract) -> Mapping[object, Severity]:
    """Return the highest severity of each finding that a contract gives for its own table."""
    found = judge(contract, git_context(contract, contract), ("git",))
    return {
        finding.identity: finding.severity for finding in sorted(found, key=lambda finding: finding.severity)
    }


def _problems(rule: Rule, fact: Fact, ctx: RuleContext) -> Iterator[Problem]:
    table = ctx.contract.table
    try:
        for count, problem in enumerate(rule.check(fact, ctx), 1):
            _require_sound(rule, problem, count, table)
            yield problem
    except SchemalintError:
        raise
    # A rule is foreign code: any exception or exit ends the run with an error that names the rule.
    except (Exception, SystemExit) as error:
        raise _rule_error(rule, f"failed on {table}: {type(error).__name__}: {error}") from error


def _require_sound(rule: Rule, problem: object, count: int, table: str) -> None:
    if not isinstance(problem, Problem):
        raise _rule_error(rule, f"returned {problem!r} for {table}, which is not a Problem")
    if count > limits.MAX_PROBLEMS:
        what = f"found more than {limits.MAX_PROBLEMS:,} problems for one fact of {table}"
        # The input can have that many, so this is no bug of a built-in rule.
        raise _plugin_error(rule, f"{what}, a limit of schemalint")


def _rule_error(rule: Rule, what: str) -> SchemalintError:
    error = _plugin_error(rule, what)
    return InternalError(error.message) if rule.distribution == BUILT_IN else error


def _plugin_error(rule: Rule, what: str) -> PluginError:
    message = f"rule {rule.code} ({rule.module}, of {rule.distribution or 'an unknown package'}) {what}"
    return PluginError(message, help=f"run without it: --ignore {rule.code}")


def _finding(rule: Rule, problem: Problem, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Finding:
    object_ = problem.object or object_of(fact, problem.path)
    old, new = values_of(fact)
    return Finding(
        code=rule.code,
        rule=rule.name,
        severity=severity_of(rule, problem),
        message=problem.message,
        help=problem.help,
        table=ctx.contract.table,
        object=object_,
        path=problem.path if problem.path is not None else getattr(fact, "path", ()),
        against=against,
        old=problem.old if problem.old is not None else old,
        new=problem.new if problem.new is not None else new,
        location=locate_finding(fact, problem, ctx.contract),
        previous_location=_previous(fact, problem, ctx.base),
        delta_error=problem.delta_error,
        fix=problem.fix,
        remedy=problem.remedy,
        commit=fact.entry if isinstance(fact, HistoryStep) else None,
    )


def severity_of(rule: Rule, problem: Problem) -> Severity:
    """Return the severity of a problem: the user's, else the problem's own, else the rule's."""
    return rule.severity if rule.severity_is_set else problem.severity or rule.severity


def _previous(fact: Fact, problem: Problem, base: Contract | None) -> Location | None:
    return locate_finding(fact, problem, base) if base else None


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by location, then by severity, the highest first."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (finding.location, -finding.severity, finding.code, finding.message),
        )
    )
