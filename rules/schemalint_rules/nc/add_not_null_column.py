from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.datatype import Array, Field, Map, Struct, walk
from schemalint.delta.path import Part, Path, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_OPERATION_NOT_ALLOWED"


@rule("NC002", on=FieldAdded, severity=Severity.ERROR, delta_errors=(_ERROR,), verdict="impossible")
def add_not_null_column(change: FieldAdded, _ctx: RuleContext) -> Iterator[Problem]:
    """A new column of an existing table is declared NOT NULL.

    ## What it does

    Finds `nullable: false` in a column that the contract adds to an existing table: on the column itself, or
    on anything inside it.

    ## Why is this bad?

    Existing rows have no value for the new column, and no default fills them: they read as null.
    `ALTER TABLE … ADD COLUMNS` with NOT NULL fails with `DELTA_OPERATION_NOT_ALLOWED`
    ("`NOT NULL in ALTER TABLE ADD COLUMNS` is not supported for Delta tables"), also for a field inside a new
    struct. For array elements and map values SQL does not even have a syntax.

    ## What to do

    Add the column as nullable, backfill it, then add a CHECK constraint: `shop_set: shop IS NOT NULL`. In a
    new table NOT NULL is fine.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string, nullable: false}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
    ```
    """
    help_ = "add it as nullable, backfill it, then add a constraint `… IS NOT NULL`"
    for path, has_syntax in _not_null_paths(change.path, change.field):
        yield Problem(
            f"{format_path(path)} is new in an existing table and cannot be NOT NULL",
            help=help_,
            path=path,
            delta_error=_ERROR if has_syntax else None,
        )


def _not_null_paths(path: Path, field: Field) -> Iterator[tuple[Path, bool]]:
    """Yield each path declared NOT NULL, and whether SQL has a syntax for it."""
    if not field.nullable:
        yield path, True
    for below, type_ in walk(field.type, path):
        match type_:
            case Struct(fields=fields):
                yield from (((*below, inner.name), True) for inner in fields if not inner.nullable)
            case Array(contains_null=False):
                yield (*below, Part.ELEMENT), False
            case Map(value_contains_null=False):
                yield (*below, Part.VALUE), False
