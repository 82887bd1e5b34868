from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.expression_faults import ExpressionFault
from schemalint.delta.expressions import Expression, Place, expressions_of
from schemalint.delta.table import LiveTable, TableState
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule
from schemalint_rules.nc._placed import placed

_PARAMETER = "UNBOUND_SQL_PARAMETER"
_PARAMETER_OF_COLUMN = "UNSUPPORTED_FEATURE.PARAMETER_MARKER_IN_UNEXPECTED_STATEMENT"
_ERRORS = (
    "PARSE_SYNTAX_ERROR",
    _PARAMETER,
    _PARAMETER_OF_COLUMN,
    "UNSUPPORTED_TYPED_LITERAL",
    "INVALID_TYPED_LITERAL",
    "INVALID_NUMERIC_LITERAL_RANGE",
    "INVALID_ESC",
    "INVALID_SQL_SYNTAX",
)
_OF_DEFAULT = "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION"
_EFFECTS = {
    Place.INVARIANT: "every write fails, and every statement that alters the table",
    Place.CONSTRAINT: "every write fails, and every statement that alters the table",
    Place.DEFAULT: "writes that leave the column out fail",
    Place.GENERATED: "every write fails, and every statement that alters the table",
}


@rule(
    "NC019",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(*_ERRORS, _OF_DEFAULT),
    verdict="impossible",
)
def not_one_expression(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    r"""A constraint, a default or a generation expression is not exactly one SQL expression.

    ## What it does

    Reads each constraint, default and generation expression with the rules of Spark's lexer, and finds

    - brackets, quotes and comments that are not closed, and closing brackets without an opening one;
    - a comma or a semicolon outside brackets;
    - characters that no expression contains outside quotes, such as `{` or `ö`;
    - parameters (`:p`, `?`), to which no statement gives a value;
    - literals of a type that Spark does not have (`N'x'`, `int '5'`), or with a text or a number that Spark
      cannot read: `timestamp '2020-13-01'`, `300Y`;
    - values without an operator between them (`high price > 0`), operators without a value (`a > > 0`), and
      operators that Spark does not have (`a === 1`, `s ~ 'x'`, `[high price]`, `t AT TIME ZONE 'UTC'`), also
      in what is a text without its quotes: `12:30`;
    - in a default or a generation expression, a name behind a value, as in `New York`;
    - in a default, a word that begins the next clause of a column outside brackets, such as `NOT` or `CHECK`;
    - `${`, even in quotes;
    - a comment inside a comment, and a hint.

    The rule knows a part of Spark's grammar: NC012 warns of constraints that schemalint cannot parse, and
    checks the names in them, and `apply` asks Spark's parser before the first statement of a table.

    ## Why is this bad?

    The statement that declares the expression contains its text. At best, Spark refuses the statement with
    `PARSE_SYNTAX_ERROR`, a parameter with `UNBOUND_SQL_PARAMETER` or, of a
    column, with `UNSUPPORTED_FEATURE.PARAMETER_MARKER_IN_UNEXPECTED_STATEMENT`, and a literal with
    `UNSUPPORTED_TYPED_LITERAL`, `INVALID_TYPED_LITERAL`, `INVALID_NUMERIC_LITERAL_RANGE` or, behind `ESCAPE`,
    `INVALID_ESC`, and `IN ()` with `INVALID_SQL_SYNTAX`. At worst, the rest of the text becomes another part
    of the statement: `default: "1, extra int"` would add a column. Spark replaces `${…}` before it parses a
    text, with values of the session's configuration and environment. Delta stores the constraint as it is
    written, so each writer would check another condition.

    If another writer has stored such a constraint, Delta Spark refuses every statement on the table with
    `PARSE_SYNTAX_ERROR`, `RESTORE` and `DROP CONSTRAINT` too, if the protocol lists features; in a table of
    writer version 3 it refuses writes and `ALTER TABLE`. With a parameter it refuses only writes. With such
    a generation expression it reads the table. A default fails only the writes that leave the column out,
    with `INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION`, so it is a warning (measured on Delta 4.4.0).

    ## What to do

    Close what is open, put a name with other characters into back-quotes, and a default that contains one of
    the words into brackets. To write `${` in a text, write `$\{`, which Spark reads as `${`.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: "(amount > 0"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: "amount > 0"}
    ```
    """
    if isinstance(fact, LiveTable):
        yield from _of_table(fact, ctx.after)
        return
    for expression in ctx.stated_expressions:
        if fault := expression.fault:
            problem = Problem(
                f"{expression.subject} {fault.what}",
                help="write exactly one expression, and names with other characters in back-quotes",
                new=expression.text,
                delta_error=_declared_error(expression, fault),
            )
            yield placed(problem, expression)


def _declared_error(expression: Expression, fault: ExpressionFault) -> str | None:
    is_of_column = fault.error == _PARAMETER and expression.place is not Place.CONSTRAINT
    return _PARAMETER_OF_COLUMN if is_of_column else fault.error


def _of_table(table: LiveTable, after: TableState) -> Iterator[Problem]:
    for expression in expressions_of(table.state):
        fault = expression.fault
        # Delta does not replace variables in what it has stored, and accepts some comments and aliases.
        if fault is None or fault.is_stored:
            continue
        is_default = expression.place is Place.DEFAULT
        is_mended = False
        effect, help_ = _EFFECTS[expression.place], "the writer that set it has to replace it"
        if is_default:
            help_ = "set another default"
        elif fault.error == _PARAMETER and expression.place is Place.CONSTRAINT:
            effect, help_ = "every write fails", "remove it, or add one without the parameter"
            is_mended = expression not in expressions_of(after)
        error = _OF_DEFAULT if is_default else fault.error
        problem = Problem(
            f"{expression.subject} {fault.what}: {effect}",
            help=help_,
            severity=Severity.WARNING if is_default or is_mended else None,
            old=expression.text,
            delta_error=error,
            unreadable=expression.place is Place.CONSTRAINT and fault.error != _PARAMETER,
        )
        yield placed(problem, expression)
