"""Plans of generated and of single changes: their steps, refusals, records, SQL texts and deviations."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.base.errors import Location
from schemalint.base.redaction import hide
from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import (
    DATE,
    DOUBLE,
    INTEGER,
    LONG,
    STRING,
    TIMESTAMP_NTZ,
    UNMANAGED,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    RecordedChange,
    Struct,
)
from schemalint.delta.diff import diff
from schemalint.delta.path import Path
from schemalint.delta.protocol import Protocol
from schemalint.delta.sql_text import unquote_literal
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration
from schemalint.model.finding import Finding, ObjectRef, Severity
from schemalint.model.marker import Marker, declaration_hash
from schemalint.model.table_plan import Plan, Step, StepKind, TablePlan
from schemalint.planner import deviations, pending_changes, plan_table, simulate
from schemalint.planner.statements import path_table
from support.effective import counting
from support.strategies import names, texts

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

LOCATION = "/lake/orders"
WIDER: dict[DataType, DataType] = {
    INTEGER: LONG,
    DATE: TIMESTAMP_NTZ,
    Decimal(10, 2): Decimal(12, 4),
    LONG: Decimal(38, 18),
}


def _unique_fields(types: SearchStrategy[DataType], size: int) -> SearchStrategy[tuple[Field, ...]]:
    comments = st.none() | texts()
    fields = st.builds(Field, names(), types, st.booleans(), comments)
    return st.lists(fields, max_size=size, unique_by=lambda field: field.name.lower()).map(tuple)


LEAVES: SearchStrategy[DataType] = st.sampled_from((*WIDER, STRING, DOUBLE))
TYPES: SearchStrategy[DataType] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Array, inner), st.builds(Map, inner, inner), _unique_fields(inner, 3).map(Struct)
    ),
    max_leaves=4,
)
PROPERTIES = st.dictionaries(
    st.sampled_from(("team", "it's", "${x}")) | texts(max_size=4).filter(bool), texts()
)


@st.composite
def live_tables(draw: DrawFn) -> LiveTable:
    """Generate tables with type widening enabled and all features that widening may need."""
    state = TableState(
        columns=Struct(draw(_unique_fields(TYPES, 4))),
        description=draw(st.none() | texts()),
        partitioned_by=(),
        clustered_by=(),
        properties={**draw(PROPERTIES), "delta.enableTypeWidening": "true"},
        features=frozenset({"typeWidening", "timestampNtz", "appendOnly", "invariants"}),
    )
    protocol = Protocol(3, 7, frozenset({"typeWidening", "timestampNtz"}), state.features)
    return LiveTable(LOCATION, 3, protocol, Metadata("id", state))


@st.composite
def feasible_declarations(draw: DrawFn, live: TableState) -> Contract:
    """Generate feasible changes: new columns, wider types, dropped NOT NULL, other texts and properties."""
    properties: dict[str, str | None] = {
        **{key: draw(st.none() | texts()) for key in live.properties if draw(st.booleans())},
        **draw(PROPERTIES),
        "delta.enableTypeWidening": "true",
    }
    return Contract(
        "sales.orders",
        TableState(
            columns=Struct(draw(_declared_fields(live.columns.fields))),
            description=draw(st.just(UNMANAGED) | st.none() | texts()),
            properties=properties,
            features=draw(st.frozensets(st.sampled_from(("deletionVectors", "rowTracking", "appendOnly")))),
        ),
    )


@st.composite
def _declared_fields(draw: DrawFn, live: tuple[Field, ...]) -> tuple[Field, ...]:
    known = {field.name.lower() for field in live}
    kept = [draw(_edited_field(field)) for field in live if draw(st.integers(0, 3))]
    new = [
        replace(field, nullable=True)
        for field in draw(_unique_fields(LEAVES, 2))
        if field.name.lower() not in known
    ]
    return tuple(draw(st.permutations([*kept, *new])))


@st.composite
def _edited_field(draw: DrawFn, field: Field) -> Field:
    return replace(
        field,
        type=draw(_maybe_widened(field.type)),
        nullable=field.nullable or draw(st.booleans()),
        comment=draw(st.just(UNMANAGED) | st.none() | texts()),
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
    )


@st.composite
def _maybe_widened(draw: DrawFn, type_: DataType) -> DataType:
    match type_:
        case Array(element=element):
            return Array(draw(_maybe_widened(element)), UNMANAGED)
        case Map(key=key, value=value):
            return Map(draw(_maybe_widened(key)), draw(_maybe_widened(value)), UNMANAGED)
        case Struct(fields=fields):
            return Struct(draw(_declared_fields(fields)))
        case _:
            return WIDER.get(type_, type_) if draw(st.booleans()) else type_


@given(live_tables(), st.data())
@settings(max_examples=80, deadline=None)
def test_plan_leads_to_the_declaration_and_changes_nothing_else(live: LiveTable, data: st.DataObject) -> None:
    contract = data.draw(feasible_declarations(live.state))
    plan = plan_table(counting(contract), live, LOCATION)
    assert plan.refusals == ()
    after = simulate(live.state, plan.steps)
    assert pending_changes(counting(contract), after) == ()
    differences = diff(after, apply_declaration(contract.state, live.state))
    assert [item for item in differences if not isinstance(item, change.FeatureChanged)] == []
    assert plan_table(counting(contract), _at(live, after), LOCATION).steps == ()
    for step in plan.steps:
        _assert_valid_statement(step)


@given(live_tables())
@settings(max_examples=30, deadline=None)
def test_table_as_declared_needs_only_the_marker(live: LiveTable) -> None:
    minimal = tuple(
        replace(
            field,
            comment=UNMANAGED,
            default=UNMANAGED,
            generated=UNMANAGED,
            identity=UNMANAGED,
        )
        for field in live.state.columns.fields
    )
    contract = Contract("sales.orders", TableState(Struct(minimal[::-1])))
    plan = plan_table(counting(contract), live, LOCATION)
    assert plan.steps == ()
    assert plan.writes_marker


def _assert_valid_statement(step: Step) -> None:
    """Assert no column twice, and none with its own nested field (NOT_SUPPORTED_CHANGE_SAME_COLUMN)."""
    assert step.commits == 1
    assert step.changes
    assert len(step.reasons) == len(step.changes)
    if step.kind == StepKind.ALTER_COLUMNS:
        paths = [getattr(step_change, "path", ()) for step_change in step.changes]
        if " CHANGE COLUMN " in step.sql:
            assert len(set(paths)) == 1
            return
        for first, second in combinations(paths, 2):
            assert first[: len(second)] != second[: len(first)]


def test_steps_are_ordered_properties_then_new_columns_then_altered_columns() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),)), properties={"old": "1"}))
    declared = TableState(
        Struct((Field("a", LONG, comment="x"), Field("b", INTEGER))),
        properties={"delta.enableTypeWidening": "true", "old": None},
    )
    assert [step.kind for step in _plan(declared, live).steps] == [
        StepKind.UNSET_PROPERTIES,
        StepKind.SET_PROPERTIES,
        StepKind.ADD_COLUMNS,
        StepKind.ALTER_COLUMNS,
    ]


@pytest.mark.parametrize("value", ["false", None])
def test_type_widening_is_disabled_after_the_type_change(value: str | None) -> None:
    key = "delta.enableTypeWidening"
    live = _table(TableState(Struct((Field("a", INTEGER),)), properties={key: "true"}))
    plan = _plan(TableState(Struct((Field("a", LONG),)), properties={key: value}), live)
    last = StepKind.SET_PROPERTIES if value else StepKind.UNSET_PROPERTIES
    assert [step.kind for step in plan.steps] == [StepKind.ALTER_COLUMNS, last]


def test_plan_lists_the_features_that_an_upgrade_adds() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),)), features=frozenset({"appendOnly"})))
    declared = TableState(
        Struct((Field("a", INTEGER),)),
        properties={"delta.enableRowTracking": "true"},
        features=frozenset({"timestampNtz"}),
    )
    assert _plan(declared, live).adds_features == {"rowTracking", "domainMetadata", "timestampNtz"}
    assert _plan(declared, None).adds_features == frozenset()


def test_error_finding_refuses_the_plan() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),))))
    declared = TableState(Struct((Field("a", STRING),)))
    plan = plan_table(counting(Contract("t", declared)), live, LOCATION, [_finding(Severity.ERROR)])
    assert [(refusal.code, refusal.reason) for refusal in plan.refusals] == [("TW002", "it cannot be done")]
    assert plan.refusals[0].finding == _finding(Severity.ERROR)
    assert plan.steps == ()
    assert not plan.writes_marker


def test_warning_finding_does_not_refuse_the_plan() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),))))
    declared = TableState(Struct((Field("a", INTEGER, comment="x"),)))
    plan = plan_table(counting(Contract("t", declared)), live, LOCATION, [_finding(Severity.WARNING)])
    assert plan.refusals == ()
    assert len(plan.steps) == 1


@pytest.mark.parametrize(
    ("marker", "record"),
    [
        (None, True),
        (Marker("1:ab"), True),
        (Marker("HASH"), False),
        (Marker("HASH", "c0ffee" * 6 + "abcd"), False),
    ],
)
def test_marker_is_recorded_unless_it_names_this_declaration(marker: Marker | None, *, record: bool) -> None:
    contract = Contract("t", TableState(Struct((Field("a", INTEGER),))))
    live = _table(contract.state)
    if marker is not None:
        own = replace(marker, hash=marker.hash.replace("HASH", declaration_hash(contract)))
        live = replace(live, transactions={own.app_id: 1})
    plan = plan_table(counting(contract), live, LOCATION)
    assert (plan.steps, plan.writes_marker) == ((), record)


AWKWARD = [
    "`",
    "a`b``",
    "it's",
    '"',
    "\\",
    "\\'",
    "a\nb",
    "${HOME}",
    "$${x}$",
    "-- x",
    "/* x",
    ";",
    "x" * 10_000,
]


@pytest.mark.parametrize("text", AWKWARD, ids=lambda text: repr(text[:20]))
def test_awkward_texts_are_quoted_as_literals(text: str) -> None:
    column = Field("a", INTEGER, comment=text)
    declared = TableState(Struct((column, Field("b", INTEGER, comment=text))), text, properties={text: text})
    for live in (None, _table(TableState(Struct((Field("a", INTEGER),))))):
        plan = _plan(declared, live)
        statements = [step.sql for step in plan.steps]
        literals = [unquote_literal(literal) for sql in statements for literal in _literals(sql)]
        assert literals.count(text) == 5
        assert not any("${" in literal for sql in statements for literal in _literals(sql))


@pytest.mark.parametrize("text", AWKWARD, ids=lambda text: repr(text[:20]))
def test_awkward_names_are_quoted(text: str) -> None:
    quoted = "`" + text.replace("`", "``") + "`"
    live = _table(TableState(Struct((Field(text, INTEGER), Field("s", Struct((Field(text, INTEGER),)))))))
    new = Field("new", Struct((Field(text, INTEGER),)))
    wider = (Field(text, LONG), Field("s", Struct((Field(text, LONG), Field("y", INTEGER)))), new)
    added, altered = _plan(TableState(Struct(wider)), live).steps
    assert altered.sql.endswith(f"ALTER COLUMN\n  {quoted} TYPE bigint,\n  `s`.{quoted} TYPE bigint")
    assert f"`s`.`y` int AFTER {quoted}" in added.sql
    assert re.search(r"`new` struct<(.*): int> AFTER `s`", added.sql, re.DOTALL)
    assert path_table(text) == f"delta.{quoted}"


def test_hash_of_a_table_changes_with_all_that_an_approval_is_for_and_with_nothing_else() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),)), properties={"k": "1"}))
    declared = TableState(Struct((Field("a", INTEGER, comment="x"),)), properties={"k": "2"})
    plan = replace(_plan(declared, live), target="prod")
    step = plan.steps[0]
    equal = [
        replace(plan, version=9, uri="s3a://lake/a", writes_marker=False, clients=()),
        replace(_plan(declared, replace(live, version=9)), target="prod"),
        replace(
            _plan(declared, _table(replace(live.state, properties={"k": "1", "of": "others"}))), target="prod"
        ),
        replace(plan, steps=(replace(step, sources=(), reasons=(), undo=None), *plan.steps[1:])),
    ]
    others = [
        replace(plan, target="test"),
        replace(plan, table="sales.other"),
        replace(plan, table_id="another"),
        replace(plan, declaration_hash="1:another"),
        replace(plan, steps=(replace(step, adds_features=frozenset({"f"})), *plan.steps[1:])),
        replace(plan, steps=(replace(step, sql=f"{step.sql} "), *plan.steps[1:])),
        replace(_plan(declared, _table(replace(live.state, properties={"k": "0"}))), target="prod"),
        replace(_plan(replace(declared, description="y"), live), target="prod"),
    ]
    assert {other.hash for other in equal} == {plan.hash}
    assert plan.hash not in {other.hash for other in others}
    assert len({other.hash for other in others}) == len(others)
    assert re.fullmatch("2:[0-9a-f]{64}", plan.hash)


def test_hash_of_a_plan_is_that_of_its_tables_with_steps() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),))))
    plan = _plan(TableState(Struct((Field("a", INTEGER, comment="x"),))), live)
    other = replace(plan, table="sales.other")
    idle = replace(plan, table="sales.idle", steps=())
    assert Plan("prod", (plan, other)).hash == Plan("prod", (idle, other, plan)).hash
    assert len({plan.hash, Plan("prod", (plan,)).hash, Plan("prod", (plan, other)).hash}) == 3


def test_credentials_do_not_change_the_hash_of_a_table() -> None:
    step = Step(
        StepKind.CREATE,
        "CREATE TABLE delta.`s3://key:%s@lake/a`",
        (),
        (),
        requires=("at s3://key:%s@lake/a",),
    )

    def hash_with(password: str) -> str:
        with_password = replace(step, sql=step.sql % password, requires=(step.requires[0] % password,))
        return TablePlan("a.b", "", "1:0", steps=(with_password,)).hash

    first = hash_with("first/secret")
    hide("CREATE")  # the password of another service: this run knows it, and another run does not
    assert hash_with("second") == first


def test_plan_with_only_a_record_is_empty() -> None:
    live = _table(TableState(Struct((Field("a", INTEGER),))))
    plan = _plan(live.state, live)
    assert plan.writes_marker
    assert Plan(None, (plan,)).is_empty
    assert not Plan(None, (_plan(replace(live.state, description="x"), live),)).is_empty


TYPE_CHANGED = change.TypeChanged(("s", "x"), INTEGER, LONG)
STATE = TableState(
    Struct((Field("s", Struct((Field("x", INTEGER), Field("y", INTEGER)))), Field("z", INTEGER))),
    properties={"a": "1", "b": "2"},
)


@pytest.mark.parametrize(
    "unrelated",
    [
        change.TypeChanged(("z",), INTEGER, LONG),
        change.TypeChanged(("s", "y"), INTEGER, LONG),
        change.CommentChanged(("s",), None, "x"),
        change.CommentChanged(("s", "x"), None, "x"),
        change.NullabilityChanged(("s", "x"), old=True, new=False),
        change.TypeHistoryChanged(("s", "x"), (), (RecordedChange(INTEGER, LONG),)),
        change.FieldAdded(("s", "w"), Field("w", INTEGER), None),
        change.FieldRemoved(("z",), Field("z", INTEGER)),
        change.PropertyChanged("a", "1", "2"),
        change.DescriptionChanged(UNMANAGED, "x"),
    ],
)
def test_change_unrelated_to_a_step_is_no_deviation(unrelated: Change) -> None:
    assert deviations(STATE, simulate(STATE, [_step(unrelated)]), _step(TYPE_CHANGED)) == ()


@pytest.mark.parametrize(
    ("concurrent", "deviation"),
    [
        (change.TypeChanged(("s", "x"), INTEGER, DOUBLE), "type changed: s.x"),
        (change.FieldRemoved(("s", "x"), Field("x", INTEGER)), "field removed: s.x"),
        (change.FieldRemoved(("s",), Field("s", INTEGER)), "field removed: s"),
        (change.TypeChanged(("s",), INTEGER, STRING), "type changed: s"),
        (change.FeatureChanged("someday", new=True), "feature changed: someday"),
    ],
)
def test_change_of_the_field_or_protocol_that_a_step_needs_is_a_deviation(
    concurrent: Change, deviation: str
) -> None:
    assert deviations(STATE, simulate(STATE, [_step(concurrent)]), _step(TYPE_CHANGED)) == (deviation,)


def test_only_a_change_of_the_property_that_a_step_sets_is_a_deviation() -> None:
    step = _step(change.PropertyChanged("a", "1", "3"))
    assert deviations(STATE, replace(STATE, properties={"a": "2", "b": "2"}), step) == (
        "property changed: a",
    )
    assert deviations(STATE, replace(STATE, properties={"a": "1", "b": "3"}), step) == ()


def test_type_history_and_column_ids_added_by_delta_are_no_deviation() -> None:
    """Delta records the type change, and assigns column ids when column mapping is enabled."""
    step = _step(TYPE_CHANGED)
    x = Field("x", LONG, type_changes=(RecordedChange(INTEGER, LONG),), column_id=2)
    columns = (
        Field("s", Struct((x, Field("y", INTEGER, column_id=3))), column_id=1),
        STATE.columns.fields[1],
    )
    assert deviations(simulate(STATE, [step]), replace(STATE, columns=Struct(columns)), step) == ()


def _step(*changes: Change) -> Step:
    return Step(StepKind.ALTER_COLUMNS, "", changes, ())


def _plan(declared: TableState, live: LiveTable | None) -> TablePlan:
    plan = plan_table(counting(Contract("t", declared)), live, LOCATION)
    assert plan.refusals == ()
    return plan


def _table(state: TableState) -> LiveTable:
    return LiveTable(LOCATION, 3, Protocol(3, 7, frozenset(), state.features), Metadata("id", state))


def _at(live: LiveTable, state: TableState) -> LiveTable:
    return replace(live, metadata=replace(live.metadata, state=state))


def _finding(severity: Severity) -> Finding:
    path: Path = ("a",)
    return Finding(
        "TW002",
        "unsupported-type-change",
        severity,
        "it cannot be done",
        "t",
        ObjectRef("column", "a"),
        Location("t.yaml"),
        path=path,
    )


def _literals(sql: str) -> list[str]:
    """Return the string literals of a statement, but no quotes inside back-quoted names."""
    matches: list[str] = re.findall(r"`(?:[^`]|``)*`|('(?:[^'\\]|\\.)*')", sql, re.DOTALL)
    return [literal for literal in matches if literal]
