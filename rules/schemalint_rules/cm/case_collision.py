from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, field_at, type_at, walk
from schemalint.delta.live_effect import way_back
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
    verdict="impossible",
)
def case_collision(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """Two columns of one level have names that differ only in case.

    ## What it does

    Compares the column names, and the field names within each struct, ignoring case. A column whose case
    alone changes is still the same column; `renamed_from` declares its new spelling.

    ## Why is this bad?

    "Column names must be unique regardless of casing" (PROTOCOL.md, "Schema Serialization Format"), even with
    column mapping. `CREATE TABLE` fails with `COLUMN_ALREADY_EXISTS`, `ALTER TABLE … ADD COLUMNS` with
    `FIELD_ALREADY_EXISTS`, `COLUMN_ALREADY_EXISTS` or `DELTA_DUPLICATE_COLUMNS_FOUND`. If another writer
    creates a table with such names, Delta Spark neither reads nor alters it.

    ## What to do

    Choose another name for one of the two columns.

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
    for path, other in _collisions(fact.state.columns):
        if isinstance(fact, LiveTable):
            contract, help_ = None, way_back(fact, "Spark cannot read it as it is")
            error = "DELTA_DUPLICATE_COLUMNS_FOUND.EXISTING_SCHEMA"
        else:
            contract, help_ = fact, "choose another name for one of the two, or remove one"
            error = _refusal(path, ctx)
        yield Problem(
            _message(path, other, contract),
            help=help_,
            path=path,
            part="repeated",
            delta_error=error,
            unreadable=contract is None,
        )


def _message(path: Path, other: Path, contract: Contract | None) -> str:
    first = contract.anchors.get(("column", other)) if contract else None
    if path == other:
        return f"{format_path(path)} is declared twice" + (f": first in line {first.line}" if first else "")
    line = f" (line {first.line})" if first else ""
    return f"{format_path(path)} and {format_path(other)}{line} are one name for Delta, which ignores case"


def _collisions(columns: Struct) -> Iterator[tuple[Path, Path]]:
    """Yield each field that repeats a name, and the first field of that name."""
    for path, type_ in walk(columns):
        if not isinstance(type_, Struct) or type_.has_unique_names:
            continue
        first: dict[str, str] = {}
        for field in type_.fields:
            name = field.name.lower()
            if name in first:
                yield (*path, field.name), (*path, first[name])
            first.setdefault(name, field.name)


def _refusal(path: Path, ctx: RuleContext) -> str:
    """Return the error class: Spark checks the columns of a statement, Delta the fields inside one."""
    if ctx.is_new_table:
        return "COLUMN_ALREADY_EXISTS"
    if field_at(ctx.before.columns, path) or _is_renamed(path, ctx):
        return "FIELD_ALREADY_EXISTS"
    if type_at(ctx.before.columns, path[:-1]) is None:
        return "DELTA_DUPLICATE_COLUMNS_FOUND.ADDING_COLUMNS"
    return "COLUMN_ALREADY_EXISTS"


def _is_renamed(path: Path, ctx: RuleContext) -> bool:
    """Return whether a column gets the name by a rename, which is a separate statement."""
    parent = type_at(ctx.contract.state.columns, path[:-1])
    return isinstance(parent, Struct) and str(path[-1]).lower() in parent.renamed
