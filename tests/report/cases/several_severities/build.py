"""Errors, a warning, a notice and existing findings, in several tables and targets."""

from schemalint.delta.path import Part
from schemalint.model.finding import CheckResult, ObjectRef, Severity
from support.report_cases import ORDERS, finding, location_of, run

TEXT = """\
schemalint: 1
table: sales.orders
columns:
  - {name: order_id, type: bigint}
  - {name: qty, type: int}
  - name: lines
    type: "array<struct<sku: string, qty: smallint>>"
properties: {delta.logRetentionDuration: interval 7 days, delta.colour: red}
"""
FINDINGS = (
    finding(
        "the column becomes the last but one",
        location_of(ORDERS, TEXT, "order_id"),
        code="NC020",
        rule="column-moved",
        severity=Severity.INFO,
        object=ObjectRef("column", "order_id"),
        path=("order_id",),
    ),
    finding(
        "column qty changes from bigint to int, which does not hold all its values",
        location_of(ORDERS, TEXT, r"int(?=\}\n  - name: lines)"),
        help="Keep bigint, or add a column of type int and fill it.",
        old="bigint",
        new="int",
        delta_error="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
    ),
    finding(
        "column lines.element.qty changes from int to smallint",
        location_of(ORDERS, TEXT, "smallint"),
        target="staging",
        against=("git", "live"),
        object=ObjectRef("column", "lines.element.qty"),
        path=("lines", Part.ELEMENT, "qty"),
        old="int",
        new="smallint",
    ),
    finding(
        "delta.logRetentionDuration is shorter than delta.deletedFileRetentionDuration",
        location_of(ORDERS, TEXT, "delta.logRetentionDuration"),
        code="TP003",
        rule="property-conflict",
        severity=Severity.WARNING,
        object=ObjectRef("property", "delta.logRetentionDuration"),
        path=(),
    ),
    finding(
        "delta.colour is not a property of Delta",
        location_of(ORDERS, TEXT, "delta.colour"),
        code="TP001",
        rule="unknown-property",
        object=ObjectRef("property", "delta.colour"),
        path=(),
        existing=True,
    ),
    finding(
        "a rule of another package",
        location_of(ORDERS, TEXT, "sales.orders"),
        code="ACME001",
        rule="owner-missing",
        severity=Severity.WARNING,
        object=ObjectRef("table", "sales.orders"),
        path=(),
        existing=True,
    ),
)
RESULT = CheckResult(
    run("sales.orders", "sales.items", "sales.customers"), FINDINGS, exit_status=1, sources={ORDERS: TEXT}
)
