from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import (
    Contract,
    Path,
    Problem,
    RuleContext,
    Severity,
    Struct,
    at,
    dotted,
    field_at,
    rule,
    walk,
)


@rule(
    "CM007",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "COLUMN_ALREADY_EXISTS",
        "DELTA_DUPLICATE_COLUMNS_FOUND.ADDING_COLUMNS",
        "FIELD_ALREADY_EXISTS",
    ),
)
def case_collision(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """Two columns of one level have the same name but for its case.

    ## What it does

    Compares the names within each struct, and those of the columns, ignoring case. A column whose case alone
    changes is still the same column; the new spelling is declared by `renamed_from`.

    ## Why is this bad?

    "Column names must be unique regardless of casing" (PROTOCOL.md, "Schema Serialization Format"), with
    column mapping too. `CREATE TABLE` fails with `COLUMN_ALREADY_EXISTS`, `ALTER TABLE … ADD COLUMNS` with
    `FIELD_ALREADY_EXISTS`, `COLUMN_ALREADY_EXISTS` or `DELTA_DUPLICATE_COLUMNS_FOUND`. Tables that
    other writers made with such names cannot be read without ambiguity.

    ## What to do

    Give one of the two another name.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: Order_ID, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: order_number, type: string}
    ```
    """
    for path, type_ in walk(contract.state.columns):
        if not isinstance(type_, Struct):
            continue
        first: dict[str, str] = {}
        for field in type_.fields:
            other = first.get(field.name.lower())
            first.setdefault(field.name.lower(), field.name)
            if other is not None:
                yield Problem(
                    f"{dotted((*path, field.name))} has the same name as {dotted((*path, other))} for Delta",
                    help="give one of the two another name",
                    path=(*path, field.name),
                    delta_error=_refusal((*path, field.name), ctx),
                )


def _refusal(path: Path, ctx: RuleContext) -> str:
    """Spark looks at the columns of a statement, Delta at what is added inside of one."""
    if ctx.is_new_table:
        return "COLUMN_ALREADY_EXISTS"
    if field_at(ctx.before.columns, path):
        return "FIELD_ALREADY_EXISTS"
    if at(ctx.before.columns, path[:-1]) is None:
        return "DELTA_DUPLICATE_COLUMNS_FOUND.ADDING_COLUMNS"
    return "COLUMN_ALREADY_EXISTS"
