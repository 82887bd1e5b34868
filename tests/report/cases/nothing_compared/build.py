"""No findings, because no table was compared: two tables were skipped."""

from schemalint.model.finding import CheckResult, SkippedTable
from support.report_cases import run

SKIPPED = (
    SkippedTable("sales.orders", "its log was cleaned up, and --live-from has no checkpoint"),
    SkippedTable("sales.items", "absent in target staging"),
)
RESULT = CheckResult(run(target="staging", skipped=SKIPPED), findings=())
