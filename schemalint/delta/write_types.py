"""The types of a table's columns after a write: merged, cast or refused.

Sources: ``SchemaMergingUtils.mergeDataTypes``, ``TypeWideningMode.TypeEvolution``,
``DeltaInsertCastSupport`` and ``UpdateExpressionsSupport.castIfNeeded`` of Delta Spark 4.4.0,
``Cast.canAnsiCast`` and ``Cast.canCast`` of Spark 4.2; measured on Delta 3.3.2, 4.0.1 and 4.4.0
(``tests/engine/record_writes.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    INTEGERS,
    LONG,
    SHORT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    String,
    Struct,
    stored,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.widening import TypeStep, is_container, is_upcast, step

Widens: TypeAlias = Callable[[DataType, DataType], bool]
"""Whether a write changes a column of the first type to the second one."""

_IN_PARQUET_AS_INTEGER: Final = {BYTE: 1, SHORT: 2, INTEGER: 3}
_DIGITS: Final = {FLOAT: 6, DOUBLE: 15}
"""The decimal digits that a float keeps whatever they are (``FLT_DIG`` and ``DBL_DIG`` of IEEE 754)."""
_DIGITS_OF_INTEGERS: Final[Mapping[DataType, int]] = {BYTE: 3, SHORT: 5, INTEGER: 10, LONG: 19}
_TIMES: Final = (DATE, TIMESTAMP, TIMESTAMP_NTZ)


class RefusedWrite(Exception):  # noqa: N818 (an answer of the engine, no fault of schemalint)
    """Delta refuses the write."""

    def __init__(self, error: str, path: Path = ()) -> None:
        super().__init__(error)
        self.error = error
        self.path = path


class UnknownWrite(Exception):  # noqa: N818 (as RefusedWrite)
    """Nobody has asked what Delta does."""


def never(_old: DataType, _new: DataType) -> bool:
    """Widen no type."""
    return False


@frozen
class Merge:
    """How the schema of a table and that of the data become one.

    Attributes:
        widens: The types that are changed.
        casts: Whether other types are cast to those of the table (``allowImplicitConversions``).
    """

    widens: Widens = never
    casts: bool = False

    def structs(self, table: Struct, data: Struct, path: Path = ()) -> Struct:
        """Return the merged struct: the table's fields in order, then the new ones.

        Raises:
            RefusedWrite: Two types cannot be merged.
        """
        fields = []
        for old in table.fields:
            new = data.get(old.name)
            merged = old if new is None else self._field(old, new, (*path, old.name))
            fields.append(merged)
        fields += [nullable_field(new) for new in data.fields if table.get(new.name) is None]
        return Struct(tuple(fields))

    def _field(self, old: Field, new: Field, path: Path) -> Field:
        if old.type is new.type or old.type == new.type:
            return old
        type_ = self.types(old.type, new.type, path)
        return old if type_ == old.type else replace(old, type=type_)

    def types(self, old: DataType, new: DataType, path: Path) -> DataType:
        """Return the merged type of a field; see `structs`."""
        match old, new:
            case Struct(), Struct():
                return self.structs(old, new, path)
            case Array(), Array():
                return replace(old, element=self.types(old.element, new.element, (*path, Part.ELEMENT)))
            case Map(), Map():
                key = self.types(old.key, new.key, (*path, Part.KEY))
                return replace(old, key=key, value=self.types(old.value, new.value, (*path, Part.VALUE)))
        return self._leaf(old, new, path)

    def _leaf(self, old: DataType, new: DataType, path: Path) -> DataType:
        if stored(old) == stored(new):
            return old
        if self.widens(old, new):
            return new
        if self.casts and is_implicitly_cast(new, old):
            return old
        if old in _IN_PARQUET_AS_INTEGER and new in _IN_PARQUET_AS_INTEGER:
            return max(old, new, key=lambda type_: _IN_PARQUET_AS_INTEGER[type_])
        if old == VOID:
            return nullable(new)
        if new == VOID:
            return old
        raise RefusedWrite("DELTA_FAILED_TO_MERGE_FIELDS", path)


def nullable(type_: DataType) -> DataType:
    """Return the type with all its parts nullable, as a DataFrame's schema becomes one of a table."""
    match type_:
        case Struct(fields=fields):
            return Struct(tuple(nullable_field(field) for field in fields))
        case Array(element=element):
            return Array(nullable(element))
        case Map(key=key, value=value):
            return Map(nullable(key), nullable(value))
    return type_


