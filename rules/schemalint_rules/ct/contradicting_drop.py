from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import DeletionListed
from schemalint.delta.datatype import DataType, type_at
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("CT007", on=(Contract, DeletionListed), severity=Severity.ERROR, scope="contract", verdict="impossible")
def contradicting_drop(fact: Contract | DeletionListed, ctx: RuleContext) -> Iterator[Problem]:
    """An entry of `dropped` contradicts the declared columns, or the columns of the table.

    ## What it does

    Finds under `dropped`, at any depth,

    - a column that is also declared, without its old type;
    - a column that is also declared, with the same type that the entry gives as the old one;
    - an entry, new in this edit, with a type that the column did not have.

    An entry that the base has too is history, and so is its type.

    ## Why is this bad?

    A name that is both dropped and declared stands for two columns, and only the old column's type tells them
    apart: it shows which of the two the table has, before and after the edit. With a missing or wrong type,
    schemalint would keep the old column's values as those of the new column, or delete the new column's
    values.

    ## What to do

    To keep the column, remove it from `dropped`. To replace it with another column of the same name, give its
    old type: `dropped: [{column: status, type: int}]`. To widen its type, change the type only.

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
        yield from _check_entry(fact, ctx)
        return
    for entry in fact.state.dropped:
        path, declared = format_path(entry.path), type_at(fact.state.columns, entry.path)
        if declared is None:
            continue
        if entry.type is None:
            yield Problem(
                f"{path} is dropped and declared",
                help=f"take it out of `dropped` first{_older(entry.path, ctx)}",
                path=entry.path,
            )
        elif _is_same(entry.type, declared):
            yield Problem(
                f"{path} is dropped and declared with the same type, {print_type(declared)}",
                help="take it out of `dropped` first",
                path=entry.path,
            )


def _older(path: Path, ctx: RuleContext) -> str:
    """Return how the entry can stay: it is about a column of the same name, with the type of that one."""
    old = type_at(ctx.base.state.columns, path) if ctx.base is not None else None
    if old is None:
        return "; if an older column of that name is to go too, give its type there: `{column: …, type: …}`"
    entry = ctx.wording.entry([("column", format_path(path)), ("type", print_type(old))])
    return f", or give the type of the column that goes: `{entry}`"


def _check_entry(entry: DeletionListed, ctx: RuleContext) -> Iterator[Problem]:
    """Compare the type of a new entry with the type that the column had."""
    old = type_at(ctx.before.columns, entry.path)
    if entry.type is not None and old is not None and not _is_same(entry.type, old):
        given, text = print_type(entry.type), print_type(old)
        yield Problem(
            f"{format_path(entry.path)} is dropped as {given}, but its type is {text}",
            help=f"give the type {text}",
        )


def _is_same(left: DataType, right: DataType) -> bool:
    """Return whether two types have the same text; unmanaged attributes do not count."""
    return print_type(left) == print_type(right)
