from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.datatype import Field, Identity
from schemalint.delta.engine_answers import makes_column
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule


@rule(
    "EN005",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("PARSE_SYNTAX_ERROR", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
    verdict="impossible",
    engine=True,
)
def column_beyond_engine(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A new table has a column that SQL cannot make on the engine of the target.

    ## What it does

    Finds generated columns, identity columns and defaults of new tables. `CREATE TABLE`
    makes generated and identity columns from Delta 4.4 on,
    and columns with a default value from 3.1 on.

    ## Why is this bad?

    Spark refuses the statement with `UNSUPPORTED_FEATURE.TABLE_OPERATION`; Spark 3.5 does not even parse an
    identity column (`PARSE_SYNTAX_ERROR`). The plan has no other way: only the builder of Delta's API makes
    such a table there. Measured on Delta 3.3.2, 4.0.1 and 4.4.0, and for
    a generated column on 4.3.1.

    ## What to do

    Create the table with the builder of Delta's API (`DeltaTable.create`), and bring it under the contract
    with `schemalint pull`. Or let the writers compute the column.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: bigint}
      - {name: double_amount, type: bigint, generated: amount * 2}
    ```

    ```toml title="engine"
    delta-spark 4.0.1
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: bigint}
      - {name: double_amount, type: bigint}
    ```
    """
    if not ctx.is_new_table:
        return
    for column in contract.state.columns.fields:
        for kind in _kinds(column):
            words = "a default value" if kind == "default" else f"{kind} columns"
            what = f"create a table with {words} by SQL, as {column.name} needs it"
            problem = ctx.refusal_of_writer(partial(makes_column, kind=kind), what)
            if problem is not None:
                yield replace(
                    problem,
                    help="create the table with the builder of Delta's API, or let the writers fill it",
                    path=(column.name,),
                    object=ObjectRef("column", column.name),
                    delta_error=None if problem.severity is Severity.INFO else _error(kind, ctx),
                )


def _kinds(column: Field) -> Iterator[str]:
    if isinstance(column.generated, str):
        yield "generated"
    if isinstance(column.identity, Identity):
        yield "identity"
    if isinstance(column.default, str):
        yield "default"


def _error(kind: str, ctx: RuleContext) -> str:
    delta = ctx.engine.delta if ctx.engine else None
    parses = delta is None or delta >= (4,)  # Spark 4
    if parses or kind != "identity":
        return "UNSUPPORTED_FEATURE.TABLE_OPERATION"
    return "PARSE_SYNTAX_ERROR"
