from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.expressions import expressions_of
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "PARSE_SYNTAX_ERROR"


@rule("NC019", on=Contract, severity=Severity.ERROR, delta_errors=(_ERROR,))
def not_one_expression(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    r"""A constraint, a default or a generation expression is not exactly one SQL expression.

    ## What it does

    Reads each constraint, default and generation expression with the rules of Spark's lexer, and finds

    - brackets, quotes and comments that are not closed, and closing brackets without an opening one;
    - a comma or a semicolon outside brackets;
    - characters that no expression contains outside quotes, such as `{` or `ö`;
    - in a default, a word that begins the next clause of a column outside brackets, such as `NOT` or `CHECK`;
    - `${`, even in quotes;
    - a comment inside a comment, and a hint.

    The rule does not check the expression itself: NC012 checks the names in it, and `apply` asks Spark's
    parser before the first statement of a table.

    ## Why is this bad?

    The statement that declares the expression contains its text. At best, Spark refuses the statement with
    `PARSE_SYNTAX_ERROR`. At worst, the rest of the text becomes another part of the statement:
    `default: "1, extra int"` would add a column. Spark replaces `${…}` before it parses a text, with values
    of the session's configuration and environment. Delta stores the constraint as it is written, so each
    writer would check another condition.

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
    for expression in expressions_of(contract.state):
        if fault := expression.fault:
            yield Problem(
                f"{expression.subject} {fault}",
                help="write exactly one expression, and names with other characters in back-quotes",
                path=expression.path,
                object=None if expression.path else ObjectRef("constraint", expression.name),
                part=None if expression.path is None else expression.place.value,
                new=expression.text,
                delta_error=None if "${" in expression.text else _ERROR,
            )
