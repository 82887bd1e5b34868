"""The data types of Delta and Spark, and fields, as frozen values.

Atomic types have the names of Delta's schema JSON (PROTOCOL.md, "Primitive Types"): ``long``, not ``bigint``.
`schemalint.delta.type_text` reads and prints the SQL text of types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cached_property, lru_cache
from operator import attrgetter
from sys import intern
from typing import Final, TypeAlias, TypeVar

from schemalint.base.values import Itself, frozen, replace
from schemalint.delta.path import Part, Path, Step

BINARY_COLLATION: Final = "UTF8_BINARY"
"""Spark's default collation."""

T = TypeVar("T")


class Unmanaged(Enum):
    """The class of `UNMANAGED`."""

    UNMANAGED = "unmanaged"


UNMANAGED: Final = Unmanaged.UNMANAGED
"""The value that a contract does not declare: schemalint neither compares nor changes it."""

Managed: TypeAlias = T | Unmanaged
"""A declared value, or `UNMANAGED`."""


def items_of(value: Managed[tuple[T, ...]]) -> tuple[T, ...]:
    """Return the items of a part of a table, none if it is unmanaged."""
    if isinstance(value, Unmanaged):
        return ()
    return value


@frozen
class Atomic:
    """A type that its name describes completely, such as ``long``, ``date``, ``variant`` or ``time(6)``."""

    name: str


@frozen
class String:
    """A string. Delta stores a collation other than the default in the field metadata (``__COLLATIONS``)."""

    collation: str = BINARY_COLLATION


@frozen
class Char:
    """``char(n)``. Delta stores a string, and the type in the metadata key ``__CHAR_VARCHAR_TYPE_STRING``."""

    length: int


@frozen
class Varchar:
    """``varchar(n)``; stored like `Char`."""

    length: int


@frozen
class Decimal:
    """A decimal.

    The value may exceed the limits of stored decimals: precision at most 38, scale at most the precision.
    """

    precision: int = 10
    scale: int = 0


@frozen
class Unknown:
    """A type of a newer Delta version: its schema JSON, kept without interpretation."""

    json: str


@frozen
class Array:
    """An array; `contains_null` is unmanaged if the contract does not declare it."""

    element: DataType
    contains_null: Managed[bool] = True


@frozen
class Map:
    """A map; `value_contains_null` is unmanaged if the contract does not declare it. Keys are never null."""

    key: DataType
    value: DataType
    value_contains_null: Managed[bool] = True


@frozen
class Struct:
    """An ordered list of fields. A table's columns are a struct too."""

    fields: tuple[Field, ...] = ()

    def get(self, name: str) -> Field | None:
        """Return the field with this name, or None; ignores case, as Delta does."""
        return self._by_name.get(name.lower())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the fields, as they are spelled."""
        return frozenset(inner.name for inner in self.fields)

    @property
    def has_unique_names(self) -> bool:
        """Whether all names differ, ignoring case."""
        return len(self._by_name) == len(self.fields)

    @cached_property
    def renamed(self) -> frozenset[str]:
        """The names, in lower case, of the fields that declare a rename."""
        return frozenset(inner.name.lower() for inner in self.fields if inner.renamed_from)

    @cached_property
    def old_names(self) -> frozenset[str]:
        """The names, in lower case, that declared renames start from."""
        return frozenset(inner.renamed_from.lower() for inner in self.fields if inner.renamed_from)

    @cached_property
    def by_id(self) -> dict[int, Field]:
        """The fields that have a column mapping id, by id; the first of two equal ids counts."""
        return {inner.column_id: inner for inner in reversed(self.fields) if inner.column_id is not None}

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        """The fields by lowercased name; the first of two equal names counts."""
        # Each step of a plan has a state of its own, whose fields are looked up: no loop in Python here.
        # Names are the same in many states and tables: interned, they are in memory once.
        names = map(intern, map(str.lower, map(attrgetter("name"), reversed(self.fields))))
        return dict(zip(names, reversed(self.fields), strict=True))


DataType: TypeAlias = Atomic | String | Char | Varchar | Decimal | Array | Map | Struct | Unknown
"""Any data type."""


@frozen
class RecordedChange:
    """An entry of ``delta.typeChanges`` (PROTOCOL.md, "Type Change Metadata").

    Attributes:
        from_type: ``fromType``.
        to_type: ``toType``.
        at: ``fieldPath``: the collection parts from the field with the entry to the changed type; empty if
            the field's own type changed.
        version: ``tableVersion``; only ``typeWidening-preview`` writes it.
    """

    from_type: DataType
    to_type: DataType
    at: tuple[Part, ...] = ()
    version: int | None = None


@frozen
class Identity:
    """``GENERATED { ALWAYS | BY DEFAULT } AS IDENTITY``; `allow_explicit_insert` means BY DEFAULT."""

    start: int = 1
    step: int = 1
    allow_explicit_insert: bool = False

    @property
    def kind(self) -> str:
        """``BY DEFAULT`` or ``ALWAYS``."""
        return "BY DEFAULT" if self.allow_explicit_insert else "ALWAYS"

    @property
    def clause(self) -> str:
        """The clause of a column definition in SQL."""
        return f"GENERATED {self.kind} AS IDENTITY (START WITH {self.start} INCREMENT BY {self.step})"


@frozen
class Field:
    """A column, or a field of a nested struct.

    Attributes:
        default: The SQL text of the default (``CURRENT_DEFAULT``).
        generated: The generation expression (``delta.generationExpression``).
        identity: The identity options (``delta.identity.*``).
        type_changes: The entries of ``delta.typeChanges``, oldest first.
        column_id: ``delta.columnMapping.id``; live fields only.
        physical_name: ``delta.columnMapping.physicalName``; live fields only.
        renamed_from: The previous name that a contract declares; contract fields only.
        extra: All other metadata of a live field, as pairs of key and JSON text.
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
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def stored_name(self) -> str:
        """The name in data files: the physical name, or that of a column that is not mapped."""
        return self.physical_name or self.name


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

