"""An audit: tables with and without findings, and the unused table features of their protocols."""

from schemalint.base.errors import Location
from schemalint.model.finding import CheckResult, ObjectRef, Severity, SideRef
from schemalint.model.inventory import Inventory, TableSummary
from support.report_cases import finding, run

LOST = finding(
    "the record of a type change of amount is lost since version 7 (CHANGE COLUMN)",
    Location("/lake/sales/orders/_delta_log/00000000000000000007.json"),
    code="TH003",
    rule="type-change-lost",
    path=("amount",),
    object=ObjectRef("column", "amount"),
    against=("history",),
    target="prod",
)
PREVIEW = finding(
    "the table supports typeWidening-preview",
    Location("/lake/sales/items"),
    code="PF011",
    rule="preview-feature",
    severity=Severity.WARNING,
    table="/lake/sales/items",
    path=(),
    object=ObjectRef("feature", "typeWidening-preview"),
    against=("live",),
    target="prod",
)
TABLES = (
    TableSummary("sales.orders", "/lake/sales/orders", 7, (3, 7), ("changeDataFeed",), ()),
    TableSummary("/lake/sales/items", "/lake/sales/items", 2, (3, 7), (), ("typeWidening-preview",)),
    TableSummary(
        "/lake/sales/old", "/lake/sales/old", 11, (1, 4), ("changeDataFeed", "checkConstraints"), ()
    ),
)
RESULT = CheckResult(
    run(
        *(one.table for one in TABLES),
        base=SideRef("history", why="as far back as the logs go"),
        head=SideRef("live", why="the tables as they are"),
        target="prod",
    ),
    (PREVIEW, LOST),
    exit_status=1,
    inventory=Inventory(TABLES),
)
