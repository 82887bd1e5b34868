from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct
from schemalint.delta.expressions import Expression, Place, expressions_of, unknown_functions, unusable_part
from schemalint.delta.live_effect import way_back
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule
from schemalint_rules.nc._placed import placed

_ERROR = "UNRESOLVED_ROUTINE"
_OF_DEFAULT = "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION"
_HELP = "use a built-in function of Spark: every client that writes to the table must know it"
_NO_CHANGE = "no statement changes a generation expression"
# What a session without the function refuses to do with a live table (measured on Delta 4.4.0).
_EFFECTS = {
    Place.INVARIANT: "every write of rows fails",
    Place.CONSTRAINT: "every write of rows fails",
    Place.DEFAULT: "writes that leave the column out fail",
    Place.GENERATED: "every write of rows fails, and every statement that alters the table",
}


@rule("NC021", on=(Contract, LiveTable), severity=Severity.WARNING, delta_errors=(_ERROR, _OF_DEFAULT))
def unknown_function(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A constraint, a default or a generated column calls a function that Spark does not have.

    ## What it does

    Compares the functions that an expression calls with the built-in functions of Spark 4.2.0. The rule reads
    all expressions of the live table, all constraints and defaults of the contract and, for a new table, the
    expressions of its generated columns. A function that was registered in a session or a catalog counts as
    unknown.

    ## Why is this bad?

    A misspelt function fails with `UNRESOLVED_ROUTINE` when `apply` runs. Delta stores the text of an
    expression: a function that exists only in one session, one catalog or one product makes every other
    write to the table fail. Delta refuses such functions in generated columns.

    In a live table, such a constraint or generated column makes every write of rows fail with
    `UNRESOLVED_ROUTINE`, such a default every write that leaves the column out, with `INVALID_DEFAULT_VALUE`.

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
    if isinstance(fact, LiveTable):
        yield from _of_table(fact)
        return
    for expression in ctx.stated_expressions:
        if expression.place is Place.GENERATED and not ctx.is_new_table:
            continue
        if name := _unknown_function(expression, ctx.after.columns):
            problem = Problem(
                f"{expression.subject} calls {name}(), which Spark does not have",
                help=_HELP,
                new=expression.text,
                delta_error=_ERROR,
            )
            yield placed(problem, expression)


def _of_table(table: LiveTable) -> Iterator[Problem]:
    for expression in expressions_of(table.state):
        if name := _unknown_function(expression, table.state.columns):
            effect = _EFFECTS[expression.place]
            problem = Problem(
                f"{expression.subject} calls {name}(), which Spark does not have: {effect}",
                help=way_back(table, _NO_CHANGE) if expression.place is Place.GENERATED else _HELP,
                old=expression.text,
                delta_error=_OF_DEFAULT if expression.place is Place.DEFAULT else _ERROR,
            )
            yield placed(problem, expression)


def _unknown_function(expression: Expression, columns: Struct) -> str | None:
    if expression.fault or unusable_part(expression, columns):
        return None  # NC016, NC019 or NC020 reports it
    return next(iter(unknown_functions(expression.text)), None)
