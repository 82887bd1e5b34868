"""Contracts as they count for each target, and what to judge of them without a live table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schemalint import contract as contracts
from schemalint.delta.change import TableAdded
from schemalint.delta.diff import diff
from schemalint.delta.engine import Engine
from schemalint.delta.table import TableState
from schemalint.lint.consumers import for_engine
from schemalint.lint.upgrades import protocol_upgrades
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration, created_state
from schemalint.model.fact import Fact
from schemalint.plugin import RuleContext
from schemalint.values import replace


def effective_pairs(
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


def git_context(before: Contract | None, after: Contract, created: TableState | None = None) -> RuleContext:
    """Return the context without a live table: the table that Delta creates from the base replaces it.

    Args:
        before: The base contract.
        after: The contract.
        created: The state of the table that Delta creates from the base, if it is known already.
    """
    old = created or (created_state(before.state) if before else TableState())
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
