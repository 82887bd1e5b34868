"""A pair of contracts -> facts -> findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemalint import contract as contracts
from schemalint.delta import feature, protocol
from schemalint.delta.change import TableAdded
from schemalint.delta.diff import diff
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.requests import granted_features
from schemalint.delta.table import TableState
from schemalint.errors import InternalError, Location, PluginError, SchemalintError
from schemalint.lint.finding_location import locate_finding, object_of, values_of
from schemalint.lint.rulebook import BUILT_IN
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration, created_state
from schemalint.model.fact import Fact, ProtocolUpgrade, TableRetired
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Problem, Rule, RuleContext
from schemalint.values import frozen, replace

MOST_PROBLEMS = 1_000
"""Of one rule for one fact: a rule that never ends is stopped there."""


@frozen
class Judge:
    """The selected rules, ready to be asked."""

    rules: tuple[Rule, ...]

    def __call__(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """The findings of every rule that is about such a fact.

        What is barred has no record to be kept of: then the rules about that are silent.
        """
        found = tuple(self._asked(fact, ctx, against))
        barred = any(rule.scope == "table" and one.severity >= Severity.ERROR for rule, one in found)
        yield from (one for rule, one in found if not (barred and rule.scope == "contract"))

    def _asked(
        self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]
    ) -> Iterator[tuple[Rule, Finding]]:
        for rule in self.rules:
            if isinstance(fact, rule.subjects):
                own = replace(ctx, options=rule.options) if rule.options else ctx
                for problem in _problems(rule, fact, own):
                    yield rule, _finding(rule, problem, fact, ctx, against)

    def record(self, fact: Fact, ctx: RuleContext) -> Iterator[Finding]:
        """The findings of the rules about how the contract keeps its own records."""
        own = Judge(tuple(rule for rule in self.rules if rule.scope == "contract"))
        return own(fact, ctx, ("git",))


def judge_pair(before: Contract | None, after: Contract | None, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """What the rules say of a contract compared with its base, without any live table.

    Every target's effective contract is judged; what they have in common is said once. A finding that the
    base contract alone gives too is marked as existing.
    """
    judge = Judge(tuple(rules))
    targets: list[str | None] = [None]
    for one in (before, after):
        targets += [name for name in (one.targets if one else ()) if name not in targets]
    merged: dict[object, Finding] = {}
    for target in targets:
        old = present(before, target)
        new = contracts.effective(after, target) if after else None
        if new is not None and new.absent:
            continue
        for finding in _judge_effective(judge, old, new):
            merged.setdefault(finding.identity, replace(finding, target=target))
    return tuple(merged.values())


def present(base: Contract | None, target: str | None) -> Contract | None:
    """The base contract in a target; None if the table is new there, since it was absent from the target."""
    old = contracts.effective(base, target) if base else None
    return None if old is None or old.absent else old


def git_context(before: Contract | None, after: Contract) -> RuleContext:
    """The base contract stands for the table: it is what Delta makes of it."""
    old = created_state(before.state) if before else TableState()
    return RuleContext(
        contract=after,
        before=old,
        after=apply_declaration(after.state, old),
        features=before.created_features if before else frozenset(),
        base=before,
    )


def git_facts(before: Contract | None, after: Contract, ctx: RuleContext) -> tuple[Fact, ...]:
    """What differs between a contract and its base, and what follows from it."""
    if before is None:
        return (TableAdded(after.state), after)
    return (*diff(before.state, after.state), *protocol_upgrades(ctx), after)


def protocol_upgrades(ctx: RuleContext, without: frozenset[str] = frozenset()) -> tuple[ProtocolUpgrade, ...]:
    """The upgrade that the declared state asks of the table, if it does.

    Args:
        ctx: What is declared, and the table.
        without: Features that are no part of it.
    """
    declared = ctx.contract.state.set_properties
    asked = granted_features(ctx.contract.state, ctx.live, new_table=ctx.is_new_table)
    by_version = protocol.features_of_versions(declared, ctx.features)
    wanted = protocol.needed_to_alter(ctx.features | by_version, ctx.after.active_features, asked)
    added = wanted - ctx.features - without
    if not added:
        return ()
    because = (
        *[("property", key, by_version) for key in protocol.VERSION_KEYS if key in declared][-1:],
        *protocol.causes(
            ctx.after.columns, ctx.after.properties, sorted(asked), sorted(ctx.after.constraints)
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


def is_superseded(upgrade: ProtocolUpgrade, said: Iterable[Finding]) -> bool:
    """Whether what asks for an upgrade is refused by itself.

    Properties and features are asked for in one statement, `SET TBLPROPERTIES`, which Delta carries out or
    refuses as a whole: where one of those that ask is refused, the others upgrade nothing.
    """
    refused = {_subject(one) for one in said if one.severity >= Severity.ERROR and not one.existing}
    causes = {_asked(kind, name) for kind, name, _ in upgrade.because}
    together = {cause for cause in causes if cause[0] in _TABLE_PROPERTIES}
    if not together.isdisjoint(refused):
        refused |= together
    return bool(causes) and causes <= refused


def beside_upgrade(
    said: Sequence[Finding], upgrade: ProtocolUpgrade, found: Sequence[Finding]
) -> tuple[Finding, ...]:
    """What is said of a table and of its upgrade, once of each line.

    As long as the upgrade is not allowed, nothing lesser is said of the properties, features and constraints
    that ask for it, nor of the features that it adds: what is to be known of a preview can wait until its
    clients are. A column has more lines than the one that asks.

    Args:
        said: The findings so far.
        upgrade: One that is not moot.
        found: The findings about it.
    """
    if not any(one.severity >= Severity.ERROR for one in found):
        return (*said, *found)
    asking = {_asked(kind, name) for kind, name, _ in upgrade.because if kind != "column"}
    asking |= {("feature", name) for name in upgrade.added}
    kept = (one for one in said if one.severity >= Severity.ERROR or _subject(one) not in asking)
    return (*kept, *found)


_TABLE_PROPERTIES = ("property", "feature")


def _subject(finding: Finding) -> tuple[str, str]:
    """What a finding is about as an upgrade names it: whole columns, not what is inside of them."""
    if finding.object.kind == "column" and finding.path:
        return "column", str(finding.path[0])
    return _asked(finding.object.kind, finding.object.name)


def _asked(kind: str, name: str) -> tuple[str, str]:
    """One name per request: ``delta.feature.<name>`` is the feature, and two keys ask for one version."""
    if kind == "property" and name.lower().startswith(FEATURE_PREFIX):
        return "feature", protocol.canonical(name[len(FEATURE_PREFIX) :])
    return kind, protocol.VERSION_KEYS[0] if name in protocol.VERSION_KEYS else name


def _judge_effective(judge: Judge, before: Contract | None, after: Contract | None) -> tuple[Finding, ...]:
    if after is None:
        return tuple(judge(TableRetired(before), git_context(before, before), ("git",))) if before else ()
    ctx = git_context(before, after)
    facts = git_facts(before, after, ctx)
    changes = (fact for fact in facts if not isinstance(fact, ProtocolUpgrade | Contract))
    # What is said of a change is never an old sin, only what is said of the contract as it stands.
    said = (
        *(finding for fact in changes for finding in judge(fact, ctx, ("git",))),
        *_as_it_stands(judge, before, ctx),
    )
    # Upgrades come last: nobody needs to allow one that is asked for by what is refused.
    for upgrade in facts:
        if isinstance(upgrade, ProtocolUpgrade) and not is_superseded(upgrade, said):
            said = beside_upgrade(said, upgrade, tuple(judge(upgrade, ctx, ("git",))))
    return said


def _as_it_stands(judge: Judge, before: Contract | None, ctx: RuleContext) -> Iterator[Finding]:
    """What is said of a contract apart from its changes; what its base gives too, as gravely, is existing."""
    found = tuple(judge(ctx.contract, ctx, ("git",)))
    old_sins = _unchanged(judge, before) if found and before else {}
    for finding in found:
        old = old_sins.get(finding.identity)
        yield replace(finding, existing=old is not None and old >= finding.severity)


def _unchanged(judge: Judge, contract: Contract) -> Mapping[object, Severity]:
    """The findings that a contract gives for the table that it made, and how bad each is at worst."""
    found = judge(contract, git_context(contract, contract), ("git",))
    return {one.identity: one.severity for one in sorted(found, key=lambda one: one.severity)}


def _problems(rule: Rule, fact: Fact, ctx: RuleContext) -> Iterator[Problem]:
    table = ctx.contract.table
    try:
        for count, problem in enumerate(rule.check(fact, ctx), 1):
            _require_sound(rule, problem, count, table)
            yield problem
    except SchemalintError:
        raise
    # A rule is anybody's code: whatever it raises, or an exit, ends the run by its name.
    except (Exception, SystemExit) as error:
        raise _blamed(rule, f"failed on {table}: {type(error).__name__}: {error}") from error


def _require_sound(rule: Rule, problem: object, count: int, table: str) -> None:
    if not isinstance(problem, Problem):
        raise _blamed(rule, f"gave {problem!r} on {table}, which is no Problem")
    if count > MOST_PROBLEMS:
        raise _blamed(rule, f"found more than {MOST_PROBLEMS} problems in one place of {table}")


def _blamed(rule: Rule, what: str) -> SchemalintError:
    message = f"rule {rule.code} ({rule.module}, of {rule.distribution or 'an unknown package'}) {what}"
    if rule.distribution == BUILT_IN:
        return InternalError(message)
    return PluginError(message, help=f"run without it: --ignore {rule.code}")


def _finding(rule: Rule, problem: Problem, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Finding:
    object_ = problem.object or object_of(fact, problem.path)
    old, new = values_of(fact)
    return Finding(
        code=rule.code,
        rule=rule.name,
        severity=_severity(rule, problem),
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
    )


def _severity(rule: Rule, problem: Problem) -> Severity:
    return rule.severity if rule.severity_is_set else problem.severity or rule.severity


def _previous(fact: Fact, problem: Problem, base: Contract | None) -> Location | None:
    return locate_finding(fact, problem, base) if base else None


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By place, then worst first."""
    return tuple(sorted(findings, key=lambda one: (one.location, -one.severity, one.code, one.message)))
