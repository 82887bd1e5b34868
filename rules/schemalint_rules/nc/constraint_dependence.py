from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import type_at
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"
_VIOLATED = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"

_Change = TypeChanged | FieldRenamed | FieldRemoved


@rule(
    "NC005",
    on=(TypeChanged, FieldRenamed, FieldRemoved),
    severity=Severity.INFO,
    delta_errors=(_ERROR,),
    verdict="impossible",
)
def constraint_dependence(change: _Change, ctx: RuleContext) -> Iterator[Problem]:
    """A column that a CHECK constraint uses is widened, renamed or dropped.

    ## What it does

    Reads the table's constraints, and finds a widening, a rename or a drop of a column that one of them uses:
    the column itself, a field inside it, or a column that contains it. The finding is

    - an error if the constraint would break: it would still name the column that is gone;
    - an error if the contract does not declare the constraint: `apply` must not drop it then; also if
      schemalint cannot parse it, because it may use the column;
    - a warning if schemalint cannot parse a declared constraint, so that the columns it uses are unknown;
    - otherwise an info: the constraint must be dropped before the change and added again after it, which
      reads the whole table once.

    It is an error too if the invariant of a column (`delta.invariants` in its metadata, of other writers)
    would still name a column that is renamed or dropped: Delta takes the change, and then every `INSERT`
    fails with `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES`. The invariant of a dropped column goes with it
    (measured on Delta 4.4.0).

    A constraint that the contract removes (`name: null`) does not matter. If Delta refuses a change for
    another reason, the rule for that reason reports it: TW for types, CM001, CM002 and CM003 for names. A new
    position, comment or nullability, and a longer `varchar`, affect no constraint.

    ## Why is this bad?

    Delta refuses to alter a column that a constraint uses, with `DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE`
    ("Cannot alter column amount because this column is referenced by the following check constraint(s)").
    Between dropping a constraint and adding it again, Delta does not check writes.

    ## What to do

    Declare the constraint under `constraints`, with the expression that is right after the change, or remove
    it there with `null`.

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
    if not ctx.alters(change) or (isinstance(change, TypeChanged) and ctx.rewrites(change)):
        return
    path = (*change.path[:-1], change.old_name) if isinstance(change, FieldRenamed) else change.path
    if not isinstance(change, TypeChanged):
        yield from _of_invariants(change, path, ctx)
    declared = ctx.contract.state.constraints
    users = ctx.before.constraint_users
    using, unparsed = (
        sorted(name for name in names if declared.get(name, "") is not None)
        for names in (users.of(path), users.unparsed)
    )
    broken = [name for name in using if _names_removed_column(declared.get(name) or "", path, ctx)]
    undeclared = sorted(name for name in (*using, *unparsed) if name not in declared)
    column = format_path(path)
    if broken:
        remove = ctx.wording.remove_constraint.format(name=broken[0])
        yield Problem(
            f"{column} will be gone, but {_listed(broken)} would still use it",
            help=f"update the expression of the constraint, or {remove}",
            severity=Severity.ERROR,
            delta_error=_ERROR,
        )
    elif undeclared:
        is_certain = not set(undeclared) <= set(unparsed)
        effect = f"may be used by {_listed(undeclared)}, which schemalint cannot parse and the contract"
        if is_certain:
            effect = f"is used by {_listed(undeclared)}, which the contract"
        yield Problem(
            f"{column} changes, and {effect} does not declare",
            help=f"declare the constraint, or {ctx.wording.remove_constraint.format(name=undeclared[0])}",
            severity=Severity.ERROR,
            delta_error=_ERROR if is_certain else None,
        )
    elif unparsed:
        yield Problem(
            f"{column} changes, and schemalint cannot parse {_listed(unparsed)}, which may use it",
            help=f"Delta refuses the change while a constraint uses {column} ({_ERROR})",
            severity=Severity.WARNING,
        )
    elif using:
        yield Problem(
            f"{column} changes: {_listed(using)} must be dropped before and added again after the change",
            help="adding a constraint reads the whole table; until then Delta does not check writes",
        )


def _of_invariants(change: FieldRenamed | FieldRemoved, path: Path, ctx: RuleContext) -> Iterator[Problem]:
    """Report the invariants that would still name the column: Delta does not look at them.

    The invariant of a column that is dropped goes with it.
    """
    users = ctx.before.invariant_users
    for owner in (*users.of(path), *users.unparsed):
        is_dropped = isinstance(change, FieldRemoved) and lowercased(owner)[: len(path)] == lowercased(path)
        if not is_dropped:
            owner_name, column = format_path(owner), format_path(path)
            may_use = (
                "may use it, which schemalint cannot parse" if owner in users.unparsed else "still uses it"
            )
            yield Problem(
                f"{column} will be gone, and the invariant of {owner_name} {may_use}",
                help="no statement changes an invariant (delta.invariants): Delta makes the change, and then "
                f"every INSERT fails with {_VIOLATED}",
                severity=Severity.ERROR,
            )
            return


def _names_removed_column(expression: str, path: Path, ctx: RuleContext) -> bool:
    """Return whether an expression names a removed column, or a field inside it."""
    if type_at(ctx.after.columns, path) is not None:
        return False
    removed = [part for part in path if isinstance(part, str)]
    return any(
        len(names) >= len(removed)
        and all(part.lower() == name.lower() for part, name in zip(removed, names, strict=False))
        for names in columns_used(expression) or ()
    )


def _listed(names: list[str]) -> str:
    return ("the constraint " if len(names) == 1 else "the constraints ") + ", ".join(names)
