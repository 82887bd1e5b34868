from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.protocol import above_limits, format_limits, minimum_versions
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("PF019", on=Contract, severity=Severity.ERROR)
def new_table_above_limits(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A new table would need protocol versions above the contract's `max_reader` or `max_writer`.

    ## What it does

    Compares the versions of the protocol that Delta gives a table created from the contract with
    `protocol: {max_reader, max_writer}`. The rule is about new tables: PF004 reports an upgrade of an
    existing table beyond the limits, PF020 a live table that is beyond them already.

    ## Why is this bad?

    The limits state which clients must be able to read and write the table. Delta does not know them: it
    gives the new table every feature that its properties, columns and constraints need, and most features
    need reader version 3 or writer version 7.

    ## What to do

    Remove what needs the version, or raise the limit if all clients can read and write such a table.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableDeletionVectors: true}
    protocol: {max_reader: 1}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    protocol: {max_reader: 1}
    ```
    """
    if not ctx.is_new_table:
        return
    limits, features = contract.protocol, contract.created_features
    versions = minimum_versions(features)
    if exceeded := above_limits(versions, limits.max_reader, limits.max_writer):
        yield Problem(
            f"the new table would have reader {versions[0]}, writer {versions[1]}, "
            f"above {format_limits(exceeded)}",
            help=f"it would have the features {', '.join(sorted(features))}: "
            f"remove what needs them, or raise {' and '.join(exceeded)}",
        )
