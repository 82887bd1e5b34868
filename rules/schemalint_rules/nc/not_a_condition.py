from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.conditions import ConditionFault, ConditionProblem, condition_problem
from schemalint.delta.datatype import Struct
from schemalint.delta.expressions import (
    Expression,
    Place,
    expressions_of,
    unknown_functions,
    unusable_part,
)
from schemalint.delta.operands import OperandFault
from schemalint.delta.sql_text import tokens
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_OF_ROW = "TASK_WRITE_FAILED"
_OF_ROW_WITH_CALL = "INTERNAL_ERROR"
_QUOTES = "in Spark, double quotes make a text: put names of columns into back-quotes"


@rule(
    "NC026",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(
        *(fault.value for fault in (*ConditionFault, *OperandFault) if fault.value),
        *(_OF_ROW, _OF_ROW_WITH_CALL),
    ),
    verdict="impossible",
)
def not_a_condition(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A CHECK constraint compares what Spark cannot compare, is no condition, or names no column.

    ## What it does

    Reads the constraints of the contract and of the live table, and finds

    - a text that is used with a number, a boolean or a time, and cannot be cast to it: `"high price" > 0`,
      where the double quotes make a text and no name, or `day > 'tomorrow'`;
    - two types that Spark does not compare or compute with, such as a number and a boolean, or a number and
      the difference of two dates, which is an interval;
    - a value in place of a condition: `amount + 1`;
    - as a warning, a constraint without any column, such as `"Product.Id" IS NOT NULL`: a text is never
      null, so nothing is checked.

    It knows the types of literals, columns and casts, of what operators make of them, and of common
    functions; for others `apply` asks Spark before the first statement. NC012 reports unknown columns, NC019
    texts that Spark cannot parse.

    ## Why is this bad?

    `ADD CONSTRAINT` fails with `CAST_INVALID_INPUT`, `DATATYPE_MISMATCH` or
    `DELTA_NON_BOOLEAN_CHECK_CONSTRAINT`. Other writers may have stored such a constraint: then each write
    that comes to the comparison fails, with `TASK_WRITE_FAILED` because of a text, and because of types with
    the same error as above or, after the call of a function, with `INTERNAL_ERROR`. A value in place of a
    condition stops nothing and checks nothing, so it is a warning there (all measured on Delta 4.4.0).

    ## What to do

    Put names of columns into back-quotes, and texts into single quotes. Compare values of one type, or cast
    one of them.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: price, type: int}
    constraints: {positive: '"price" > 0'}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: price, type: int}
    constraints: {positive: "`price` > 0"}
    ```
    """
    if isinstance(fact, LiveTable):
        for expression in expressions_of(fact.state):
            if problem := _judged(expression, fact.state.columns):
                yield _of_table(expression, problem, ctx)
        return
    for expression in ctx.stated_expressions:
        if problem := _judged(expression, ctx.after.columns):
            yield _of_contract(expression, problem)


def _judged(expression: Expression, columns: Struct) -> ConditionProblem | None:
    """Return what is wrong with a constraint that no other rule reports."""
    if expression.place is not Place.CONSTRAINT or expression.fault:
        return None
    if unusable_part(expression, columns) or unknown_functions(expression.text):
        return None
    return condition_problem(expression.text, columns)


def _of_contract(expression: Expression, problem: ConditionProblem) -> Problem:
    is_harmless = problem.fault is ConditionFault.NO_COLUMN
    return Problem(
        f"{expression.subject} {problem.what}",
        help=_help(expression, problem),
        severity=Severity.WARNING if is_harmless else None,
        object=ObjectRef("constraint", expression.name),
        new=expression.text,
        delta_error=problem.fault.value or None,
    )


def _of_table(expression: Expression, problem: ConditionProblem, ctx: RuleContext) -> Problem:
    match problem.fault:
        case ConditionFault.NO_COLUMN | ConditionFault.NOT_BOOLEAN:
            effect, error = "no row is checked", None
        case ConditionFault.TEXT if problem.is_optional:
            effect, error = "writes fail where Spark comes to it", None
        case ConditionFault.TEXT:
            effect, error = "every write fails", _OF_ROW
        case OperandFault():
            effect = "every write fails"
            error = _OF_ROW_WITH_CALL if problem.is_after_call else problem.fault.value
    return Problem(
        f"{expression.subject} {problem.what}: {effect}",
        help=_help(expression, problem),
        severity=Severity.WARNING if error is None else None,
        object=ObjectRef("constraint", expression.name),
        old=expression.text,
        delta_error=error,
        is_mended=ctx.mends(expression),
    )


def _help(expression: Expression, problem: ConditionProblem) -> str:
    has_double_quotes = any(token.text.startswith('"') for token in tokens(expression.text))
    if has_double_quotes and problem.fault in (ConditionFault.TEXT, ConditionFault.NO_COLUMN):
        return _QUOTES
    if problem.fault in (ConditionFault.NOT_BOOLEAN, ConditionFault.NO_COLUMN):
        return "write a condition on the columns of one row"
    if isinstance(problem.fault, OperandFault) and "interval" in problem.what.split():
        return (
            "compare it with an interval, such as INTERVAL 30 DAYS, or count days with datediff(end, start)"
        )
    return "compare values of one type, or cast one of them"
