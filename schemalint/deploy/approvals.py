"""The approvals of steps: ``--allow upgrade`` and ``--allow destructive``."""

from __future__ import annotations

from typing import Final

from schemalint.model.contract import Contract
from schemalint.model.plan import Refusal, RefusalKind, TablePlan
from schemalint.values import replace

UPGRADE: Final = "upgrade"


def with_approval(contract: Contract, allow: frozenset[str]) -> Contract:
    """Return the contract; an approved upgrade counts as one that it allows itself."""
    if UPGRADE not in allow:
        return contract
    return replace(contract, protocol=replace(contract.protocol, allow_upgrade=True))


def approved(plan: TablePlan, allow: frozenset[str]) -> TablePlan:
    """Refuse a plan to apply whose irreversible steps are not approved."""
    missing = sorted(approval.value for approval in plan.needs if approval.value not in allow)
    if not missing:
        return plan
    options = " and ".join(f"--allow {value}" for value in missing)
    kinds = ", ".join(sorted({step.kind.value for step in plan.steps if step.needs is not None}))
    refusal = Refusal(
        RefusalKind.APPROVAL,
        f"{kinds}: approval required",
        f"review the plan, then {options}",
        awaits=min(plan.needs, key=str),
    )
    return replace(plan, steps=(), writes_marker=False, refusals=(*plan.refusals, refusal))
