"""Contracts as they count for each target, and the context in which rules judge them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

from schemalint import contract as contracts
from schemalint.base.values import grouped, replace
from schemalint.delta.change import TableAdded, subject
from schemalint.delta.diff import diff
from schemalint.delta.engine import Engines
from schemalint.delta.table import LiveTable, TableState
from schemalint.lint.renamed import Names, with_names
from schemalint.lint.upgrades import protocol_upgrades
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration, created_state
from schemalint.model.fact import Fact
from schemalint.plugin import RuleContext

_NO_NAMES: Final[Names] = {}


def effective_pairs(
    before: Contract | None, after: Contract | None, engines: Mapping[str | None, Engines]
) -> Iterator[tuple[str | None, Contract | None, Contract | None]]:
    """Yield each target with the contracts that count for it, unless the table is absent from it."""
    names = [name for contract in (before, after) if contract for name in contract.targets]
    for target, engines_of, targets in _variants(tuple(dict.fromkeys(names)), engines):
        new = _declared_for(target, before, after).for_engines(engines_of, *targets) if after else None
        if new is None or not new.absent:
            old = present(before, target)
            yield target, old.for_engines(engines_of, *targets) if old else None, new


def _variants(
    names: Sequence[str], engines: Mapping[str | None, Engines]
) -> Iterator[tuple[str | None, Engines, tuple[str, ...]]]:
    """Yield the targets that the contract names, after one without a name for all others of the same engines.

    Each comes with its engines and the targets that have these.
    """
    others = grouped((engine, target) for target, engine in engines.items() if target not in names)
    everywhere = grouped((engine, target) for target, engine in engines.items())
    for own, targets in (others or everywhere or {Engines(): ()}).items():
        yield None, own, tuple(target for target in targets if target is not None)
    of_all = engines.get(None, Engines())
    yield from ((target, engines.get(target, of_all), (target,)) for target in names)


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


def live_context(
    contract: Contract,
    live: LiveTable,
    base: Contract | None = None,
    tracking: ColumnTracking | None = None,
    renamed: Names = _NO_NAMES,
) -> RuleContext:
    """Return the context with a live table."""
    before = live.state if tracking is None else replace(live.state, columns=tracking.live)
    return RuleContext(
        contract=contract,
        before=before,
        after=_state_after(contract, live.state, renamed, tracking),
        features=live.protocol.features,
        base=base,
        live=live,
        against="live",
    )


def differing_subjects(declared: Contract, live: TableState, renamed: Names) -> set[Hashable]:
    """Return the subjects in which a live table differs from a contract."""
    return {subject(pending_change) for pending_change in diff(live, _state_after(declared, live, renamed))}


def _state_after(
    contract: Contract, live: TableState, renamed: Names, tracking: ColumnTracking | None = None
) -> TableState:
    declared = replace(contract.settable_state, columns=with_names(contract.state.columns, renamed))
    return apply_declaration(declared, live, open_widening=contract.open.widening, tracking=tracking)


def git_facts(before: Contract | None, after: Contract, ctx: RuleContext) -> tuple[Fact, ...]:
    """Return the changes between a contract and its base, and the protocol upgrades that follow."""
    if before is None:
        return (TableAdded(after.state), after)
    return (*diff(before.state, after.state), *protocol_upgrades(ctx), after)
