from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    CommentChanged,
    ConstraintChanged,
    DefaultChanged,
    DeletionListed,
    DescriptionChanged,
    FeatureChanged,
    FieldAdded,
    FieldMoved,
    FieldRemoved,
    FieldRenamed,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    PropertyChanged,
    TableAdded,
    TableRemoved,
    TypeChanged,
    TypeHistoryChanged,
)
from schemalint.delta.datatype import Unmanaged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Drift, DriftKind, Problem, RuleContext, Severity, rule

_SEVERITY = {
    DriftKind.NOT_APPLIED: Severity.INFO,
    DriftKind.AHEAD: Severity.INFO,
    DriftKind.DIFFERS: Severity.INFO,
    DriftKind.APPLIED: Severity.INFO,
    DriftKind.APPLIED_IN_PART: Severity.INFO,
    DriftKind.DRIFTED: Severity.WARNING,
    DriftKind.UNDECLARED: Severity.WARNING,
}

_APPLIED = (DriftKind.APPLIED, DriftKind.APPLIED_IN_PART)

_HELP = {
    DriftKind.NOT_APPLIED: "the next `apply` brings it there",
    DriftKind.AHEAD: "a later revision was applied: judge that one",
    DriftKind.DIFFERS: "whoever manages the table brings it there, or the contract is wrong",
    DriftKind.APPLIED: "",
    DriftKind.APPLIED_IN_PART: "the next `apply` brings the rest there",
    DriftKind.DRIFTED: "declare it as it is, or bring the declared state back: `apply --repair-drift`",
    DriftKind.UNDECLARED: "declare it, list it under `dropped`, or allow such: `open: {columns: true}`",
}


@rule("DR001", on=Drift, severity=Severity.WARNING)
def drift_schema(drift: Drift, ctx: RuleContext) -> Iterator[Problem]:
    """The live table differs from its contract.

    ## What it does

    Compares the contract with the Delta log (`check --live`), one finding for each column, property or
    constraint that differs, and says how that came about:

    - *not applied yet*: the table is as it was declared before; the next `apply` changes it;
    - *already applied*: the table has the new state before the change is merged;
    - *applied in part*: so it is with this object, but not with others of the same change;
    - *ahead*: a revision was applied that comes after the one under judgement;
    - *drifted*: somebody changed the table outside the contract; a column that was renamed there is known by
      its id in the log's history;
    - *undeclared*: the table has a column that no contract declares, unless `open: {columns: true}`.

    What the contract does not manage is never compared. A table that `managed_by` leaves to somebody else is
    never applied to: where it is not as declared it just *differs*.

    ## Why is this bad?

    Most of it is only told. A drifted table stops `apply` for that table, since it would undo what
    somebody else did. If Delta cannot go from what is live to what is declared, it is an error: the finding
    then carries the reason, in the words of the rule that forbids it.

    ## What to do

    Take the live state into the contract, or let `apply --repair-drift` bring back the declared one.

    ## Example

    The contract:

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {team: sales}
    ```

    The table, written as a contract:

    ```yaml title="live"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {team: shop}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {team: shop}
    ```
    """
    if drift.kind in _APPLIED and ctx.contract.managed_by != "schemalint":
        return
    what = (
        _called(drift.change, drift, ctx)
        if isinstance(drift.change, FieldRenamed)
        else _differing(drift, ctx)
    )
    if drift.cause is None:
        yield Problem(what, help=_help(drift), severity=_SEVERITY[drift.kind])
        return
    yield Problem(
        f"{what}, which cannot be brought together: {drift.cause.code}, {drift.cause.message}",
        help=_HELP[drift.kind]
        if drift.kind == DriftKind.AHEAD
        else "declare what is live, or rewrite the table",
        severity=Severity.ERROR,
        delta_error=drift.cause.delta_error,
    )


def _differing(drift: Drift, ctx: RuleContext) -> str:
    subject, live, declared = _sides(drift.change)
    if drift.kind in _APPLIED:
        rest = ": other objects of the change are not" if drift.kind == DriftKind.APPLIED_IN_PART else ""
        return f"{subject} is {declared} in the live table ({drift.kind.value}{rest})"
    if drift.kind == DriftKind.UNDECLARED:
        return f"{subject} is {live} in the live table, and nobody declares it"
    wanted = f"declared {declared}"
    if drift.kind == DriftKind.AHEAD and isinstance(drift.change, FieldRemoved):
        wanted = "not declared"
    return f"{subject} is {live} in the live table, and {wanted} ({_how(drift, ctx)})"


