"""What cannot be carried out in place: refused by name, with the way that there is; never ignored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemalint.delta import change, protocol
from schemalint.delta.change import Change
from schemalint.delta.datatype import (
    Array,
    Char,
    Identity,
    Map,
    Struct,
    Varchar,
    field_at,
    type_at,
    walk,
    walk_fields,
)
from schemalint.delta.expressions import uses
from schemalint.delta.feature import FEATURES
from schemalint.delta.path import Part, Path, format_path, lowercased
from schemalint.delta.properties import FEATURE_PREFIX, RESERVED, is_protocol_key
from schemalint.delta.renames import renames_of
from schemalint.delta.sql_text import COLUMN_WORDS, is_one_expression
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration
from schemalint.model.finding import ObjectRef, object_of_change
from schemalint.model.marker import MARKER, PENDING
from schemalint.model.plan import Refusal
from schemalint.planner.alteration import AlterContext
from schemalint.planner.lengths import lost_lengths
from schemalint.values import replace

_REWRITE: Final = "that takes a new table: create one as declared, copy the data, and swap the two"


def refused_changes(
    changes: Iterable[Change], live: TableState, contract: Contract, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """The changes of a live table that get no statement."""
    found = tuple(changes)
    declared = contract.state if tracking is None else tracking.composed(contract.state)
    for one in found:
        about = object_of_change(one)
        yield from (replace(refusal, about=about) for refusal in _of_change(one, live, declared))
    yield from lost_lengths(found, live)
    yield from _guarded(found, live, contract.state)
    yield from _clustered(found, live, contract)
    yield from _names_taken(found, live, contract.state, tracking)
    if tracking is None:
        yield from _undecided(contract.state, live)


def refused_contract(contract: Contract, live: LiveTable | None) -> Iterator[Refusal]:
    """What a contract asks for beside changes of a live table; None if the table is to be created."""
    state = contract.state
    for key in state.set_properties:
        if is_protocol_key(key) and not key.lower().startswith(FEATURE_PREFIX):
            yield Refusal(f"{key} cannot be applied", "name the features that are needed: `features: […]`")
    for key in sorted({MARKER, PENDING} & state.properties.keys()):
        yield Refusal(f"the property {key} is schemalint's own record", "take it out of the contract")
    for key in sorted(RESERVED & state.properties.keys()):
        about = ObjectRef("property", key)
        yield Refusal(
            f"Spark keeps the property {key} for itself", "take it out of the contract", about=about
        )
    yield from _unsafe_expressions(state)
    if live is None:
        yield from _beyond_limits(contract)
        yield from _unwanted_features(contract)
        yield from _without_words(state.columns)
    else:
        yield from _kept_features(contract, live)


def _of_change(one: Change, live: TableState, declared: TableState) -> Iterator[Refusal]:
    match one:
        case change.FieldAdded(path=path, field=field):
            yield from _without_words(Struct((field,)), path[:-1])
            yield from _computed(Struct((field,)), path[:-1])
            yield from _lost_name(path, declared)
        case change.FieldRemoved(path=(str() as name,)) if name.lower() in _partitions(live):
            yield Refusal(
                f"{format_path((name,))} cannot be dropped: the table is partitioned by it", _REWRITE
            )
        case change.TypeChanged(path=(*_, Part()) as path, new=Char() | Varchar() as new):
            # ALTER COLUMN reports success and stores a plain string (measured on Delta 4.4.0).
            yield Refusal(f"{format_path(path)} cannot become {print_type(new)}", "declare it as string")
        case change.TypeChanged(path=path, old=old, new=new) if is_container(old) or is_container(new):
            yield Refusal(f"{format_path(path)} cannot change its shape in place", "add a new column")
        case change.NullabilityChanged(path=(*_, Part()) as path):
            yield Refusal(
                f"the nullability of {format_path(path)} cannot be changed", "Delta has no such statement"
            )
        case change.NullabilityChanged(path=path, new=False):
            yield Refusal(f"{format_path(path)} cannot become NOT NULL", "add CHECK (… IS NOT NULL) instead")
        case change.GeneratedChanged(path=path):
            yield Refusal(
                f"the generation expression of {format_path(path)} cannot be changed in place", _REWRITE
            )
        case change.IdentityChanged(path=path):
            yield Refusal(f"the identity of {format_path(path)} cannot be changed in place", _REWRITE)
        case change.PartitioningChanged():
            yield Refusal("the partitioning cannot be changed in place", _REWRITE)
        case change.ClusteringChanged() if live.partitioned_by:
            yield Refusal("a partitioned table cannot be clustered", _REWRITE)


def _guarded(changes: Iterable[Change], live: TableState, declared: TableState) -> Iterator[Refusal]:
    """Columns that are used by a constraint that is not the contract's to take off and on."""
    renames = renames_of(changes)
    for one in changes:
        if not isinstance(one, change.TypeChanged | change.FieldRenamed | change.FieldRemoved):
            continue
        last = one.old_name if isinstance(one, change.FieldRenamed) else one.path[-1]
        path = (*renames.back(one.path[:-1]), last)
        if isinstance(one, change.TypeChanged):
            path = renames.back(one.path)
        for name, expression in live.constraints.items():
            if expression is None or name in declared.constraints or uses(expression, path) is False:
                continue
            yield Refusal(
                f"{format_path(path)} is used by the constraint {name}, which the contract does not manage",
                f"declare it, or have it dropped: `constraints: {{{name}: …}}`",
                about=ObjectRef("column", format_path(one.path)),
            )
    gone = [one.path for one in changes if isinstance(one, change.FieldRemoved)]
    for name, expression in declared.constraints.items():
        for path in gone:
            if expression is not None and uses(expression, path) and field_at(declared.columns, path) is None:
                yield Refusal(
                    f"the constraint {name} uses {format_path(path)}, which is to be dropped",
                    "write the constraint without it, or keep the column",
                    about=ObjectRef("constraint", name),
                )


