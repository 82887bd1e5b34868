from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, field_at, type_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("CM010", on=Contract, severity=Severity.INFO, delta_errors=("FIELD_ALREADY_EXISTS",))
def undeclared_case_change(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column name changes only in case, and the contract does not declare a rename.

    ## What it does

    Finds columns, at any depth, whose name differs from the name in the base only in case, without a
    `renamed_from`. With `renamed_from` the change is a rename like any other: CM001 asks for column mapping.
    If the contract still has the old spelling as well, there are two columns: CM007 reports them.

    ## Why is this bad?

    Delta treats both spellings as one name, so nothing changes: the table keeps the old spelling, and the
    contract shows another. `ALTER TABLE … CHANGE COLUMN amount Amount BIGINT` reports success and does
    nothing, and a rename to the other spelling fails with `FIELD_ALREADY_EXISTS`.

    ## What to do

    Keep the old spelling. To give the table the new one, declare it: `renamed_from: amount`; `apply` then
    needs two renames, through a temporary name.

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
    base_paths = {path for path, _field in walk_fields(ctx.base.state.columns)}
    for path, field in walk_fields(contract.state.columns):
        if path in base_paths:
            continue
        before = field_at(ctx.base.state.columns, path)
        if before is None or before.name in {field.name, field.renamed_from}:
            continue
        if not _has_spelling(contract, path, before.name):
            yield Problem(
                f"{format_path(path)} was {before.name} before: Delta ignores case and keeps the old name",
                help=ctx.wording.either(
                    "restore the old spelling",
                    ctx.wording.declare_rename.format(old=before.name, new=field.name),
                ),
                path=path,
            )


def _has_spelling(contract: Contract, path: Path, name: str) -> bool:
    """Return whether the struct around a path has a field with exactly this name."""
    parent = type_at(contract.state.columns, path[:-1])
    return isinstance(parent, Struct) and name in parent.names
