"""The caret is under the type after tabs, wide and combining characters, and a byte order mark."""

from schemalint.model.finding import CheckResult
from support.report_cases import ORDERS, finding, location_of, run

TEXT = """\
\ufeff{schemalint: 1, table: sales.orders, columns: [
\t{name:\tqty,\ttype:\tint},
  {name: 数量, type: smallint},
  {name: cafe\u0301, type: tinyint},
  {name: 量, type: 整数}]}
"""
FINDINGS = (
    finding("on the line of the byte order mark", location_of(ORDERS, TEXT, "sales.orders")),
    finding("behind tabs", location_of(ORDERS, TEXT, r"int(?=\})")),
    finding("behind wide characters", location_of(ORDERS, TEXT, "smallint")),
    finding("behind a combining accent", location_of(ORDERS, TEXT, "tinyint")),
    finding("wide itself", location_of(ORDERS, TEXT, "整数")),
)
RESULT = CheckResult(run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: TEXT})
