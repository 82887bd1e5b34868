"""What a contract has to declare to take a change back, as far as Delta goes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

from schemalint.delta import properties
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Identity,
    Managed,
    Map,
    Struct,
    Unmanaged,
    map_fields_within,
    parts,
)
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.model.column_tracking import track_columns
from schemalint.model.contract import Contract
from schemalint.values import field, frozen, replace

T = TypeVar("T")

WIDENING: Final = "delta.enableTypeWidening"
MAPPING: Final = "delta.columnMapping.mode"


@frozen
class Reversal:
    """A declaration and the one that takes it back, their fields paired by ``column_id``.

    Attributes:
        now: What is declared.
        wanted: What is to be declared instead.
        notes: What stays as it is, or comes back otherwise than it was, a sentence each.
    """

    now: TableState
    wanted: TableState
    notes: tuple[str, ...]


def reverse_changes(revisions: Sequence[Contract]) -> Reversal:
    """The way back from what a contract declares to what it declared.

    Args:
        revisions: Oldest first: the one to go back to, all in between, the one that is declared.
    """
    then, declared = revisions[0].state, revisions[-1].state
    tracking = track_columns(then.columns, [one.state for one in revisions])
    now = replace(declared, columns=tracking.declared)
    way = _Way(now)
    columns = way.struct(tracking.live, now.columns, ())
    wanted = replace(
        now,
        columns=columns,
        dropped=(*(entry for entry in now.dropped if path_key(entry.path) not in way.returned), *way.dropped),
        description=_back(then.description, now.description),
        clustered_by=_settled(then.clustered_by, now.clustered_by),
        constraints=_entries(then.constraints, now.constraints),
        properties=way.properties(then.properties),
        features=now.features | then.features,
    )
    way.note_what_stays(revisions[0], revisions[-1])
    return Reversal(now, wanted, tuple(way.notes))


@frozen
class _Way:
    now: TableState
    notes: list[str] = field(default_factory=list)
    dropped: list[Deletion] = field(default_factory=list)
    returned: set[tuple[str, ...]] = field(default_factory=set)
    kept_wide: list[Path] = field(default_factory=list)

    def struct(self, then: Struct, now: Struct, path: Path) -> Struct:
        """The fields of before under their names, in today's order; what came since goes, where it can."""
        before = {one.column_id: one for one in then.fields}
        fields: list[Field] = []
        leaving: list[Field] = []
        for one in now.fields:
            old = before.get(one.column_id)
            if old is not None:
                fields.append(self._field(old, one, path))
            elif self._can_go((*path, one.name)):
                leaving.append(one)
            else:
                fields.append(one)
        here = {one.column_id for one in now.fields}
        self._return(then, [one for one in then.fields if one.column_id not in here], fields, path)
        names = {one.name.lower() for one in fields}
        for one in leaving:
            anew = one.type if one.name.lower() in names else None
            self.dropped.append(Deletion((*path, one.name), anew))
        return Struct(tuple(fields))

    def properties(self, then: Mapping[str, str | None]) -> dict[str, str | None]:
        """The old values, and null where there were none; what holds the table together stays."""
        now = self.now.properties
        wanted = _entries(then, now)
        for key, value in now.items():
            if wanted[key] != value and self._is_kept(key, value):
                wanted[key] = value
                self.notes.append(f"property {key} stays {value}: what was made with it depends on it")
        return wanted

    def note_what_stays(self, then: Contract, now: Contract) -> None:
        """What has no way back in a contract, or is no part of the table."""
        if then.state.partitioned_by != now.state.partitioned_by:
            self.notes.append("the partitioning stays: Delta cannot change it in place")
        if added := now.state.features - then.state.features:
            self.notes.append(f"the features stay: {', '.join(sorted(added))} (drop_features takes them off)")
        others = {
            "location": then.location != now.location,
            "targets": then.targets != now.targets,
            "managed_by": then.managed_by != now.managed_by,
            "drop_features": then.drop_features != now.drop_features,
            "open": then.open != now.open,
        }
        if left := [key for key, differs in others.items() if differs]:
            self.notes.append(f"not taken back, because it changes no table by itself: {', '.join(left)}")

    def _field(self, then: Field, now: Field, parent: Path) -> Field:
        path = (*parent, then.name)
        type_ = self._type(then.type, now.type, path)
        if now.nullable and not then.nullable:
            self.notes.append(f"{format_path(path)} stays nullable: Delta never sets NOT NULL again")
        for what, differs in (
            ("generation expression", then.generated != now.generated),
            ("identity", then.identity != now.identity),
        ):
            if differs:
                self.notes.append(f"the {what} of {format_path(path)} stays: Delta cannot change it in place")
        return replace(
            now,
            name=then.name,
            renamed_from=now.renamed_from if then.name == now.name else now.name,
            type=type_,
            nullable=now.nullable or then.nullable,
            comment=_back(then.comment, now.comment),
            default=_back(then.default, now.default),
            type_changes=now.type_changes if _own(type_) == _own(now.type) else then.type_changes,
        )

    def _type(self, then: DataType, now: DataType, path: Path) -> DataType:
        match then, now:
            case Struct(), Struct():
                return self.struct(then, now, path)
            case Array(), Array():
                element = self._type(then.element, now.element, (*path, Part.ELEMENT))
                return Array(element, _loosened(then.contains_null, now.contains_null))
            case Map(), Map():
                key = self._type(then.key, now.key, (*path, Part.KEY))
                value = self._type(then.value, now.value, (*path, Part.VALUE))
                return Map(key, value, _loosened(then.value_contains_null, now.value_contains_null))
            case _:
                return now if then == now else self._leaf(then, now, path)

    def _leaf(self, then: DataType, now: DataType, path: Path) -> DataType:
        nested = bool(path) and isinstance(path[-1], Part)
        verdict = classify(now, then, nested=nested)
        if verdict is TypeVerdict.FREE or (verdict is TypeVerdict.WIDENING and self.now.enabled(WIDENING)):
            return then
        self.kept_wide.append(path)
        was = print_type(then)
        why = (
            "a widening is never taken back" if classify(then, now) is TypeVerdict.WIDENING else "no way back"
        )
        self.notes.append(f"{format_path(path)} stays {print_type(now)}, which was {was}: {why}")
        return now

    def _return(self, then: Struct, gone: Sequence[Field], fields: list[Field], path: Path) -> None:
        """What is declared no longer is a new column, at its place of before."""
        listed = {path_key(entry.path) for entry in self.now.dropped}
        for one in gone:
            name, own = format_path((*path, one.name)), path_key((*path, one.name))
            if any(kept.name.lower() == one.name.lower() for kept in fields):
                self.notes.append(f"{name} was made anew since, and stays as it is")
                continue
            if own in listed:
                self.returned.add(own)
                self.notes.append(f"{name} comes back empty where it was dropped: its data is gone")
            if isinstance(one.generated, str) or isinstance(one.identity, Identity):
                self.notes.append(
                    f"{name} comes back as a plain column: Delta adds no column that is computed"
                )
            fields.insert(_place(one, then, fields), _as_new(one))

    def _can_go(self, path: Path) -> bool:
        reason = ""
        if (self.now.properties.get(MAPPING) or "none").lower() == "none":
            reason = f"Delta drops columns with {MAPPING} only"
        elif path_key(path) in {path_key(entry.path) for entry in self.now.dropped}:
            reason = "it is listed as dropped already, and an entry acts once"
        elif isinstance(self.now.partitioned_by, tuple) and path[0] in self.now.partitioned_by:
            reason = "the table is partitioned by it"
        if reason:
            self.notes.append(f"{format_path(path)} stays: {reason}")
        return not reason

    def _is_kept(self, key: str, value: str | None) -> bool:
        if properties.is_protocol_key(key):
            return True
        if key == MAPPING:
            return (value or "none").lower() != "none"
        return key == WIDENING and bool(self.kept_wide)


