"""The contract that counts for one target."""

from __future__ import annotations

from schemalint.base.values import replace
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Anchors, Contract


def effective(contract: Contract, target: str | None) -> Contract:
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
