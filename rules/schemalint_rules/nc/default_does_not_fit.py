from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import DefaultChanged, FieldAdded, TableAdded
from schemalint.delta.datatype import DataType, Struct, field_at, walk_fields
from schemalint.delta.default_values import Misfit, misfit
from schemalint.delta.expressions import Expression, Place
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, replace, rule

_TYPE = "INVALID_DEFAULT_VALUE.DATA_TYPE"
_LENGTH = "EXCEED_LIMIT_LENGTH"
_LENGTH_OF_ROW = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"


@rule(
    "NC025",
    on=(TableAdded, FieldAdded, DefaultChanged),
    severity=Severity.ERROR,
    live=True,
    delta_errors=(_TYPE, _LENGTH, _LENGTH_OF_ROW),
    verdict="impossible",
)
def default_does_not_fit(
    change: TableAdded | FieldAdded | DefaultChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """A default has a value that the type of its column cannot hold.

    ## What it does

    Compares each new default that is one literal with the type of its column, as Spark converts it. As a
    warning it reports a number that Spark rounds: `int DEFAULT 1.5` stores 1. Other expressions, such as
    casts and function calls, are not computed, but it reports those of a type that Spark converts no value
    of: `int DEFAULT current_date()`. Of the rest `apply` asks the engine before its first statement. NC016
    reports defaults that are no constants.

    ## Why is this bad?

    `CREATE TABLE` and `SET DEFAULT` refuse the value with `INVALID_DEFAULT_VALUE.DATA_TYPE`, and
    `CREATE TABLE` a text that is too long for a `char` or `varchar` with `EXCEED_LIMIT_LENGTH`.
    `SET DEFAULT`, which later defaults and those of fields need, does not look at lengths: there it is a
    warning. No number and no text is a default of a boolean. Where Spark rounds, it says nothing, and rows
    get a value that nobody wrote.

    If another writer has stored such a default, each write that leaves the column out fails, with
    `INVALID_DEFAULT_VALUE.DATA_TYPE` or, for a text that is too long, `DELTA_EXCEED_CHAR_VARCHAR_LIMIT`.
    Other writes and each `ALTER TABLE` go on, so it is a warning for a live table, and nothing if the
    column is inside another one, where Delta does not use defaults. No type that Delta widens a
    column to refuses a default that the old type had (all measured on Delta 4.4.0).

    ## What to do

    Write a value of the column's type: `true` for a boolean, a text in SQL quotes for a string, a date as
    `DATE'2026-01-31'`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: priority, type: tinyint}
    features: [allowColumnDefaults]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: priority, type: tinyint, default: "300"}
    features: [allowColumnDefaults]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: priority, type: tinyint, default: "3"}
    features: [allowColumnDefaults]
    ```
    """
    match change:
        case TableAdded(state=state) if ctx.live is not None:
            in_rows = (problem for problem in _of_fields(state.columns, ()) if len(problem.path or ()) == 1)
            yield from map(_of_live_table, in_rows)
        case TableAdded(state=state):
            for problem in _of_fields(state.columns, ()):
                yield problem if len(problem.path or ()) == 1 else _set_afterwards(problem)
        case FieldAdded(path=path, field=field):
            yield from map(_set_afterwards, _of_fields(Struct((field,)), path[:-1]))
        case DefaultChanged(path=path, new=str(text)):
            column = field_at(ctx.after.columns, path)
            if column is not None:
                yield from map(_set_afterwards, _check(path, text, column.type))


def _set_afterwards(problem: Problem) -> Problem:
    """Return the problem of a default that ``SET DEFAULT`` sets: it does not look at lengths."""
    if problem.delta_error != _LENGTH:
        return problem
    return replace(problem, severity=Severity.WARNING, delta_error=None)


def _of_live_table(problem: Problem) -> Problem:
    """Return the problem of a live default, which fails only writes that leave the column out."""
    if problem.delta_error is None:
        return problem
    return replace(
        problem,
        message=f"{problem.message}: writes that leave the column out fail",
        severity=Severity.WARNING,
        delta_error=_LENGTH_OF_ROW if problem.delta_error == _LENGTH else problem.delta_error,
    )


def _of_fields(columns: Struct, parent: Path) -> Iterator[Problem]:
    for path, field in walk_fields(columns, parent):
        if isinstance(field.default, str):
            yield from _check(path, field.default, field.type)


def _check(path: Path, text: str, type_: DataType) -> Iterator[Problem]:
    if Expression(Place.DEFAULT, text, format_path(path), path).fault:
        return  # NC019 reports it
    name, type_text = format_path(path), print_type(type_)
    match misfit(text, type_):
        case Misfit.TYPE:
            message, error = f"is {text}, which is no value of {type_text}", _TYPE
            help_ = f"write a value of the type {type_text}"
        case Misfit.LENGTH:
            message, error = f"is {text}, which is too long for {type_text}", _LENGTH
            help_ = "shorten it, or declare a string"
        case Misfit.ROUNDED:
            yield Problem(
                f"the default of {name} is {text}, which Spark rounds to fit {type_text}",
                help="write the number that is to be stored",
                severity=Severity.WARNING,
                path=path,
                part="default",
                new=text,
            )
            return
        case None:
            return
    yield Problem(
        f"the default of {name} {message}", help=help_, path=path, part="default", new=text, delta_error=error
    )
