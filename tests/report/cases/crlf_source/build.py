"""A file with Windows line ends and a single carriage return."""

from schemalint.model.finding import CheckResult
from support.report_cases import ORDERS, finding, location_of, run

TEXT = "schemalint: 1\r\ntable: sales.orders\r\ncolumns:\r  - {name: qty, type: int}\r\n"
FINDINGS = (
    finding("column qty changes from bigint to int", location_of(ORDERS, TEXT, r"int(?=\})")),
    finding("at the end of a line", location_of(ORDERS, TEXT, r"(?<=columns:)")),
)
RESULT = CheckResult(run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: TEXT})
