"""Status 2: neither the base nor one of the contracts could be read."""

from schemalint.base.errors import ContractError, GitError
from schemalint.model.finding import CheckResult, Run
from support.report_cases import HEAD, ORDERS, location_of

TEXT = "schemalint: 1\ntable: sales.orders\ncolums: []\n"
ERRORS = (
    GitError("this clone lacks the merge base with origin/main", help="git fetch --unshallow origin"),
    ContractError(
        "unknown key: colums", help="did you mean columns?", location=location_of(ORDERS, TEXT, "colums")
    ),
    ContractError("the file is no text"),
)
RESULT = CheckResult(Run(None, HEAD), (), ERRORS, exit_status=2, sources={ORDERS: TEXT})
