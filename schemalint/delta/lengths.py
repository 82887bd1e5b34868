"""``char(n)`` and ``varchar(n)`` inside of columns.

Delta has no types with lengths. Nested ones stand in one text per top-level column
(``__CHAR_VARCHAR_TYPE_STRING``), which says the types of all that is in the column. Delta goes by it when the
column itself is altered, and keeps it up badly. What is said here was measured on Delta 4.4.0.
"""

from __future__ import annotations

from schemalint.delta.datatype import Char, DataType, Field, Struct, Varchar, walk
from schemalint.delta.widening import is_container


def has_length(type_: DataType) -> bool:
    """Whether a type has a length, or has one inside."""
    return any(isinstance(inner, Char | Varchar) for _path, inner in walk(type_))


def is_lost_if_altered(column: Field) -> bool:
    """Whether a statement about a top-level column itself makes its type anew from the text, and does harm.

    Fields get other column-mapping ids, so that their values are NULL; widened types are the old ones again,
    so that files cannot be read; and comments, defaults, NOT NULL and recorded type changes inside are gone.
    """
    if not (is_container(column.type) and has_length(column.type)):
        return False
    has_fields = any(isinstance(inner, Struct) for _path, inner in walk(column.type))
    is_widened = isinstance(column.type_changes, tuple) and bool(column.type_changes)
    return has_fields or is_widened
