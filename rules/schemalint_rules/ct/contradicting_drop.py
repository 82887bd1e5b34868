from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import DeletionListed
from schemalint.delta.datatype import DataType, type_at
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("CT007", on=(Contract, DeletionListed), severity=Severity.ERROR, scope="contract")
def contradicting_drop(fact: Contract | DeletionListed, ctx: RuleContext) -> Iterator[Problem]:
    """A column is listed as dropped in a way that contradicts what is declared or was there.

    ## What it does

    Finds under `dropped`, at any depth,

    - a column that is declared too, without its old type;
    - a column that is to be made anew with the very type that the entry gives as the old one;
    - an entry, new in this edit, whose type the column did not have.

    An entry that the base has too is history, and so is its type.

    ## Why is this bad?

    A name that is both dropped and declared stands for two columns, and only the old one's type tells them
    apart: it says which of the two the table has, before the edit and after it. Without it, or with the wrong
    one, the old column's values would be kept as the new one's, or the new one's be deleted.

    ## What to do

    If the column stays, take it out of `dropped`. If it goes and another one takes its name, give the type
    that it had: `dropped: [{column: status, type: int}]`. If it only gets a wider type, change that alone.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: status, type: int}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: status, type: string}
    dropped: [status]
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: status, type: string}
    dropped: [{column: status, type: int}]
    properties: {delta.columnMapping.mode: name}
    ```
    """
    if isinstance(fact, DeletionListed):
        yield from _listed(fact, ctx)
        return
    for entry in fact.state.dropped:
        path, declared = format_path(entry.path), type_at(fact.state.columns, entry.path)
        if declared is None:
            continue
        if entry.type is None:
            yield Problem(
                f"{path} is dropped and declared",
                help="take it out of `dropped`, or give the old one's type there: `{column: …, type: …}`",
                path=entry.path,
            )
        elif _same(entry.type, declared):
            yield Problem(
                f"{path} is dropped to be made anew with the type that it has, {print_type(declared)}",
                help="take it out of `dropped`",
                path=entry.path,
            )


def _listed(entry: DeletionListed, ctx: RuleContext) -> Iterator[Problem]:
    """What is wrong with the type of an entry that is new in this edit."""
    old = type_at(ctx.before.columns, entry.path)
    if entry.type is not None and old is not None and not _same(entry.type, old):
        given, text = print_type(entry.type), print_type(old)
        yield Problem(
            f"{format_path(entry.path)} is dropped as {given}, and is {text}", help=f"give the type {text}"
        )


def _same(one: DataType, other: DataType) -> bool:
    """Whether two types are written alike: what is not managed does not count."""
    return print_type(one) == print_type(other)
