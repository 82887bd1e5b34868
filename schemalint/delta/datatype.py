"""The types that Delta and Spark know, as frozen values.

Names of atomic types are those of Delta's schema JSON (PROTOCOL.md, "Primitive Types"): ``long``, not
``bigint``. The text that people write is read and printed by `schemalint.delta.type_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, TypeAlias, TypeVar

from schemalint.delta.path import Part, Path, Step
from schemalint.values import field, frozen, replace

BINARY_COLLATION: Final = "UTF8_BINARY"

T = TypeVar("T")


class Unmanaged(Enum):
    """What a contract does not say: it is left as it is, and never compared."""

    UNMANAGED = "unmanaged"


UNMANAGED: Final = Unmanaged.UNMANAGED
Managed: TypeAlias = T | Unmanaged


@frozen
class Atomic:
    """A type without parameters that matter here, e.g. ``long``, ``date``, ``variant``, ``void``."""

    name: str


@frozen
class String:
    """Text; Delta stores a collation other than Spark's default beside the type, in ``__COLLATIONS``."""

    collation: str = BINARY_COLLATION


@frozen
class Char:
    """``char(n)``: stored as a string, with ``__CHAR_VARCHAR_TYPE_STRING`` in the column's metadata."""

    length: int


@frozen
class Varchar:
    """``varchar(n)``: stored as `Char` is."""

    length: int


@frozen
class Decimal:
    """A decimal; a precision over 38 or a scale over the precision can be written, but not stored."""

    precision: int = 10
    scale: int = 0


@frozen
class Unknown:
    """A type of a newer Delta: its schema JSON, kept and never interpreted."""

    json: str


@frozen
class Array:
    """An array; whether it may hold nulls is unmanaged in a contract that does not say so."""

    element: DataType
    contains_null: Managed[bool] = True


@frozen
class Map:
    """A map; its keys are never null."""

    key: DataType
    value: DataType
    value_contains_null: Managed[bool] = True


@frozen
class Struct:
    """Fields in order; a table's columns are a struct too."""

    fields: tuple[Field, ...] = ()

    def get(self, name: str) -> Field | None:
        """The field of that name, ignoring case as Delta does."""
        wanted = name.lower()
        for one in self.fields:
            if one.name.lower() == wanted:
                return one
        return None


DataType: TypeAlias = Atomic | String | Char | Varchar | Decimal | Array | Map | Struct | Unknown
"""A type at any depth."""


@frozen
class RecordedChange:
    """An entry of ``delta.typeChanges`` (PROTOCOL.md, "Type Change Metadata").

    Attributes:
        at: The way from the field that carries the entry: parts of collections only, empty for itself.
        version: ``tableVersion``, written for ``typeWidening-preview`` only.
    """

    from_type: DataType
    to_type: DataType
    at: tuple[Part, ...] = ()
    version: int | None = None


@frozen
class Identity:
    """``GENERATED { ALWAYS | BY DEFAULT } AS IDENTITY``."""

    start: int = 1
    step: int = 1
    allow_explicit_insert: bool = False


@frozen
class Field:
    """A column, or a field of a struct.

    Attributes:
        type_changes: The type's history, oldest first.
        column_id: ``delta.columnMapping.id`` of a live field.
        physical_name: ``delta.columnMapping.physicalName`` of a live field.
        renamed_from: The name before, as a contract declares it.
        extra: All other metadata, as pairs of key and JSON text.
    """

    name: str
    type: DataType
    nullable: bool = True
    comment: Managed[str | None] = None
    default: Managed[str | None] = None
    generated: Managed[str | None] = None
    identity: Managed[Identity | None] = None
    type_changes: Managed[tuple[RecordedChange, ...]] = ()
    column_id: int | None = None
    physical_name: str | None = None
    renamed_from: str | None = None
    extra: tuple[tuple[str, str], ...] = field(default=())