def nullable_field(new: Field) -> Field:
    """Return a field of the data as a new column of the table."""
    return Field(new.name, nullable(new.type))


def automatic_widening(mode: str) -> Widens:
    """Return which types a write widens in a table with type widening.

    Args:
        mode: The value of ``typeWidening.allowAutomaticWidening``: ``always``, ``never``, or any other one to
            widen within a family of types alone.
    """

    def widens(old: DataType, new: DataType) -> bool:
        if step(old, new, nested=True) is not TypeStep.WIDENING:
            return False
        return mode == "always" or _is_same_family(old, new)

    if mode == "never":
        return never
    return widens


def _is_same_family(old: DataType, new: DataType) -> bool:
    """Whether both are integers, floats or decimals (``isTypeChangeSupportedForSchemaEvolution``)."""
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        return True
    if old in INTEGERS and new in INTEGERS:
        return True
    return (old, new) in ((FLOAT, DOUBLE), (DATE, TIMESTAMP_NTZ))


def is_implicitly_cast(source: DataType, target: DataType) -> bool:
    """Whether Spark casts a source to a target of a MERGE or a stream (``TypeCoercion.implicitCast``)."""
    source, target = stored(source), stored(target)
    if source in (target, VOID):
        return True
    if is_container(source) or is_container(target):
        return False
    if is_number(source) and is_number(target):
        return True
    if isinstance(source, String):
        return is_number(target) or target in (*_TIMES, BINARY)
    if isinstance(target, String):
        return True
    return source in _TIMES and target in _TIMES


def is_number(type_: DataType) -> bool:
    """Whether the type is an integer, a float or a decimal."""
    return type_ in INTEGERS or type_ in (FLOAT, DOUBLE) or isinstance(type_, Decimal)


def can_cast(source: DataType, target: DataType, *, ansi: bool) -> bool:
    """Whether Spark has a cast between two leaf types (``Cast.canAnsiCast``, ``Cast.canCast``)."""
    source, target = stored(source), stored(target)
    if source in (target, VOID) or isinstance(target, String):
        return True
    if isinstance(source, String):
        return not is_container(target) and target != VOID
    if is_number(source):
        return is_number(target) or target in (BOOLEAN, TIMESTAMP)
    if source == BOOLEAN:
        return is_number(target) or (target == TIMESTAMP and not ansi)
    if source == TIMESTAMP:
        return is_number(target) or target in _TIMES or (target == BOOLEAN and not ansi)
    if source == DATE:
        return target in _TIMES or (not ansi and (is_number(target) or target == BOOLEAN))
    if source == TIMESTAMP_NTZ:
        return target in _TIMES
    return False


def may_lose(source: DataType, target: DataType) -> bool:
    """Whether a cast of a value may fail, or may give another value: it is no up-cast."""
    return not is_upcast(stored(source), stored(target)) and source != VOID


def loses_in_silence(source: DataType, target: DataType) -> bool:
    """Whether a cast gives another value without an error, in ANSI mode too.

    Fractions and times are cut off. `rounds` has the casts that lose only the last digits of a large number.

    Each kind of pair was asked of Spark 4.2.0 with one value (tests/guard/test_silent_casts.py).
    """
    source, target = stored(source), stored(target)
    if is_number(source) and target == BOOLEAN:
        return True
    if target in INTEGERS:
        return source in (FLOAT, DOUBLE, TIMESTAMP) or (isinstance(source, Decimal) and source.scale > 0)
    if isinstance(target, Decimal):
        return source in (FLOAT, DOUBLE) or (isinstance(source, Decimal) and source.scale > target.scale)
    if target == DATE:
        return source in (TIMESTAMP, TIMESTAMP_NTZ)
    return source == DOUBLE and target == FLOAT


def rounds(source: DataType, target: DataType) -> bool:
    """Whether a cast of an exact number rounds digits that a float does not hold, without an error.

    A bigint of up to 15 digits is the same as a double (asked with `loses_in_silence`).
    """
    source, target = stored(source), stored(target)
    return target in _DIGITS and _digits(source) > _DIGITS[target]


def _digits(type_: DataType) -> int:
    """Return how many decimal digits the values of an exact number type may have; 0 for other types."""
    if isinstance(type_, Decimal):
        return type_.precision
    return _DIGITS_OF_INTEGERS.get(type_, 0)