def _clustered(changes: Sequence[Change], live: TableState, contract: Contract) -> Iterator[Refusal]:
    """A clustering that others made, and that cannot stay: it would not come back."""
    renames = renames_of(changes)
    if not isinstance(live.clustered_by, tuple) or isinstance(contract.state.clustered_by, tuple):
        return
    if (
        live.clustered_by
        and AlterContext("", live, tuple(changes), None, tuple(contract.drop_features)).unmaps
    ):
        reason = "column mapping cannot go: the table is clustered, which the contract does not manage"
        yield Refusal(reason, "declare the clustering: `clustered_by: […]`")
    for one in changes:
        if isinstance(one, change.FieldRemoved):
            path = (*renames.back(one.path[:-1]), one.path[-1])
            if any(lowercased(key)[: len(path)] == lowercased(path) for key in live.clustered_by):
                reason = f"the table is clustered by {format_path(path)}, which the contract does not manage"
                yield Refusal(reason, "declare what comes instead: `clustered_by: […]`")


def _partitions(live: TableState) -> frozenset[str]:
    names = live.partitioned_by if isinstance(live.partitioned_by, tuple) else ()
    return frozenset(name.lower() for name in names)


def _names_taken(
    changes: Iterable[Change], live: TableState, declared: TableState, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """Names that two columns would have, and fields whose struct would be empty in between."""
    goal = apply_declaration(declared, live, tracking=tracking) if tracking else live
    for path, type_ in walk(goal.columns):
        names = Counter(field.name.lower() for field in type_.fields) if isinstance(type_, Struct) else {}
        for name, times in names.items():
            if times > 1:
                yield Refusal(
                    f"{format_path((*path, name))} is there already, and nobody declares it",
                    "drop or rename it by hand, or choose another name",
                )
    added = {lowercased(one.path) for one in changes if isinstance(one, change.FieldAdded)}
    gone = {lowercased(one.path) for one in changes if isinstance(one, change.FieldRemoved)}
    for parent in emptied_structs(changes, live):
        anew = sorted((path for path in added & gone if path[:-1] == parent), key=format_path)
        if anew and not any(path[:-1] == parent for path in added - gone):
            yield Refusal(
                f"{format_path(anew[0])} cannot be made anew: Delta drops no struct's last field",
                "add another field first, or give the new one another name",
            )


def emptied_structs(changes: Iterable[Change], live: TableState) -> Iterator[Path]:
    """The structs of which no live field stays (folded, with the new names of what they are in)."""
    found = tuple(changes)
    renames = renames_of(found)
    gone = Counter(lowercased(one.path[:-1]) for one in found if isinstance(one, change.FieldRemoved))
    for parent, times in gone.items():
        columns = type_at(live.columns, renames.back(parent))
        if isinstance(columns, Struct) and times == len(columns.fields):
            yield parent


def _undecided(declared: TableState, live: TableState) -> Iterator[Refusal]:
    """Renames and drops of which nothing tells whether they are done, since no base is known."""
    help_text = "say which revision the table is at: --base REV"
    for path, field in walk_fields(declared.columns):
        old = (*path[:-1], field.renamed_from) if field.renamed_from else None
        if old is not None and field_at(live.columns, old) is not None:
            yield Refusal(
                f"whether {format_path(path)} is {field.renamed_from} renamed cannot be told", help_text
            )
    for entry in declared.dropped:
        there = field_at(live.columns, entry.path)
        if there is None:
            continue
        kept = field_at(declared.columns, entry.path) is not None
        if not kept or (entry.type is not None and print_type(entry.type) == print_type(there.type)):
            yield Refusal(f"whether {format_path(entry.path)} is to be dropped cannot be told", help_text)


def _lost_name(path: Path, declared: TableState) -> Iterator[Refusal]:
    """A column that was another one by declaration: an empty one must not take its place."""
    column = field_at(declared.columns, path)
    if column is not None and column.renamed_from:
        yield Refusal(
            f"{format_path(path)} cannot be added: it is {column.renamed_from} renamed, and that is not "
            "there",
            "rename the right column by hand, or take `renamed_from` away if it is a new one",
        )


def _kept_features(contract: Contract, live: LiveTable) -> Iterator[Refusal]:
    """Features that are to be dropped, and cannot be, or would be switched on again.

    A property that the contract does not manage is no obstacle: Delta takes it off. Constraints are one
    (DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE, measured on Delta 4.4.0).
    """
    constraints = {**live.state.constraints, **contract.state.constraints}
    kept = [name for name, expression in constraints.items() if expression is not None]
    causes = protocol.causes(Struct(), contract.state.set_properties, (), kept)
    for name in sorted(contract.drop_features & live.protocol.features):
        row = FEATURES.get(name)
        needed_by = next(((kind, cause) for kind, cause, names in causes if name in names), None)
        if row is None or not row.removable:
            yield Refusal(f"the feature {name} cannot be dropped", "Delta keeps it for good")
        elif needed_by is not None:
            kind, cause = needed_by
            needs = f"the constraint {cause}" if kind == "constraint" else cause
            yield Refusal(
                f"the feature {name} is to be dropped, and {needs} needs it", f"declare {cause}: null"
            )
        elif row.enabled_by_property and _takes_property_off(name, live.state):
            key = row.enabled_by_property[0]
            if isinstance(contract.state.properties.get(key), str):
                reason = f"the feature {name} is to be dropped, which takes the property {key} off"
                yield Refusal(reason, f"declare {key}: null")


def _takes_property_off(feature: str, live: TableState) -> bool:
    """Whether DROP FEATURE removes the property too, even if it is ``false`` (measured on Delta 4.4.0)."""
    is_widened = any(one.type_changes for _path, one in walk_fields(live.columns))
    return feature == "rowTracking" or (feature == "typeWidening" and is_widened)


def _unwanted_features(contract: Contract) -> Iterator[Refusal]:
    """Features that a new table would have, and that are to be dropped."""
    for name in sorted(contract.drop_features & contract.created_features):
        reason = f"the new table would have the feature {name}, which is listed under drop_features"
        yield Refusal(reason, "take it out of that list, or do without what needs it")


def _beyond_limits(contract: Contract) -> Iterator[Refusal]:
    """The limits that a new table would pass; what comes to an existing one is judged as its upgrade."""
    limits = contract.protocol
    named = (("max_reader", limits.max_reader), ("max_writer", limits.max_writer))
    for (name, limit), version in zip(
        named, protocol.minimum_versions(contract.created_features), strict=True
    ):
        if limit is not None and version > limit:
            reason = f"the new table would need protocol version {version}, beyond {name}: {limit}"
            yield Refusal(reason, f"raise {name}, or do without what needs it")


def _computed(columns: Struct, path: Path) -> Iterator[Refusal]:
    """What a column has from its beginning, with the table, or never."""
    for below, field in walk_fields(columns, path):
        if isinstance(field.generated, str):
            yield Refusal(f"{format_path(below)} cannot be added as a generated column", _REWRITE)
        if isinstance(field.identity, Identity):
            yield Refusal(f"{format_path(below)} cannot be added as an identity column", _REWRITE)


def _without_words(columns: Struct, path: Path = ()) -> Iterator[Refusal]:
    for below, type_ in walk(columns, path):
        match type_:
            case Array(contains_null=False) | Map(value_contains_null=False):
                reason = f"the nullability of what is inside {format_path(below)} cannot be applied"
                yield Refusal(reason, "Spark SQL has no words for it: take `nullable: false` away there")


def _unsafe_expressions(state: TableState) -> Iterator[Refusal]:
    """Expressions stand in the statements as they are written: each must be one, and no more."""
    for name, expression in state.constraints.items():
        yield from _unsafe(f"the constraint {name}", expression)
    for path, field in walk_fields(state.columns):
        yield from _unsafe(f"the default of {format_path(path)}", field.default, without=COLUMN_WORDS)
        yield from _unsafe(f"the generation expression of {format_path(path)}", field.generated)


def _unsafe(name: str, expression: object, *, without: frozenset[str] = frozenset()) -> Iterator[Refusal]:
    if isinstance(expression, str) and not is_one_expression(expression, without=without):
        yield Refusal(f"{name} is not one SQL expression", "close its brackets and quotes; no comments")