def _called(rename: FieldRenamed, drift: Drift, ctx: RuleContext) -> str:
    """A rename: two values that differ would say less of it."""
    if drift.kind in _APPLIED:
        was = format_path((*rename.path[:-1], rename.old_name))
        rest = ": other objects of the change are not" if drift.kind == DriftKind.APPLIED_IN_PART else ""
        return f"{was} is called {rename.path[-1]} in the live table already{rest}"
    how = "renamed by hand: drifted" if drift.kind == DriftKind.DRIFTED else _how(drift, ctx)
    return f"{format_path(rename.path)} is called {rename.old_name} in the live table ({how})"


def _how(drift: Drift, ctx: RuleContext) -> str:
    return f"managed by {ctx.contract.managed_by}" if drift.kind == DriftKind.DIFFERS else drift.kind.value


def _help(drift: Drift) -> str:
    if drift.kind == DriftKind.DRIFTED and isinstance(drift.change, FieldRenamed):
        old, new = drift.change.path[-1], drift.change.old_name
        return f"rename it back, or declare the new name: `name: {new}, renamed_from: {old}`"
    return _HELP[drift.kind]


def _sides(change: Change) -> tuple[str, str, str]:
    """What differs, what live has of it, and what is declared."""
    match change:
        case FieldAdded(path=path, field=field):
            return f"column {format_path(path)}", "missing", print_type(field.type)
        case FieldRemoved(path=path, field=field):
            return f"column {format_path(path)}", print_type(field.type), "gone"
        case FieldMoved(path=path, after=after):
            return f"the place of {format_path(path)}", "another", f"behind {after}" if after else "first"
        case TypeChanged(path=path, old=old_type, new=new_type):
            return f"column {format_path(path)}", print_type(old_type), print_type(new_type)
        case TypeHistoryChanged(path=path):
            return f"the history of types of {format_path(path)}", "another", "otherwise"
        case NullabilityChanged(path=path, old=old, new=new):
            return f"column {format_path(path)}", _nullable(old), _nullable(new)
        case CommentChanged(path=path, old=old, new=new):
            return f"the comment of {format_path(path)}", _value(old), _value(new)
        case DefaultChanged(path=path, old=old, new=new):
            return f"the default of {format_path(path)}", _value(old), _value(new)
        case GeneratedChanged(path=path, old=old, new=new):
            return f"the generation of {format_path(path)}", _value(old), _value(new)
        case IdentityChanged(path=path, old=old, new=new):
            return f"the identity of {format_path(path)}", _value(old), _value(new)
        case _:
            return _table_sides(change)


def _table_sides(change: Change) -> tuple[str, str, str]:
    match change:
        case DescriptionChanged(old=old, new=new):
            return "the description", _value(old), _value(new)
        case PropertyChanged(key=key, old=old, new=new):
            return f"property {key}", _value(old), _value(new)
        case ConstraintChanged(name=name, old=old, new=new):
            return f"constraint {name}", _value(old), _value(new)
        case FeatureChanged(name=name, new=wanted):
            has, lacks = "supported", "not supported"
            return f"feature {name}", lacks if wanted else has, has if wanted else lacks
        case PartitioningChanged(old=old, new=new):
            return "the partitioning", _value(old), _value(new)
        case ClusteringChanged(old=old, new=new):
            return "the clustering", _paths(old), _paths(new)
        case TableAdded():
            return "the table", "missing", "to be there"
        case TableRemoved():
            return "the table", "there", "no longer"
        case DeletionListed(path=path):
            return f"column {format_path(path)}", "there", "dropped"
        case _:
            return "the table", "different", "otherwise"


def _nullable(value: object) -> str:
    return "not null" if value is False else "nullable"


def _value(value: object) -> str:
    match value:
        case None | Unmanaged():
            return "absent"
        case ():
            return "none"
        case str():
            return repr(value)
        case tuple():
            return f"({', '.join(str(one) for one in value)})"
        case _:
            return str(value)


def _paths(value: object) -> str:
    return _value(tuple(format_path(one) for one in value) if isinstance(value, tuple) else value)
