from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.plugin import Fix, Problem, RuleContext, SetProperty, Severity, rule

_PROPERTY = "delta.enableTypeWidening"


@rule(
    "TW006",
    on=TypeChanged,
    severity=Severity.ERROR,
    fixable=True,
    delta_errors=("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",),
    verdict="impossible",
)
def type_widening_not_enabled(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A column is widened, but type widening is not enabled.

    ## What it does

    Finds a type change that Delta can make in place, if neither the contract nor the table itself sets
    `delta.enableTypeWidening` to true. A `void` column, and a `varchar` that grows, do not need the property.

    ## Why is this bad?

    Without the property Delta refuses the widening with `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP` ("ALTER
    TABLE CHANGE COLUMN is not supported for changing column a from INT to BIGINT"), even if the table already
    supports the feature. `delta.enableTypeWidening` is the name of the table property; the table feature is
    called `typeWidening`, although the first design of type widening spelled it like the property.

    ## What to do

    Set the property; `--fix` writes it. The first time, Delta adds the reader and writer feature
    `typeWidening`, which older clients do not support: see PF004.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    properties: {delta.enableTypeWidening: true}
    protocol: {allow_upgrade: true}
    ```
    """
    verdict = classify(change.old, change.new, nested=len(change.path) > 1)
    if verdict == TypeVerdict.WIDENING and not ctx.widening_enabled:
        old, new = print_type(change.old), print_type(change.new)
        yield Problem(
            f"{format_path(change.path)} is widened from {old} to {new}, but {_PROPERTY} is not true",
            help=ctx.wording.setting(_PROPERTY, "true"),
            delta_error="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
            remedy=lambda: ctx.contract.state.with_property(_PROPERTY, "true"),
            fix=Fix(
                f"Set {_PROPERTY}",
                (SetProperty(_PROPERTY, "true"),),
                # An explicit value may be intentional, so replacing it is not safe.
                safe=_PROPERTY not in ctx.contract.state.properties,
            ),
        )
