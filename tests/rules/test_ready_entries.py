"""The entry that a report offers for a finding approves it, whatever rule found it."""

from __future__ import annotations

from itertools import groupby

import pytest

from schemalint.base.values import replace
from schemalint.contract import read
from schemalint.model.exception import ExceptionSource, WrittenException
from schemalint.model.finding import CheckResult, JudgedTable, Run, Severity, SideRef
from schemalint.model.rule_codes import NEVER_APPROVED, TABLE_REMOVED
from schemalint.report.findings._ways import ways_out
from schemalint.review.approve import approve
from support.rule_cases import load_cases
from support.rule_judging import TODAY, built_in, findings

CASES = {rule: list(cases) for rule, cases in groupby(load_cases(), lambda case: case.rule)}
OTHERS = {*NEVER_APPROVED, TABLE_REMOVED}  # the entry of the latter is not in the contract
RULES = tuple(built_in().values())


@pytest.mark.parametrize("name", [name for name in CASES if built_in()[name].code not in OTHERS])
def test_each_finding_has_an_entry_that_approves_it(name: str) -> None:
    for case in CASES[name]:
        for found in findings(built_in()[name], case.texts):
            finding = replace(found, existing=False)
            if finding.severity is Severity.INFO:
                continue
            table = JudgedTable(finding.table, file="orders.yml", owner=None, consumers=())
            approval = ways_out(
                finding, {table.name: table}, CheckResult(Run(None, SideRef("worktree")), ())
            ).approval
            assert approval is not None, case.id
            entry = "\n".join(approval.lines).replace('reason: ""', "reason: agreed")
            contract = read(
                "orders.yml", f"schemalint: 1\ntable: a.b\ncolumns: [{{name: a, type: int}}]\n{entry}\n"
            )
            assert not contract.errors, case.id
            ((exception,),) = (declared.exceptions for declared in contract.contracts)
            written = WrittenException(exception, finding.table, ExceptionSource.CONTRACT, finding.location)
            exceptions = approve([finding], [written], RULES, TODAY)
            assert exceptions.approved, (case.id, entry)
