from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import DefaultChanged, FieldAdded, TableAdded
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import Struct, walk_fields
from schemalint.delta.expressions import Expression, Place, contains_query, unusable_part
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import without_quoted
from schemalint.plugin import Problem, RuleContext, Severity, replace, rule

_NAME = "INVALID_DEFAULT_VALUE.NOT_CONSTANT"
_QUERY = "INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION"
_RANDOM = "INVALID_DEFAULT_VALUE.NON_DETERMINISTIC"
_NOT_RESOLVED = "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION"
_LIVE_ERRORS = {_NAME: _NOT_RESOLVED, _RANDOM: _NAME}

# Spark functions that need no parentheses, which sqlglot parses as columns.
_FUNCTIONS = frozenset({("user",), ("current_time",)})


@rule(
    "NC016",
    on=(TableAdded, FieldAdded, DefaultChanged),
    severity=Severity.ERROR,
    live=True,
    delta_errors=(_NAME, _QUERY, _RANDOM, _NOT_RESOLVED),
    verdict="impossible",
)
def default_not_constant(
    change: TableAdded | FieldAdded | DefaultChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """A default uses a column, a subquery, or a function that returns another value on each call.

    ## What it does

    Reads each new default of a column, or of a field inside one, and finds

    - names: of columns, and of anything else that is not quoted;
    - subqueries in parentheses;
    - lambda functions, whose parameters are not constants for Spark either;
    - calls of functions that return another value on each call, such as `uuid()` and `rand()`, run Java
      code, or need more than one row.

    A function whose value is the same for a whole statement is allowed: `current_date()`,
    `current_timestamp()`, `current_user()`. NC025 compares literals with the type of
    their column; of other expressions `apply` asks the engine before its first statement.

    ## Why is this bad?

    Spark computes a default once for each statement that writes, without any row. It refuses other defaults
    with `INVALID_DEFAULT_VALUE`: `NOT_CONSTANT` for a name, `SUBQUERY_EXPRESSION`, or `NON_DETERMINISTIC`.
    Without this rule the error appears only when `apply` runs. If another writer has set such a default, each
    write that leaves the column out fails, for a name with `UNRESOLVED_EXPRESSION`; for a live table the
    finding is a warning. A name is often a text whose quotes belong to
    YAML: `default: web` and `default: "web"` are the column `web`, `default: "'web'"` is the text.

    ## What to do

    Put a text in SQL quotes inside the YAML quotes. For a value computed from other columns use a generated
    column, for a counter use an identity column (both only in a new table); for random values, let writers
    supply them.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: shop, type: string}
    features: [allowColumnDefaults]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: shop, type: string, default: web}
    features: [allowColumnDefaults]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: shop, type: string, default: "'web'"}
    features: [allowColumnDefaults]
    ```
    """
    match change:
        case TableAdded(state=state):
            defaults = _defaults(state.columns)
        case FieldAdded(path=path, field=field):
            defaults = _defaults(Struct((field,)), path[:-1])
        case DefaultChanged(path=path, new=str(text)):
            defaults = iter([(path, text)])
        case _:
            return
    is_live = isinstance(change, TableAdded) and ctx.live is not None
    for path, text in defaults:
        for problem in _check(path, text, ctx):
            yield _of_live_table(problem) if is_live else problem


def _of_live_table(problem: Problem) -> Problem:
    """Return the problem of a live default, which fails only writes that leave the column out."""
    is_lambda = "->" in without_quoted(problem.new or "")
    error = (
        problem.delta_error if is_lambda else _LIVE_ERRORS.get(problem.delta_error or "", problem.delta_error)
    )
    message = f"{problem.message}: writes that leave the column out fail"
    return replace(problem, message=message, severity=Severity.WARNING, delta_error=error)


def _defaults(columns: Struct, parent: Path = ()) -> Iterator[tuple[Path, str]]:
    for path, field in walk_fields(columns, parent):
        if isinstance(field.default, str):
            yield path, field.default


def _check(path: Path, text: str, ctx: RuleContext) -> Iterator[Problem]:
    """Report the first fault of a default only."""
    expression = Expression(Place.DEFAULT, text, format_path(path), path)
    if expression.fault:
        return  # NC019 reports it
    names = sorted(column for column in columns_used(text) or () if _lower(column) not in _FUNCTIONS)
    part = unusable_part(expression, ctx.after.columns)
    if contains_query(text):
        yield _problem(path, text, "contains a subquery", "write the value itself", _QUERY)
    elif names:
        yield _problem(path, text, f"uses {format_path(names[0])}", _help(names[0], text, ctx), _NAME)
    elif "->" in without_quoted(text):
        yield _problem(path, text, "contains a lambda function", "write the value itself", _NAME)
    elif part:
        help_ = "let writers supply the value; use an identity column for a counter"
        error = None if part.what.endswith(("row", "rows")) else _RANDOM
        yield _problem(path, text, part.what, help_, error)


def _problem(path: Path, text: str, fault: str, help_: str, error: str | None) -> Problem:
    return Problem(
        f"the default of {format_path(path)} {fault}; it must be a constant",
        help=help_,
        path=path,
        part="default",
        new=text,
        delta_error=error,
    )


def _help(names: tuple[str, ...], text: str, ctx: RuleContext) -> str:
    if ctx.after.columns.get(names[0]) is not None:
        return "only a generated column can use other columns, and only a new table can get one"
    if text == names[0]:
        return f"put a text in SQL quotes inside the YAML quotes: default: \"'{text}'\""
    return "use a literal, or a function call on literals"


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
