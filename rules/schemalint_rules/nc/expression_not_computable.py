from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.expressions import Expression, Place, UnusablePart, expressions_of, unusable_part
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule
from schemalint_rules.nc._placed import placed

_HELP = "use only the columns of one row, and functions of them"
_COLLECTION_HELP = "use an index or a function: labels['a'], lines[0].qty, element_at(lines, 1).qty"
_GENERATED_HELP = "use other operators and functions, or compute the column where the rows are written"


_THROUGH_COLLECTION = "DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT"


@rule(
    "NC020",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(_THROUGH_COLLECTION,),
    verdict="impossible",
)
def expression_not_computable(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A constraint or a generated column uses what Delta cannot compute for a row, or what is never the same.

    ## What it does

    Reads the constraints of the contract and of the live table and, for a new table, the expressions of its
    generated columns, and finds

    - subqueries, and the names of tables;
    - functions that return another value on each call: `rand()`, `uuid()`, `input_file_name()`,
      `monotonically_increasing_id()` and others;
    - functions that run Java code: `reflect`, `java_method`, `try_reflect`;
    - functions of many rows, and functions that return rows: `max`, `row_number`, `window`, `explode`;
    - functions whose value only the session of a query knows: `current_user()`, `current_database()`;
    - in constraints, `*`, and `current_date` and others without brackets;
    - in constraints, fields that are read by dot through a map or an array: `labels.a`, `lines.qty`;
    - in generated columns, other generated columns, and what is not on Delta's list for them: `BETWEEN`,
      `ILIKE`, intervals, keys of maps, `current_date()`, and more than a hundred functions, such as `nullif`,
      `contains`, `startswith`, `split_part`, `transform`, `unix_date` and `try_divide`.

    Constraints may use `current_date()`, `current_timestamp()` and `now()`, which have one value for a whole
    statement. NC029 compares the types of generated columns, NC016 is about defaults, NC021 about functions
    that Spark does not have.

    ## Why is this bad?

    Delta accepts most of this in a constraint, because the statement only queries the existing rows. Then
    every write fails: Delta checks each new row without a query around it, so a subquery has no result,
    `rand()` has no seed, and `current_date` without brackets is null, which violates any comparison. For a
    field behind a map or an array it fails with `DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT`. What
    can be computed there, such as `input_file_name()`, decides differently for the same row. And
    `java_method` runs any Java method in the process of everybody who writes to the table. In generated
    columns Delta refuses all of it when it creates the table, most with
    `DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN` (measured on Delta 4.4.0).

    ## What to do

    Write a condition on the columns of one row. Write `labels['a']` for `labels.a`, and for `lines.qty` which
    line is meant, such as `lines[0].qty`. Compute everything else where the rows are written, into a
    column, and constrain the column.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: day, type: date}
    constraints: {not_in_future: day <= current_date}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: day, type: date}
    constraints: {not_in_future: day <= current_date()}
    ```
    """
    is_live = isinstance(fact, LiveTable)
    for expression in expressions_of(fact.state) if is_live else ctx.stated_expressions:
        is_judged = expression.place in {Place.CONSTRAINT, Place.INVARIANT} or (
            expression.place is Place.GENERATED and ctx.is_new_table
        )
        if is_judged and not expression.fault and (part := unusable_part(expression, ctx.after.columns)):
            problem = Problem(
                f"{expression.subject} {part.what}",
                help=_help(expression, part),
                new=expression.text,
                delta_error=_THROUGH_COLLECTION if is_live and part.is_in_collection else None,
                is_mended=is_live and ctx.mends(expression),
            )
            yield placed(problem, expression)


def _help(expression: Expression, part: UnusablePart) -> str:
    if part.is_in_collection:
        return _COLLECTION_HELP
    return _GENERATED_HELP if expression.place is Place.GENERATED else _HELP
