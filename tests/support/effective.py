"""Contracts of the tests as they count where no target and no configuration says more."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from schemalint.model.effective import EVERYWHERE, Effective, effective

if TYPE_CHECKING:
    from schemalint.model.contract import Contract


@overload
def counting(contract: Contract) -> Effective: ...


@overload
def counting(contract: None) -> None: ...


def counting(contract: Contract | None) -> Effective | None:
    """Return a contract as it counts everywhere."""
    return None if contract is None else effective(contract, EVERYWHERE)
