"""A declaration laid over a table: managed is what is declared, everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from schemalint.model.datatype import (
    Array,
    DataType,
    Field,
    Managed,
    Map,
    Struct,
    T,
    Unmanaged,
)
from schemalint.model.path import Part, Path, words
from schemalint.model.properties import is_protocol_key
from schemalint.model.table import TableState
from schemalint.model.widening import TypeStep, step


def over(declared: TableState, live: TableState, *, open_widening: bool = False) -> TableState:
    """The state that the live table has once the declaration is applied.

    Live columns that are not declared stay, unless they are listed as dropped; live columns keep their order,
    and new ones come behind the column that they are declared behind. A declared rename stands only where the
    old name is live and the new one is not.

    Args:
        declared: What is managed.
        live: Everything else.
        open_widening: Whether writers may widen types: a live type that is wider than declared then stays.
    """
    laying = _Laying(frozenset(words(entry.path) for entry in declared.dropped), open_widening)
    return replace(
        live,
        columns=laying.struct(declared.columns, live.columns, ()),
        description=_managed(declared.description, live.description),
        partitioned_by=_managed(declared.partitioned_by, live.partitioned_by),
        clustered_by=_managed(declared.clustered_by, live.clustered_by),
        constraints=_entries(declared.constraints, live.constraints),
        properties=_entries(_stored(declared.properties), live.properties),
        features=live.features | declared.asked_features,
        dropped=(),
    )


@dataclass(frozen=True, slots=True)
class _Laying:
    dropped: frozenset[tuple[str, ...]]
    open_widening: bool

    def struct(self, declared: Struct, live: Struct, path: Path) -> Struct:
        merged: list[Field] = [
            self.field(wanted, field, (*path, field.name)) if (wanted := declared.get(field.name)) else field
            for field in live.fields
            if declared.get(field.name) is not None or words((*path, field.name)) not in self.dropped
        ]
        previous: str | None = None
        for wanted in declared.fields:
            if live.get(wanted.name) is None:
                old = Struct(tuple(merged)).get(wanted.renamed_from) if wanted.renamed_from else None
                if old is not None and declared.get(old.name) is None:
                    place = _place(merged, old.name)
                    merged[place] = replace(
                        self.field(wanted, old, (*path, wanted.name)),
                        name=wanted.name,
                        renamed_from=wanted.renamed_from,
                    )
                else:
                    place = 0 if previous is None else _place(merged, previous) + 1
                    merged.insert(place, _new(wanted))
            previous = wanted.name
        return Struct(tuple(merged))

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
                return new_type(declared)


def _place(fields: list[Field], name: str) -> int:
    wanted = name.lower()
    return next(place for place, field in enumerate(fields) if field.name.lower() == wanted)


def new_type(declared: DataType) -> DataType:
    """A declared type as Delta makes it: what is not said is what Delta gives by itself."""
    match declared:
        case Struct(fields=fields):
            return Struct(tuple(_new(field) for field in fields))
        case Array(element=element, contains_null=nullable):
            return Array(new_type(element), _managed(nullable, live=True))
        case Map(key=key, value=value, value_contains_null=nullable):
            return Map(new_type(key), new_type(value), _managed(nullable, live=True))
        case _:
            return declared


def created(declared: TableState) -> TableState:
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
        type=new_type(declared.type),
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
