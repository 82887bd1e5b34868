"""No findings, because no table was compared: two tables were skipped."""

from schemalint.model.finding import CheckResult, Skipped
from support.report_cases import run

SKIPPED = (
    Skipped("sales.orders", "its log was cleaned up, and --live-from has no checkpoint"),
    Skipped("sales.items", "absent in target staging"),
)
RESULT = CheckResult(run(target="staging", skipped=SKIPPED), findings=())
