"""Both sides of a contract, effective for each target that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schemalint.base.values import grouped, replace
from schemalint.delta.engine import Engines
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective, Environment, effective


def effective_pairs(
    before: Contract | None, after: Contract | None, engines: Mapping[str | None, Engines]
) -> Iterator[tuple[str | None, Effective | None, Effective | None]]:
    """Yield each target with the contracts that count for it, unless the table is absent from it."""
    names = [name for contract in (before, after) if contract for name in contract.targets]
    for target, engines_of, targets in _variants(tuple(dict.fromkeys(names)), engines):
        where = Environment(target, engines_of, targets)
        new = _declared_for(where, before, after) if after else None
        if new is None or not new.absent:
            yield target, present(before, where), new


def _variants(
    names: Sequence[str], engines: Mapping[str | None, Engines]
) -> Iterator[tuple[str | None, Engines, tuple[str, ...]]]:
    """Yield the targets that the contract names, after None for each group of other targets.

    A group has the same engines. Each comes with its engines and the targets that have these.
    """
    others = grouped((engine, target) for target, engine in engines.items() if target not in names)
    everywhere = grouped((engine, target) for target, engine in engines.items())
    for own, targets in (others or everywhere or {Engines(): ()}).items():
        yield None, own, tuple(target for target in targets if target is not None)
    of_all = engines.get(None, Engines())
    yield from ((target, engines.get(target, of_all), (target,)) for target in names)


def _declared_for(where: Environment, before: Contract | None, after: Contract) -> Effective:
    """Return the contract for a target; an overlay that newly says ``absent`` gives way to that of the base.

    A change must not take its table out of the comparison.
    """
    new, target = effective(after, where), where.target
    if target is None or before is None or not new.absent or present(before, where) is None:
        return new
    overlays = {name: overlay for name, overlay in after.targets.items() if name != target}
    if target in before.targets:
        overlays[target] = before.targets[target]
    return effective(replace(after, targets=overlays), where)


def present(base: Contract | None, where: Environment) -> Effective | None:
    """Return what the contract at the base was for a target; None if the target did not have the table."""
    old = effective(base, where) if base else None
    return None if old is None or old.absent else old
