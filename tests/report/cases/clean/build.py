"""Twelve tables, and nothing wrong."""

from schemalint.model.finding import Problems
from support.report_cases import run

RESULT = Problems(run(*(f"sales.table_{number}" for number in range(12))), findings=())
