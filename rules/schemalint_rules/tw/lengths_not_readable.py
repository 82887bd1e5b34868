from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TableAdded
from schemalint.delta.datatype import Field
from schemalint.delta.lengths import has_length, unreadable_names
from schemalint.delta.path import format_path
from schemalint.delta.sql_text import always_quoted, name_error
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW013",
    on=(FieldAdded, TableAdded),
    severity=Severity.ERROR,
    live=True,
    delta_errors=("INVALID_IDENTIFIER", "PARSE_SYNTAX_ERROR"),
    verdict="impossible",
)
def lengths_not_readable(change: FieldAdded | TableAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A column contains `char(n)` or `varchar(n)`, and a field name that Spark cannot read without quotes.

    ## What it does

    Finds new columns and fields with a length inside a struct, an array or a map, if a field anywhere in the
    same top-level column has a name with other characters than ASCII letters, digits and `_` (such as
    `straße`, `zip-code` or `order id`), or a name that is a number (`12`, `1e5`, `3d`). The name of the
    top-level column itself can be any.

    ## Why is this bad?

    Delta stores lengths as a text of the whole column (`__CHAR_VARCHAR_TYPE_STRING`), in which Spark does not
    quote names, and reads this text for each statement. `CREATE TABLE` fails with `INVALID_IDENTIFIER` or
    `PARSE_SYNTAX_ERROR`. `ADD COLUMNS` succeeds, and then no statement can read or write the table, until
    the column is dropped. Renaming a field later is fine: the text keeps the old name, since Spark finds
    lengths by position (all measured on Delta 4.4.0).

    ## What to do

    Use only ASCII letters, digits and `_` in the names inside such a column. Or declare `string` in place of
    `char(n)` and `varchar(n)`, with a constraint on the length if it matters. If a live table has such a
    column, drop it.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: address, type: "struct<`zip-code`: varchar(10), city: string>"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: address, type: "struct<zip_code: varchar(10), city: string>"}
    ```
    """
    if isinstance(change, TableAdded):
        for column in change.state.columns.fields:
            yield from _problems(column, is_refused=True)
    elif has_length(change.field.type):
        yield from _problems(ctx.after.columns.get(str(change.path[0])), is_refused=False)


def _problems(column: Field | None, *, is_refused: bool) -> Iterator[Problem]:
    names = unreadable_names(column) if column else ()
    if column is None or not names:
        return
    errors = {name_error(name) for name in names}
    error = "PARSE_SYNTAX_ERROR" if "PARSE_SYNTAX_ERROR" in errors else "INVALID_IDENTIFIER"
    quoted = ", ".join(map(always_quoted, names))
    yield Problem(
        f"{format_path((column.name,))} contains char or varchar beside {quoted}: Spark stores its types as "
        "text without quotes, and cannot read them again",
        help="use only ASCII letters, digits and _ in these names, or string in place of char and varchar",
        path=(column.name,) if is_refused else None,
        delta_error=error if is_refused else None,
        unreadable=is_refused,
    )
