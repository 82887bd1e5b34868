"""What the variables of a target make of the tables of a file."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.contract.dialects import Reading
from schemalint.model.contract import Contract, TargetOverlay


def with_target(reading: Reading, target: str, in_target: Reading) -> Reading:
    """Return what was read of a file, with what its tables are in one target.

    The tables keep their names: a check is about them, wherever they are.

    Args:
        reading: The file as the variables of its entry have it.
        target: The name of the target.
        in_target: The file as the variables of the target have it.
    """
    others = {contract.document_index: contract for contract in in_target.contracts}
    contracts = []
    for contract in reading.contracts:
        if other := others.get(contract.document_index):
            contracts.append(_with_overlay(contract, target, other))
        else:
            contracts.append(contract)
    known = {(error.message, error.location) for error in reading.errors}
    errors = [error for error in in_target.errors if (error.message, error.location) not in known]
    for contract in reading.contracts:
        if contract.document_index in others:
            errors += _differing(contract, target, others[contract.document_index])
    return replace(reading, contracts=tuple(contracts), errors=(*reading.errors, *errors))


def _with_overlay(contract: Contract, target: str, other: Contract) -> Contract:
    properties = {
        key: value
        for key, value in other.state.properties.items()
        if contract.state.properties.get(key) != value
    }
    location = other.location if other.location != contract.location else None
    if not properties and location is None:
        return contract
    overlay = TargetOverlay(location=location, properties=properties)
    return replace(contract, targets={**contract.targets, target: overlay})


def _differing(contract: Contract, target: str, other: Contract) -> Iterator[ContractError]:
    """Yield an error for each constraint that a variable changes: a table has the same ones everywhere."""
    for name, expression in contract.state.constraints.items():
        if other.state.constraints.get(name, expression) != expression:
            yield ContractError(
                f"the constraint {name} is another one in target {target}",
                help="write it without variables",
                location=contract.locate(("constraint", name)),
            )
