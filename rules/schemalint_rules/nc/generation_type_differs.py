from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TableAdded
from schemalint.delta.datatype import Char, Field, Struct, Varchar
from schemalint.delta.expression_types import expression_type
from schemalint.delta.expressions import Expression, Place, unknown_functions, unusable_part
from schemalint.delta.operands import kind_of
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container, is_upcast
from schemalint.plugin import Problem, RuleContext, Severity, rule

_DELTA = "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH"
_SPARK = "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"
_OPERATOR = "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"


@rule(
    "NC029",
    on=TableAdded,
    severity=Severity.ERROR,
    delta_errors=(_DELTA, _SPARK, _OPERATOR),
    verdict="impossible",
)
def generation_type_differs(change: TableAdded, _ctx: RuleContext) -> Iterator[Problem]:
    """The expression of a generated column has another type than the column.

    ## What it does

    Compares the type of each generated column of a new table with that of its expression, as far as columns,
    literals, operators, casts and common functions tell: `year(t)` is an `int`, `amount / 2` a `double`, the
    sum of an `int` and a `bigint` a `bigint`, and the difference of two dates an interval, which is no type
    of a column. A `char` or `varchar` is never generated. Nothing is said of other functions, and of types
    inside of structs, arrays and maps: there `apply` stops at `CREATE TABLE`. NC006 reports a generated
    column of an existing table, NC020 what no generated column can use.

    ## Why is this bad?

    Delta casts nothing here, not even an `int` to a `bigint`: `CREATE TABLE` fails with
    `DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH` or, if not all values of one type are values of the other,
    with `UNSUPPORTED_EXPRESSION_GENERATED_COLUMN`; an interval in a string with
    `DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN` (measured on Delta 4.4.0).

    ## What to do

    Declare the column with the type of the expression, or cast the expression to that of the column.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: ordered_at, type: timestamp}
      - {name: ordered_on, type: string, generated: CAST(ordered_at AS DATE)}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: ordered_at, type: timestamp}
      - {name: ordered_on, type: date, generated: CAST(ordered_at AS DATE)}
    ```
    """
    columns = change.state.columns
    for field in columns.fields:
        if isinstance(field.generated, str):
            yield from _of_column(field, field.generated, columns)


def _of_column(field: Field, text: str, columns: Struct) -> Iterator[Problem]:
    path = (field.name,)
    expression = Expression(Place.GENERATED, text, format_path(path), path)
    if expression.fault or unusable_part(expression, columns) or unknown_functions(text):
        return  # other rules report it
    name, declared, type_ = format_path(path), print_type(field.type), expression_type(text, columns)
    if isinstance(field.type, Char | Varchar):
        message, error = f"{name} is {declared}, which no generated column can be", _SPARK
        help_ = "declare a string"
    elif type_ is None or type_ == field.type or (is_container(type_) and is_container(field.type)):
        return
    elif kind_of(type_) == "interval":
        message = f"{name} is {declared}, and its generation expression is an interval"
        help_ = "generate the number of days: datediff(end, start)"
        error = _OPERATOR if is_upcast(type_, field.type) else _SPARK
    else:
        computed = print_type(type_)
        message = f"{name} is {declared}, and its generation expression is {computed}"
        can_cast = not (is_container(type_) or is_container(field.type))
        help_ = f"declare {computed}" + (f", or generate CAST({text} AS {declared})" if can_cast else "")
        error = _DELTA if is_upcast(type_, field.type) else _SPARK
    yield Problem(message, help=help_, path=path, part="generated", new=text, delta_error=error)
