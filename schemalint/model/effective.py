"""From what a file declares to what counts in one target.

A contract that was read is what one file says. Rules and plans take an `Effective` one, which `effective`
makes: of the contract, what the configuration gives its table, the overlay of the target, and the engines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NewType

from schemalint.base.values import frozen, replace
from schemalint.delta.engine import NO_ENGINES, Engines
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Anchors, Contract

Effective = NewType("Effective", Contract)
"""A contract as it counts in one target."""


@frozen
class Environment:
    """Where a contract counts, with what it does not say itself.

    Attributes:
        target: The target; None for what all targets share.
        engines: The engines that write the tables of the target.
        engine_targets: The targets that have these engines.
        settings: Returns a contract with what the configuration says of its table: its consumers and writers.
    """

    target: str | None = None
    engines: Engines = NO_ENGINES
    engine_targets: tuple[str, ...] = ()
    settings: Callable[[Contract], Contract] = lambda contract: contract


EVERYWHERE = Environment()
"""What a contract says of all targets, without a configuration."""


def effective(declared: Contract, where: Environment) -> Effective:
    """Return a contract as it counts somewhere; what its streams have read is known once its table is.

    Args:
        declared: The contract as it was read.
        where: The target, and what counts there.
    """
    contract = _with_overlay(where.settings(declared), where.target)
    return Effective(contract.for_engines(where.engines, *where.engine_targets))


def _with_overlay(contract: Contract, target: str | None) -> Contract:
    """Return the contract with the target's overlay merged in.

    Properties are merged entry by entry, and features are added. Consumers are added too; one of the overlay
    replaces that of the same name. Location and protocol are replaced. For None, or a target without an
    overlay, the contract stays unchanged.
    """
    overlay = None if target is None else contract.targets.get(target)
    if target is None or overlay is None:
        return contract
    anchors = contract.anchors
    state = replace(
        contract.state,
        properties={**contract.state.properties, **overlay.properties},
        features=contract.state.features | (overlay.features or frozenset()),
    )
    return replace(
        contract,
        state=state,
        location=contract.location if overlay.location is None else overlay.location,
        absent=overlay.absent,
        protocol=contract.protocol if overlay.protocol is None else overlay.protocol,
        consumers=_united(contract.consumers, overlay.consumers),
        named_consumers=tuple(dict.fromkeys((*contract.named_consumers, *overlay.named_consumers))),
        consumer_faults=(*contract.consumer_faults, *overlay.consumer_faults),
        anchors=anchors.of_target(target) if isinstance(anchors, Anchors) else anchors,
    )


def _united(shared: tuple[Consumer, ...], own: tuple[Consumer, ...]) -> tuple[Consumer, ...]:
    names = {consumer.name for consumer in own}
    return (*(consumer for consumer in shared if consumer.name not in names), *own)
