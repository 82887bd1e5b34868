from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, judges_all

_REQUIRED: Final = option.optional("required", "whether each table needs an owner", option.Switch())


@rule(
    "PO004",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_REQUIRED, APPLIES_TO),
)
def owner_missing(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A contract names no owner of its table.

    ## What it does

    Finds a contract without `owner`, or with a blank one. A model of dbt has the owner of its group, or
    that of its `meta`. Of a declaration whose format has no owners, and of a table without a contract,
    nothing is found.

    ## Options

    - `required`: `true` for the tables that need an owner. Without it the rule is silent.
    - `applies_to`: `changed` (default) for new tables, and those that lose their owner; `all` for every
      table.

    ## Why is this bad?

    Nobody reviews a change of the table, nobody is told when it drifts, and nobody may say that it can go.

    ## What to do

    Write the team that answers for the table, as `CODEOWNERS` or the chat knows it.

    ## Example

    ```toml title="configuration"
    [[tables]]
    match = "sales.*"
    options.PO004 = {required = true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    owner: "@sales-platform"
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    if not ctx.value_of(_REQUIRED) or not contract.says("owner") or _has_owner(contract):
        return
    if judges_all(ctx) or (ctx.base is not None and _has_owner(ctx.base)):
        yield Problem("the table has no owner", help="write the team that answers for it: owner")


def _has_owner(contract: Contract) -> bool:
    return bool((contract.owner or "").strip())
