from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import DataType, field_at
from schemalint.delta.diff import newly_listed
from schemalint.delta.patch import update_field
from schemalint.delta.path import Path, format_path, lowercased, path_key
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.plugin import Problem, RuleContext, Severity, replace, rule

_MOST_NAMES = 3


@rule("CM003", on=FieldRemoved, severity=Severity.ERROR)
def undeclared_drop(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column disappears from the contract without a declared rename or drop.

    ## What it does

    Finds a column of the base, at any depth, that the contract neither declares, nor renames, nor lists under
    `dropped`. An entry that the base has too is that of an earlier column of this name.

    ## Why is this bad?

    Two lists of columns do not show whether a column was renamed, or dropped and another one added. A rename
    keeps the data, a drop deletes it. So schemalint never drops a column on such evidence: `apply` would
    leave the column in the table, and the contract would no longer describe it. Delta itself has no error for
    this; with column mapping it runs either statement without asking.

    ## What to do

    - For a rename, put `renamed_from` on the column with the new name.
    - For a drop, list the column under `dropped`.
    - To retire the column but keep it in the table, keep the line, with `deprecated`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer_ref, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer_ref, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    path = format_path(change.path)
    if path_key(change.path) in ctx.contract.state.dropped_by_key:
        if _was_listed_for_another(change.path, ctx):
            entry = ctx.wording.entry([("column", path), ("type", print_type(change.field.type))])
            yield Problem(
                f"{path} is gone from the contract, and its entry under `dropped` is of an earlier column",
                help=f"to drop it, add `{entry}` to `dropped`",
            )
        return
    candidates = _candidates(change, ctx)
    names = " or ".join(format_path((name,)) for name in candidates[:_MOST_NAMES])
    names += f" or one of {len(candidates) - _MOST_NAMES:,} others" if len(candidates) > _MOST_NAMES else ""
    renamed = (
        f"if it is {names} now, {ctx.wording.renaming(change.field.name, candidates[0])}; " if names else ""
    )
    yield Problem(
        f"{path} is gone from the {ctx.wording.file}, {ctx.wording.neither}",
        help=f"{renamed}to drop it, {ctx.wording.dropping(path)}; if no table ever had it, approve this",
        remedy=partial(_remedy, change, candidates, ctx.contract.state),
    )


def _candidates(change: FieldRemoved, ctx: RuleContext) -> tuple[str, ...]:
    """Return the new fields beside a removed one that may be it, renamed: of its type, then of wider ones."""
    old, new = change.field.type, ctx.new_siblings.get(lowercased(change.path[:-1]), {})
    same = new.get(print_type(old), ())
    wider = (
        fields for fields in new.values() if fields != same and _widens(old, fields[0].type, change.path)
    )
    return tuple(field.name for field in chain(same, *wider))


def _widens(old: DataType, new: DataType, path: Path) -> bool:
    return step(old, new, nested=len(path) > 1) in (TypeStep.WIDENING, TypeStep.FREE)


def _was_listed_for_another(path: Path, ctx: RuleContext) -> bool:
    """Return whether the base lists the column with another type already, and declares it as it is now."""
    base, declared, key = ctx.base, ctx.contract.state, path_key(path)
    listed = base.state.dropped_by_key.get(key, ()) if base else ()
    if base is None or not listed or any(entry.type is None for entry in listed):
        return False  # an entry without a type contradicts the column, and no revision with both is applied
    again = {path_key(entry.path) for entry in newly_listed(base.state, declared)}
    is_left_out = bool(field_at(base.state.columns, path)) and not field_at(declared.columns, path)
    return is_left_out and key not in again


def _remedy(change: FieldRemoved, candidates: Sequence[str], declared: TableState) -> TableState:
    """Return the declared state with the rename, else with the drop."""
    if not candidates:
        return replace(declared, dropped=(*declared.dropped, Deletion(change.path)))
    path = (*change.path[:-1], candidates[0])
    columns = update_field(
        declared.columns, path, lambda field: replace(field, renamed_from=change.field.name)
    )
    return replace(declared, columns=columns)
