"""Twelve tables without findings."""

from schemalint.model.finding import CheckResult
from support.report_cases import run

RESULT = CheckResult(run(*(f"sales.table_{number}" for number in range(12))), findings=())
