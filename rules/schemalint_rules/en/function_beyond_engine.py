from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.engine_answers import has_function
from schemalint.delta.expressions import Place, functions_called, unusable_part
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule

_ERRORS = {
    Place.CONSTRAINT: "UNRESOLVED_ROUTINE",
    Place.DEFAULT: "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION",
}


@rule(
    "EN010",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=tuple(_ERRORS.values()),
    verdict="impossible",
    engine=True,
)
def function_beyond_engine(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A constraint or a default calls a function that only a newer Spark than that of the target has.

    ## What it does

    Compares the functions that new constraints and defaults call with the built-in functions of the Spark on
    which the `engine` of the target runs: Spark 3.5 has no `monthname`, `zeroifnull` or `parse_json`, and
    Spark 4.0 no `quote` or `make_time`. NC021 reports what no Spark has. Without an engine there is no
    finding.

    ## Why is this bad?

    That Spark refuses the statement, with `UNRESOLVED_ROUTINE` for a constraint and
    `INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION` for a default. Measured on Delta 3.3.2 with Spark 3.5.7,
    and on Delta 4.0.1 with Spark 4.0.2; the functions also of Spark 4.2.0.

    ## What to do

    Write the expression with functions that the Spark of each writer has, or upgrade the engine first,
    and its version in the configuration with it.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: "zeroifnull(amount) >= 0"}
    ```

    ```toml title="engine"
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: "coalesce(amount, 0) >= 0"}
    ```
    """
    for expression in ctx.stated_expressions:
        # Generated columns are those of EN005; NC016, NC019 and NC020 report what no Spark takes.
        error = _ERRORS.get(expression.place)
        if error is None or expression.fault or unusable_part(expression, ctx.after.columns):
            continue
        for name in functions_called(expression.text):
            what = f"call {name}(), as {expression.subject} does"
            problem = ctx.refusal_of_writer(partial(has_function, name=name), what)
            if problem is not None:
                yield replace(
                    problem,
                    help="use a function that the Spark of each writer has",
                    path=expression.path,
                    object=None if expression.path else ObjectRef("constraint", expression.name),
                    part=None if expression.path is None else expression.place.value,
                    new=expression.text,
                    delta_error=None if problem.severity is Severity.INFO else error,
                )
                break
