"""Plan files of ``apply --plan``: only the plan that is current, or nothing, is applied."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.oracle import only_errors_of_the_input, require
from schemalint import contract as contracts
from schemalint.deploy import Deployment
from schemalint.deploy.plan_file import restrict_to_file
from schemalint.model.plan import Plan
from schemalint.report import plan as plans
from schemalint.values import replace
from support import seam

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(tempfile.gettempdir(), "schemalint-fuzzed-plan.json")
WORDS = (
    '{"version":1,',
    '"target":"dev"',
    '"tables":[',
    '"uri":',
    '"table_id":null',
    '"steps":[',
    '"sql":',
    '"requires":[',
)
LONGEST = 8_000
TEXT = """\
schemalint: 1
table: sales.{}
columns:
  - {{name: id, type: bigint}}
  - {{name: note, type: string, comment: new}}
"""


def _deployment() -> Deployment:
    declared = [contracts.read("a.yml", TEXT.format(name)).contracts[0] for name in ("orders", "lines")]
    created = tuple(seam.planned(None, contract, None) for contract in declared)
    return Deployment(Plan("dev", created), {contract.table: contract for contract in declared})


CURRENT = _deployment()


def run(data: bytes) -> None:
    """Restrict the current plan to that of a file."""
    FILE.write_bytes(data)
    with only_errors_of_the_input():
        restricted = restrict_to_file(CURRENT, str(FILE))
        current = {plan.table: plan for plan in CURRENT.plan.tables}
        for plan in restricted.plan.tables:
            require(plan == current[plan.table] or (not plan.steps and bool(plan.refusals)), "another plan")


def seeds() -> Iterator[bytes]:
    """Yield the current plan, and one of its tables."""
    text = plans.get("json").render(CURRENT)
    yield text.encode()
    yield plans.get("json").render(replace(CURRENT, plan=Plan("dev", CURRENT.plan.tables[:1]))).encode()
