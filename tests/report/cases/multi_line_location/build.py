"""Locations of three lines and of ten lines, and locations that end with a line end."""

from schemalint.model.finding import CheckResult, ObjectRef, Severity
from support.report_cases import ORDERS, finding, location_of, run

TEXT = """\
schemalint: 1
table: sales.orders
columns:
  - name: shipping
    type: struct
    columns: [{name: city, type: string}]
  - {name: a, type: int}
  - {name: b, type: int}
  - {name: c, type: int}
  - {name: d, type: int}
  - {name: e, type: int}
"""
SHIPPING = {"object": ObjectRef("column", "shipping"), "path": ("shipping",)}
COLUMNS = {"object": ObjectRef("table", "sales.orders"), "path": (), "severity": Severity.WARNING}
FINDINGS = (
    finding(
        "shipping changes from string to struct",
        location_of(ORDERS, TEXT, r"name: shipping.*?\]"),
        **SHIPPING,
    ),
    finding(
        "the table has too few columns", location_of(ORDERS, TEXT, r"columns:\n.*e, type: int\}"), **COLUMNS
    ),
    finding(
        "the last line ends with its line end", location_of(ORDERS, TEXT, r"  - \{name: d.*\n"), **COLUMNS
    ),
    finding("one line with its line end", location_of(ORDERS, TEXT, r"table: sales.orders\n"), **COLUMNS),
)
RESULT = CheckResult(run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: TEXT})
