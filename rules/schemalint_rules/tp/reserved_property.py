from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import RESERVED
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_COMMENT = "comment"


@rule("TP007", on=Contract, severity=Severity.ERROR, delta_errors=("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",))
def reserved_property(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """A table property is declared that Spark keeps for itself.

    ## What it does

    Finds `comment`, `external`, `is_managed_location`, `location`, `owner` and `provider` among `properties`,
    in this spelling: for Spark `Owner` is a property like any other.

    ## Why is this bad?

    Spark refuses to set and to unset them (`UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY`), in `CREATE TABLE` too.
    `comment` it takes for the table's description: it never is among the properties. Measured on Spark 4.2.0.

    ## What to do

    Say it where the contract has a place for it, or under a key of your own.

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
    for key in sorted(RESERVED & contract.state.properties.keys()):
        yield Problem(
            f"Spark keeps the property {key} for itself",
            help=_help(key),
            object=ObjectRef("property", key),
            delta_error=None if key == _COMMENT else "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",
        )


def _help(key: str) -> str:
    match key:
        case "comment":
            return "write it as the `description` of the table"
        case "owner" | "location":
            return f"write it as the key `{key}` of the contract, or give the property another name"
        case _:
            return "take the line away, or give the property another name"
