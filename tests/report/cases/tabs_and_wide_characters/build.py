"""The caret stands under the type behind tabs, wide and combining characters and a byte order mark."""

from schemalint.model.finding import CheckResult
from support.report_cases import ORDERS, finding, run, spot

TEXT = """\
\ufeff{schemalint: 1, table: sales.orders, columns: [
\t{name:\tqty,\ttype:\tint},
  {name: 数量, type: smallint},
  {name: cafe\u0301, type: tinyint},
  {name: 量, type: 整数}]}
"""
FINDINGS = (
    finding("on the line of the byte order mark", spot(ORDERS, TEXT, "sales.orders")),
    finding("behind tabs", spot(ORDERS, TEXT, r"int(?=\})")),
    finding("behind wide characters", spot(ORDERS, TEXT, "smallint")),
    finding("behind a combining accent", spot(ORDERS, TEXT, "tinyint")),
    finding("wide itself", spot(ORDERS, TEXT, "整数")),
)
RESULT = CheckResult(run("sales.orders"), FINDINGS, exit_status=1, sources={ORDERS: TEXT})
