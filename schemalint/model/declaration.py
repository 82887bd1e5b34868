"""Apply a declaration to a table's state: declared values replace live ones, all others stay.

Where the contract states nothing, the result has the live value. So the difference between the two never
contains anything unmanaged, and no later step needs the rule. `merge_columns` merges any two states: a
declaration and a live state, or two revisions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Protocol, TypeAlias

from schemalint.base.values import Itself, frozen, replace
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    Struct,
    T,
    Unmanaged,
    with_inserted,
)
from schemalint.delta.diff import diff, longest_increasing, with_keys_followed
from schemalint.delta.equivalence import with_names_of
from schemalint.delta.path import Part, Path, path_key
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.statistics import STATISTICS_COLUMNS
from schemalint.delta.table import TableState
from schemalint.delta.widening import TypeStep, step
from schemalint.model.column_tracking import ColumnTracking

Pairing: TypeAlias = Callable[[Struct, Struct, Path], Iterable[tuple[Field, Field | None]]]
"""Returns the left fields that stay, in the order of the result, each with its right field, if any.

It takes the left struct, the right one, and their path.
"""


def apply_declaration(
    declared: TableState,
    live: TableState,
    *,
    open_widening: bool = False,
    tracking: ColumnTracking | None = None,
    reorder: bool = False,
) -> TableState:
    """Return the state of the live table after the declaration is applied.

    Undeclared live columns stay, unless they are dropped. Live columns keep their order; a new column follows
    its declared predecessor.

    Args:
        declared: The managed values.
        live: All other values.
        open_widening: Whether writers may widen types: a live type wider than the declared one then stays.
        tracking: The pairing of columns, and the dropped ones. Without it, a declared rename counts only if
            the old name is live and the new name is not, and every column listed as dropped is dropped.
        reorder: Whether declared columns get their declared order; the other columns stay in position.
    """
    pairing: _Pairing = (
        _ByName(frozenset(declared.dropped_by_key)) if tracking is None else _ByNumber(tracking.gone)
    )
    before = live if tracking is None else replace(live, columns=tracking.live)
    columns = declared.columns if tracking is None else tracking.declared
    pick = _Pick(pairing, open_widening, reorder)
    after = replace(before, columns=_merged_columns(pick, Itself(columns), Itself(before.columns)))
    merged = _with_keys_followed(before, after)
    return replace(
        merged,
        description=_managed(declared.description, live.description),
        partitioned_by=_managed(declared.partitioned_by, merged.partitioned_by),
        clustered_by=_managed(declared.clustered_by, merged.clustered_by),
        constraints=_entries(with_names_of(declared.constraints, live.constraints), live.constraints),
        properties=_entries(_stored(declared.properties), merged.properties),
        features=live.features | declared.requested_features,
        dropped=(),
    )


@lru_cache(maxsize=2)  # a remedy of a finding seldom changes columns
def _merged_columns(pick: _Pick, declared: Itself[Struct], live: Itself[Struct]) -> Struct:
    if declared.value is live.value and pick.pairing == _ByName(frozenset()):
        return live.value  # a table is judged as if its contract was what it is
    return merge_columns(live.value, declared.value, pick.pairs, pick)


def _with_keys_followed(before: TableState, after: TableState) -> TableState:
    if not (before.partitioned_by or before.clustered_by or STATISTICS_COLUMNS in before.properties):
        return after
    return with_keys_followed(after, diff(before, after))


_Pairs: TypeAlias = tuple[tuple[Field, Field | None], ...]


class _Pairing(Protocol):
    """A way to pair declared fields with live ones."""

    def pairs(self, declared: Struct, live: Struct) -> dict[str, Field]:
        """Return the live field of each declared name."""

    def is_dropped(self, field: Field, path: Path) -> bool:
        """Return whether an unmatched live field is dropped."""


@frozen
class _ByName:
    dropped: frozenset[tuple[str, ...]]

    def pairs(self, declared: Struct, live: Struct) -> dict[str, Field]:
        partners = {new.name: field for new in declared.fields if (field := live.get(new.name))}
        taken = {field.name for field in partners.values()}
        for new in declared.fields:
            old = live.get(new.renamed_from) if new.renamed_from and new.name not in partners else None
            if old is not None and declared.get(old.name) is None and old.name not in taken:
                partners[new.name] = old
                taken.add(old.name)
        return partners

    def is_dropped(self, _field: Field, path: Path) -> bool:
        return path_key(path) in self.dropped


@frozen
class _ByNumber:
    """Pair by number, then by name: a column without a live number may have been added by hand."""

    gone: frozenset[int]

    def pairs(self, declared: Struct, live: Struct) -> dict[str, Field]:
        by_number = {field.column_id: field for field in live.fields}
        partners = {
            new.name: by_number[new.column_id] for new in declared.fields if new.column_id in by_number
        }
        taken = {field.column_id for field in partners.values()} | self.gone
        for new in declared.fields:
            namesake = live.get(new.name) if new.name not in partners else None
            if namesake is not None and namesake.column_id not in taken:
                partners[new.name] = namesake
        return partners

    def is_dropped(self, field: Field, _path: Path) -> bool:
        return field.column_id in self.gone


@frozen
class _Pick:
    pairing: _Pairing
    open_widening: bool
    reorder: bool

    def pairs(self, live: Struct, declared: Struct, path: Path) -> _Pairs:
        """Return the live fields that stay, with their declared ones."""
        pairs = self.pairing.pairs(declared, live)
        by_live_name = {pairs[new.name].name: new for new in declared.fields if new.name in pairs}
        staying = tuple(
            (field, by_live_name.get(field.name))
            for field in live.fields
            if field.name in by_live_name or not self.pairing.is_dropped(field, (*path, field.name))
        )
        if self.reorder:
            return _reordered(staying, declared)
        return staying

    def both(self, live: Field, declared: Field, path: Path) -> Field:
        """Return the merged field; it keeps its live name if only case differs and no rename is declared."""
        if declared.name.lower() == live.name.lower() and declared.renamed_from != live.name:
            return self._field(declared, live, (*path, live.name))
        kept = self._field(declared, live, (*path, declared.name))
        return replace(kept, name=declared.name, renamed_from=declared.renamed_from)

    def right_alone(self, declared: Field, _names: Collection[str], _path: Path) -> Field:
        """Return a new column."""
        return _new(declared)

    def nulls(self, live: Managed[bool], declared: Managed[bool]) -> Managed[bool]:
        """Return the declared nullability, or the live one."""
        return _managed(declared, live)

    def leaf(self, live: DataType, declared: DataType, _path: Path) -> DataType:
        """Return the declared type, or a wider live one where writers may widen types."""
        is_open = self.open_widening and step(declared, live) == TypeStep.WIDENING
        if is_open:
            return live
        return created_type(declared)

    def _field(self, declared: Field, live: Field, path: Path) -> Field:
        if _is_as_declared(live, declared):
            return live
        merged = Field(
            live.name,
            merge(live.type, declared.type, self.pairs, self, path),
            nullable=declared.nullable,
            comment=_managed(declared.comment, live.comment),
            default=_managed(declared.default, live.default),
            generated=_managed(declared.generated, live.generated),
            identity=_managed(declared.identity, live.identity),
            type_changes=live.type_changes,
            column_id=live.column_id,
            physical_name=live.physical_name,
            renamed_from=live.renamed_from,
            extra=live.extra,
        )
        return live if merged == live else merged  # the same value, so that nothing compares its parts again


def _is_as_declared(live: Field, declared: Field) -> bool:
    """Whether a declaration changes nothing of a live field; False also for some types that stay the same."""
    return (
        live.type is declared.type
        and live.nullable == declared.nullable
        and declared.comment in (UNMANAGED, live.comment)
        and declared.default in (UNMANAGED, live.default)
        and declared.generated in (UNMANAGED, live.generated)
        and declared.identity in (UNMANAGED, live.identity)
    )


def _reordered(pairs: _Pairs, declared: Struct) -> _Pairs:
    """Return the pairs in declared order with as few moves as possible; undeclared fields stay."""
    fields = [new or field for field, new in pairs]
    by_name = {field.name.lower(): (position, field) for position, field in enumerate(fields)}
    names = [new.name for new in declared.fields if new.name.lower() in by_name]
    stays = longest_increasing([by_name[name.lower()][0] for name in names])
    moving = {name.lower() for name, stay in zip(names, stays, strict=True) if not stay}
    moved = (
        (by_name[name.lower()][1], previous)
        for name, previous in zip(names, (None, *names), strict=False)
        if name.lower() in moving
    )
    ordered = with_inserted((field for field in fields if field.name.lower() not in moving), moved)
    return tuple(pairs[by_name[field.name.lower()][0]] for field in ordered)


def created_type(declared: DataType) -> DataType:
    """Return the type that Delta creates: unmanaged parts get Delta's defaults."""
    match declared:
        case Struct(fields=fields):
            return Struct(tuple(_new(field) for field in fields))
        case Array(element=element, contains_null=nullable):
            return Array(created_type(element), _managed(nullable, live=True))
        case Map(key=key, value=value, value_contains_null=nullable):
            return Map(created_type(key), created_type(value), _managed(nullable, live=True))
        case _:
            return declared


