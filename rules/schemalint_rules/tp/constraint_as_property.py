from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "TP004",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_ADD_CONSTRAINTS",),
    verdict="impossible",
)
def constraint_as_property(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract declares a CHECK constraint as a table property.

    ## What it does

    Finds keys under `properties` that begin with `delta.constraints.`.

    ## Why is this bad?

    Delta stores constraints under such keys, but does not accept them as properties: `ALTER TABLE … SET
    TBLPROPERTIES` fails with `DELTA_ADD_CONSTRAINTS`, "Please use ALTER TABLE ADD CONSTRAINT to add CHECK
    constraints". `CREATE TABLE` accepts them, and makes a constraint, which the contract does not declare:
    every later change of the table would be refused. Rules about the columns that constraints use look at
    `constraints` only. Measured on Delta 4.4.0.

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
    for key, value in contract.state.set_properties.items():
        if judge_property(key, value) == PropertyVerdict.CONSTRAINT:
            name = key[len(CONSTRAINT_PREFIX) :]
            yield Problem(
                f"{key} is a constraint, not a table property",
                help=f"move it: {ctx.wording.constraining(name, value)}",
                object=ObjectRef("property", key),
                delta_error=None if ctx.is_new_table else "DELTA_ADD_CONSTRAINTS",
            )
