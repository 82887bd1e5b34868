"""Features that a table has and no contract declares: somebody raised the protocol by hand."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta import protocol
from schemalint.delta.change import FeatureChanged
from schemalint.delta.engine_answers import knows_feature
from schemalint.delta.feature import CHECKPOINT_PROTECTION, FEATURES, closure
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES
from schemalint.judge.case import Case
from schemalint.judge.drift_origin import Origin
from schemalint.judge.rule_judge import AskedRules
from schemalint.model.client import Trait, Verdict
from schemalint.model.effective import Effective
from schemalint.model.fact import Drift, DriftKind
from schemalint.model.finding import Finding
from schemalint.plugin import RuleContext


def undeclared_features(rules: AskedRules, ctx: RuleContext, case: Case) -> Iterator[Finding]:
    """Judge the features of a live table that its contract does not need, unless it was created with them.

    Of features that require each other, only the one that somebody asked for counts; of those that a version
    of the protocol implies, the ones in use.
    """
    if ctx.live is None or ctx.live.version == 0 or not ctx.contract.is_contracted:
        return
    added = _undeclared(ctx)
    names = added - {name for each in added for name in closure({each}) - {each}}
    in_use = {name for name in names if _is_in_use(name, ctx)}
    for name in sorted(in_use or names):
        change = FeatureChanged(name, new=False)
        origin = case.origin_of(change) if case.origin_of else Origin("")
        if origin.is_creation or not (origin.step or in_use):
            continue
        drift = Drift(
            change,
            DriftKind.UNDECLARED,
            origin=_origin_text(origin),
            all_contracts=case.all_contracts,
            shut_out=tuple(_shut_out(name, ctx)),
        )
        yield from rules(drift, ctx, ("live",))


def _origin_text(origin: Origin) -> str:
    if origin.step is None:  # neither metadata nor a checkpoint tells with which features a table began
        return f"{origin.text}, so the table may have been created with it"
    if not origin.step.entry.engine:
        return origin.text
    return f"{origin.text} by {origin.step.entry.engine}"


def _undeclared(ctx: RuleContext) -> frozenset[str]:
    """Return the features of the table that neither the contract nor its base needs or lets writers add."""
    declared = protocol.DEFAULT_FEATURES | {CHECKPOINT_PROTECTION}  # DROP FEATURE leaves it
    for contract in filter(None, (ctx.contract, ctx.base)):
        declared |= _declared(contract, ctx)
    return ctx.features - declared


def _declared(contract: Effective, ctx: RuleContext) -> frozenset[str]:
    names = contract.created_features | set(map(protocol.canonical, contract.drop_features))
    if contract.open.columns:
        names |= protocol.activated(ctx.before.columns, {})
    if contract.open.widening:
        names |= TYPE_WIDENING_FEATURES
    previews = {row.unless for name in names if (row := FEATURES.get(name)) and row.unless}
    return closure(names | previews)


def _is_in_use(name: str, ctx: RuleContext) -> bool:
    """Whether a feature is in use, or was asked for by its name: a version of the protocol implies others."""
    row = FEATURES.get(name)
    return row is None or row.legacy is None or name in ctx.before.active_features


def _shut_out(name: str, ctx: RuleContext) -> Iterator[str]:
    """Yield the declared clients and engines that cannot use a table with a feature."""
    if ctx.live is not None and any(consumer.client for consumer in ctx.consumers):
        from schemalint.judge.client_losses import today  # noqa: PLC0415 (only with clients)

        for client in today(ctx.contract.table, ctx.live, ctx.consumers, ctx.contract.client_rows):
            refused = {
                reason.name
                for reason in client.after.reasons
                if reason.trait is Trait.FEATURE and reason.verdict is not Verdict.UNKNOWN
            }
            if name in refused:
                yield client.consumer.described
    for engine in ctx.contract.engines.all:
        if knows_feature(engine, name).does is False:
            yield str(engine)
