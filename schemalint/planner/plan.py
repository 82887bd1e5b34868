"""The statements for one table: properties and features first, then columns, in the fewest commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from schemalint.errors import InternalError
from schemalint.model import change, protocol
from schemalint.model.change import Change
from schemalint.model.datatype import Field, Struct
from schemalint.model.diff import diff
from schemalint.model.finding import Finding, Severity
from schemalint.model.marker import declaration_hash, read_marker
from schemalint.model.overlay import created, over
from schemalint.model.path import Path, dotted
from schemalint.model.plan import Refusal, Step, StepKind, TablePlan
from schemalint.model.sqltext import quote_literal
from schemalint.model.table import FEATURE_PREFIX, Contract, LiveTable, TableState
from schemalint.model.typetext import print_type
from schemalint.planner import sql
from schemalint.planner.limits import refused_changes, refused_contract
from schemalint.planner.simulate import simulate

_ColumnChange: TypeAlias = change.TypeChanged | change.CommentChanged | change.NullabilityChanged
_COLUMN_CHANGES: Final = (change.TypeChanged, change.CommentChanged, change.NullabilityChanged)

WIDENING: Final = "delta.enableTypeWidening"


def plan_table(
    contract: Contract,
    live: LiveTable | None,
    uri: str,
    findings: Iterable[Finding] = (),
    *,
    name: str | None = None,
) -> TablePlan:
    """The way from a live table to its declaration.

    Args:
        contract: Effective for the target.
        live: None if there is no table: it is created.
        uri: Where the table lies, or is to lie.
        findings: What the rules say of the contract and the live table: an error means no steps.
        name: Its full name, if the statements are to reach it by that.
    """
    refusals = [*_by_rules(findings), *refused_contract(contract, live.state if live else None)]
    plan = TablePlan(contract.table, uri, declaration_hash(contract), name=name)
    table = sql.path_table(uri) if name is None else sql.named_table(name)
    if live is None:
        return _planned(plan, contract, TableState(), refusals, (_create(contract, table),))
    marker = read_marker(live)
    plan = replace(
        plan,
        table_id=live.metadata.table_id,
        version=live.version,
        live=live.state,
        features=live.protocol.features,
        record=marker is None
        or marker.hash != plan.hash
        or marker.table_id not in (None, live.metadata.table_id),
    )
    changes = pending(contract, live.state)
    refusals += refused_changes(changes, live.state, contract.state)
    if refusals:
        return replace(plan, refusals=tuple(refusals), record=False)
    return _planned(plan, contract, live.state, refusals, tuple(_Alter(table, live.state, changes).steps()))


def pending(contract: Contract, live: TableState) -> tuple[Change, ...]:
    """What is to be done to a live table; columns keep their order."""
    changes = diff(live, over(contract.state, live, open_widening=contract.open.widening))
    return tuple(one for one in changes if not isinstance(one, change.FieldMoved))


def _planned(
    plan: TablePlan,
    contract: Contract,
    live: TableState,
    refusals: Sequence[Refusal],
    steps: tuple[Step, ...],
) -> TablePlan:
    if refusals:
        return replace(plan, refusals=tuple(refusals), record=False)
    left = pending(contract, simulate(live, steps))
    if left:
        raise InternalError(f"the plan of {contract.table} does not lead to its declaration: {left[0]}")
    return replace(plan, steps=steps, record=plan.record or plan.live is None)


def _by_rules(findings: Iterable[Finding]) -> Iterator[Refusal]:
    for one in findings:
        if one.severity >= Severity.ERROR:
            yield Refusal(one.message, one.help, one.code, one)


def _create(contract: Contract, table: str) -> Step:
    state = created(contract.state)
    asked = {f"{FEATURE_PREFIX}{name}": "supported" for name in sorted(state.features)}
    features = contract.created_features
    statement = sql.create_table(
        table,
        state.columns.fields,
        description=state.description if isinstance(state.description, str) else None,
        properties={**state.set_properties, **asked},
    )
    return Step(
        StepKind.CREATE,
        statement,
        (change.TableAdded(replace(state, features=features)),),
        ("the table is declared and does not exist",),
        features - protocol.DEFAULT_FEATURES,
    )


@dataclass(frozen=True, slots=True)
class _Alter:
    table: str
    live: TableState
    changes: tuple[Change, ...]

    def steps(self) -> Iterator[Step]:
        """Properties and features before what needs them; the one that widening needs goes off last."""
        late = [one for one in self._of(change.PropertyChanged) if self._switches_widening_off(one)]
        yield from self._properties([one for one in self._property_changes() if one not in late])
        yield from self._altered_columns()
        yield from self._added_columns()
        yield from self._properties(late)

    def _of(self, *kinds: type) -> list[Change]:
        return [one for one in self.changes if isinstance(one, kinds)]

    def _property_changes(self) -> list[Change]:
        return self._of(change.PropertyChanged, change.FeatureChanged, change.DescriptionChanged)

    @staticmethod
    def _switches_widening_off(one: Change) -> bool:
        return (
            isinstance(one, change.PropertyChanged)
            and one.key == WIDENING
            and str(one.new).casefold() != "true"
        )

    def _properties(self, changes: Sequence[Change]) -> Iterator[Step]:
        removed = [
            one for one in changes if isinstance(one, change.PropertyChanged) and not isinstance(one.new, str)
        ]
        values = [one for one in changes if one not in removed]
        if values:
            yield self._set(values)
        if removed:
            keys = [one.key for one in removed if isinstance(one, change.PropertyChanged)]
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
        return Step(
            StepKind.SET_PROPERTIES,
            sql.set_properties(self.table, properties),
            tuple(changes),
            tuple(reasons),
            self._added_features(changes),
        )

    def _altered_columns(self) -> Iterator[Step]:
        """One statement takes many columns, but each only once and no parent with its own nested field."""
        rest = [one for one in self.changes if isinstance(one, _COLUMN_CHANGES)]
        while rest:
            taken: list[_ColumnChange] = []
            for one in rest:
                if not any(_related(one.path, other.path) for other in taken):
                    taken.append(one)
            rest = [one for one in rest if one not in taken]
            yield Step(
                StepKind.ALTER_COLUMNS,
                sql.alter_columns(self.table, [(one.path, _action(one)) for one in taken]),
                tuple(taken),
                tuple(_reason(one) for one in taken),
                self._added_features(taken),
            )

    def _added_columns(self) -> Iterator[Step]:
        added = [one for one in self.changes if isinstance(one, change.FieldAdded)]
        if not added:
            return
        yield Step(
            StepKind.ADD_COLUMNS,
            sql.add_columns(self.table, [(one.path, one.field, one.after) for one in added]),
            tuple(added),
            tuple(f"{dotted(one.path)} is declared and not there" for one in added),
            self._added_features(added),
        )

    def _added_features(self, changes: Sequence[Change]) -> frozenset[str]:
        """What Delta adds to the protocol for these changes, beside what was asked for by name."""
        columns = Struct(
            tuple(
                _new_field(one) for one in changes if isinstance(one, change.FieldAdded | change.TypeChanged)
            )
        )
        properties = {
            one.key: one.new
            for one in changes
            if isinstance(one, change.PropertyChanged) and isinstance(one.new, str)
        }
        asked = [one.name for one in changes if isinstance(one, change.FeatureChanged)]
        active = protocol.activated(columns, properties)
        return protocol.needed_to_alter(self.live.features, active, asked) - self.live.features


def _new_field(one: change.FieldAdded | change.TypeChanged) -> Field:
    return one.field if isinstance(one, change.FieldAdded) else Field("changed", one.new)


def _action(one: _ColumnChange) -> str:
    match one:
        case change.TypeChanged(new=new):
            return f"TYPE {print_type(new)}"
        case change.CommentChanged(new=comment):
            return f"COMMENT {quote_literal(comment if isinstance(comment, str) else '')}"
        case _:
            return "DROP NOT NULL"


def _reason(one: _ColumnChange) -> str:
    match one:
        case change.TypeChanged(path=path, old=old, new=new):
            return f"{dotted(path)} is {print_type(old)} and declared as {print_type(new)}"
        case change.CommentChanged(path=path):
            return f"the comment of {dotted(path)} is declared"
        case _:
            return f"{dotted(one.path)} is declared nullable"


def _related(one: Path, other: Path) -> bool:
    """Whether two paths are the same, or one lies within the other."""
    shorter, longer = sorted((one, other), key=len)
    return longer[: len(shorter)] == shorter
