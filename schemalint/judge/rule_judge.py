"""The rules as a function of facts: what each rule says of a fact, as findings with the ways out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache

from schemalint.base import limits
from schemalint.base.errors import InternalError, PluginError, SchemalintError
from schemalint.base.phrases import affixed
from schemalint.base.values import Itself, frozen, replace
from schemalint.delta.change import (
    ClusteringChanged,
    FieldAdded,
    FieldRemoved,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    TypeChanged,
)
from schemalint.delta.datatype import field_at
from schemalint.delta.engine_answers import error_of
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import Path, lowercased, prefixes
from schemalint.delta.way_out import WayWords
from schemalint.delta.ways import is_readable, last_day_of_restore, ways_out
from schemalint.judge.built_in_rules import BUILT_IN, with_built_in
from schemalint.judge.finding_location import locate_finding, object_of, values_of
from schemalint.model.contract import Contract
from schemalint.model.fact import ExpressionRefused, Fact
from schemalint.model.finding import Finding, ObjectRef, Severity
from schemalint.model.rule_codes import CASE_COLLISION, UNDECLARED_DROP
from schemalint.plugin import Problem, Rule, RuleContext

_WITH_WAYS = (
    ClusteringChanged,
    FieldAdded,
    FieldRemoved,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    TypeChanged,
)


@frozen
class AskedRules:
    """The selected rules, as a function of facts."""

    rules: tuple[Rule, ...]

    def __call__(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """Yield the findings of every rule about a fact.

        Refused changes need no type_changes entry and have no effect, so only table-scoped rules judge them.
        """
        findings = _without_what_the_engine_refuses(_each_once(self._by_rule(fact, ctx, against)))
        refused = not isinstance(fact, Contract) and any(
            rule.scope == "table" and finding.severity >= Severity.ERROR for rule, finding in findings
        )
        yield from (finding for rule, finding in findings if rule.scope == "table" or not refused)

    @cached_property
    def of_delta(self) -> AskedRules:
        """These rules and all built-in ones: Delta refuses a change whatever is selected."""
        return AskedRules(with_built_in(self.rules))

    def errors(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """Yield the findings that are errors."""
        return (finding for finding in self(fact, ctx, against) if finding.severity >= Severity.ERROR)

    def _by_rule(
        self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]
    ) -> Iterator[tuple[Rule, Finding]]:
        if isinstance(fact, ExpressionRefused):
            yield from self._by_spark(fact, ctx, against)
            return
        kind: type = type(fact)
        for rule in _rules_about(kind, Itself(self.rules)):
            if rule.engine and not ctx.contract.engines.all:
                continue
            if not rule.judges(fact, ctx.contract):
                continue
            own = replace(ctx, options=rule.options) if rule.options else ctx
            for problem in _problems(rule, fact, own):
                yield rule, with_ways(_finding(rule, problem, fact, ctx, against), fact, ctx)

    def _by_spark(
        self, fact: ExpressionRefused, ctx: RuleContext, against: tuple[str, ...]
    ) -> Iterator[tuple[Rule, Finding]]:
        """Yield what Spark says as a finding of the rule about such a fault."""
        problem = Problem(
            f"Spark refuses {fact.subject}{affixed(' (', fact.error, ')')}: {fact.what}",
            help="correct the expression: a session of Spark read it (`--parse-with spark`)",
            path=fact.path,
            object=None if fact.constraint is None else ObjectRef("constraint", fact.constraint),
            part=fact.part,
            new=fact.text,
        )
        for rule in self.rules:
            if rule.code == fact.rule:
                yield rule, _finding(rule, problem, fact, ctx, against)

    def refuses(self, findings: Iterable[Finding]) -> bool:
        """Whether a new finding says that the table cannot be as declared."""
        return any(not finding.existing for finding in self.refusals(findings))

    def refusals(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the errors which say that the table cannot be as declared; errors about readers do not."""
        others = {rule.code for rule in self.rules if rule.scope != "table"}
        for finding in findings:
            if finding.severity >= Severity.ERROR and finding.code not in others:
                yield finding

    def record(self, fact: Fact, ctx: RuleContext) -> Iterator[Finding]:
        """Return the findings of the contract-scoped rules: those about the contract's own records."""
        return self._only(lambda rule: rule.scope == "contract")(fact, ctx, ("git",))

    def without_records(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """Return the findings of all other rules: a live table has none of the contract's own records."""
        return self._only(lambda rule: rule.scope != "contract")(fact, ctx, against)

    def live(self, fact: Fact, ctx: RuleContext, against: tuple[str, ...]) -> Iterator[Finding]:
        """Return the findings of the rules about declared states that judge live tables too."""
        return self._only(lambda rule: rule.live)(fact, ctx, against)

    def _only(self, is_wanted: Callable[[Rule], bool]) -> AskedRules:
        return AskedRules(tuple(filter(is_wanted, self.rules)))


def _each_once(findings: Iterable[tuple[Rule, Finding]]) -> Iterable[tuple[Rule, Finding]]:
    """Return what the variants of a rule find once, with the highest severity."""
    worst: dict[object, tuple[Rule, Finding]] = {}
    for rule, finding in findings:
        place = (finding.code, finding.object, finding.path, finding.location)
        key = (*place, finding.message, finding.old, finding.new)
        if key not in worst or worst[key][1].severity < finding.severity:
            worst[key] = rule, finding
    return worst.values()


def _without_what_the_engine_refuses(
    findings: Iterable[tuple[Rule, Finding]],
) -> tuple[tuple[Rule, Finding], ...]:
    """Return the findings without others about what the engine of the target refuses anyway: one for each."""
    judged = tuple(findings)
    refused = {
        finding.object for rule, finding in judged if rule.engine and finding.severity >= Severity.ERROR
    }
    if not refused:
        return judged
    return tuple((rule, finding) for rule, finding in judged if rule.engine or finding.object not in refused)


@lru_cache(maxsize=256)  # some sets of rules, for each class of facts
def _rules_about(kind: type, rules: Itself[tuple[Rule, ...]]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules.value if issubclass(kind, rule.subjects) and not rule.is_silent)


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


def worst_of_each(cases: Iterable[Iterable[Finding]]) -> tuple[Finding, ...]:
    """Return the findings of several cases of a table once: with the first target, and the highest severity.

    Findings of one case that only their messages tell apart are several.
    """
    merged: dict[object, Finding] = {}
    for findings in cases:
        numbers: Counter[object] = Counter()
        for finding in findings:
            identity = replace(finding, target=None).identity
            key = identity, numbers[identity]
            numbers[identity] += 1
            worst = merged.get(key)
            if worst is None or worst.severity < finding.severity:
                merged[key] = replace(finding, target=worst.target if worst else finding.target)
    return tuple(merged.values())


def highest_severities(findings: Iterable[Finding]) -> Mapping[object, Severity]:
    """Return the highest severity of each finding, by its identity."""
    return {
        finding.identity: finding.severity
        for finding in sorted(findings, key=lambda finding: finding.severity)
    }


def marked(findings: Iterable[Finding], at_base: Mapping[object, Severity]) -> Iterator[Finding]:
    """Mark the findings that the base has too, at least as severe: the change did not cause them."""
    for finding in findings:
        old = at_base.get(finding.identity)
        yield replace(finding, existing=old is not None and old >= finding.severity)


def without_ambiguous_columns(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Keep only the finding about the name of columns that share one, ignoring case.

    Which of them the table has is unknown, and so is what else changes: a column that is gone beside them was
    probably given the name by mistake.
    """
    collisions = [finding for finding in findings if finding.code == CASE_COLLISION and not finding.existing]
    shared = {lowercased(finding.path) for finding in collisions}
    refused = {lowercased(finding.path)[:-1] for finding in collisions if finding.severity >= Severity.ERROR}
    return [
        finding
        for finding in findings
        if finding.code == CASE_COLLISION
        or not (
            not shared.isdisjoint(prefixes(lowercased(finding.path)))
            or (finding.code == UNDECLARED_DROP and lowercased(finding.path)[:-1] in refused)
        )
    ]


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
    # The severity that the user set, else the one of the problem, else the one of the rule.
    of_problem = Severity.WARNING if problem.is_mended else problem.severity
    severity = rule.severity if rule.severity_is_set else of_problem or rule.severity
    return Finding(
        code=rule.code,
        rule=rule.name,
        severity=severity,
        message=problem.message,
        help=problem.help,
        table=ctx.contract.table,
        object=object_,
        path=problem.path if problem.path is not None else getattr(fact, "path", ()),
        against=("history",) if problem.is_past else against,
        old=problem.old if problem.old is not None else old,
        new=problem.new if problem.new is not None else new,
        location=locate_finding(fact, problem, ctx.contract),
        previous_location=locate_finding(fact, problem, ctx.base) if ctx.base else None,
        delta_error=None if problem.is_mended else error_of(ctx.engine, problem.delta_error),
        fix=problem.fix,
        remedy=problem.remedy,
        commit=fact.entry if isinstance(fact, HistoryStep) else None,
        needs_rewrite=rule.verdict == "impossible" and severity is Severity.ERROR,
        unreadable=problem.unreadable and not problem.is_mended,
    )


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by location, then by severity, the highest first."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (finding.location, -finding.severity, finding.code, finding.message),
        )
    )


def with_ways(finding: Finding, fact: Fact, ctx: RuleContext) -> Finding:
    """Return a finding with the ways out, if it is about a change that only a rewrite can make.

    Where the rule has an edit that makes the change possible, nobody needs a rewrite; and nobody rewrites a
    table that Spark cannot read.
    """
    if not finding.needs_rewrite or finding.fix is not None or not isinstance(fact, _WITH_WAYS):
        return finding
    if not is_readable(ctx.before):
        return finding
    by_tracking: tuple[list[str], list[str]] = ([], [])
    for consumer in ctx.consumers:
        if consumer.stream is not None:
            by_tracking[consumer.stream.schema_tracking_location is not None].append(consumer.name)
    streams, tracked = map(tuple, by_tracking)
    is_own = ctx.contract.managed_by == "schemalint"
    words = WayWords(ctx.wording.fill, ctx.wording.drop_old, ctx.wording.rewrite if is_own else "")
    size, until = None, None
    if ctx.live is not None:
        size = ctx.live.size() if ctx.live.size is not None else None
        until = last_day_of_restore(ctx.before, ctx.today)
    ways = (
        replace(
            way,
            streams=streams if way.stops else (),
            tracked=tracked if way.stops_tracked else (),
            size=size if way.rewrites else None,
            until=until if way.rewrites else None,
        )
        for way in ways_out(fact, ctx.before, ctx.engine, words, _old_path(fact, ctx), ctx.features)
    )
    return replace(finding, ways=tuple(ways))


def _old_path(fact: object, ctx: RuleContext) -> Path | None:
    """Return the path of a column before the edit, which may rename it and the structs around it."""
    if not isinstance(fact, TypeChanged):
        return None
    old: Path = ()
    for length, step in enumerate(fact.path, 1):
        field = field_at(ctx.contract.state.columns, fact.path[:length]) if isinstance(step, str) else None
        old = (*old, (field.renamed_from if field else None) or step)
    return old
