from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import RESERVED
from schemalint.plugin import OWN_PROPERTIES, Contract, ObjectRef, Problem, RuleContext, Severity, rule

_COMMENT = "comment"


@rule(
    "TP007",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",),
    verdict="impossible",
)
def reserved_property(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract sets a table property that Spark or schemalint reserves.

    ## What it does

    Finds `collation`, `comment`, `external`, `is_managed_location`, `location`, `owner`, `provider` and
    `table_type` under `properties`, in exactly this spelling: for Spark `Owner` is an ordinary property. It
    also finds `schemalint.pending`, which `apply` writes itself.

    ## Why is this bad?

    Spark refuses to set and to unset these properties (`UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY`), in `CREATE
    TABLE` too. It accepts `comment`, but stores it as the table's description and never as a property.
    Measured on Spark 4.2.0.

    schemalint stores in its own property which columns a running plan renames. A declared value would make it
    take one column for another.

    ## What to do

    Use the contract's own key for it if there is one, or another property name.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: "decimal(12,2)"}
    properties: {owner: sales-platform}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    owner: sales-platform
    columns:
      - {name: amount, type: "decimal(12,2)"}
    properties: {team: sales-platform}
    ```
    """
    for key in sorted(OWN_PROPERTIES & contract.state.properties.keys()):
        yield Problem(
            f"the property {key} is reserved for schemalint",
            help="remove it from the contract",
            object=ObjectRef("property", key),
        )
    for key in sorted(RESERVED & contract.state.properties.keys()):
        yield Problem(
            f"Spark reserves the property {key}",
            help=_help(key, ctx),
            object=ObjectRef("property", key),
            delta_error=None if key == _COMMENT else "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",
        )


def _help(key: str, ctx: RuleContext) -> str:
    match key:
        case "comment":
            return f"write it as {ctx.wording.table_comment}"
        case "owner" | "location" if word := getattr(ctx.wording, key):
            return f"write it as {word}, or rename the property"
        case _:
            return "remove the line, or rename the property"
