from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    CommentChanged,
    ConstraintChanged,
    DefaultChanged,
    DeletionListed,
    DeletionUnlisted,
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
    DriftKind.MANAGED_ELSEWHERE: Severity.INFO,
    DriftKind.APPLIED: Severity.INFO,
    DriftKind.APPLIED_IN_PART: Severity.INFO,
    DriftKind.DRIFTED: Severity.WARNING,
    DriftKind.UNDECLARED: Severity.WARNING,
}

_APPLIED = (DriftKind.APPLIED, DriftKind.APPLIED_IN_PART)

_HELP = {
    DriftKind.NOT_APPLIED: "the next `apply` changes it",
    DriftKind.AHEAD: "a later revision was applied: check that one",
    DriftKind.MANAGED_ELSEWHERE: "change it with the tool that manages the table, or correct the contract",
    DriftKind.APPLIED: "",
    DriftKind.APPLIED_IN_PART: "the next `apply` changes the rest",
    DriftKind.DRIFTED: "declare the live state, or restore the declared one: `apply --repair-drift`",
    DriftKind.UNDECLARED: "",
}


@rule("DR001", on=Drift, severity=Severity.WARNING)
def drift_schema(drift: Drift, ctx: RuleContext) -> Iterator[Problem]:
    """The live table differs from its contract.

    ## What it does

    Compares the contract with the Delta log (`check --live`), reports one finding for each column, property
    or constraint that differs, and classifies the difference:

    - *not applied yet*: the table matches the previous declaration; the next `apply` changes it;
    - *already applied*: the table has the new state before the change is merged;
    - *applied in part*: the table has this object's new state, but not that of other objects of the same
      change;
    - *ahead*: a revision later than the checked one was applied;
    - *drifted*: the table was changed outside the contract; the rule recognizes a renamed column by its id in
      the log's history;
    - *undeclared*: the table has a column that no contract declares, unless `open: {columns: true}`; or it
      has a feature that the contract does not need and that it was not created with, because somebody turned
      on deletion vectors or type widening by hand.

    Of a drifted object and an undeclared column, the message names the commit that changed it last, with its
    time and its user, of a feature with its engine too, if it is one of the table's newest 100 commits. With
    `--history`, `check` reads all. Of a feature that is older than these commits, no file says whether the
    table was created with it; the message says so.

    The rule never compares what the contract does not manage. If `managed_by` assigns the table to another
    tool, `apply` never changes it, and the finding names that tool instead.

    ## Why is this bad?

    Most findings are informational. A drifted table stops `apply` for that table, because `apply` would undo
    a change that was made elsewhere. Drift is an error if all contracts are checked (`check --all`), and a
    warning beside the changes under review; `severity` in the configuration sets another one. If Delta cannot
    change the live state into the declared one, the finding is an error: it then quotes the rule that forbids
    the change, even if that rule is not selected. A feature that shuts out a declared reader or writer is an
    error too: the table was changed under them.

    ## What to do

    Copy the live state into the contract, or let `apply --repair-drift` restore the declared one.

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
    if isinstance(drift.change, FieldRenamed):
        message = _rename_message(drift.change, drift, ctx)
    else:
        message = _message(drift, ctx)
    if drift.shut_out:
        message += f"; it shuts out {', '.join(drift.shut_out)}"
    if drift.origin:
        message += f"; {drift.origin}"
    if drift.cause is None:
        yield Problem(message, help=_help(drift, ctx), severity=_severity(drift))
        return
    help_ = "declare the live state, or rewrite the table"
    if drift.kind == DriftKind.AHEAD:
        help_ = _HELP[drift.kind]
    yield Problem(
        f"{message}; Delta cannot reconcile them ({drift.cause.code}: {drift.cause.message})",
        help=help_,
        severity=Severity.ERROR,
        delta_error=drift.cause.delta_error,
    )


def _severity(drift: Drift) -> Severity:
    """Return an error for drift in a run about all tables, or if somebody is shut out; else a warning."""
    if drift.shut_out or (drift.all_contracts and drift.kind == DriftKind.DRIFTED):
        return Severity.ERROR
    return _SEVERITY[drift.kind]


def _message(drift: Drift, ctx: RuleContext) -> str:
    subject, live, declared = _sides(drift.change)
    if drift.kind in _APPLIED:
        return f"{subject} is {declared} in the live table ({drift.kind.value}{_rest(drift)})"
    if drift.kind == DriftKind.UNDECLARED:
        return f"{subject} is {live} in the live table, but no contract declares it"
    if drift.kind == DriftKind.AHEAD and isinstance(drift.change, FieldRemoved):
        return f"{subject} is {_state(drift, ctx)}: live {live}, not in the contract"
    return f"{subject} is {_state(drift, ctx)}: live {live}, contract {declared}"


def _rename_message(rename: FieldRenamed, drift: Drift, ctx: RuleContext) -> str:
    """Name both names: two values that differ would not show a rename."""
    if drift.kind in _APPLIED:
        old_path = format_path((*rename.path[:-1], rename.old_name))
        return f"{old_path} is called {rename.path[-1]} in the live table already{_rest(drift)}"
    state = "renamed by hand: drifted" if drift.kind == DriftKind.DRIFTED else _state(drift, ctx)
    return f"{format_path(rename.path)} is called {rename.old_name} in the live table ({state})"


def _rest(drift: Drift) -> str:
    if drift.kind == DriftKind.APPLIED_IN_PART:
        return ": other objects of the change are not applied"
    return ""


def _state(drift: Drift, ctx: RuleContext) -> str:
    if drift.kind == DriftKind.MANAGED_ELSEWHERE:
        return f"managed by {ctx.contract.managed_by}"
    return str(drift.kind.value)


def _help(drift: Drift, ctx: RuleContext) -> str:
    if drift.kind == DriftKind.UNDECLARED and isinstance(drift.change, FeatureChanged):
        return f"declare it: `features: [{drift.change.name}]`, or drop it: `drop_features`"
    if drift.kind == DriftKind.UNDECLARED and ctx.contract.is_rebuilt:
        return f"declare it: the next build of {ctx.contract.managed_by} takes it away"
    if drift.kind == DriftKind.UNDECLARED:
        return f"declare it, {ctx.wording.either(ctx.wording.drop_undeclared, ctx.wording.open_columns)}"
    if drift.kind == DriftKind.DRIFTED and isinstance(drift.change, FieldRenamed):
        old, new = drift.change.path[-1], drift.change.old_name
        rename = ctx.wording.renaming(str(old), new)
        return f"rename it back, or declare the new name, and {rename}"
    return _HELP[drift.kind]


_OtherChange: TypeAlias = (
    DescriptionChanged
    | PropertyChanged
    | ConstraintChanged
    | FeatureChanged
    | PartitioningChanged
    | ClusteringChanged
    | TableAdded
    | TableRemoved
    | DeletionListed
    | DeletionUnlisted
    | FieldRenamed
)


def _sides(change: Change) -> tuple[str, str, str]:
    """Return the object that differs, its live value, and its declared value."""
    match change:
        case FieldAdded(path=path, field=field):
            return f"column {format_path(path)}", "absent", print_type(field.type)
        case FieldRemoved(path=path, field=field):
            return f"column {format_path(path)}", print_type(field.type), "dropped"
        case FieldMoved(path=path, after=after):
            return f"the position of {format_path(path)}", "elsewhere", f"after {after}" if after else "first"
        case TypeChanged(path=path, old=old_type, new=new_type):
            return f"column {format_path(path)}", print_type(old_type), print_type(new_type)
        case TypeHistoryChanged(path=path):
            return f"the type change history of {format_path(path)}", "different", "different"
        case NullabilityChanged(path=path, old=old, new=new):
            return f"column {format_path(path)}", _nullable(old), _nullable(new)
        case CommentChanged(path=path, old=old, new=new):
            return f"the comment of {format_path(path)}", _value(old), _value(new)
        case DefaultChanged(path=path, old=old, new=new):
            return f"the default of {format_path(path)}", _value(old), _value(new)
        case GeneratedChanged(path=path, old=old, new=new):
            return f"the generation expression of {format_path(path)}", _value(old), _value(new)
        case IdentityChanged(path=path, old=old, new=new):
            return f"the identity of {format_path(path)}", _value(old), _value(new)
        case _:
            return _table_sides(change)


def _table_sides(change: _OtherChange) -> tuple[str, str, str]:
    match change:
        case DescriptionChanged(old=old, new=new):
            return "the description", _value(old), _value(new)
        case PropertyChanged(key=key, old=old, new=new):
            return f"property {key}", _value(old), _value(new)
        case ConstraintChanged(name=name, old=old, new=new):
            return f"constraint {name}", _value(old), _value(new)
        case FeatureChanged(name=name, new=declared):
            on, off = "supported", "not supported"
            return f"feature {name}", off if declared else on, on if declared else off
        case PartitioningChanged(old=old, new=new):
            return "the partitioning", _value(old), _value(new)
        case ClusteringChanged(old=old, new=new):
            return "the clustering", _paths(old), _paths(new)
        case TableAdded():
            return "the table", "missing", "present"
        case TableRemoved():
            return "the table", "present", "removed"
        case DeletionListed(path=path):
            return f"column {format_path(path)}", "present", "dropped"
        case FieldRenamed() | DeletionUnlisted():
            return "the table", "different", "different"


def _nullable(value: object) -> str:
    if value is False:
        return "not null"
    return "nullable"


def _value(value: object) -> str:
    match value:
        case None | Unmanaged():
            return "absent"
        case ():
            return "none"
        case str():
            return repr(value)
        case tuple():
            return f"({', '.join(str(item) for item in value)})"
        case _:
            return str(value)


def _paths(value: object) -> str:
    return _value(tuple(format_path(path) for path in value) if isinstance(value, tuple) else value)
