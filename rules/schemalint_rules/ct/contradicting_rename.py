from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Field, Struct, type_at, walk
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("CT006", on=Contract, severity=Severity.ERROR)
def contradicting_rename(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column claims to be renamed from one that it cannot come from.

    ## What it does

    Finds a `renamed_from`, at any depth,

    - that two columns have in common;
    - that is the column's own name;
    - that names a column which the table did not have.

    A `renamed_from` that the base has too is history and may stay; so may one that the table has carried out
    already. Columns may swap their names, and a change of case alone is a rename. Chains are made one edit at
    a time: each `renamed_from` is the name that the column had before this edit.

    ## Why is this bad?

    From `renamed_from` alone schemalint knows that two names are one column. If it were wrong, another column
    would be renamed, or a new one added that looks as if it had data.

    ## What to do

    Correct the name, or take `renamed_from` away, if the column is a new one.

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
            yield from _struct(path, type_, ctx)


def _struct(path: Path, struct: Struct, ctx: RuleContext) -> Iterator[Problem]:
    claimed: set[str] = set()
    for field in struct.fields:
        if field.renamed_from is None:
            continue
        old = field.renamed_from
        name, was = format_path((*path, field.name)), format_path((*path, old))
        if old.lower() in claimed:
            what = f"{name} is not the first column that is renamed from {was}"
        elif old == field.name:
            what = f"{name} is renamed from its own name"
        elif _contradicts(field, path, ctx):
            what = f"{name} is renamed from {was}, which the table did not have"
        else:
            claimed.add(old.lower())
            continue
        yield Problem(
            what,
            help="name the column that it was before this edit, or leave `renamed_from` out if it is new",
            path=(*path, field.name),
        )


def _contradicts(field: Field, path: Path, ctx: RuleContext) -> bool:
    """Whether neither the base nor the live table knows the old column, or the rename as made already."""
    now, old = ctx.contract.state.columns, str(field.renamed_from)
    base = _struct_at(ctx.base.state.columns, now, path) if ctx.base else None
    live = _struct_at(ctx.before.columns, now, path) if ctx.live else None
    if base is None and live is None:
        return False
    known = base.get(field.name) if base else None
    in_base = base and (base.get(old) or (known and known.renamed_from == field.renamed_from))
    in_live = live and (live.get(old) or live.get(field.name))
    return not in_base and not in_live


def _struct_at(before: Struct, now: Struct, path: Path) -> Struct | None:
    """A struct of the new names among the old ones; None if it is new."""
    old_path: Path = ()
    for length, step in enumerate(path, 1):
        field = _field(now, path[:length])
        is_old = field is not None and field.renamed_from and type_at(before, (*old_path, step)) is None
        old_path = (*old_path, field.renamed_from if field and field.renamed_from and is_old else step)
    found = type_at(before, old_path)
    return found if isinstance(found, Struct) else None


def _field(struct: Struct, path: Path) -> Field | None:
    parent, name = type_at(struct, path[:-1]), path[-1]
    return parent.get(name) if isinstance(parent, Struct) and isinstance(name, str) else None
