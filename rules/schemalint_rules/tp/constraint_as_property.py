from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_PREFIX = "delta.constraints."


@rule("TP004", on=Contract, severity=Severity.ERROR, delta_errors=("DELTA_ADD_CONSTRAINTS",))
def constraint_as_property(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A CHECK constraint is declared as a table property.

    ## What it does

    Finds keys that begin with `delta.constraints.` among `properties`.

    ## Why is this bad?

    Delta keeps constraints under such keys, but they are no properties to be set: `ALTER TABLE … SET
    TBLPROPERTIES` fails with `DELTA_ADD_CONSTRAINTS`, "Please use ALTER TABLE ADD CONSTRAINT to add CHECK
    constraints". `CREATE TABLE` takes them, so for a table that is still to be created it is a warning.
    Rules about columns that constraints depend on look at `constraints` only.

    ## What to do

    Move the entry to `constraints`.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: "decimal(12,2)"}
    properties: {delta.constraints.amount_not_negative: amount >= 0}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: "decimal(12,2)"}
    constraints: {amount_not_negative: amount >= 0}
    ```
    """
    exists = ctx.base is not None or ctx.live is not None
    for key, value in contract.state.set_properties.items():
        if judge_property(key, value) == PropertyVerdict.CONSTRAINT:
            name = key[len(_PREFIX) :]
            yield Problem(
                f"{key} is a constraint, not a table property",
                help=f"move it: `constraints: {{{name}: {value}}}`",
                severity=None if exists else Severity.WARNING,
                object=ObjectRef("property", key),
                delta_error="DELTA_ADD_CONSTRAINTS" if exists else None,
            )
