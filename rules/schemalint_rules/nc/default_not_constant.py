from __future__ import annotations

import re
from collections.abc import Iterator

from schemalint.delta.change import DefaultChanged, FieldAdded, TableAdded
from schemalint.delta.datatype import Struct, walk_fields
from schemalint.delta.expressions import columns_used
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import without_quoted
from schemalint.plugin import Problem, RuleContext, Severity, rule

_NAME = "INVALID_DEFAULT_VALUE.NOT_CONSTANT"
_QUERY = "INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION"
_RANDOM = "INVALID_DEFAULT_VALUE.NON_DETERMINISTIC"

# Functions of Spark's that stand without brackets, and that sqlglot takes for columns.
_FUNCTIONS = frozenset({("user",), ("current_time",)})

_SUBQUERY = re.compile(r"\(\s*(?:select|with|values|table)\b", re.IGNORECASE)
_RANDOM_CALL = re.compile(
    r"\b(uuid|rand|randn|random|randstr|uniform|shuffle|monotonically_increasing_id|spark_partition_id"
    r"|input_file_name|input_file_block_start|input_file_block_length|reflect|java_method)\s*\(",
    re.IGNORECASE,
)


@rule(
    "NC016",
    on=(TableAdded, FieldAdded, DefaultChanged),
    severity=Severity.ERROR,
    delta_errors=(_NAME, _QUERY, _RANDOM),
)
def default_not_constant(
    change: TableAdded | FieldAdded | DefaultChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """A default uses a column, a query, or a function that gives another value each time.

    ## What it does

    Reads each default that is new, of a column or a field inside of one, and finds

    - names: of columns, and of anything else that is not in quotes;
    - queries in brackets;
    - lambda functions, whose names are no constants for Spark either;
    - calls of functions like `uuid()` and `rand()`.

    What is the same for a whole statement is constant enough: `current_date()`, `current_timestamp()`,
    `current_user()`. What type a default has is not looked at: `apply` asks the engine before its first
    statement.

    ## Why is this bad?

    Spark computes a default once for each statement that writes, without any row. It refuses such a default
    with `INVALID_DEFAULT_VALUE`: `NOT_CONSTANT` for a name, `SUBQUERY_EXPRESSION`, or `NON_DETERMINISTIC`.
    Until `apply` runs nobody notices. A name is often a text whose quotes are YAML's: `default: web` and
    `default: "web"` are the column `web`, `default: "'web'"` is the text.

    ## What to do

    Put a text into quotes of SQL, too. What is computed from other columns is a generated column, numbers
    that count are an identity column (both only in a new table); random values are given by whoever writes.

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
    for path, text in defaults:
        yield from _judged(path, text, ctx)


def _defaults(columns: Struct, parent: Path = ()) -> Iterator[tuple[Path, str]]:
    for path, field in walk_fields(columns, parent):
        if isinstance(field.default, str):
            yield path, field.default


def _judged(path: Path, text: str, ctx: RuleContext) -> Iterator[Problem]:
    """One finding for a default, whatever else is in it."""
    plain = without_quoted(text)
    names = sorted(one for one in columns_used(text) or () if _folded(one) not in _FUNCTIONS)
    if _SUBQUERY.search(plain):
        yield _problem(path, text, "holds a query", "write the value itself", _QUERY)
    elif names:
        yield _problem(path, text, f"uses {format_path(names[0])}", _help(names[0], text, ctx), _NAME)
    elif "->" in plain:
        yield _problem(path, text, "has a lambda function", "write the value itself", _NAME)
    elif call := _RANDOM_CALL.search(plain):
        what = f"calls {call[1]}(), which gives another value each time"
        yield _problem(
            path, text, what, "let whoever writes give the value; an identity column counts", _RANDOM
        )


def _problem(path: Path, text: str, what: str, help_: str, error: str) -> Problem:
    return Problem(
        f"the default of {format_path(path)} {what}, and has to be a constant",
        help=help_,
        path=path,
        part="default",
        new=text,
        delta_error=error,
    )


def _help(names: tuple[str, ...], text: str, ctx: RuleContext) -> str:
    if ctx.after.columns.get(names[0]) is not None:
        return "only a generated column is computed from others, and a table has it from its beginning"
    if text == names[0]:
        return f"a text stands in quotes of SQL, inside of YAML's: default: \"'{text}'\""
    return "a default is a literal, or a call of functions on literals"


def _folded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
