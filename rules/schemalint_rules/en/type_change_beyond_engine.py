from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import VOID
from schemalint.delta.engine_answers import changes_type, parses_type
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, replace, rule


@rule(
    "EN001",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=("DELTA_CANNOT_UPDATE_OTHER_FIELD", "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"),
    verdict="impossible",
    engine=True,
)
def type_change_beyond_engine(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A column changes to a type to which the engine of the target cannot change it.

    ## What it does

    Finds type changes that the newest Delta makes in place, and the `engine` of the target does not. Delta
    3.2 and 3.3 widen `byte`, `short` and `int` among each other, and nothing else; older ones widen nothing;
    all the changes of Delta's PROTOCOL.md came with 4.0, those of a `void` column later. Databricks has
    versions of its own. [Engines](../engines.md) has the rows, and how each is known. Without an engine
    there is no finding.

    ## Why is this bad?

    That engine refuses the statement, with `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP`, or with
    `DELTA_CANNOT_UPDATE_OTHER_FIELD` for a `void` column; Delta 2.4 to 3.1 have no class for the error. Type
    widening being enabled does not help. Measured on Delta 3.3.2 and 4.4.0; what another version does
    is *documented*.

    ## What to do

    Upgrade the engine first, and its version in the configuration with it. Or add a column of the new type,
    let the writers fill it, and drop the old one once it has no readers.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    properties: {delta.enableTypeWidening: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    properties: {delta.enableTypeWidening: true}
    ```

    ```toml title="engine"
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
      - {name: order_id_long, type: bigint}
    properties: {delta.enableTypeWidening: true}
    ```
    """
    if not parses_type(ctx.engine, change.new):
        return
    old, new = print_type(change.old), print_type(change.new)
    does = partial(changes_type, old=change.old, new=change.new, nested=len(change.path) > 1)
    verb = "change" if change.old == VOID else "widen"
    problem = ctx.refusal_of_writer(does, f"{verb} {format_path(change.path)} from {old} to {new}")
    if problem is None:
        return
    if problem.severity is Severity.INFO:
        yield problem
        return
    error = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"
    if change.old == VOID:
        error = "DELTA_CANNOT_UPDATE_OTHER_FIELD"
    help_ = f"keep {old}, and add a column of type {new} that the writers fill"
    yield replace(problem, help=help_, delta_error=error)
