"""Plan files of ``apply --plan``: the steps of a file are those of its hash, or there are none."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.oracle import only_errors_of_the_input, require
from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.plan_file import read_plan_file
from schemalint.deploy.resume import planned_again
from schemalint.model.table_plan import Plan
from schemalint.project.config.trust import given_target
from schemalint.report import plan as plans
from support import seam
from support.effective import counting

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(tempfile.gettempdir(), "schemalint-fuzzed-plan.json")
WORDS = (
    '{"version":2,',
    '"target":"dev"',
    '"tables":[',
    '"uri":',
    '"table_id":null',
    '"steps":[',
    '"sql":',
    '"requires":[',
    '"origin":{',
    '"declared":{',
    '"planned_from":null',
    '"columns":[',
    '"tracking":null',
)
LONGEST = 16_000
TEXT = """\
schemalint: 1
table: sales.{}
columns:
  - {{name: id, type: bigint}}
  - {{name: note, type: string, comment: new}}
"""


def _deployment() -> Deployment:
    texts = [TEXT.format(name) for name in ("orders", "lines")]
    declared = [contracts.read("a.yml", text).contracts[0] for text in texts]
    base = contracts.read("a.yml", texts[0].replace("note", "remark")).contracts[0]
    live = seam.created_table(
        replace(base, state=base.state.with_property("delta.columnMapping.mode", "name"))
    )
    renamed = contracts.read("a.yml", texts[0].replace("comment: new", "renamed_from: remark")).contracts[0]
    plans = (seam.planned(base, renamed, live), seam.planned(None, declared[1], None))
    named = tuple(replace(plan, target=TARGET.name) for plan in plans)
    return Deployment(
        Plan(TARGET.name, named),
        {plan.table: counting(plan_of) for plan, plan_of in zip(named, (renamed, declared[1]), strict=True)},
    )


TARGET = given_target("dev")
CURRENT = _deployment()
PLANS = {plan.hash: plan for plan in CURRENT.plan.tables}


def run(data: bytes) -> None:
    """Read a plan file, and plan its steps again."""
    FILE.write_bytes(data)
    with only_errors_of_the_input():
        for filed in read_plan_file(str(FILE)).tables:
            if filed.origin is None:
                continue
            plan = planned_again(filed, filed.origin, filed.origin.contract, filed.uri, TARGET)
            if plan is not None and (known := PLANS.get(filed.hash)) is not None:
                statements = [(step.sql, step.requires) for step in known.steps]
                require([(step.sql, step.requires) for step in plan.steps] == statements, "another plan")


def seeds() -> Iterator[bytes]:
    """Yield a plan that alters one table and creates another, and those of one table each."""
    yield plans.get("json").render(CURRENT).encode()
    for plan in CURRENT.plan.tables:
        yield plans.get("json").render(replace(CURRENT, plan=Plan(TARGET.name, (plan,)))).encode()
