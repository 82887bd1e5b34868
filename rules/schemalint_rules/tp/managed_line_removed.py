from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ConstraintChanged, PropertyChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Problem, RuleContext, Severity, rule

_PROTOCOL = (PropertyVerdict.FEATURE, PropertyVerdict.VERSION, PropertyVerdict.INVALID_VERSION)


@rule("TP005", on=(PropertyChanged, ConstraintChanged), severity=Severity.WARNING, scope="contract")
def managed_line_removed(change: PropertyChanged | ConstraintChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The contract no longer mentions a property or a constraint, so it stays on the table.

    ## What it does

    Finds a line of `properties` or `constraints` that the base has and the contract does not have. The rule
    does not report the removal of a line with the value `null`. PF003 reports `delta.feature.*`; tables do
    not store protocol versions as properties, so the removal of such a line leaves nothing behind.

    ## Why is this bad?

    A contract manages what it declares, entry by entry. Without its line, the property keeps its value on
    every table, the constraint still rejects rows, and schemalint no longer reports changes to them.

    ## What to do

    To remove the entry from the tables, write `name: null`, and delete the line once that is applied. To
    leave the entry to another owner, no action is needed.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.appendOnly: true}
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
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.appendOnly: null}
    ```
    """
    if change.new is not UNMANAGED or not isinstance(change.old, str):
        return
    if isinstance(change, ConstraintChanged):
        entry, remove = f"constraint {change.name}", ctx.wording.remove_constraint.format(name=change.name)
    elif judge_property(change.key, change.old) in _PROTOCOL:
        return
    else:
        entry, remove = f"property {change.key}", ctx.wording.remove_property.format(key=change.key)
    yield Problem(
        f"{entry} is no longer declared: it stays on the table as {change.old!r}",
        help=f"to remove it, {remove}",
    )
