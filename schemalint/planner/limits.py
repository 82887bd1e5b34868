"""What this version cannot carry out yet: refused by name, never ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from schemalint.expressions import uses
from schemalint.model import change
from schemalint.model.change import Change
from schemalint.model.datatype import (
    Array,
    Char,
    DataType,
    Identity,
    Map,
    Struct,
    Varchar,
    field_at,
    walk,
    walk_fields,
)
from schemalint.model.path import Part, Path, dotted, words
from schemalint.model.plan import Refusal
from schemalint.model.properties import FEATURE_PREFIX, is_protocol_key
from schemalint.model.protocol import minimum_versions
from schemalint.model.table import MARKER, PENDING, Contract, TableState
from schemalint.model.typetext import print_type
from schemalint.model.widening import is_container

LATER: Final = "this version of schemalint cannot do that yet: do it by hand, then run again"

_NAMES: Final[dict[type, str]] = {
    change.FieldRenamed: "the rename of {0} from {1.old_name}",
    change.FieldRemoved: "the drop of {0}",
    change.DefaultChanged: "the default of {0}",
    change.GeneratedChanged: "the generation expression of {0}",
    change.IdentityChanged: "the identity of {0}",
    change.ConstraintChanged: "the constraint {1.name}",
    change.PartitioningChanged: "the partitioning",
    change.ClusteringChanged: "the clustering",
}


# TableCatalog.RESERVED_PROPERTIES of Spark: `comment` sets the description, the others are refused.
_RESERVED: Final = frozenset({"comment", "external", "is_managed_location", "location", "owner", "provider"})


def refused_changes(changes: Iterable[Change], live: TableState, declared: TableState) -> Iterator[Refusal]:
    """The changes of a live table that get no statement."""
    for one in changes:
        yield from _damaging(one, live)
        if (name := _NAMES.get(type(one))) is not None:
            where = dotted(getattr(one, "path", ()))
            yield Refusal(f"{name.format(where, one)} cannot be applied", LATER)
            continue
        match one:
            case change.FieldAdded(path=path, field=field):
                yield from _refused_fields(Struct((field,)), path[:-1])
                yield from _lost_name(path, declared)
            case change.TypeChanged(path=(*_, Part()) as path, new=Char() | Varchar() as new):
                # ALTER COLUMN reports success and stores a plain string (measured on Delta 4.4.0).
                yield Refusal(f"{dotted(path)} cannot become {print_type(new)}", "declare it as string")
            case change.TypeChanged(path=path) if guard := _guard(path, live):
                yield Refusal(
                    f"{dotted(path)} is used by the constraint {guard}, which stands in the way", LATER
                )
            case change.TypeChanged(path=path, old=old, new=new) if is_container(old) or is_container(new):
                yield Refusal(f"{dotted(path)} cannot change its shape in place", "add a new column")
            case change.NullabilityChanged(path=(*_, Part()) as path):
                yield Refusal(
                    f"the nullability of {dotted(path)} cannot be changed", "Delta has no such statement"
                )
            case change.NullabilityChanged(path=path, new=False):
                yield Refusal(f"{dotted(path)} cannot become NOT NULL", "add CHECK (… IS NOT NULL) instead")


def _guard(path: Path, live: TableState) -> str | None:
    """The CHECK constraint that Delta would not let change below it, or that cannot be read."""
    for name, expression in live.constraints.items():
        if expression is not None and uses(expression, path) is not False:
            return name
    return None


def _damaging(one: Change, live: TableState) -> Iterator[Refusal]:
    """A new field with a length, in a column that has lengths: Delta then keeps the new one's alone.

    Nested lengths stand in one text per column, which is made anew from fields that have lost theirs. Fields
    without a length, and other changes, leave it alone (measured on Delta 4.4.0).
    """
    if not isinstance(one, change.FieldAdded) or not _has_length(one.field.type):
        return
    column = live.columns.get(str(one.path[0])) if len(one.path) > 1 else None
    if column is not None and _has_length(column.type):
        yield Refusal(
            f"{dotted(one.path)} cannot be added: Delta would lose the other lengths in {column.name}",
            "declare the new field as string",
        )


def _has_length(type_: DataType) -> bool:
    return any(isinstance(inner, Char | Varchar) for _path, inner in walk(type_))


def refused_contract(contract: Contract, live: TableState | None) -> Iterator[Refusal]:
    """What a contract asks for beside changes of a live table; None if the table is to be created."""
    if contract.drop_features:
        names = ", ".join(sorted(contract.drop_features))
        yield Refusal(f"the drop of features ({names}) cannot be applied", LATER)
    state = contract.state
    for key in state.set_properties:
        if is_protocol_key(key) and not key.lower().startswith(FEATURE_PREFIX):
            yield Refusal(f"{key} cannot be applied", "name the features that are needed: `features: […]`")
    for key in sorted({MARKER, PENDING} & state.properties.keys()):
        yield Refusal(f"the property {key} is schemalint's own record", "take it out of the contract")
    for key in sorted(_RESERVED & state.properties.keys()):
        yield Refusal(f"Spark keeps the property {key} for itself", "a table's comment is its `description`")
    if live is not None:
        yield from _made_anew(state, live)
        return
    yield from _beyond_limits(contract)
    yield from _refused_fields(state.columns)
    for what, columns in (("partitioning", state.partitioned_by), ("clustering", state.clustered_by)):
        if isinstance(columns, tuple) and columns:
            yield Refusal(f"the {what} cannot be applied", LATER)
    for name, expression in state.constraints.items():
        if expression is not None:
            yield Refusal(f"the constraint {name} cannot be applied", LATER)


def _lost_name(path: Path, declared: TableState) -> Iterator[Refusal]:
    """A column that was another one by declaration: an empty one must not take its place."""
    column = field_at(declared.columns, path)
    if column is not None and column.renamed_from:
        yield Refusal(
            f"{dotted(path)} cannot be added: it is {column.renamed_from} renamed, and that is not there",
            "rename the right column by hand, or take `renamed_from` away if it is a new one",
        )


def _made_anew(declared: TableState, live: TableState) -> Iterator[Refusal]:
    """Columns that are to be dropped and made again under their name, and still have their old type."""
    old_types = {words(entry.path): print_type(entry.type) for entry in declared.dropped if entry.type}
    kept = {words(path) for path, _field in walk_fields(declared.columns)}
    for path, field in walk_fields(live.columns):
        if words(path) in kept and old_types.get(words(path)) == print_type(field.type):
            yield Refusal(f"the drop of {dotted(path)}, to be made anew, cannot be applied", LATER)


def _beyond_limits(contract: Contract) -> Iterator[Refusal]:
    """The limits that a new table would pass; what comes to an existing one is judged as its upgrade."""
    limits = contract.protocol
    named = (("max_reader", limits.max_reader), ("max_writer", limits.max_writer))
    for (name, limit), version in zip(named, minimum_versions(contract.created_features), strict=True):
        if limit is not None and version > limit:
            reason = f"the new table would need protocol version {version}, beyond {name}: {limit}"
            yield Refusal(reason, f"raise {name}, or do without what needs it")


def _refused_fields(columns: Struct, path: Path = ()) -> Iterator[Refusal]:
    for below, field in walk_fields(columns, path):
        if isinstance(field.default, str):
            yield Refusal(f"the default of {dotted(below)} cannot be applied", LATER)
        if isinstance(field.generated, str):
            yield Refusal(f"the generation expression of {dotted(below)} cannot be applied", LATER)
        if isinstance(field.identity, Identity):
            yield Refusal(f"the identity of {dotted(below)} cannot be applied", LATER)
    for below, type_ in walk(columns, path):
        match type_:
            case Array(contains_null=False) | Map(value_contains_null=False):
                reason = f"the nullability of what is inside {dotted(below)} cannot be applied"
                yield Refusal(reason, "Spark SQL has no words for it: take `nullable: false` away there")
