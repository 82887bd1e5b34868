from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TableAdded
from schemalint.delta.datatype import Array, Map, Struct, walk
from schemalint.delta.path import Part, Path, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_NESTED_NOT_NULL_CONSTRAINT"


@rule(
    "NC003", on=TableAdded, severity=Severity.ERROR, delta_errors=(_ERROR,), live=True, verdict="impossible"
)
def nested_not_null_unenforceable(added: TableAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A new table forbids nulls inside an array or a map.

    ## What it does

    Finds `nullable: false` inside an array or a map of a new table: on a field of a struct in it, on the
    elements, on the values. A column that is itself an array may be NOT NULL, and so may the fields of a
    struct outside any collection.

    For an existing table, NC001 and NC002 report it.

    ## Why is this bad?

    Delta checks NOT NULL on columns and on fields of structs, but does not look into arrays and maps.
    `CREATE TABLE` with such a field fails with `DELTA_NESTED_NOT_NULL_CONSTRAINT`. For elements and values
    without nulls SQL has no syntax, so `apply` cannot create the table. They are only a warning if
    `managed_by` assigns the table to another tool, because a program can create such a table.

    ## What to do

    Leave it nullable. A CHECK constraint can check the content of an array:
    `tags_set: size(array_compact(tags)) = size(tags)`.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: lines, type: "array<struct<sku: string not null, qty: int>>"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: lines, type: "array<struct<sku: string, qty: int>>"}
    ```
    """
    by_program = Severity.ERROR if ctx.contract.managed_by == "schemalint" else Severity.WARNING
    for path in _not_null_paths(added.state.columns):
        is_field = not isinstance(path[-1], Part)
        if ctx.live and not is_field:  # programs write such tables
            continue
        why = "is declared without nulls, but CREATE TABLE has no syntax for that"
        if is_field:
            why = "is inside an array or a map, where Delta cannot enforce NOT NULL"
        yield Problem(
            f"{format_path(path)} {why}",
            help="leave it nullable; a CHECK constraint can check the content of an array",
            severity=Severity.ERROR if is_field else by_program,
            path=path,
            delta_error=_ERROR if is_field else None,
        )


def _not_null_paths(columns: Struct) -> Iterator[Path]:
    """Yield the paths inside collections that forbid nulls."""
    for below, type_ in walk(columns):
        match type_:
            case Struct(fields=fields) if any(isinstance(part, Part) for part in below):
                yield from ((*below, inner.name) for inner in fields if not inner.nullable)
            case Array(contains_null=False):
                yield (*below, Part.ELEMENT)
            case Map(value_contains_null=False):
                yield (*below, Part.VALUE)