INTEGERS: Final = (BYTE, SHORT, INTEGER, LONG)
"""The integer types, the narrowest first."""

PRIMITIVES: Final = (BOOLEAN, *INTEGERS, FLOAT, DOUBLE, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, VARIANT, VOID)
"""The types that a name alone describes in schema JSON (PROTOCOL.md, "Primitive Types")."""


def stored(type_: DataType) -> DataType:
    """Return a type as Delta stores it, and a DataFrame has it: char and varchar are strings."""
    if isinstance(type_, Char | Varchar):
        return STRING
    return type_


def parts(type_: DataType) -> tuple[tuple[Part, DataType], ...]:
    """Return the parts of an array or a map with their types; an empty tuple for any other type."""
    match type_:
        case Array(element=element):
            return ((Part.ELEMENT, element),)
        case Map(key=key, value=value):
            return ((Part.KEY, key), (Part.VALUE, value))
        case _:
            return ()


_WITH_CHILDREN: Final = (Struct, Array, Map)


def children(type_: DataType) -> Iterator[tuple[Step, DataType]]:
    """Yield the types directly inside a type: of a struct's fields or a collection's parts."""
    if isinstance(type_, Struct):
        for inner in type_.fields:
            yield inner.name, inner.type
    yield from parts(type_)


def walk(type_: DataType, path: Path = ()) -> Iterator[tuple[Path, DataType]]:
    """Yield the type itself, then every type inside it at any depth, with their paths, parents first."""
    if isinstance(type_, Struct) and not path:
        return iter(_walked(Itself(type_)))
    return _walk(type_, path)


@lru_cache(maxsize=8)  # many rules walk the same columns, before and after a change
def _walked(key: Itself[Struct]) -> tuple[tuple[Path, DataType], ...]:
    return tuple(_walk(key.value, ()))


def _walk(type_: DataType, path: Path) -> Iterator[tuple[Path, DataType]]:
    yield path, type_
    if isinstance(type_, Struct):
        for inner_field in type_.fields:
            if isinstance(inner_field.type, _WITH_CHILDREN):
                yield from _walk(inner_field.type, (*path, inner_field.name))
            else:  # most types are leaves
                yield (*path, inner_field.name), inner_field.type
    for part, inner in parts(type_):
        yield from _walk(inner, (*path, part))


def walk_fields(struct: Struct, path: Path = ()) -> Iterator[tuple[Path, Field]]:
    """Yield every field at any depth with its path, parents first."""
    if path:
        return _walk_fields(struct, path)
    return iter(_walked_fields(Itself(struct)))


@lru_cache(maxsize=8)
def _walked_fields(key: Itself[Struct]) -> tuple[tuple[Path, Field], ...]:
    return tuple(_walk_fields(key.value, ()))


def _walk_fields(struct: Struct, path: Path) -> Iterator[tuple[Path, Field]]:
    for inner in struct.fields:
        yield (*path, inner.name), inner
    for inner in struct.fields:
        if isinstance(inner.type, _WITH_CHILDREN):  # most types are leaves
            yield from _walk_fields_within(inner.type, (*path, inner.name))


