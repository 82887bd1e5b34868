from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.change import DescriptionChanged
from schemalint.delta.datatype import UNMANAGED, Field, Managed, field_at
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import (
    APPLIES_TO,
    EXCEPT,
    LEVELS,
    judged_columns,
    judges_all,
    last_part,
    says_nothing,
)

_OF: Final = option.optional(
    "of", "what needs a comment: `table`, `column`", option.Demanded(("table", "column"))
)


@rule(
    "PO003",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_OF, LEVELS, EXCEPT, APPLIES_TO),
)
def comment_missing(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table or a column has no comment, or one that only repeats its name.

    ## What it does

    Finds what `of` lists without a comment (the `comment` of a column, the `description` of a table), with
    one of spaces, and with one that says no more than the name: `Order ID` for `order_id`. With a live
    table, a comment that it has and the contract does not declare counts. Of a declaration whose format has
    no comments, nothing is found.

    ## Options

    - `of`: `table`, `column` or both. Without it the rule is silent.
    - `levels`: `all` (default), or `top` for columns alone.
    - `except`: patterns of columns that need no comment, with all inside of them; a list of yours replaces
      the [default](../policies.md#options-that-several-rules-have).
    - `applies_to`: `changed` (default) for what is new, and where the comment changes; `all` for
      everything.

    ## Why is this bad?

    Delta asks for none. Six months later nobody knows whether `amount` has taxes in it, and in which
    currency it is.

    ## What to do

    Write what the name does not say: the unit, the source, who fills it, what null means.

    ## Example

    ```toml title="configuration"
    [options.PO003]
    of = ["table", "column"]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, comment: Order ID}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    description: One row for each order of the web shop, from the first click on.
    columns:
      - {name: order_id, type: bigint, comment: As the shop prints it on the invoice.}
    ```
    """
    wanted = ctx.value_of(_OF) or ()
    if "table" in wanted and (contract.says("description") or ctx.live):
        yield from _of_table(contract, ctx)
    if "column" in wanted and (contract.says("comment") or ctx.live):
        for path, field in judged_columns(contract, ctx, ctx.edit.recomments):
            comment = _comment(path, field, ctx)
            if says_nothing(comment, field.name):
                yield _problem(f"column {format_path(path)}", comment, path)


def _of_table(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    if not judges_all(ctx) and not ctx.edit.has(DescriptionChanged):
        return
    comment = contract.state.description
    if comment is UNMANAGED:
        comment = ctx.after.description
    if says_nothing(comment, last_part(contract.table)):
        yield _problem("the table", comment)


def _comment(path: Path, field: Field, ctx: RuleContext) -> Managed[str | None]:
    if field.comment is not UNMANAGED or ctx.live is None:
        return field.comment
    live = field_at(ctx.after.columns, path)
    return None if live is None else live.comment


def _problem(what: str, comment: Managed[str | None], path: Path | None = None) -> Problem:
    text = comment if isinstance(comment, str) and comment.strip() else None
    if text is None:
        return Problem(f"{what} has no comment", help="write what its name does not say", path=path)
    return Problem(
        f"the comment of {what} only repeats its name",
        help="write what its name does not say",
        path=path,
        new=text,
    )
