from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ConstraintChanged, PropertyChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Problem, RuleContext, Severity, rule

_PROTOCOL = (PropertyVerdict.FEATURE, PropertyVerdict.VERSION, PropertyVerdict.INVALID_VERSION)


@rule("TP005", on=(PropertyChanged, ConstraintChanged), severity=Severity.WARNING, scope="contract")
def managed_line_removed(change: PropertyChanged | ConstraintChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """A property or a constraint is no longer mentioned, so it stays as it is.

    ## What it does

    Finds a line of `properties` or `constraints` that the base has and the contract has not. A line that
    says `null` may go without a word. `delta.feature.*` is PF003's; versions of the protocol were never
    stored, so nothing is left of them.

    ## Why is this bad?

    A contract manages what it declares, entry by entry. Taking a line away ends that: the property keeps its
    value on every table, the constraint goes on refusing rows, and from now on nobody is told if it changes.

    ## What to do

    To remove it from the tables, write `name: null`; the line can go once that is applied. To leave it to
    somebody else, go on.

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
        what, place, name = f"constraint {change.name}", "constraints", change.name
    elif judge_property(change.key, change.old) in _PROTOCOL:
        return
    else:
        what, place, name = f"property {change.key}", "properties", change.key
    yield Problem(
        f"{what} is no longer declared: it stays on the table as {change.old!r}",
        help=f"to remove it, write `{name}: null` under `{place}`",
    )
