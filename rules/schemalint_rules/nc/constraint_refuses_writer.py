from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ConstraintChanged
from schemalint.delta.conditions import refused_nulls
from schemalint.delta.datatype import Unmanaged, field_at
from schemalint.delta.path import Path, format_path, is_within, path_key
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"


@rule("NC028", on=ConstraintChanged, severity=Severity.WARNING, scope="effect", delta_errors=(_ERROR,))
def constraint_refuses_writer(change: ConstraintChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A new CHECK constraint is false for the rows of a declared writer, which does not write its column.

    ## What it does

    Finds a constraint that comes or changes and is not true where a column is null, and a consumer with
    `access: write` whose `columns` do not have this column. A column with a default is none that the writer
    has to know. The rule reads the same conditions as NC027.

    ## Why is this bad?

    Rows without a value for a column have null there, and not true of null is a violation, unlike in standard
    SQL. From the `apply` on, each write of this consumer fails with `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES`.
    A column that is [filled from another one](../how-to/migrate-a-column.md) is the usual case: the writers
    write the old column until they are changed.

    ## What to do

    Let the writer write the column first, and name it under its `columns`, in a change before this one. Or
    let the constraint be true of null: `number IS NULL OR number > 0`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    consumers: [{name: loader, owner: "@etl", access: write, columns: [code]}]
    protocol: {allow_upgrade: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    constraints: {positive: number > 0}
    consumers: [{name: loader, owner: "@etl", access: write, columns: [code]}]
    protocol: {allow_upgrade: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    constraints: {positive: number IS NULL OR number > 0}
    consumers: [{name: loader, owner: "@etl", access: write, columns: [code]}]
    protocol: {allow_upgrade: true}
    ```
    """
    if not isinstance(change.new, str):
        return
    before = refused_nulls(change.old) if isinstance(change.old, str) else frozenset()
    refused = [names for names in sorted(refused_nulls(change.new) - before) if not _has_default(names, ctx)]
    for consumer in ctx.consumers:
        written = [path_key(path) for path in consumer.columns]
        if consumer.access != "write" or not written:
            continue
        missing = next((names for names in refused if not _is_written(path_key(names), written)), None)
        if missing is not None:
            column, who = format_path(missing), consumer.described
            yield Problem(
                f"the constraint {change.name} refuses what {who} writes: its rows have no {column}",
                help=f"let it write {column} first, or begin with `{column} IS NULL OR`",
                object=ObjectRef("constraint", change.name),
                delta_error=_ERROR,
            )


def _has_default(path: Path, ctx: RuleContext) -> bool:
    """Whether a row without a value has another one than null; Delta knows defaults of whole columns."""
    field = field_at(ctx.after.columns, path[:1])
    values = (field.default, field.generated, field.identity) if field is not None else ()
    return any(value is not None and not isinstance(value, Unmanaged) for value in values)


def _is_written(name: tuple[str, ...], written: list[tuple[str, ...]]) -> bool:
    return any(is_within(name, path) or is_within(path, name) for path in written)
