from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, field_at, type_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("CM010", on=Contract, severity=Severity.INFO, delta_errors=("FIELD_ALREADY_EXISTS",))
def undeclared_case_change(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column is spelled in another case than before, and that is not declared as a rename.

    ## What it does

    Finds columns, at any depth, whose name differs from that in the base in nothing but capital and small
    letters, without a `renamed_from`. With it the change is a rename like any other: CM001 asks for column
    mapping. Where the old spelling is still there beside the new one, these are two columns: CM007.

    ## Why is this bad?

    To Delta both spellings are one name, so that nothing has to be done: the table keeps the old one, and the
    contract shows another. `ALTER TABLE … CHANGE COLUMN amount Amount BIGINT` reports success and does
    nothing, and a rename to the other spelling fails with `FIELD_ALREADY_EXISTS`.

    ## What to do

    Keep the old spelling. If the table is to have the new one, declare it: `renamed_from: amount`; it then
    takes two renames, through a name in between.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: double}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: Amount, type: double}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: double}
    ```
    """
    if ctx.base is None:
        return
    for path, field in walk_fields(contract.state.columns):
        before = field_at(ctx.base.state.columns, path)
        if before is None or before.name in {field.name, field.renamed_from}:
            continue
        if before.name not in _siblings(path, contract):
            yield Problem(
                f"{format_path(path)} was {before.name} before: to the table the case makes no difference",
                help=f"put the old spelling back, or declare the rename: `renamed_from: {before.name}`",
                path=path,
            )


def _siblings(path: Path, contract: Contract) -> set[str]:
    parent = type_at(contract.state.columns, path[:-1])
    return {field.name for field in parent.fields} if isinstance(parent, Struct) else set()
