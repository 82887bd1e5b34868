"""Invariants of columns: conditions in the metadata of a field, which each write checks.

PROTOCOL.md, "Column Invariants". Delta Spark writes none, other writers do; it checks those of columns and of
fields of structs, as if they were constraints of the table (``Invariants.getFromSchema``; measured on Delta
4.4.0).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.datatype import Field, Struct, walk_fields
from schemalint.delta.path import Part, Path

INVARIANTS: Final = "delta.invariants"
"""The metadata key: a text of JSON, ``{"expression": {"expression": "x > 3"}}``."""


@frozen
class Invariant:
    """The invariant of a field.

    Attributes:
        expression: The condition, with names from the table's columns down; None if it cannot be read.
        fault: Why it cannot be read, as the end of a sentence.
        error: The error class, or else the Java class, of the statements that read it.
    """

    expression: str | None = None
    fault: str | None = None
    error: str = ""


def read_invariant(field: Field) -> Invariant | None:
    """Return the invariant of a field; None if it has none."""
    written = next((text for key, text in field.extra if key == INVARIANTS), None)
    if written is None or written == "null":
        return None
    text = json.loads(written)
    if not isinstance(text, str):
        return Invariant(fault=f"is {written}, which is no text", error="ClassCastException")
    try:
        value = json.loads(text)
    except ValueError:
        is_cut_off = text.strip().startswith("{") and not text.strip().endswith("}")
        error = "JsonEOFException" if is_cut_off else "JsonParseException"
        return Invariant(fault="is no JSON", error=error)
    match value:
        case {"expression": {"expression": str(expression)}}:
            return Invariant(expression)
        case {}:
            if "expression" in value:
                return Invariant(fault="has no condition", error="MismatchedInputException")
            return Invariant(fault="is none that Delta knows", error="DELTA_UNRECOGNIZED_INVARIANT")
        case _:
            return Invariant(fault="is no object", error="MismatchedInputException")


def has_invariant(path: Path, field: Field) -> bool:
    """Whether a field has an invariant that Delta reads: those inside of arrays and maps it ignores."""
    if not field.extra:  # as of most fields
        return False
    is_written = any(key == INVARIANTS and text != "null" for key, text in field.extra)
    return is_written and not any(isinstance(part, Part) for part in path)


def invariants_of(columns: Struct) -> Iterator[tuple[Path, Invariant]]:
    """Yield the invariants that Delta reads."""
    for path, field in walk_fields(columns):
        if has_invariant(path, field) and (invariant := read_invariant(field)) is not None:
            yield path, invariant
