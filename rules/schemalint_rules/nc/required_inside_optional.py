from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, field_at, type_at
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"


@rule("NC024", on=Contract, severity=Severity.WARNING, live=True, delta_errors=(_ERROR,))
def required_inside_optional(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A field is NOT NULL inside a struct that may be null, and Delta then refuses the null struct too.

    ## What it does

    Finds structs outside of arrays and maps that may be null and contain, at any depth, a field that is NOT
    NULL. NC002 reports such a field that is added to a table, NC001 one that becomes NOT NULL, and NC003 one
    inside an array or a map, where Delta checks nothing.

    ## Why is this bad?

    The schema says that the struct may be null, and Delta checks the field for each row all the same: in a
    row without the struct the field is null. So every write that leaves the struct out, or sets it to null,
    fails with `DELTA_NOT_NULL_CONSTRAINT_VIOLATED`. Writers that read the schema, and programs that generate
    rows from it, expect that such rows are allowed; other clients than Spark may write them (measured on
    Delta 4.4.0).

    ## What to do

    If each row has the struct, make the struct NOT NULL as well. If not, let the field be null, and check it
    where the struct exists: `constraints: {street_set: shipping IS NULL OR shipping.street IS NOT NULL}`. In
    an existing table NOT NULL can only be taken away (`nullable: true`).

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shipping, type: "struct<street: string not null, zip: string>"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shipping, type: "struct<street: string not null, zip: string>", nullable: false}
    ```
    """
    for path, required in _optional_structs(ctx.after.columns, ()):
        is_declared = field_at(contract.state.columns, required) is not None
        if not is_declared or _is_reported_as_change(required, ctx):
            continue
        name, field = format_path(path), format_path(required)
        yield Problem(
            f"{field} is NOT NULL inside {name}, which may be null: Delta refuses a row without {name}",
            help=f"make {name} NOT NULL in a new table, or let {field} be null and check it by a constraint",
            path=required,
            delta_error=_ERROR,
        )


def _optional_structs(struct: Struct, path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each outermost struct that may be null, with the first NOT NULL field inside it."""
    for field in struct.fields:
        if not isinstance(field.type, Struct):
            continue
        here = (*path, field.name)
        if not field.nullable:
            yield from _optional_structs(field.type, here)
        elif required := next(_required(field.type, here), None):
            yield here, required


def _required(struct: Struct, path: Path) -> Iterator[Path]:
    for field in struct.fields:
        here = (*path, field.name)
        if not field.nullable:
            yield here
        if isinstance(field.type, Struct):
            yield from _required(field.type, here)


def _is_reported_as_change(path: Path, ctx: RuleContext) -> bool:
    """Return whether another rule reports that the field becomes NOT NULL, or is added so."""
    if ctx.is_new_table or type_at(ctx.before.columns, path[:1]) is None:
        return not ctx.is_new_table
    before = field_at(ctx.before.columns, path)
    return before is None or bool(before.nullable)