def _back(then: Managed[T | None], now: Managed[T | None]) -> Managed[T | None]:
    """The old value; none where it was not managed and is now."""
    if not isinstance(then, Unmanaged):
        return then
    return now if isinstance(now, Unmanaged) else None


def _settled(then: Managed[tuple[T, ...]], now: Managed[tuple[T, ...]]) -> Managed[tuple[T, ...]]:
    if not isinstance(then, Unmanaged):
        return then
    return now if isinstance(now, Unmanaged) else ()


def _entries(then: Mapping[str, str | None], now: Mapping[str, str | None]) -> dict[str, str | None]:
    return {**dict.fromkeys(now), **then}


def _loosened(then: Managed[bool], now: Managed[bool]) -> Managed[bool]:
    """Nulls are never forbidden again."""
    return now if isinstance(then, Unmanaged) or not then else then


def _as_new(one: Field) -> Field:
    """As Delta adds a column: without a past, never NOT NULL, never computed."""
    inside = map_fields_within(one.type, lambda _path, inner: _bare(inner))
    return replace(_bare(one), type=inside)


def _bare(one: Field) -> Field:
    return replace(
        one,
        nullable=True,
        generated=UNMANAGED,
        identity=UNMANAGED,
        renamed_from=None,
        type_changes=UNMANAGED,
    )


def _place(one: Field, then: Struct, fields: Sequence[Field]) -> int:
    """Behind the nearest of those that stood before it."""
    names = [each.name for each in then.fields]
    earlier = set(names[: names.index(one.name)])
    return max((place + 1 for place, each in enumerate(fields) if each.name in earlier), default=0)


def _own(type_: DataType) -> list[DataType]:
    """The leaves whose changes stand in a field's own record: those of inner fields stand in theirs."""
    return list(_leaves(type_))


def _leaves(type_: DataType) -> Iterator[DataType]:
    if isinstance(type_, Array | Map):
        for _part, inner in parts(type_):
            yield from _leaves(inner)
    elif not isinstance(type_, Struct):
        yield type_
