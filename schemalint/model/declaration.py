"""A declaration laid over a table: managed is what is declared, everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from schemalint.delta.datatype import Array, DataType, Field, Managed, Map, Struct, T, Unmanaged
from schemalint.delta.diff import diff, longest_increasing, with_renamed_keys
from schemalint.delta.path import Part, Path, path_key
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.renames import renames_of
from schemalint.delta.table import TableState
from schemalint.delta.widening import TypeStep, step
from schemalint.model.column_tracking import ColumnTracking
from schemalint.values import frozen, replace


def apply_declaration(
    declared: TableState,
    live: TableState,
    *,
    open_widening: bool = False,
    tracking: ColumnTracking | None = None,
    reorder: bool = False,
) -> TableState:
    """The state that the live table has once the declaration is applied.

    Live columns that are not declared stay, unless they are to be dropped; live columns keep their order, and
    new ones come behind the column that they are declared behind.

    Args:
        declared: What is managed.
        live: Everything else.
        open_widening: Whether writers may widen types: a live type that is wider than declared then stays.
        tracking: Which column is which, and which ones go. Without it a declared rename stands only where the
            old name is live and the new one is not, and every column listed as dropped goes.
        reorder: Whether declared columns are put in the order that they are declared in; the others stay.
    """
    dropped = frozenset(path_key(entry.path) for entry in declared.dropped)
    pairing: _Pairing = _ByName(dropped) if tracking is None else _ByNumber(tracking.gone)
    laying = _Laying(pairing, open_widening, reorder)
    before = live if tracking is None else replace(live, columns=tracking.live)
    wanted = declared.columns if tracking is None else tracking.declared
    laid = _with_its_keys(before, replace(before, columns=laying.struct(wanted, before.columns, ())))
    return replace(
        laid,
        description=_managed(declared.description, live.description),
        partitioned_by=_managed(declared.partitioned_by, laid.partitioned_by),
        clustered_by=_managed(declared.clustered_by, laid.clustered_by),
        constraints=_entries(declared.constraints, live.constraints),
        properties=_entries(_stored(declared.properties), live.properties),
        features=live.features | declared.asked_features,
        dropped=(),
    )


def _with_its_keys(before: TableState, after: TableState) -> TableState:
    if not (before.partitioned_by or before.clustered_by):
        return after
    return with_renamed_keys(after, renames_of(diff(before, after)))


class _Pairing(Protocol):
    """Which live field a declared one is."""

    def pairs(self, declared: Struct, live: Struct) -> dict[str, Field]:
        """The live field by the declared name."""

    def goes(self, field: Field, path: Path) -> bool:
        """Whether a live field that no declared one is goes."""


@frozen
class _ByName:
    dropped: frozenset[tuple[str, ...]]

    def pairs(self, declared: Struct, live: Struct) -> dict[str, Field]:
        found = {one.name: field for one in declared.fields if (field := live.get(one.name))}
        for one in declared.fields:
            old = live.get(one.renamed_from) if one.renamed_from and one.name not in found else None
            if old is not None and declared.get(old.name) is None and old not in found.values():
                found[one.name] = old
        return found

    def goes(self, _field: Field, path: Path) -> bool:
        return path_key(path) in self.dropped


@frozen
class _ByNumber:
    """By number; a column whose number is not live may be there all the same: somebody added it by hand."""

    gone: frozenset[int]

    def pairs(self, declared: Struct, live: Struct) -> dict[str, Field]:
        by_number = {field.column_id: field for field in live.fields}
        found = {one.name: by_number[one.column_id] for one in declared.fields if one.column_id in by_number}
        taken = {field.column_id for field in found.values()} | self.gone
        for one in declared.fields:
            namesake = live.get(one.name) if one.name not in found else None
            if namesake is not None and namesake.column_id not in taken:
                found[one.name] = namesake
        return found

    def goes(self, field: Field, _path: Path) -> bool:
        return field.column_id in self.gone


@frozen
class _Laying:
    pairing: _Pairing
    open_widening: bool
    reorder: bool = False

    def struct(self, declared: Struct, live: Struct, path: Path) -> Struct:
        pairs = self.pairing.pairs(declared, live)
        wanted = {pairs[one.name].name: one for one in declared.fields if one.name in pairs}
        merged: list[Field] = [
            self._kept(wanted[field.name], field, path) if field.name in wanted else field
            for field in live.fields
            if field.name in wanted or not self.pairing.goes(field, (*path, field.name))
        ]
        if self.reorder:
            merged = _reordered(merged, declared)
        previous: str | None = None
        for one in declared.fields:
            if one.name not in pairs:
                merged.insert(0 if previous is None else _place(merged, previous) + 1, _new(one))
            previous = one.name
        return Struct(tuple(merged))

    def _kept(self, declared: Field, live: Field, path: Path) -> Field:
        """The field as it stays: under its live name, where only case differs and no rename is declared."""
        if declared.name.lower() == live.name.lower() and declared.renamed_from != live.name:
            return self.field(declared, live, (*path, live.name))
        kept = self.field(declared, live, (*path, declared.name))
        return replace(kept, name=declared.name, renamed_from=declared.renamed_from)

    def field(self, declared: Field, live: Field, path: Path) -> Field:
        return replace(
            live,
            type=self.type(declared.type, live.type, path),
            nullable=declared.nullable,
            comment=_managed(declared.comment, live.comment),
            default=_managed(declared.default, live.default),
            generated=_managed(declared.generated, live.generated),
            identity=_managed(declared.identity, live.identity),
        )

    def type(self, declared: DataType, live: DataType, path: Path) -> DataType:
        match declared, live:
            case Struct(), Struct():
                return self.struct(declared, live, path)
            case Array(), Array():
                return Array(
                    self.type(declared.element, live.element, (*path, Part.ELEMENT)),
                    _managed(declared.contains_null, live.contains_null),
                )
            case Map(), Map():
                return Map(
                    self.type(declared.key, live.key, (*path, Part.KEY)),
                    self.type(declared.value, live.value, (*path, Part.VALUE)),
                    _managed(declared.value_contains_null, live.value_contains_null),
                )
            case _ if self.open_widening and step(declared, live) == TypeStep.WIDENING:
                return live
            case _:
                return created_type(declared)


def _reordered(live: list[Field], declared: Struct) -> list[Field]:
    """As few fields as possible moved, none that is not declared."""
    places = {field.name.lower(): place for place, field in enumerate(live)}
    names = [one.name for one in declared.fields if one.name.lower() in places]
    stays = longest_increasing([places[name.lower()] for name in names])
    moving = {name.lower() for name, stay in zip(names, stays, strict=True) if not stay}
    found = [field for field in live if field.name.lower() not in moving]
    for before, name in zip((None, *names), names, strict=False):
        if name.lower() in moving:
            found.insert(0 if before is None else _place(found, before) + 1, live[places[name.lower()]])
    return found


def _place(fields: list[Field], name: str) -> int:
    wanted = name.lower()
    return next(place for place, field in enumerate(fields) if field.name.lower() == wanted)


def created_type(declared: DataType) -> DataType:
    """A declared type as Delta makes it: what is not said is what Delta gives by itself."""
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
    """The state of a table that Delta creates from a declaration, without the features it adds by itself."""
    return replace(
        declared,
        columns=Struct(tuple(_new(field) for field in declared.columns.fields)),
        description=_managed(declared.description, None),
        partitioned_by=_managed(declared.partitioned_by, ()),
        clustered_by=_managed(declared.clustered_by, ()),
        constraints={name: text for name, text in declared.constraints.items() if text is not None},
        properties=_entries(_stored(declared.properties), {}),
        features=declared.asked_features,
        dropped=(),
    )


def _new(declared: Field) -> Field:
    return replace(
        declared,
        type=created_type(declared.type),
        comment=_managed(declared.comment, None),
        default=_managed(declared.default, None),
        generated=_managed(declared.generated, None),
        identity=_managed(declared.identity, None),
        type_changes=(),
        renamed_from=None,
    )


def _managed(declared: Managed[T], live: Managed[T]) -> Managed[T]:
    return live if isinstance(declared, Unmanaged) else declared


def _stored(properties: Mapping[str, str | None]) -> dict[str, str | None]:
    """Without what goes into the protocol: Delta stores no such property."""
    return {key: value for key, value in properties.items() if not is_protocol_key(key)}


def _entries(declared: Mapping[str, str | None], live: Mapping[str, str | None]) -> dict[str, str | None]:
    merged = {**live, **declared}
    return {key: value for key, value in merged.items() if value is not None}
