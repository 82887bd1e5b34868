from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("CM003", on=FieldRemoved, severity=Severity.ERROR)
def undeclared_drop(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column is gone from the contract, and nothing says what becomes of it.

    ## What it does

    Finds a column of the base, at any depth, that the contract neither declares, nor renames, nor lists
    under `dropped`.

    ## Why is this bad?

    From two lists of columns nobody can tell a rename from a drop and an addition, and the one keeps the data
    that the other deletes. So schemalint never drops on such evidence: `apply` would leave the column in the
    table, and the contract would no longer describe it. Delta itself has no error for this; with column
    mapping it carries out either without a question.

    ## What to do

    - Renamed: put `renamed_from` on the column with the new name.
    - Meant to go: list it under `dropped`.
    - Not to be used any more, but to stay: keep it, with `deprecated`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer_ref, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer_ref, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    path = format_path(change.path)
    listed = {format_path(entry.path).lower() for entry in ctx.contract.state.dropped}
    if path.lower() in listed:
        return
    names = " or ".join(_new_of_same_type(change, ctx))
    renamed = f"if it is {names} now, put `renamed_from: {change.field.name}` there; " if names else ""
    yield Problem(
        f"{path} is gone, neither renamed nor listed as dropped",
        help=f"{renamed}if it may go, list it: `dropped: [{path}]`",
    )


def _new_of_same_type(change: FieldRemoved, ctx: RuleContext) -> list[str]:
    """The siblings that are new and could be the column under another name."""
    before = type_at(ctx.before.columns, change.path[:-1])
    now = type_at(ctx.contract.state.columns, change.path[:-1])
    if not isinstance(before, Struct) or not isinstance(now, Struct):
        return []
    gone = print_type(change.field.type)
    return [
        format_path((one.name,))
        for one in now.fields
        if before.get(one.name) is None and one.renamed_from is None and print_type(one.type) == gone
    ]
