"""Refuse the changes that no statement can make in place, and name the alternative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from schemalint.base.values import replace
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
    renames_of,
)
from schemalint.delta.datatype import (
    Array,
    Char,
    Identity,
    Map,
    Struct,
    Varchar,
    field_at,
    walk,
    walk_fields,
)
from schemalint.delta.expressions import expressions_of
from schemalint.delta.feature_drop import DropRequests, drop_obstacles
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.properties import RESERVED
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import alters_stored_type
from schemalint.delta.widening import is_container
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.declaration import apply_declaration
from schemalint.model.effective import Effective
from schemalint.model.finding import ObjectRef, object_of_change
from schemalint.model.marker import OWN_PROPERTIES
from schemalint.model.table_plan import Refusal, RefusalKind
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.data_skipping_steps import statistics_in_the_way
from schemalint.planner.lost_lengths import lost_lengths

_DECLARED: Final = RefusalKind.DECLARATION
_REWRITE: Final = "this needs a new table: create it as declared, copy the data, and swap the tables"
_LIVE: Final = RefusalKind.LIVE


def refused_changes(
    changes: Iterable[Change], live: TableState, contract: Effective, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """Refuse the changes of a live table that no statement can make."""
    all_changes = tuple(changes)
    declared = contract.state if tracking is None else tracking.composed(contract.state)
    for change in all_changes:
        about = object_of_change(change)
        yield from (replace(refusal, about=about) for refusal in _of_change(change, live, declared))
    yield from lost_lengths(all_changes, live)
    yield from _used_by_constraints(all_changes, live, contract.state)
    yield from _used_by_clustering(all_changes, live, contract)
    yield from statistics_in_the_way(all_changes, live, contract.state)
    yield from _taken_names(live, contract.state, tracking)
    if tracking is None:
        yield from _undecided(contract.state, live)


def refused_contract(contract: Effective, live: LiveTable | None) -> Iterator[Refusal]:
    """Refuse other requests of a contract, apart from changes; `live` is None for a new table."""
    state = contract.state
    for key in sorted(OWN_PROPERTIES & state.properties.keys()):
        about = ObjectRef("property", key)
        yield Refusal(
            _DECLARED,
            f"the property {key} is reserved for schemalint",
            "remove it from the contract",
            about=about,
        )
    for key in sorted(RESERVED & state.properties.keys()):
        about = ObjectRef("property", key)
        yield Refusal(
            _DECLARED, f"Spark reserves the property {key}", "remove it from the contract", about=about
        )
    yield from _equal_names(state.columns)
    yield from _unsafe_expressions(state)
    yield from _undroppable_features(contract, live)
    if live is None:
        yield from _inexpressible_nullability(state.columns)


def _equal_names(columns: Struct) -> Iterator[Refusal]:
    for path, type_ in walk(columns):
        if not isinstance(type_, Struct):
            continue
        for field in type_.fields:
            if type_.get(field.name) is not field:
                text = format_path((*path, field.name))
                yield Refusal(
                    _DECLARED,
                    f"{text} is the name of another column too: Delta ignores case",
                    "choose another name",
                    about=ObjectRef("column", text),
                )


def _of_change(change: Change, live: TableState, declared: TableState) -> Iterator[Refusal]:
    match change:
        case FieldAdded(path=path, field=field):
            yield from _inexpressible_nullability(Struct((field,)), path[:-1])
            yield from _computed(Struct((field,)), path[:-1])
            yield from _missing_original(path, declared)
        case FieldRemoved(path=(str() as name,)) if name.lower() in live.partition_keys:
            yield Refusal(
                _DECLARED,
                f"{format_path((name,))} cannot be dropped: the table is partitioned by it",
                _REWRITE,
            )
        case TypeChanged(path=(*_, Part()) as path, new=Char() | Varchar() as new):
            # ALTER COLUMN reports success and stores a plain string (measured on Delta 4.4.0).
            yield Refusal(
                _DECLARED, f"{format_path(path)} cannot become {print_type(new)}", "declare it as string"
            )
        case TypeChanged(path=path, old=old, new=new) if is_container(old) or is_container(new):
            reason = f"{format_path(path)} cannot change to or from a struct, array or map in place"
            yield Refusal(_DECLARED, reason, "add a new column")
        case NullabilityChanged(path=(*_, Part()) as path):
            yield Refusal(
                _DECLARED,
                f"the nullability of {format_path(path)} cannot be changed",
                "Delta has no statement for it",
            )
        case NullabilityChanged(path=path, new=False):
            yield Refusal(
                _DECLARED, f"{format_path(path)} cannot become NOT NULL", "add CHECK (… IS NOT NULL) instead"
            )
        case GeneratedChanged(path=path):
            yield Refusal(
                _DECLARED,
                f"the generation expression of {format_path(path)} cannot be changed in place",
                _REWRITE,
            )
        case IdentityChanged(path=path):
            yield Refusal(
                _DECLARED, f"the identity of {format_path(path)} cannot be changed in place", _REWRITE
            )
        case PartitioningChanged():
            yield Refusal(_DECLARED, "the partitioning cannot be changed in place", _REWRITE)
        case ClusteringChanged() if live.partitioned_by:
            yield Refusal(_DECLARED, "a partitioned table cannot be clustered", _REWRITE)
        case (
            FieldRemoved()
            | FieldRenamed()
            | FieldMoved()
            | TypeChanged()
            | TypeHistoryChanged()  # Delta records type changes by itself
            | NullabilityChanged()
            | CommentChanged()
            | DefaultChanged()
            | TableAdded()
            | TableRemoved()
            | DescriptionChanged()
            | PropertyChanged()
            | ConstraintChanged()
            | FeatureChanged()
            | ClusteringChanged()
            | DeletionListed()
            | DeletionUnlisted()
        ):
            pass  # a statement makes the change, or none is needed
        case _:
            assert_never(change)


def _undecided(declared: TableState, live: TableState) -> Iterator[Refusal]:
    """Refuse renames and drops that may be applied already: without a base nothing shows it."""
    help_text = "apply the contract without it first, or name the commit that was applied last: --base REV"
    for path, field in walk_fields(declared.columns):
        old = (*path[:-1], field.renamed_from) if field.renamed_from else None
        if old is not None and field_at(live.columns, old) is not None:
            reason = (
                f"it is unknown whether the rename of {field.renamed_from} to {format_path(path)} was applied"
            )
            yield Refusal(RefusalKind.OPERATION, reason, help_text)
    for entry in declared.dropped:
        live_field = field_at(live.columns, entry.path)
        if live_field is None:
            continue
        kept = field_at(declared.columns, entry.path) is not None
        if not kept or (entry.type is not None and print_type(entry.type) == print_type(live_field.type)):
            yield Refusal(
                RefusalKind.OPERATION,
                f"it is unknown whether the drop of {format_path(entry.path)} was applied",
                help_text,
            )


def _missing_original(path: Path, declared: TableState) -> Iterator[Refusal]:
    """Refuse a new column that the contract declares as renamed: an empty column must not replace it."""
    column = field_at(declared.columns, path)
    for inner_path, field in walk_fields(Struct((column,)), path[:-1]) if column else ():
        if field.renamed_from:
            yield Refusal(
                _DECLARED,
                f"{format_path(inner_path)} cannot be added: it is renamed from {field.renamed_from}, which "
                "does not exist",
                "rename the right column by hand, or remove `renamed_from` if the column is new",
                about=ObjectRef("column", format_path(inner_path)),
            )


def _undroppable_features(contract: Effective, live: LiveTable | None) -> Iterator[Refusal]:
    """Refuse drops of features that Delta cannot drop, or would add again."""
    by_contract = {obstacle.feature for obstacle in drop_obstacles(_drop_requests(contract, None))}
    for obstacle in drop_obstacles(_drop_requests(contract, live)):
        yield Refusal(
            _DECLARED if obstacle.feature in by_contract else RefusalKind.LIVE,
            obstacle.reason,
            obstacle.help,
            about=ObjectRef("feature", obstacle.feature),
        )


def _drop_requests(contract: Effective, live: LiveTable | None) -> DropRequests:
    before = TableState() if live is None else live.state
    return DropRequests(
        names=contract.drop_features,
        truncated=contract.truncated_features,
        supported=contract.created_features if live is None else live.protocol.features,
        declared=contract.state,
        before=before,
        after=apply_declaration(contract.state, before),
    )


def _computed(columns: Struct, path: Path) -> Iterator[Refusal]:
    """Refuse new generated and identity columns: only CREATE TABLE can declare them."""
    for inner_path, field in walk_fields(columns, path):
        if isinstance(field.generated, str):
            yield Refusal(
                _DECLARED, f"{format_path(inner_path)} cannot be added as a generated column", _REWRITE
            )
        if isinstance(field.identity, Identity):
            yield Refusal(
                _DECLARED, f"{format_path(inner_path)} cannot be added as an identity column", _REWRITE
            )


def _inexpressible_nullability(columns: Struct, path: Path = ()) -> Iterator[Refusal]:
    for inner_path, type_ in walk(columns, path):
        match type_:
            case Array(contains_null=False) | Map(value_contains_null=False):
                reason = f"`nullable: false` inside {format_path(inner_path)} cannot be applied"
                yield Refusal(
                    _DECLARED, reason, "Spark SQL has no syntax for it: remove `nullable: false` there"
                )


def _unsafe_expressions(state: TableState) -> Iterator[Refusal]:
    """Refuse texts that are not exactly one expression: the statements contain them unchanged.

    NC019 reports them; this holds too where a configuration ignores the rule.
    """
    for expression in expressions_of(state):
        if fault := expression.fault:
            kind = "constraint" if expression.path is None else "column"
            about = ObjectRef(kind, expression.name)
            yield Refusal(
                _DECLARED, f"{expression.subject} {fault.what}", "write exactly one expression", about=about
            )


def _used_by_constraints(
    changes: Iterable[Change], live: TableState, declared: TableState
) -> Iterator[Refusal]:
    """Refuse changes of columns that a constraint uses, if the planner may not drop or rewrite it."""
    renames = renames_of(changes)
    for change in changes:
        if not isinstance(change, TypeChanged | FieldRenamed | FieldRemoved):
            continue
        back = renames.parents_back if isinstance(change, FieldRemoved) else renames.back
        path = back(change.path)
        if isinstance(change, TypeChanged) and not alters_stored_type(
            change.old, change.new, nested=len(path) > 1
        ):
            continue
        for name in (*live.constraint_users.of(path), *live.constraint_users.unparsed):
            if name not in declared.constraints:
                yield Refusal(
                    _LIVE,
                    f"{format_path(path)} is used by the constraint {name}, which the contract does not "
                    "manage",
                    f"declare the constraint, or declare it null to drop it: `constraints: {{{name}: …}}`",
                    about=ObjectRef("column", format_path(change.path)),
                )
    removed = [change.path for change in changes if isinstance(change, FieldRemoved)]
    for path in removed:
        if field_at(declared.columns, path) is not None:
            continue
        for name in declared.constraint_users.naming(path):
            yield Refusal(
                RefusalKind.DECLARATION,
                f"the constraint {name} uses {format_path(path)}, which the contract drops",
                "rewrite the constraint without it, or keep the column",
                about=ObjectRef("constraint", name),
            )


def _used_by_clustering(
    changes: Sequence[Change], live: TableState, contract: Effective
) -> Iterator[Refusal]:
    """Refuse changes that remove an unmanaged clustering: no step would restore it."""
    renames = renames_of(changes)
    if not isinstance(live.clustered_by, tuple) or isinstance(contract.state.clustered_by, tuple):
        return
    if (
        live.clustered_by
        and AlterContext("", live, tuple(changes), None, tuple(contract.drop_features)).unmaps
    ):
        reason = (
            "column mapping cannot be removed: the table has a clustering that the contract does not manage"
        )
        yield Refusal(_LIVE, reason, "declare the clustering: `clustered_by: […]`")
    for change in changes:
        if isinstance(change, FieldRemoved):
            path = renames.parents_back(change.path)
            if live.clustering.within(path_key(path)):
                yield Refusal(
                    _LIVE,
                    f"{format_path(path)} cannot be dropped: the table is clustered by it, and the contract "
                    "does not manage the clustering",
                    "declare the new clustering: `clustered_by: […]`",
                )


def _taken_names(
    live: TableState, declared: TableState, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """Refuse names that two columns would have."""
    goal = apply_declaration(declared, live, tracking=tracking) if tracking else live
    for path, type_ in walk(goal.columns):
        names = Counter(field.name.lower() for field in type_.fields) if isinstance(type_, Struct) else {}
        for name, times in names.items():
            if times > 1:
                yield Refusal(
                    _LIVE,
                    f"an undeclared column {format_path((*path, name))} exists already",
                    "drop or rename it by hand, or choose another name",
                )
