from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.expressions import Place, expressions_of, unknown_functions, unusable_part
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("NC021", on=Contract, severity=Severity.WARNING, delta_errors=("UNRESOLVED_ROUTINE",))
def unknown_function(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A constraint, a default or a generated column calls a function that Spark does not have.

    ## What it does

    Compares the functions that an expression calls with the built-in functions of Spark 4.2.0. The rule reads
    all constraints and defaults of the contract and, for a new table, the expressions of its generated
    columns. A function that was registered in a session or a catalog counts as unknown.

    ## Why is this bad?

    A misspelt function fails with `UNRESOLVED_ROUTINE` when `apply` runs. Delta stores the text of an
    expression: a function that exists only in one session, one catalog or one product makes every other
    write to the table fail. Delta refuses such functions in generated columns.

    ## What to do

    Correct the name, or write the condition with built-in functions. If the function belongs to a newer Spark
    that all writers have, ignore the warning.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: "absolute(amount) > 0"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: "abs(amount) > 0"}
    ```
    """
    for expression in expressions_of(contract.state):
        if expression.place is Place.GENERATED and not ctx.is_new_table:
            continue
        if expression.fault or unusable_part(expression, ctx.after.columns):
            continue
        for name in unknown_functions(expression.text)[:1]:
            yield Problem(
                f"{expression.subject} calls {name}(), which Spark does not have",
                help="use a built-in function of Spark: every client that writes to the table must know it",
                path=expression.path,
                object=None if expression.path else ObjectRef("constraint", expression.name),
                part=None if expression.path is None else expression.place.value,
                new=expression.text,
                delta_error="UNRESOLVED_ROUTINE",
            )
