"""The statements that alter a table, in an order in which each finds what it needs, in the fewest commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias, TypeVar

from schemalint.expressions import uses
from schemalint.model import change, protocol
from schemalint.model.change import Change
from schemalint.model.datatype import UNMANAGED, Field, Managed, Struct, at, map_fields, walk_fields
from schemalint.model.marker import Pending
from schemalint.model.path import Path, dotted, folded
from schemalint.model.plan import Approval, Cost, Step, StepKind
from schemalint.model.properties import is_true
from schemalint.model.renames import Renames, renames_of
from schemalint.model.sqltext import quote_literal
from schemalint.model.table import FEATURE_PREFIX, PENDING, TableState
from schemalint.model.typetext import print_type
from schemalint.planner import sql
from schemalint.planner.renaming import in_order

WIDENING: Final = "delta.enableTypeWidening"
MAPPING: Final = "delta.columnMapping.mode"
# Follows a rename by itself, and names columns that may have to be added first.
STATISTICS: Final = "delta.dataSkippingStatsColumns"
ROW_TRACKING: Final = "delta.enableRowTracking"

_NO_WAY_BACK: Final = "cannot be undone in place: RESTORE TABLE takes the data back too"

_ColumnChange: TypeAlias = (
    change.TypeChanged | change.CommentChanged | change.NullabilityChanged | change.DefaultChanged
)
_COLUMN_CHANGES: Final = (
    change.TypeChanged,
    change.CommentChanged,
    change.NullabilityChanged,
    change.DefaultChanged,
)
T = TypeVar("T", bound=Change)


@dataclass(frozen=True)
class Alteration:
    """What is to be done to a live table.

    Attributes:
        table: As SQL names it.
        live: As it is.
        changes: Their paths have the new names of all parents.
        pending: To be noted before names are given up and taken; None where none is.
        drop_features: To be dropped in the end.
    """

    table: str
    live: TableState
    changes: tuple[Change, ...]
    pending: Pending | None = None
    drop_features: tuple[str, ...] = ()

    def steps(self) -> Iterator[Step]:
        """Properties and features before what needs them; what would be in the way goes off first."""
        late = [one for one in self._of(change.PropertyChanged) if self._is_late(one)]
        early = [one for one in self._property_changes() if one not in late]
        yield from self._properties(early)
        yield from self._noted()
        yield from self._guards_off()
        yield from self._clustering_off()
        yield from self._added(self._first_at_the_end)
        yield from self._dropped()
        yield from self._renamed()
        yield from self._added([one for one in self._of(change.FieldAdded) if one not in self._first_added])
        yield from self._altered()
        yield from self._moved()
        yield from self._clustered()
        yield from self._guards_on()
        yield from self._properties(late)
        yield from self._features_dropped()

    def _of(self, kind: type[T]) -> list[T]:
        return [one for one in self.changes if isinstance(one, kind)]

    @cached_property
    def _renames(self) -> Renames:
        return renames_of(self.changes)

    # Properties and features

    def _property_changes(self) -> list[Change]:
        kinds = change.PropertyChanged | change.FeatureChanged | change.DescriptionChanged
        return [one for one in self.changes if isinstance(one, kinds)]

    @staticmethod
    def _is_late(one: change.PropertyChanged) -> bool:
        if one.key == WIDENING:
            return not is_true(one.new if isinstance(one.new, str) else None)
        if one.key == MAPPING:
            return not isinstance(one.new, str) or one.new.lower() == "none"
        return one.key == STATISTICS

    @cached_property
    def _switches_mapping_on(self) -> bool:
        return any(one.key == MAPPING and not self._is_late(one) for one in self._of(change.PropertyChanged))

    def _properties(self, changes: Sequence[Change]) -> Iterator[Step]:
        removed = [
            one for one in changes if isinstance(one, change.PropertyChanged) and not isinstance(one.new, str)
        ]
        values = [one for one in changes if one not in removed]
        if values:
            yield self._set(values)
        if removed:
            keys = [one.key for one in removed]
            old = {one.key: one.old for one in removed if isinstance(one.old, str)}
            yield Step(
                StepKind.UNSET_PROPERTIES,
                sql.unset_properties(self.table, keys),
                tuple(removed),
                tuple(f"property {key} is declared absent" for key in keys),
                undo=sql.set_properties(self.table, old) if old else None,
            )

    def _set(self, changes: Sequence[Change]) -> Step:
        properties: dict[str, str] = {}
        reasons: list[str] = []
        for one in changes:
            match one:
                case change.PropertyChanged(key=key, new=str(value)):
                    properties[key] = value
                    reasons.append(f"property {key} is declared as {value}")
                case change.FeatureChanged(name=name):
                    properties[f"{FEATURE_PREFIX}{name}"] = "supported"
                    reasons.append(f"feature {name} is asked for")
                case change.DescriptionChanged(new=text):
                    properties["comment"] = text if isinstance(text, str) else ""
                    reasons.append("the description is declared")
        mode, undo = properties.get(MAPPING, "none").lower(), self._unset(changes)
        in_one = undo is not None or len(self._asked(changes)) == len(changes)
        unmaps = MAPPING in properties and mode == "none"
        adds = self._added_features(changes)
        return Step(
            StepKind.SET_PROPERTIES,
            sql.set_properties(self.table, properties),
            tuple(changes),
            tuple(reasons),
            adds,
            undo=undo,
            undo_note=_left_behind(adds, in_one=in_one),
            commits=3 if is_true(properties.get(ROW_TRACKING)) else 1,
            cost=Cost.REWRITE if unmaps else Cost.METADATA,
            needs=Approval.DESTRUCTIVE if unmaps else None,
        )

    def _unset(self, changes: Sequence[Change]) -> str | None:
        """The statement that brings the old values back, if one does."""
        found = [one for one in changes if isinstance(one, change.PropertyChanged)]
        if any(one.key == MAPPING for one in found):
            return sql.set_properties(self.table, {MAPPING: "none"}) if len(changes) == 1 else None
        old = {one.key: one.old for one in found if isinstance(one.old, str)}
        for one in changes:
            if isinstance(one, change.DescriptionChanged):
                old["comment"] = one.old if isinstance(one.old, str) else ""
        new = [one.key for one in found if not isinstance(one.old, str)]
        if old and new:
            return None
        if old:
            return sql.set_properties(self.table, old)
        return sql.unset_properties(self.table, new) if new else None

    # Names that are given up and taken

    def _noted(self) -> Iterator[Step]:
        if self.pending is None:
            return
        text = self.pending.to_text()
        old = self.live.properties.get(PENDING, UNMANAGED)
        if old == text:
            return
        yield Step(
            StepKind.NOTE_PENDING,
            sql.set_properties(self.table, {PENDING: text}),
            (change.PropertyChanged(PENDING, old, text),),
            ("a run that is cut short must know which column is which",),
            undo=sql.unset_properties(self.table, [PENDING]),
        )

    # Constraints

    @cached_property
    def _guards(self) -> tuple[change.ConstraintChanged, ...]:
        """Constraints that go, are changed, or would not let a column change that they use."""
        declared = {one.name: one for one in self._of(change.ConstraintChanged)}
        touched = [self._renames.back(one.path) for one in self._of(change.TypeChanged)]
        touched += [self._live_path(one.path) for one in self._of(change.FieldRemoved)]
        touched += [self._before_rename(one) for one in self._of(change.FieldRenamed)]
        found = [one for one in declared.values() if isinstance(one.old, str)]
        for name, expression in self.live.constraints.items():
            if name in declared or expression is None:
                continue
            if any(uses(expression, path) is not False for path in touched):
                found.append(change.ConstraintChanged(name, expression, expression))
        return tuple(found)

    def _before_rename(self, one: change.FieldRenamed) -> Path:
        return (*self._renames.back(one.path[:-1]), one.old_name)

    def _guards_off(self) -> Iterator[Step]:
        for one in self._guards:
            why = "is declared otherwise" if one.old != one.new else "is in the way, and comes back"
            absent = not isinstance(one.new, str)
            yield Step(
                StepKind.DROP_CONSTRAINT,
                sql.drop_constraint(self.table, one.name),
                (change.ConstraintChanged(one.name, one.old, UNMANAGED),),
                (f"the constraint {one.name} {'is declared absent' if absent else why}",),
                undo=sql.add_constraint(self.table, one.name, str(one.old)),
            )

    def _guards_on(self) -> Iterator[Step]:
        unchanged = [one for one in self._guards if one.old == one.new]
        for one in (*unchanged, *self._of(change.ConstraintChanged)):
            if isinstance(one.new, str):
                yield Step(
                    StepKind.ADD_CONSTRAINT,
                    sql.add_constraint(self.table, one.name, one.new),
                    (change.ConstraintChanged(one.name, UNMANAGED, one.new),),
                    (f"the constraint {one.name} is declared",),
                    self._needed(frozenset({"checkConstraints"})),
                    undo=sql.drop_constraint(self.table, one.name),
                    cost=Cost.SCAN,
                )

    # Clustering

    def _clustering_off(self) -> Iterator[Step]:
        """A clustering column cannot be dropped (DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN)."""
        if self._leaves_clustering:
            for one in self._early_clustering or [change.ClusteringChanged(self.live.clustered_by, ())]:
                yield self._cluster(one.new, "columns are dropped that it is clustered by", one.old)

    @cached_property
    def _early_clustering(self) -> list[change.ClusteringChanged]:
        """The declared clustering, where all its columns are there already under their names."""
        there = [
            all(self._stays(path) for path in one.new)
            for one in self._of(change.ClusteringChanged)
            if isinstance(one.new, tuple)
        ]
        return self._of(change.ClusteringChanged) if all(there) else []

    @cached_property
    def _leaves_clustering(self) -> bool:
        old = self.live.clustered_by if isinstance(self.live.clustered_by, tuple) else ()
        return any(self._goes(path) for path in old)

    def _stays(self, path: Path) -> bool:
        there = at(self.live.columns, path) is not None and self._renames.back(path) == path
        return there and not self._goes(path)

    def _goes(self, path: Path) -> bool:
        """Whether a live column is, or is inside of, one that is to be dropped."""
        gone = [folded(self._live_path(one.path)) for one in self._of(change.FieldRemoved)]
        return any(folded(path)[: len(above)] == above for above in gone)

    def _clustered(self) -> Iterator[Step]:
        if self._leaves_clustering and self._early_clustering:
            return
        for one in self._of(change.ClusteringChanged):
            old = () if self._leaves_clustering else one.old
            yield self._cluster(one.new, "the clustering is declared", old)

    def _cluster(self, declared: Managed[tuple[Path, ...]], why: str, old: Managed[tuple[Path, ...]]) -> Step:
        before = old if isinstance(old, tuple) else ()
        new = declared if isinstance(declared, tuple) else ()
        return Step(
            StepKind.CLUSTER,
            sql.cluster_by(self.table, new),
            (change.ClusteringChanged(before, new),),
            (why,),
            self._needed(protocol.CLUSTERING) if new else frozenset(),
            undo=sql.cluster_by(self.table, before),
            undo_note="files that are there are clustered anew by OPTIMIZE only",
        )

    # Columns

    @cached_property
    def _first_added(self) -> list[change.FieldAdded]:
        """New fields of a struct that would lose all its fields before it gets them.

        Delta drops no struct's last field (DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA).
        """
        found: list[change.FieldAdded] = []
        for parent in {folded(one.path[:-1]) for one in self._of(change.FieldRemoved)}:
            old = at(self.live.columns, self._renames.back(parent))
            gone = [one for one in self._of(change.FieldRemoved) if folded(one.path[:-1]) == parent]
            if isinstance(old, Struct) and len(gone) == len(old.fields):
                taken = {folded(one.path) for one in gone}
                found += [
                    one
                    for one in self._of(change.FieldAdded)
                    if folded(one.path[:-1]) == parent and folded(one.path) not in taken
                ]
        return found

    @property
    def _first_at_the_end(self) -> list[change.FieldAdded]:
        return _at_the_end(
            [replace(one, path=self._live_path(one.path)) for one in self._first_added], self.live
        )

    def _added(self, changes: Sequence[change.FieldAdded]) -> Iterator[Step]:
        if not changes:
            return
        added = [replace(one, field=_without_defaults(one.field)) for one in changes]
        mapped = (self.live.properties.get(MAPPING) or "none").lower() != "none"
        undo = None
        if mapped or self._switches_mapping_on:
            undo = sql.drop_columns(self.table, [one.path for one in added])
        yield Step(
            StepKind.ADD_COLUMNS,
            sql.add_columns(self.table, [(one.path, one.field, one.after) for one in added]),
            tuple(added),
            tuple(f"{dotted(one.path)} is declared and not there" for one in added),
            self._added_features(added),
            undo=undo,
            undo_note="" if undo else "cannot be undone: columns are dropped with column mapping only",
        )

    def _live_path(self, path: Path) -> Path:
        return (*self._renames.back(path[:-1]), path[-1])

    def _dropped(self) -> Iterator[Step]:
        gone = [replace(one, path=self._live_path(one.path)) for one in self._of(change.FieldRemoved)]
        if gone:
            yield Step(
                StepKind.DROP_COLUMNS,
                sql.drop_columns(self.table, [one.path for one in gone]),
                tuple(gone),
                tuple(f"{dotted(one.path)} is listed under dropped" for one in gone),
                undo_note=_NO_WAY_BACK,
                needs=Approval.DESTRUCTIVE,
            )

    def _renamed(self) -> Iterator[Step]:
        renames = self._of(change.FieldRenamed)
        for one in in_order(renames, {folded(each.path[:-1]): self._staying(each) for each in renames}):
            old = (*one.path[:-1], one.old_name)
            yield Step(
                StepKind.RENAME_COLUMN,
                sql.rename_column(self.table, old, str(one.path[-1])),
                (one,),
                (f"{dotted(one.path)} was {one.old_name}",),
                undo=sql.rename_column(self.table, one.path, one.old_name),
            )

    def _staying(self, one: change.FieldRenamed) -> list[str]:
        """The names beside a column, once what is to be dropped is gone."""
        parent = at(self.live.columns, self._renames.back(one.path[:-1]))
        gone = {
            str(each.path[-1]).lower()
            for each in self._of(change.FieldRemoved)
            if folded(each.path[:-1]) == folded(one.path[:-1])
        }
        fields = parent.fields if isinstance(parent, Struct) else ()
        return [field.name for field in fields if field.name.lower() not in gone]

    def _altered(self) -> Iterator[Step]:
        """One statement takes many columns, but each only once and no parent with its own nested field."""
        rest: list[_ColumnChange] = [one for one in self.changes if isinstance(one, _COLUMN_CHANGES)]
        rest += [
            default
            for one in self._of(change.FieldAdded)
            for default in defaults_of(Struct((one.field,)), one.path[:-1])
        ]
        while rest:
            taken: list[_ColumnChange] = []
            for one in rest:
                if not any(_related(one.path, other.path) for other in taken):
                    taken.append(one)
            rest = [one for one in rest if one not in taken]
            yield alter_columns(self.table, taken, self._added_features(taken))

    def _moved(self) -> Iterator[Step]:
        for one in self._of(change.FieldMoved):
            yield Step(
                StepKind.MOVE_COLUMN,
                sql.move_column(self.table, one.path, one.after),
                (one,),
                (f"{dotted(one.path)} is declared elsewhere",),
                undo_note="by a move back, in the contract",
            )

    # The protocol

    def _features_dropped(self) -> Iterator[Step]:
        for name in self.drop_features:
            yield Step(
                StepKind.DROP_FEATURE,
                sql.drop_feature(self.table, name),
                (change.FeatureChanged(name, new=False),),
                (f"{name} is listed under drop_features",),
                undo_note="the feature can be added again; the history before the drop stays protected",
                cost=Cost.REWRITE,
                needs=Approval.DESTRUCTIVE,
            )

    def _added_features(self, changes: Iterable[Change]) -> frozenset[str]:
        """What Delta adds to the protocol for these changes, beside what was asked for by name."""
        found = list(changes)
        columns = Struct(
            tuple(_new_field(one) for one in found if isinstance(one, change.FieldAdded | change.TypeChanged))
        )
        properties: Mapping[str, str] = {
            one.key: one.new
            for one in found
            if isinstance(one, change.PropertyChanged) and isinstance(one.new, str)
        }
        return self._needed(protocol.activated(columns, properties), self._asked(found))

    @staticmethod
    def _asked(changes: Iterable[Change]) -> list[str]:
        return [one.name for one in changes if isinstance(one, change.FeatureChanged)]

    def _needed(self, active: frozenset[str], asked: Iterable[str] = ()) -> frozenset[str]:
        return protocol.needed_to_alter(self.live.features, active, asked) - self.live.features


def _left_behind(features: frozenset[str], *, in_one: bool) -> str:
    """What taking properties back does not undo."""
    notes = [] if in_one else ["not by one statement: declare the old values, and null for what is new"]
    if features:
        notes.append(f"the features stay in the protocol: {', '.join(sorted(features))}")
    return "; ".join(notes)


def _new_field(one: change.FieldAdded | change.TypeChanged) -> Field:
    return one.field if isinstance(one, change.FieldAdded) else Field("changed", one.new)


def defaults_of(columns: Struct, parent: Path = ()) -> list[change.DefaultChanged]:
    """The defaults that new fields, at any depth, are to get."""
    return [
        change.DefaultChanged(path, None, field.default)
        for path, field in walk_fields(columns, parent)
        if isinstance(field.default, str)
    ]


def alter_columns(
    table: str, changes: Sequence[_ColumnChange], features: frozenset[str] = frozenset()
) -> Step:
    """One statement for many columns: each only once, and no parent together with what is inside of it."""
    undone = [_undone(one) for one in changes]
    actions = [(one.path, str(text)) for one, text in zip(changes, undone, strict=True)]
    return Step(
        StepKind.ALTER_COLUMNS,
        sql.alter_columns(table, [(one.path, _action(one)) for one in changes]),
        tuple(changes),
        tuple(_reason(one) for one in changes),
        features,
        undo=None if None in undone else sql.alter_columns(table, actions),
        undo_note=_NO_WAY_BACK if None in undone else "",
    )


def _without_defaults(field: Field) -> Field:
    """Delta adds no column with a default; it is set afterwards."""
    (bare,) = map_fields(Struct((field,)), lambda _path, one: replace(one, default=None)).fields
    return bare


def _at_the_end(added: Sequence[change.FieldAdded], live: TableState) -> list[change.FieldAdded]:
    """Behind the fields that are still there, in their own order."""
    last: dict[Path, str | None] = {}
    placed = []
    for one in added:
        parent = folded(one.path[:-1])
        if parent not in last:
            struct = at(live.columns, parent)
            last[parent] = struct.fields[-1].name if isinstance(struct, Struct) and struct.fields else None
        placed.append(replace(one, after=last[parent]))
        last[parent] = str(one.path[-1])
    return placed


def _action(one: _ColumnChange) -> str:
    match one:
        case change.TypeChanged(new=new):
            return f"TYPE {print_type(new)}"
        case change.CommentChanged(new=comment):
            return f"COMMENT {quote_literal(comment if isinstance(comment, str) else '')}"
        case change.DefaultChanged(new=str(expression)):
            return f"SET DEFAULT {expression}"
        case change.DefaultChanged():
            return "DROP DEFAULT"
        case _:
            return "DROP NOT NULL"


def _undone(one: _ColumnChange) -> str | None:
    """The action that takes it back; None for what Delta never takes back: NOT NULL, a narrower type."""
    match one:
        case change.CommentChanged(old=old, path=path) | change.DefaultChanged(old=old, path=path):
            return _action(type(one)(path, UNMANAGED, old))
        case _:
            return None


def _reason(one: _ColumnChange) -> str:
    match one:
        case change.TypeChanged(path=path, old=old, new=new):
            return f"{dotted(path)} is {print_type(old)} and declared as {print_type(new)}"
        case change.CommentChanged(path=path):
            return f"the comment of {dotted(path)} is declared"
        case change.DefaultChanged(path=path, new=str()):
            return f"the default of {dotted(path)} is declared"
        case change.DefaultChanged(path=path):
            return f"{dotted(path)} is declared without a default"
        case _:
            return f"{dotted(one.path)} is declared nullable"


def _related(one: Path, other: Path) -> bool:
    """Whether two paths are the same, or one lies within the other."""
    shorter, longer = sorted((one, other), key=len)
    return longer[: len(shorter)] == shorter
