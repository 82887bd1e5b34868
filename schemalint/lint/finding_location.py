"""What a fact is about, and where that stands in a contract."""

from __future__ import annotations

from typing import Final

from schemalint import contract as contracts
from schemalint.delta import change
from schemalint.delta.datatype import (
    Array,
    Atomic,
    Char,
    Decimal,
    Field,
    Identity,
    Map,
    RecordedChange,
    String,
    Struct,
    Unknown,
    Unmanaged,
    Varchar,
)
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.type_text import print_field, print_type
from schemalint.errors import Location
from schemalint.model.anchors import column_anchors
from schemalint.model.contract import Anchor, Contract
from schemalint.model.fact import Drift, DuplicateTable, Fact, ProtocolUpgrade, TableRetired
from schemalint.model.finding import ObjectRef, object_of_change
from schemalint.plugin import Problem

_TABLE: Final = ObjectRef("table", "")


def object_of(fact: Fact, path: Path | None = None) -> ObjectRef:
    """The thing that a finding is about, for people and for `allow`."""
    if path is not None:
        return ObjectRef("column", format_path(path))
    match fact:
        case Drift(change=inner):
            return object_of(inner)
        case ProtocolUpgrade(because=((kind, name, _), *_)):
            return ObjectRef(kind, name)
        case DuplicateTable(what=what, value=value):
            return ObjectRef("table", f"{what} {value}")
        case _:
            return object_of_change(fact) if isinstance(fact, change.Change) else _TABLE


def values_of(fact: Fact) -> tuple[str | None, str | None]:
    """The value before and the value declared, as text; None where there is none."""
    if isinstance(fact, Drift):
        return values_of(fact.change)
    if isinstance(fact, change.FieldAdded):
        return None, print_field(fact.field, ": ")
    if isinstance(fact, change.FieldRemoved):
        return print_field(fact.field, ": "), None
    if isinstance(fact, change.FieldRenamed):
        return fact.old_name, str(fact.path[-1])
    if isinstance(fact, ProtocolUpgrade):
        return ", ".join(sorted(fact.before)), ", ".join(sorted(fact.after))
    return _text(getattr(fact, "old", None)), _text(getattr(fact, "new", None))


def locate_finding(fact: Fact, problem: Problem, contract: Contract) -> Location:
    """Where in a contract the thing stands; a thing that is gone, where its nearest parent stands."""
    return contracts.locate(contract, *_anchors(fact, problem))


def _anchors(fact: Fact, problem: Problem) -> tuple[Anchor, ...]:
    if problem.object is not None and problem.path is None:
        return (_object_anchor(problem.object), ("table",))
    path = problem.path
    inner = fact.change if isinstance(fact, Drift) else fact
    if path is None:
        path = getattr(inner, "path", None)
    if path is not None:
        anchors = column_anchors(type(inner), path)
        return anchors if problem.part is None else ((problem.part, lowercased(path)), *anchors)
    if isinstance(fact, TableRetired):
        return (("table",),)
    return (_object_anchor(object_of(fact)), ("table",))


def _object_anchor(object_: ObjectRef) -> Anchor:
    match object_.kind:
        case "table" if object_.name.startswith("location "):
            return ("location",)
        case "table":
            return ("table",)
        case "column":
            return ("column", (object_.name.lower(),))
        case "partitioning" | "clustering":
            return (object_.name,)
        case kind:
            return (kind, object_.name)


def _text(value: object) -> str | None:
    match value:
        case None | Unmanaged():
            return None
        case str():
            return value
        case bool():
            return str(value).lower()
        case Atomic() | String() | Char() | Varchar() | Decimal() | Array() | Map() | Struct() | Unknown():
            return print_type(value)
        case Field():
            return print_field(value, ": ")
        case RecordedChange():
            where = "".join(f"{part.value}: " for part in value.at)
            return f"{where}{print_type(value.from_type)} -> {print_type(value.to_type)}"
        case Identity(start=start, step=step):
            return f"identity(start {start}, step {step})"
        case tuple():
            return ", ".join(_text(item) or "" for item in value)
        case _:
            return str(value)
