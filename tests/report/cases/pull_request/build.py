"""A pull request: two tables of two owners, a new one and a removed one, and a finding that it approves."""

from schemalint import contract
from schemalint.base.errors import Location
from schemalint.model.client import ClientSupport, Reason, Support, Trait, Verdict
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract
from schemalint.model.exception import ExceptionSource, RuleException, WrittenException
from schemalint.model.finding import ApprovedFinding, CheckResult, JudgedTable, ObjectRef, Severity
from support.report_cases import ORDERS, finding, location_of, run

BEFORE = """\
schemalint: 1
table: sales.orders
owner: "@sales"
columns:
  - {name: id, type: bigint, nullable: false}
  - {name: amount, type: "decimal(10,2)", comment: Gross.}
  - {name: note, type: string}
  - {name: lines, type: "array<struct<sku: string, qty: bigint>>"}
properties: {delta.enableChangeDataFeed: true}
constraints: {positive: amount > 0}
"""
AFTER = """\
schemalint: 1
table: sales.orders
owner: "@sales"
columns:
  - {name: id, type: bigint, nullable: false}
  - {name: amount, type: "decimal(10,1)", comment: "Gross, in euros."}
  - {name: lines, type: "array<struct<sku: string, qty: int>>"}
  - {name: channel, type: string}
properties: {delta.enableChangeDataFeed: true, delta.enableDeletionVectors: true}
"""
ITEMS = """\
schemalint: 1
table: stock.items
columns: [{name: sku, type: string}]
"""
DASHBOARDS = Consumer("dashboards", client="trino", version="476", owner="@bi")
EXPORT = Consumer("export", client="delta-rs", version="1.1", owner="@partners")
NARROWED = finding(
    "lines.element.qty changes from bigint to int, which cannot hold all its values",
    location_of(ORDERS, AFTER, "int>>"),
    help="keep bigint",
    old="bigint",
    new="int",
    delta_error="NOT_SUPPORTED_CHANGE_COLUMN",
    previous_location=location_of(ORDERS, BEFORE, "bigint>>"),
    needs_rewrite=True,
)
FINDINGS = (
    finding(
        "a table of another area",
        Location("contracts/items.yml", 2, 8, 2, 19),
        code="ACME001",
        rule="area-unknown",
        severity=Severity.WARNING,
        table="stock.items",
        object=ObjectRef("table", "stock.items"),
        path=(),
    ),
    NARROWED,
)
APPROVED = (
    ApprovedFinding(
        finding(
            "amount changes from decimal(10,2) to decimal(10,1)",
            location_of(ORDERS, AFTER, r"decimal\(10,1\)"),
            code="TW003",
            rule="decimal-digit-loss",
            path=("amount",),
        ),
        WrittenException(
            RuleException(
                "TW003", "agreed with @bi, rewritten on Sunday", approved_by="@ada", expires="2026-12-31"
            ),
            "sales.orders",
            ExceptionSource.CONTRACT,
            Location(ORDERS, 9),
            added=True,
        ),
    ),
)


def _state(text: str) -> Contract:
    (found,) = contract.read(ORDERS, text.encode()).contracts
    return found


TABLES = (
    JudgedTable(
        "sales.orders",
        ORDERS,
        "@sales",
        (DASHBOARDS, EXPORT),
        before=_state(BEFORE).state,
        after=_state(AFTER).state,
    ),
    JudgedTable("stock.items", "contracts/items.yml", None, (), after=_state(ITEMS).state),
    JudgedTable("stock.old", "contracts/old.yml", "@stock", (), before=_state(ITEMS).state),
)
REFUSES = Reason(Trait.FEATURE, "deletionVectors", Verdict.REFUSES, detail="fails to plan the scan")
RESULT = CheckResult(
    run("sales.orders", "stock.items", "stock.old"),
    FINDINGS,
    exit_status=1,
    sources={ORDERS: AFTER},
    approved=APPROVED,
    tables=TABLES,
    clients=(
        ClientSupport("sales.orders", DASHBOARDS, Support(), Support()),
        ClientSupport("sales.orders", EXPORT, Support(), Support((REFUSES,))),
    ),
)