BOOLEAN: Final = Atomic("boolean")
BYTE: Final = Atomic("byte")
SHORT: Final = Atomic("short")
INTEGER: Final = Atomic("integer")
LONG: Final = Atomic("long")
FLOAT: Final = Atomic("float")
DOUBLE: Final = Atomic("double")
BINARY: Final = Atomic("binary")
DATE: Final = Atomic("date")
TIMESTAMP: Final = Atomic("timestamp")
TIMESTAMP_NTZ: Final = Atomic("timestamp_ntz")
VARIANT: Final = Atomic("variant")
VOID: Final = Atomic("void")
STRING: Final = String()


def parts(type_: DataType) -> tuple[tuple[Part, DataType], ...]:
    """The parts of a collection; none for any other type."""
    match type_:
        case Array(element=element):
            return ((Part.ELEMENT, element),)
        case Map(key=key, value=value):
            return ((Part.KEY, key), (Part.VALUE, value))
        case _:
            return ()


_WITH_CHILDREN: Final = (Struct, Array, Map)


def children(type_: DataType) -> Iterator[tuple[Step, DataType]]:
    """What lies directly inside a type: a struct's fields, a collection's parts."""
    if isinstance(type_, Struct):
        for inner in type_.fields:
            yield inner.name, inner.type
    yield from parts(type_)


def walk(type_: DataType, path: Path = ()) -> Iterator[tuple[Path, DataType]]:
    """Every type inside a type, itself first, with its path."""
    yield path, type_
    if isinstance(type_, _WITH_CHILDREN):  # most types are leaves
        for step, inner in children(type_):
            yield from walk(inner, (*path, step))


def walk_fields(struct: Struct, path: Path = ()) -> Iterator[tuple[Path, Field]]:
    """Every field at any depth with its path, parents first."""
    for below, type_ in walk(struct, path):
        if isinstance(type_, Struct):
            for inner in type_.fields:
                yield (*below, inner.name), inner


def type_at(type_: DataType, path: Path) -> DataType | None:
    """The type at a path, names ignoring case; None if there is nothing."""
    for step in path:
        found: DataType | None = None
        if isinstance(step, Part):
            found = dict(parts(type_)).get(step)
        elif isinstance(type_, Struct) and (inner := type_.get(step)):
            found = inner.type
        if found is None:
            return None
        type_ = found
    return type_


def field_at(struct: Struct, path: Path) -> Field | None:
    """The field that a path ends in; None if it ends in a part of a collection, or nowhere."""
    parent = type_at(struct, path[:-1])
    if not path or isinstance(path[-1], Part) or not isinstance(parent, Struct):
        return None
    return parent.get(path[-1])


def with_parts(type_: Array | Map, new: dict[Part, DataType]) -> Array | Map:
    """The same collection over other parts."""
    if isinstance(type_, Array):
        return replace(type_, element=new.get(Part.ELEMENT, type_.element))
    return replace(type_, key=new.get(Part.KEY, type_.key), value=new.get(Part.VALUE, type_.value))


def map_fields(struct: Struct, update: Callable[[Path, Field], Field], path: Path = ()) -> Struct:
    """The struct with every field at any depth replaced, parents before what is inside them."""
    return Struct(tuple(_mapped(field, update, path) for field in struct.fields))


def _mapped(field: Field, update: Callable[[Path, Field], Field], path: Path) -> Field:
    below = (*path, field.name)
    updated = update(below, field)
    return replace(updated, type=map_fields_within(updated.type, update, below))


def map_fields_within(type_: DataType, update: Callable[[Path, Field], Field], path: Path = ()) -> DataType:
    """As `map_fields`, for the fields inside of any type."""
    match type_:
        case Struct():
            return map_fields(type_, update, path)
        case Array() | Map():
            inside = {part: map_fields_within(inner, update, (*path, part)) for part, inner in parts(type_)}
            return with_parts(type_, inside)
        case _:
            return type_
