"""The object of a fact, its values, and its location in a contract."""

from __future__ import annotations

from typing import Final, assert_never

from schemalint.base.errors import Location
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
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_field, print_type
from schemalint.model.change_kind import column_anchors, kind_of
from schemalint.model.client import SupportLost, SupportUnknown
from schemalint.model.contract import Anchor, Contract
from schemalint.model.exception import subject_of
from schemalint.model.fact import (
    AffectedStreams,
    ConfigurationChanged,
    Drift,
    DuplicateTable,
    ExpressionRefused,
    Fact,
    JudgedException,
    LiveTableMissing,
    ProtocolUpgrade,
    RootWithoutTables,
    TableRetired,
    WritersLost,
)
from schemalint.model.finding import ObjectRef, object_of_change
from schemalint.plugin import Problem

_TABLE: Final = ObjectRef("table", "")


def object_of(fact: Fact, path: Path | None = None) -> ObjectRef:
    """Return the object of a finding, for reports and for exceptions."""
    if path is not None:
        return ObjectRef("column", format_path(path))
    match fact:
        case Drift(change=inner):
            return object_of_change(inner)
        case (
            ProtocolUpgrade(because=((kind, name, _), *_))
            | SupportLost(cause=(kind, name))
            | WritersLost(cause=(kind, name))
        ):
            return ObjectRef(kind, format_path((name,)) if kind == "column" else name)
        case DuplicateTable(kind=kind, value=value):
            return ObjectRef("table", f"{kind} {value}")
        case (
            Contract()
            | LiveTable()
            | HistoryStep()
            | ProtocolUpgrade()
            | TableRetired()
            | LiveTableMissing()
            | RootWithoutTables()
            | ExpressionRefused()
            | PhysicalTypes()
            | AffectedStreams()
        ):
            return _TABLE
        case JudgedException(written=written):
            return ObjectRef("exception", subject_of(written.exception))
        case ConfigurationChanged(key=key):
            return ObjectRef("setting", key or "")
        case SupportUnknown(client=client):
            return ObjectRef("consumer", client)
        case _ if isinstance(fact, change.Change):
            return object_of_change(fact)
        case _:
            assert_never(fact)


def values_of(fact: Fact) -> tuple[str | None, str | None]:
    """Return the old and the declared value as text; None for a missing value."""
    match fact:
        case Drift(change=inner):
            return _values_of_change(inner)
        case ProtocolUpgrade(before=before, after=after):
            return ", ".join(sorted(before)), ", ".join(sorted(after))
        case (
            Contract()
            | LiveTable()
            | HistoryStep()
            | TableRetired()
            | DuplicateTable()
            | LiveTableMissing()
            | RootWithoutTables()
            | ExpressionRefused()
            | PhysicalTypes()
            | SupportLost()
            | SupportUnknown()
            | WritersLost()
            | AffectedStreams()
        ):
            return None, None
        case ConfigurationChanged(old=old, new=new):
            return old, new
        case JudgedException(written=written):
            return written.exception.old, written.exception.new
        case _ if isinstance(fact, change.Change):
            return _values_of_change(fact)
        case _:
            assert_never(fact)


def _values_of_change(changed: change.Change) -> tuple[str | None, str | None]:
    match changed:
        case change.FieldAdded(field=field):
            return None, print_field(field, ": ")
        case change.FieldRemoved(field=field):
            return print_field(field, ": "), None
        case change.FieldRenamed(path=path, old_name=old):
            return old, str(path[-1])
        case change.FeatureChanged(new=new):
            return None, _text(new)
        case (
            change.FieldMoved()
            | change.TableAdded()
            | change.TableRemoved()
            | change.DeletionListed()
            | change.DeletionUnlisted()
        ):
            return None, None
        case (
            change.TypeChanged()
            | change.TypeHistoryChanged()
            | change.NullabilityChanged()
            | change.CommentChanged()
            | change.DefaultChanged()
            | change.GeneratedChanged()
            | change.IdentityChanged()
            | change.DescriptionChanged()
            | change.PropertyChanged()
            | change.ConstraintChanged()
            | change.PartitioningChanged()
            | change.ClusteringChanged()
        ):
            return _text(changed.old), _text(changed.new)
        case _:
            assert_never(changed)


def locate_finding(fact: Fact, problem: Problem, contract: Contract) -> Location:
    """Return the location of a finding's object in a contract, or of its nearest declared parent."""
    if isinstance(fact, ConfigurationChanged):
        return fact.location
    if isinstance(fact, JudgedException):
        return fact.written.location
    if isinstance(fact, TableRetired) and fact.file_now:
        return Location(contract.file)
    return contract.locate(*_anchors(fact, problem))


def _anchors(fact: Fact, problem: Problem) -> tuple[Anchor, ...]:
    if problem.object is not None and problem.path is None:
        default_anchors = (_object_anchor(problem.object), ("table",))
        if problem.part is None:
            return default_anchors
        return ((problem.part,), (*default_anchors[0], problem.part), *default_anchors)
    path = problem.path
    inner = fact.change if isinstance(fact, Drift) else fact
    own = None
    if isinstance(inner, change.ColumnChange | change.DeletionListed | change.DeletionUnlisted):
        own = inner
    if path is None and own is not None:
        path = own.path
    if path is not None:
        anchors = column_anchors(kind_of(own).anchor if own else "column", path)
        if isinstance(own, change.FieldRemoved):
            anchors = (("dropped", lowercased(path)), *anchors)
        if problem.part is None:
            return anchors
        return ((problem.part, lowercased(path)), *anchors)
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
            prefix = "".join(f"{part.value}: " for part in value.at)
            return f"{prefix}{print_type(value.from_type)} -> {print_type(value.to_type)}"
        case Identity(start=start, step=step):
            return f"identity(start {start}, step {step})"
        case tuple():
            return ", ".join(_text(item) or "" for item in value)
        case _:
            return str(value)
