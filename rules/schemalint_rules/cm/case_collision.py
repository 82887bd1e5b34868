from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, field_at, type_at, walk
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule(
    "CM007",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(
        "COLUMN_ALREADY_EXISTS",
        "DELTA_DUPLICATE_COLUMNS_FOUND.ADDING_COLUMNS",
        "DELTA_DUPLICATE_COLUMNS_FOUND.EXISTING_SCHEMA",
        "FIELD_ALREADY_EXISTS",
    ),
)
def case_collision(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """Two columns of one level have the same name but for its case.

    ## What it does

    Compares the names within each struct, and those of the columns, ignoring case. A column whose case alone
    changes is still the same column; the new spelling is declared by `renamed_from`.

    ## Why is this bad?

    "Column names must be unique regardless of casing" (PROTOCOL.md, "Schema Serialization Format"), with
    column mapping too. `CREATE TABLE` fails with `COLUMN_ALREADY_EXISTS`, `ALTER TABLE … ADD COLUMNS` with
    `FIELD_ALREADY_EXISTS`, `COLUMN_ALREADY_EXISTS` or `DELTA_DUPLICATE_COLUMNS_FOUND`. A table
    that another writer made with such names Delta Spark neither reads nor alters.

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
    is_live = isinstance(fact, LiveTable)
    for path, other in _collisions(fact.state.columns):
        yield Problem(
            f"{format_path(path)} has the same name as {format_path(other)} for Delta",
            help="give one of the two another name"
            if not is_live
            else "restore the version before: RESTORE still works",
            path=path,
            delta_error="DELTA_DUPLICATE_COLUMNS_FOUND.EXISTING_SCHEMA" if is_live else _refusal(path, ctx),
        )


def _collisions(columns: Struct) -> Iterator[tuple[Path, Path]]:
    """Each field that comes too late, and the first one of its name."""
    for path, type_ in walk(columns):
        first: dict[str, str] = {}
        for field in type_.fields if isinstance(type_, Struct) else ():
            name = field.name.lower()
            if name in first:
                yield (*path, field.name), (*path, first[name])
            first.setdefault(name, field.name)


def _refusal(path: Path, ctx: RuleContext) -> str:
    """Spark looks at the columns of a statement, Delta at what is added inside of one."""
    if ctx.is_new_table:
        return "COLUMN_ALREADY_EXISTS"
    if field_at(ctx.before.columns, path) or _is_a_new_name(path, ctx):
        return "FIELD_ALREADY_EXISTS"
    if type_at(ctx.before.columns, path[:-1]) is None:
        return "DELTA_DUPLICATE_COLUMNS_FOUND.ADDING_COLUMNS"
    return "COLUMN_ALREADY_EXISTS"


def _is_a_new_name(path: Path, ctx: RuleContext) -> bool:
    """Whether a column gets the name by a rename, which is a statement of its own."""
    parent = type_at(ctx.contract.state.columns, path[:-1])
    fields = parent.fields if isinstance(parent, Struct) else ()
    return any(one.renamed_from for one in fields if one.name.lower() == str(path[-1]).lower())
