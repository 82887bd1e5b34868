"""Findings with a fix: a safe one, an unsafe one, and one without a known location."""

from schemalint.delta.datatype import INTEGER, LONG, RecordedChange
from schemalint.model.contract_edit import Fix, RecordTypeChanges, SetProperty, TextChange
from schemalint.model.finding import CheckResult, Consequence, ObjectRef, Severity
from support.report_cases import ORDERS, finding, location_of, run

TEXT = """\
schemalint: 1
table: sales.orders
columns:
  - name: qty
    type: bigint
properties: {delta.enableTypeWidening: false}
"""
END_OF_TYPE = location_of(ORDERS, TEXT, r"(?<=bigint)")
OLD_VALUE = location_of(ORDERS, TEXT, "false")
WIDENING = ObjectRef("property", "delta.enableTypeWidening")
RECORD = Fix("Record the type change", (RecordTypeChanges(("qty",), (RecordedChange((), INTEGER, LONG),)),))
ENABLE = Fix("Enable type widening", (SetProperty("delta.enableTypeWidening", "true"),), safe=False)
FINDINGS = (
    finding(
        "the change of qty from int to bigint is not recorded",
        location_of(ORDERS, TEXT, "bigint"),
        code="TH001",
        rule="type-change-not-recorded",
        fix=RECORD,
        text_changes=(
            TextChange(
                END_OF_TYPE,
                TEXT.index("bigint") + 6,
                TEXT.index("bigint") + 6,
                "\n    type_changes:\n      - {from: int, to: bigint}",
            ),
        ),
    ),
    finding(
        "type widening is not enabled",
        OLD_VALUE,
        code="TW006",
        rule="widening-not-enabled",
        object=WIDENING,
        path=(),
        fix=ENABLE,
        then=(
            Consequence(
                "PF004",
                Severity.ERROR,
                "the protocol rises from writer 2 to writer 7",
                "allow it with `protocol: {allow_upgrade: true}`",
            ),
            Consequence("RD002", Severity.WARNING, "reports (trino 480) leaves qty out", column="qty"),
        ),
        text_changes=(TextChange(OLD_VALUE, TEXT.index("false"), TEXT.index("false") + 5, "true"),),
    ),
    finding(
        "type widening is not enabled for the target",
        OLD_VALUE,
        code="TW006",
        rule="widening-not-enabled",
        object=WIDENING,
        path=(),
        target="staging",
        fix=ENABLE,
    ),
)
RESULT = CheckResult(run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: TEXT})
