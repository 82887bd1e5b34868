"""Findings in a file without a line, in a file without its source text, and beyond the end of a file."""

from schemalint.base.errors import Location
from schemalint.model.finding import CheckResult, ObjectRef
from support.report_cases import ORDERS, finding, run

TABLE = {"object": ObjectRef("table", "sales.orders"), "path": ()}
FINDINGS = (
    finding("the table lies somewhere else", Location(ORDERS), **TABLE),
    finding("the text is not at hand", Location("contracts/elsewhere.yml", 8, 3, 8, 9), **TABLE),
    finding("the text is shorter by now", Location(ORDERS, 99, 3, 99, 9), **TABLE),
)
RESULT = CheckResult(
    run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: "schemalint: 1\ntable: sales.orders\n"}
)