def _walk_fields_within(type_: DataType, path: Path) -> Iterator[tuple[Path, Field]]:
    if isinstance(type_, Struct):
        yield from _walk_fields(type_, path)
    for part, inner in parts(type_):
        yield from _walk_fields_within(inner, (*path, part))


def physical_paths(struct: Struct) -> Iterator[tuple[Path, Path]]:
    """Yield the path of every field, with the path that the names in data files make, parents first."""
    physical: dict[Path, Path] = {}
    for path, inner in walk_fields(struct):
        parent = next((end for end in range(len(path) - 1, 0, -1) if path[:end] in physical), 0)
        physical[path] = (*physical.get(path[:parent], ()), *path[parent:-1], inner.stored_name)
        yield path, physical[path]


def type_at(type_: DataType, path: Path) -> DataType | None:
    """Return the type at a path, ignoring the case of names; None if the path does not exist."""
    for step in path:
        child: DataType | None = None
        if isinstance(step, Part):
            child = dict(parts(type_)).get(step)
        elif isinstance(type_, Struct) and (inner := type_.get(step)):
            child = inner.type
        if child is None:
            return None
        type_ = child
    return type_


def path_of_names(type_: DataType, names: Iterable[str]) -> tuple[Path, bool]:
    """Return the path that names such as ``lines``, ``element``, ``qty`` lead to, and whether it exists.

    What is not found counts as names of fields.
    """
    path: list[Step] = []
    rest = list(names)
    while rest:
        if isinstance(type_, Struct):
            field = type_.get(rest[0])
            step: tuple[Step, DataType] | None = (rest[0], field.type) if field else None
        else:
            step = next((inner for inner in parts(type_) if inner[0].value == rest[0].lower()), None)
        if step is None:
            return (*path, *rest), False
        path.append(step[0])
        type_ = step[1]
        del rest[0]
    return tuple(path), True


def field_at(struct: Struct, path: Path) -> Field | None:
    """Return the field at a path; None if the path ends in a collection part or does not exist."""
    if not path or isinstance(path[-1], Part):
        return None
    parent = type_at(struct, path[:-1]) if len(path) > 1 else struct
    if not isinstance(parent, Struct):
        return None
    return parent.get(path[-1])


def with_inserted(fields: Iterable[Field], new: Iterable[tuple[Field, str | None]]) -> tuple[Field, ...]:
    """Insert fields one after the other, each directly after the field of a name; None is the start.

    Raises:
        LookupError: There is no field of such a name.
    """
    fields, followers = tuple(fields), dict[str | None, list[Field]]()
    for added, previous in new:
        followers.setdefault(None if previous is None else previous.lower(), []).append(added)
    if not followers:
        return fields
    rest = [*reversed(fields), *followers.pop(None, ())]
    result: list[Field] = []
    while rest:
        result.append(rest.pop())
        rest += followers.pop(result[-1].name.lower(), ())  # the field inserted last comes first
    if followers:
        raise LookupError(*followers)
    return tuple(result)


def with_parts(type_: Array | Map, new: dict[Part, DataType]) -> Array | Map:
    """Return the collection with the types of the given parts replaced."""
    if isinstance(type_, Array):
        return replace(type_, element=new.get(Part.ELEMENT, type_.element))
    return replace(type_, key=new.get(Part.KEY, type_.key), value=new.get(Part.VALUE, type_.value))


def map_fields(struct: Struct, update: Callable[[Path, Field], Field], path: Path = ()) -> Struct:
    """Return the struct with every field at any depth replaced by the result of ``update``.

    Args:
        struct: The struct.
        update: Called with the path and the field, parents first; returns the new field. It sees the fields
            inside the new field, under the parent's old name.
        path: The path of the struct itself.
    """
    return Struct(tuple(_mapped(field, update, path) for field in struct.fields))


def _mapped(field: Field, update: Callable[[Path, Field], Field], path: Path) -> Field:
    field_path = (*path, field.name)
    updated = update(field_path, field)
    inside = map_fields_within(updated.type, update, field_path)
    return updated if inside is updated.type else replace(updated, type=inside)


def map_fields_within(type_: DataType, update: Callable[[Path, Field], Field], path: Path = ()) -> DataType:
    """Apply `map_fields` to all fields inside a type of any kind."""
    match type_:
        case Struct():
            return map_fields(type_, update, path)
        case Array() | Map():
            inside = {part: map_fields_within(inner, update, (*path, part)) for part, inner in parts(type_)}
            return with_parts(type_, inside)
        case _:
            return type_
