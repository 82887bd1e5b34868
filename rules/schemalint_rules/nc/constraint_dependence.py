from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.datatype import type_at
from schemalint.delta.expressions import columns_used, uses
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"

_Change = TypeChanged | FieldRenamed | FieldRemoved


@rule(
    "NC005",
    on=(TypeChanged, FieldRenamed, FieldRemoved),
    severity=Severity.INFO,
    delta_errors=(_ERROR,),
)
def constraint_dependence(change: _Change, ctx: RuleContext) -> Iterator[Problem]:
    """A column that a CHECK constraint uses changes its type, gets another name or is dropped.

    ## What it does

    Reads the constraints that the table has, and finds a widening, a rename or a drop of a column that one of
    them uses: the column itself, something inside it, or something that it is inside of. It is

    - an error if the constraint would not survive: it would still name the column, which is gone;
    - an error if the contract does not declare the constraint: nothing may take it off then;
    - a warning if the constraint cannot be read, so that it is not known which columns it uses;
    - else an information: the constraint has to be taken off for the change and put on again after it, which
      reads the whole table once.

    A constraint that the contract removes (`name: null`) is in nobody's way. A change that is not possible
    for another reason is left to the rule for that: TW for types, CM001, CM002 and CM003 for names. A change
    of place, comment or nullability, and a `varchar` that grows, touch no constraint.

    ## Why is this bad?

    Delta refuses to alter a column under a constraint, with `DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE`
    ("Cannot alter column amount because this column is referenced by the following check constraint(s)").
    Between taking a constraint off and putting it on, writers are not checked.

    ## What to do

    Declare the constraint under `constraints`, in the words that are right after the change, or remove it
    there with `null`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
      - {name: shop, type: string}
    constraints: {amount_positive: amount > 0}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: total, type: int, renamed_from: amount}
      - {name: shop, type: string}
    constraints: {amount_positive: amount > 0}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: total, type: int, renamed_from: amount}
      - {name: shop, type: string}
    constraints: {amount_positive: total > 0}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    if not ctx.alters(change):
        return
    path = (*change.path[:-1], change.old_name) if isinstance(change, FieldRenamed) else change.path
    declared = ctx.contract.state.constraints
    read = {
        name: uses(text, path)
        for name, text in sorted(ctx.before.constraints.items())
        if text is not None and declared.get(name, "") is not None
    }
    using = [name for name, used in read.items() if used]
    unread = [name for name, used in read.items() if used is None]
    left = [name for name in using if _names_what_is_gone(declared.get(name) or "", path, ctx)]
    undeclared = [name for name in using if name not in declared]
    column = format_path(path)
    if left:
        yield Problem(
            f"{column} will be gone, and {_listed(left)} would still use it",
            help="declare the constraint in its new words, or remove it (`name: null`)",
            severity=Severity.ERROR,
            delta_error=_ERROR,
        )
    elif undeclared:
        yield Problem(
            f"{column} changes, and {_listed(undeclared)}, which the contract does not declare, uses it",
            help="declare the constraint under `constraints`, or remove it there (`name: null`)",
            severity=Severity.ERROR,
            delta_error=_ERROR,
        )
    elif unread:
        yield Problem(
            f"{_listed(unread)} cannot be read: it is not known which columns it uses, and {column} changes",
            help=f"if it uses {column}, Delta refuses the change ({_ERROR}) until the constraint is off",
            severity=Severity.WARNING,
        )
    elif using:
        yield Problem(
            f"{column} changes under {_listed(using)}, to be taken off before and put on again after it",
            help="putting it on reads the whole table; until then writers are not checked",
        )


def _names_what_is_gone(expression: str, path: Path, ctx: RuleContext) -> bool:
    """Whether an expression names a column, or something inside it, that is no longer there."""
    if type_at(ctx.after.columns, path) is not None:
        return False
    gone = [one for one in path if isinstance(one, str)]
    return any(
        len(names) >= len(gone)
        and all(one.lower() == other.lower() for one, other in zip(gone, names, strict=False))
        for names in columns_used(expression) or ()
    )


def _listed(names: list[str]) -> str:
    return ("the constraint " if len(names) == 1 else "the constraints ") + ", ".join(names)
