"""A removed column: the finding points to the list of columns and names the column's old location."""

from schemalint.base.errors import Location
from schemalint.model.finding import CheckResult, ObjectRef
from support.report_cases import ORDERS, finding, location_of, run

TEXT = """\
schemalint: 1
table: sales.orders
columns:
  - {name: order_id, type: bigint}
"""
FINDINGS = (
    finding(
        "column cust is removed, and neither renamed nor listed under dropped",
        location_of(ORDERS, TEXT, "columns"),
        code="CM003",
        rule="undeclared-removal",
        help="Say `renamed_from: cust` at its successor, or list it: `dropped: [cust]`.",
        object=ObjectRef("column", "cust"),
        path=("cust",),
        old="string",
        previous_location=Location("contracts/old/orders.yml", 114, 5, 114, 31),
    ),
)
RESULT = CheckResult(run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: TEXT})
