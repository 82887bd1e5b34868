from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Field, Struct, type_at, walk
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("CT006", on=Contract, severity=Severity.ERROR, verdict="impossible")
def contradicting_rename(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A `renamed_from` names a column that this column cannot come from.

    ## What it does

    Finds a `renamed_from`, at any depth,

    - that two columns share;
    - that is the column's own name;
    - that names a column which the table did not have. With `--live`, a column that only the live table has
      may be renamed.

    A `renamed_from` that the base has too is history and may stay; so may one that the table already applied.
    Columns may swap their names, and a change of case alone is a rename. A chain of renames takes one edit
    per rename: each `renamed_from` is the column's name before this edit.

    ## Why is this bad?

    Only `renamed_from` tells schemalint that two names are one column. A wrong value would rename another
    column, or add a new column that looks as if it had data.

    ## What to do

    Correct the name, or remove `renamed_from` if the column is new.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: cust, type: string}
      - {name: customer_ref, type: string, renamed_from: customer}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: customer_ref, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    for path, type_ in walk(contract.state.columns):
        if isinstance(type_, Struct):
            yield from _check_struct(path, type_, ctx)


def _check_struct(path: Path, struct: Struct, ctx: RuleContext) -> Iterator[Problem]:
    claimed: set[str] = set()
    for field in struct.fields:
        if field.renamed_from is None:
            continue
        old = field.renamed_from
        name, old_name = format_path((*path, field.name)), format_path((*path, old))
        if old.lower() in claimed:
            message = f"{name} is renamed from {old_name}, as is another column"
        elif old == field.name:
            message = f"{name} is renamed from its own name"
        elif _contradicts(field, path, ctx):
            message = f"{name} is renamed from {old_name}, which the table did not have"
        else:
            claimed.add(old.lower())
            continue
        yield Problem(
            message,
            help="give the column's name before this edit, or remove `renamed_from` if the column is new",
            path=(*path, field.name),
        )


def _contradicts(field: Field, path: Path, ctx: RuleContext) -> bool:
    """Return whether neither the base nor the live table has the old column or the applied rename."""
    columns, old_name = ctx.contract.state.columns, str(field.renamed_from)
    base = _struct_at(ctx.base.state.columns, columns, path) if ctx.base else None
    live = _struct_at(ctx.before.columns, columns, path) if ctx.live else None
    if ctx.is_new_table:
        return False
    namesake = base.get(field.name) if base else None
    in_base = base and (base.get(old_name) or (namesake and namesake.renamed_from == field.renamed_from))
    in_live = live and (live.get(old_name) or live.get(field.name))
    return not in_base and not in_live


def _struct_at(before: Struct, after: Struct, path: Path) -> Struct | None:
    """Return the old struct at a path of new names; None if the struct is new."""
    old_path: Path = ()
    for length, step in enumerate(path, 1):
        field = _field(after, path[:length])
        is_old = field is not None and field.renamed_from and type_at(before, (*old_path, step)) is None
        old_path = (*old_path, field.renamed_from if field and field.renamed_from and is_old else step)
    type_ = type_at(before, old_path)
    if isinstance(type_, Struct):
        return type_
    return None


def _field(struct: Struct, path: Path) -> Field | None:
    parent, name = type_at(struct, path[:-1]), path[-1]
    if isinstance(parent, Struct) and isinstance(name, str):
        return parent.get(name)
    return None