def created_state(declared: TableState) -> TableState:
    """Return the state of a table that Delta creates from a declaration, without automatic features."""
    return replace(
        declared,
        columns=Struct(tuple(_new(field) for field in declared.columns.fields)),
        description=_managed(declared.description, None),
        partitioned_by=_managed(declared.partitioned_by, ()),
        clustered_by=_managed(declared.clustered_by, ()),
        constraints={name: text for name, text in declared.constraints.items() if text is not None},
        properties=_entries(_stored(declared.properties), {}),
        features=declared.requested_features,
        dropped=(),
    )


def _new(declared: Field) -> Field:
    return Field(
        declared.name,
        created_type(declared.type),
        nullable=declared.nullable,
        comment=_managed(declared.comment, None),
        default=_managed(declared.default, None),
        generated=_managed(declared.generated, None),
        identity=_managed(declared.identity, None),
        column_id=declared.column_id,
        physical_name=declared.physical_name,
        extra=declared.extra,
    )


def _managed(declared: Managed[T], live: Managed[T]) -> Managed[T]:
    if isinstance(declared, Unmanaged):
        return live
    return declared


def _stored(properties: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the properties without those for the protocol: Delta does not store them."""
    return {key: value for key, value in properties.items() if not is_protocol_key(key)}


def _entries(declared: Mapping[str, str | None], live: Mapping[str, str | None]) -> dict[str, str | None]:
    merged = {**live, **declared}
    return {key: value for key, value in merged.items() if value is not None}


class Pick(Protocol):
    """Picks what the result has of both sides; paths are those of the result."""

    def both(self, left: Field, right: Field, path: Path, /) -> Field:
        """Return the field for a pair in the struct at a path; `merge` merges its types."""

    def right_alone(self, right: Field, names: Collection[str], path: Path, /) -> Field | None:
        """Return the field for one that only the right side has, if any.

        Args:
            right: The field.
            names: The names of the other fields of the result, in lower case.
            path: The path of the struct.
        """

    def nulls(self, left: Managed[bool], right: Managed[bool], /) -> Managed[bool]:
        """Return the nullability of the elements of an array, or of the values of a map."""

    def leaf(self, left: DataType, right: DataType, path: Path, /) -> DataType:
        """Return the type for two that have no parts in common."""


def merge(left: DataType, right: DataType, pairing: Pairing, pick: Pick, path: Path = ()) -> DataType:
    """Merge two types, and all fields and parts inside them."""

    def part(inner: Part, left: DataType, right: DataType) -> DataType:
        return merge(left, right, pairing, pick, (*path, inner))

    match left, right:
        case Struct(), Struct():
            return merge_columns(left, right, pairing, pick, path)
        case Array(), Array():
            element = part(Part.ELEMENT, left.element, right.element)
            return Array(element, pick.nulls(left.contains_null, right.contains_null))
        case Map(), Map():
            nulls = pick.nulls(left.value_contains_null, right.value_contains_null)
            key, value = part(Part.KEY, left.key, right.key), part(Part.VALUE, left.value, right.value)
            return Map(key, value, nulls)
        case _:
            return pick.leaf(left, right, path)


def merge_columns(left: Struct, right: Struct, pairing: Pairing, pick: Pick, path: Path = ()) -> Struct:
    """Merge two structs: what only the right one has directly follows its predecessor there."""
    fields: list[Field] = []
    names: dict[str, str] = {}
    for field, partner in pairing(left, right, path):
        fields.append(field if partner is None else pick.both(field, partner, path))
        if partner is not None:
            names[partner.name] = fields[-1].name
    taken = {field.name.lower() for field in fields}
    additions: list[tuple[Field, str | None]] = []
    previous: str | None = None
    for field in right.fields:
        if field.name in names:
            previous = names[field.name]
        elif (new := pick.right_alone(field, taken, path)) is not None:
            additions.append((new, previous))
            taken.add(new.name.lower())
            previous = new.name
    return Struct(with_inserted(fields, additions))
