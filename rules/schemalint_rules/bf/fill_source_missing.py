from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import field_at
from schemalint.delta.fill_expressions import reads_source
from schemalint.delta.path import format_path, path_key
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF003", on=Contract, severity=Severity.ERROR, verdict="impossible")
def fill_source_missing(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column is filled from one that the table does not have, or that is made anew.

    ## What it does

    Finds `from` in a `backfill` that names no column of the contract, of its base or of the live table, and
    none under `dropped`. It also finds a column that the contract drops and declares anew: the name would
    stand for two columns; a `with` that does not read `from`; and one that reads another column, which the
    contract drops although `from` stays.

    ## Why is this bad?

    Nothing would be filled, and nothing would say so; or all rows would be filled with what is not the value
    of the old column, and its drop would take the values along.

    ## What to do

    Correct the name; a field of a struct has its whole path, e.g. `shipping.amount`. When the old column is
    gone from all targets, remove `backfill`.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount_text, type: string}
      - {name: amount, type: bigint, backfill: {from: amount_txt, with: "cast(amount_text as bigint)"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount_text, type: string}
      - {name: amount, type: bigint, backfill: {from: amount_text, with: "cast(amount_text as bigint)"}}
    ```
    """
    for path, backfill in contract.backfills.items():
        is_dropped = path_key(backfill.source) in contract.state.dropped_by_key
        is_declared = field_at(contract.state.columns, backfill.source) is not None
        is_there = field_at(ctx.before.columns, backfill.source) is not None
        name = format_path(backfill.source)
        if is_dropped and is_declared:
            message, help_text = f"{name} is dropped and declared anew", "fill from a column with one name"
        elif not (is_dropped or is_declared or is_there):
            message, help_text = f"there is no column {name}", "correct the name, or remove `backfill`"
        elif not reads_source(backfill.expression, backfill.source):
            message, help_text = f"its expression does not read {name}", f"use {name} in `with`"
        elif is_declared and (gone := _dropped(contract, backfill.expression)):
            message = f"its expression reads {gone}, which is dropped while {name} stays"
            help_text = f"drop {name} together with it, or not at all"
        else:
            continue
        reason = f"{format_path(path)} cannot be filled: {message}"
        yield Problem(reason, help=help_text, path=path, part="backfill.from")


def _dropped(contract: Contract, expression: str) -> str | None:
    """Return a column of an expression that the contract drops, and does not declare."""
    for names in sorted(columns_used(expression) or ()):
        is_declared = field_at(contract.state.columns, names) is not None
        if path_key(names) in contract.state.dropped_by_key and not is_declared:
            return format_path(names)
    return None
